// What happened, in a sentence, from the data: how much faster a run is than another, and where the slower one fell behind.
//
// The time of a run is cut into spans by what held its sender: silence before a timeout or while its host paused, else what the trace says
// limited it. The congestion window counts as the start before the first loss, and as losses from there on. Of two runs, the cause is that
// of the spans in which the slower one lost most time: what they lasted, less the time that the faster one took for the same bytes. What is
// sent in a span is acknowledged a round trip later, so bytes are counted then, and the last round trip belongs to no cause. Of one run, the
// cause is that of the most time. What is known of the cause then says which number to name.

import { lastAt } from "./decimate";
import * as format from "./format";
import type { Run } from "./payload";

export type Cause = "timeouts" | "pauses" | "receive window" | "application" | "send buffer" | "pacing" | "start" | "losses" | "handshake" | "unknown";

export interface Span {
  from: number;
  until: number;
  cause: Cause;
}

/** Runs closer than this are equally fast. */
const EQUAL = 1.02;
/** A path is full above this part of its rate: headers and the handshake take the rest. */
const FULL = 0.85;
/** More of something, where it explains a difference, is so many times as much. */
const CLEAR = 1.5;

const LIMITS: Record<string, Cause> = {
  "receive window": "receive window",
  application: "application",
  "send buffer": "send buffer",
  pacing: "pacing",
};

/** Marks of a run's first loss, as it saw it. */
const LOSSES = ["row/lost", "row/fast", "row/sack", "row/timeout", "row/expire"];

const columnOf = (run: Run, table: string, name: string): Float64Array => run.tables.get(table)?.columns.get(name)?.values ?? new Float64Array();
const timesOf = (run: Run, table: string): Float64Array => run.tables.get(table)?.t ?? new Float64Array();
const number = (run: Run, name: string): number => run.numbers[name] ?? 0;

/** When the run's last byte was acknowledged. */
const doneAt = (run: Run): number => timesOf(run, "acks").at(-1) ?? run.end;

/** A round trip of the path without a queue, as the run saw it. */
const trip = (run: Run): number => columnOf(run, "min_rtt", "v").at(-1) ?? 0;

/** Bytes acknowledged a round trip after a time, so that they were sent by then, as a part of all. */
function moved(run: Run, at: number): number {
  const acks = columnOf(run, "acks", "ack");
  const row = lastAt(timesOf(run, "acks"), at + trip(run));
  return row < 0 || !acks.length ? 0 : acks[row] / acks[acks.length - 1];
}

/** Until when no more than a part of all was sent, by the same measure. */
function reached(run: Run, part: number): number {
  const acks = columnOf(run, "acks", "ack");
  // Half a byte more, because a part is rounded.
  const beyond = lastAt(acks, part * acks[acks.length - 1] + 0.5) + 1;
  return acks.length ? Math.max(0, timesOf(run, "acks")[Math.min(beyond, acks.length - 1)] - trip(run)) : 0;
}

const firstLoss = (run: Run): number => Math.min(Infinity, ...LOSSES.flatMap((table) => [...timesOf(run, table).subarray(0, 1)]));

/** Times at which the sender sent or heard something, in order. */
function activity(run: Run): Float64Array {
  const [sent, heard] = [timesOf(run, "sent"), timesOf(run, "acks")];
  const all = new Float64Array(sent.length + heard.length);
  // Both are in order: merging them costs a hundredth of sorting.
  for (let at = 0, s = 0, h = 0; at < all.length; at++) all[at] = h >= heard.length || sent[s] <= heard[h] ? sent[s++] : heard[h++];
  return all;
}

/** Silences of the sender that a timeout ended, or that last about as long as a pause of its host, which may end in a timeout, too. */
function silences(run: Run): Span[] {
  const active = activity(run);
  const expired = timesOf(run, "row/expire");
  const length = Math.max(run.numbers.sender_pause_us ?? 0, run.numbers.receiver_pause_us ?? 0);
  // A small window is silent for a round trip without any pause.
  const [least, most] = [Math.max(length, trip(run)), 2 * length + trip(run)];
  const found: Span[] = [];
  for (let i = 1; i < active.length; i++) {
    const [from, until] = [active[i - 1], active[i]];
    const lasted = until - from;
    const timer = lastAt(expired, until);
    if (length > 0 && lasted >= least && lasted <= most) found.push({ from, until, cause: "pauses" });
    else if (timer >= 0 && expired[timer] > from) found.push({ from, until, cause: "timeouts" });
  }
  return found;
}

/** What the trace says limited the sender. */
function limits(run: Run): Span[] {
  const table = run.tables.get("limits");
  const cause = table?.columns.get("cause");
  if (!table || !cause?.words) return [];
  const [until, loss] = [columnOf(run, "limits", "until"), firstLoss(run)];
  return [...table.t].flatMap((from, row): Span[] => {
    const known = LIMITS[cause.words![cause.values[row]]];
    if (known) return [{ from, until: until[row], cause: known }];
    const start: Span = { from, until: Math.min(until[row], loss), cause: "start" };
    const losses: Span = { from: Math.max(from, loss), until: until[row], cause: "losses" };
    return [start, losses].filter((span) => span.until > span.from);
  });
}

const cut = new WeakMap<Run, Span[]>();

/** The time of a run until a round trip before its last acknowledgement, in spans without a gap; what limited it counts where it was not silent. */
export function spans(run: Run): Span[] {
  const known = cut.get(run) ?? cutUp(run);
  cut.set(run, known);
  return known;
}

function cutUp(run: Run): Span[] {
  const end = Math.max(0, doneAt(run) - trip(run));
  const over = silences(run);
  const all: Span[] = [];
  let at = 0;
  const fill = (until: number, cause: Cause) => {
    const to = Math.min(until, end);
    if (to > at) all.push({ from: at, until: to, cause });
    at = Math.max(at, to);
  };
  let next = 0;
  const upTo = (until: number, cause: Cause) => {
    for (; next < over.length && over[next].from < until; next++) {
      fill(over[next].from, cause);
      fill(over[next].until, over[next].cause);
    }
    fill(until, cause);
  };
  for (const { from, until, cause } of limits(run)) {
    upTo(from, at === 0 ? "handshake" : "unknown");
    upTo(until, cause);
  }
  upTo(end, "unknown");
  return all;
}

/** Adds up a weight of spans by cause, the heaviest first. */
function weigh(all: Span[], weight: (span: Span) => number): [Cause, number][] {
  const sums = new Map<Cause, number>();
  for (const span of all) sums.set(span.cause, (sums.get(span.cause) ?? 0) + weight(span));
  return [...sums].sort(([, one], [, other]) => other - one);
}

/** By cause, the time that the slower run lost: what its spans lasted, less the time that the faster one took for the same bytes. */
export function behind(slow: Run, fast: Run): [Cause, number][] {
  const late = (at: number) => (at > 0 ? at - reached(fast, moved(slow, at)) : 0);
  return weigh(spans(slow), ({ from, until }) => late(until) - late(from));
}

const lasting = (run: Run, cause: Cause): number => weigh(spans(run), ({ from, until }) => until - from).find(([each]) => each === cause)?.[1] ?? 0;

/** Mean of a line over a part of a run's time. */
function mean(run: Run, table: string, from: number, until: number): number | null {
  const [t, values] = [timesOf(run, table), columnOf(run, table, "v")];
  let area = 0;
  let length = 0;
  for (let row = 0; row < t.length; row++) {
    const [a, b] = [Math.max(t[row], from), Math.min(t[row + 1] ?? doneAt(run), until)];
    if (b > a) [area, length] = [area + values[row] * (b - a), length + b - a];
  }
  return length > 0 ? area / length : null;
}

const many = (count: number, one: string, several = `${one}s`): string => `${format.count(count)} ${count === 1 ? one : several}`;
const size = (bytes: number): string => format.bytes(bytes, 3);
const time = (us: number): string => (us < 1 ? "0 s" : format.span(us, 3));

/** How the sentence names a run: by its letter, or as the only one. */
interface Named {
  run: Run;
  who: string;
  whose: string;
}

const named = (run: Run, alone: boolean): Named => (alone ? { run, who: "the sender", whose: "the sender's" } : { run, who: run.letter, whose: `${run.letter}'s` });

const needless = (run: Run): number => run.numbers.dsacks_sent ?? run.tables.get("row/dsack")?.rows ?? 0;
/** Duplicate reports that did not reach the sender's mind; unknown for captures. */
const ignored = (run: Run): number => (run.numbers.dsacks_recognised === undefined ? 0 : Math.max(0, needless(run) - number(run, "dsacks_recognised")));
const lost = (run: Run): number => run.numbers.dropped_packets ?? number(run, "again_segments");

const expired = (run: Run): number => run.tables.get("row/expire")?.rows ?? 0;

/** Whether something happened, and clearly more often than in the other run. */
const clearly = (count: number, other: number | undefined): boolean => count > 0 && count > CLEAR * (other ?? 0);

function ofLosses({ run, who, whose }: Named, other: Run | null): string {
  const most = number(run, "again_segments") / 2;
  if (ignored(run) > most && clearly(ignored(run), other ? ignored(other) : 0)) return `${who} ignored ${many(ignored(run), "D-SACK")}`;
  if (needless(run) > most && clearly(needless(run), other ? needless(other) : 0)) return `${who} sent ${many(needless(run), "segment")} again without need`;
  const beside = other ? `, ${other.letter} ${format.count(lost(other))}` : "";
  const verb = run.numbers.dropped_packets === undefined ? "sent" : "lost";
  if (clearly(lost(run), other ? lost(other) : 0)) return `${who} ${verb} ${many(lost(run), "segment")}${verb === "sent" ? " again" : ""}${beside}`;
  const after = clearly(expired(run), other ? expired(other) : 0) ? many(expired(run), "timeout") : "losses";
  return `${whose} window ${other ? "was smaller" : "stayed small"} after ${after}${windows(run, other, firstLoss(run), Infinity)}`;
}

/** The mean windows of both, or what was in flight, where a trace does not know the window. */
function windows(run: Run, other: Run | null, from: number, until: number): string {
  const line = run.tables.get("cwnd")?.rows ? "cwnd" : "pipe";
  const [own, theirs] = [mean(run, line, from, until), other && mean(other, line, from, until)];
  if (own === null) return "";
  return `: ${size(own)} in the mean${other && theirs !== null ? `, ${other.letter}'s ${size(theirs)}` : ""}`;
}

/** Why slow start ended early, for signals that are no loss. */
const EXITS: Record<string, string> = {
  delay_increase: "because the round-trip time rose",
  ack_train: "because one flight's ACKs spanned half a round trip",
  css_rounds: "because the round-trip time rose",
  shortfall: "because less arrived than was sent",
  plateau: "because the rate stopped growing",
  chirps: "because chirps filled a round trip",
  threshold: "at its threshold",
};

interface Exit {
  at: number;
  cause: string;
  cwnd: number;
}

/** What the path holds in a round trip; without bound where its rate is not known. */
function room(run: Run): number {
  return run.numbers.path_bps && trip(run) ? (run.numbers.path_bps * trip(run)) / 8e6 : Infinity;
}

function exitOf(run: Run): Exit | null {
  const table = run.tables.get("exit");
  const cause = table?.columns.get("cause");
  if (!table?.rows || !cause?.words) return null;
  return { at: table.t[0], cause: cause.words[cause.values[0]], cwnd: columnOf(run, "exit", "cwnd")[0] };
}

function ofStart({ run, who, whose }: Named, other: Run | null): string {
  const [own, theirs] = [exitOf(run), other && exitOf(other)];
  const because = own && EXITS[own.cause];
  if (own && because && (other ? !theirs || own.cwnd * CLEAR < theirs.cwnd : own.cwnd < room(run))) {
    const beside = !other ? "" : theirs ? `; ${other.letter} at ${size(theirs.cwnd)}` : `; ${other.letter} stayed in it`;
    return `${who} left slow start with a window of ${size(own.cwnd)} after ${time(own.at)}, ${because}${beside}`;
  }
  if (!other) return own ? `${whose} window took ${time(own.at)} to grow to ${size(own.cwnd)}` : `${whose} window still grew when all was sent`;
  return `${whose} window grew more slowly${windows(run, other, 0, Math.min(firstLoss(run), other ? doneAt(other) : Infinity))}`;
}

/** What a cause comes to in this run, beside the other one if there is one. */
function because(cause: Cause, name: Named, other: Run | null): string {
  const { run, who, whose } = name;
  const own = lasting(run, cause);
  const beside = other ? `, ${other.letter}'s for ${time(lasting(other, cause))}` : "";
  switch (cause) {
    case "timeouts": {
      return `${who} waited for ${many(expired(run), "timeout")}, ${time(own)} in all${other ? `; ${other.letter} for ${format.count(expired(other))}` : ""}`;
    }
    case "pauses": {
      const count = spans(run).filter((span) => span.cause === "pauses").length;
      return `${name.who === "the sender" ? "a host" : `a host of ${who}`} paused, ${many(count, "time")}, ${time(own)} in all`;
    }
    case "receive window": {
      const [widest] = [...columnOf(run, "snd_wnd", "v")].slice(-1);
      return `${other ? whose : "the"} receive window${widest === undefined ? "" : ` of ${size(widest)}`} was full for ${time(own)}${beside}`;
    }
    case "application":
      return `${whose} application had nothing to send for ${time(own)}${beside}`;
    case "send buffer":
      return `${whose} send buffer was full for ${time(own)}${beside}`;
    case "pacing":
      return `${whose} segments waited for the pacer for ${time(own)}${beside}`;
    case "handshake":
      return `${whose} connection took ${time(own)} to open${beside}`;
    case "start":
      return ofStart(name, other);
    case "losses":
      return ofLosses(name, other);
    case "unknown":
      return "the trace does not show why";
  }
}

const goodput = (run: Run): number => number(run, "goodput_bps");
const mbit = (bps: number): string => format.rate(bps, 3);
const times = (ratio: number): string => `${ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)} ×`;

function alone(run: Run): string {
  const [finding] = run.findings;
  if (finding) return finding.says;
  const path = run.numbers.path_bps;
  const lead = path ? `${mbit(goodput(run))} of the path's ${mbit(path)}` : mbit(goodput(run));
  if (path && goodput(run) > FULL * path) return `${lead}: the path was full`;
  const [heaviest] = weigh(spans(run), ({ from, until }) => until - from);
  return heaviest ? `${lead}: ${because(heaviest[0], named(run, true), null)}` : lead;
}

/** Flows of one run divide a path; how one of them is held is the others' doing, too. */
function flows(slow: Run, fast: Run): string {
  return `${fast.letter} got ${times(goodput(fast) / goodput(slow))} the rate of ${slow.letter}: ${mbit(goodput(fast))} and ${mbit(goodput(slow))}`;
}

function pair(slow: Run, fast: Run, several: boolean): string {
  const ratio = goodput(fast) / goodput(slow);
  const letters = [slow.letter, fast.letter].sort().join(" and ");
  if (ratio < EQUAL) return `${several ? "all" : letters} are equally fast, within ${Math.round((EQUAL - 1) * 100)} %: ${mbit(goodput(fast))}`;
  if (slow.tables.has("share") && fast.tables.has("share")) return flows(slow, fast);
  const lead = several ? `${fast.letter} is fastest, ${times(ratio)} as fast as ${slow.letter}, the slowest` : `${fast.letter} is ${times(ratio)} as fast as ${slow.letter}`;
  const [worst] = behind(slow, fast);
  return worst && worst[1] > 0 ? `${lead}: ${because(worst[0], named(slow, false), fast)}` : lead;
}

/** The sentence; empty if the runs do not say how fast they were. */
export function story(runs: Run[]): string {
  const known = runs.filter((run) => goodput(run) > 0);
  if (known.length === 0) return "";
  const sorted = [...known].sort((one, other) => goodput(one) - goodput(other));
  const text = known.length === 1 ? alone(known[0]) : pair(sorted[0], sorted[sorted.length - 1], known.length > 2);
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
