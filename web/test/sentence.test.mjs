// What happened, in a sentence: a case for each cause, of two runs and of one, made of the fewest events that show it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "esbuild";

const bundle = await build({ entryPoints: [new URL("../src/story.ts", import.meta.url).pathname], bundle: true, format: "esm", write: false });
const { behind, spans, story } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`);

/** A table of rows, each with its time first. */
function table(names, rows) {
  const columns = new Map(["t", ...names].map((name, at) => {
    const cells = rows.map((row) => row[at]);
    if (typeof cells[0] !== "string") return [name, { name, values: Float64Array.from(cells) }];
    const words = [...new Set(cells)];
    return [name, { name, words, values: Float64Array.from(cells, (cell) => words.indexOf(cell)) }];
  }));
  return { rows: rows.length, t: columns.get("t").values, columns };
}

const SECOND = 1e6;
const COLUMNS = { acks: ["ack"], sent: ["seq"], limits: ["until", "cause"], exit: ["cause", "cwnd"], cwnd: ["v"], pipe: ["v"], snd_wnd: ["v"], min_rtt: ["v"], share: ["v"] };

/**
 * A run that moves 1 MB in so many seconds, steadily but for silences, in seconds. `limits` are parts of its time, one behind the other.
 */
function run(letter, seconds, { limits = [["congestion window", 1]], silent = [], numbers = {}, findings = [], ...tables }) {
  const end = seconds * SECOND;
  const isSilent = (at) => silent.some(([from, until]) => at > from * SECOND && at < until * SECOND);
  const times = Array.from({ length: 101 }, (_, step) => (step * end) / 100).filter((at) => !isSilent(at));
  const acks = times.map((at, step) => [at, 1 + (1e6 * step) / (times.length - 1)]);
  let from = 0;
  const parts = limits.map(([cause, share]) => [from, (from += share * end), cause]);
  const all = { acks, sent: acks, limits: parts, ...tables };
  return {
    letter,
    name: letter,
    end,
    tables: new Map(Object.entries(all).map(([name, rows]) => [name, table(COLUMNS[name] ?? [], rows)])),
    numbers: { payload_bytes: 1e6, took_us: end, goodput_bps: 8e12 / end, again_segments: 0, dsacks_sent: 0, dsacks_recognised: 0, dropped_packets: 0, ...numbers },
    findings,
  };
}

const fast = (own = {}) => run("B", 2, own);
const slow = (own = {}) => run("A", 4, own);
const losses = (count) => ({ "row/lost": [[SECOND / 10]], numbers: { again_segments: count, dropped_packets: count } });
const plain = (text) => text.replaceAll(/[\u00a0\u202f]/g, " ");

const CASES = [
  ["D-SACKs that the slower one ignores", [slow({ "row/lost": [[1000]], numbers: { again_segments: 811, dsacks_sent: 811 } }), fast({ numbers: { again_segments: 17, dsacks_sent: 17, dsacks_recognised: 17 } })],
    "B is 2.00 × as fast as A: A ignored 811 D-SACKs."],
  ["segments sent again without need, though reports were heard", [slow({ "row/lost": [[1000]], numbers: { again_segments: 90, dsacks_sent: 80, dsacks_recognised: 80 } }), fast()],
    "B is 2.00 × as fast as A: A sent 80 segments again without need."],
  ["segments lost", [slow(losses(300)), fast(losses(20))], "B is 2.00 × as fast as A: A lost 300 segments, B 20."],
  ["as many losses, and another answer to them", [slow({ ...losses(20), cwnd: [[0, 45_000]] }), fast({ ...losses(20), cwnd: [[0, 120_000]] })],
    "B is 2.00 × as fast as A: A's window was smaller after losses: 45 kB in the mean, B's 120 kB."],
  ["as many losses, and a timeout that did not last", [slow({ ...losses(20), "row/expire": [[SECOND + 20]], cwnd: [[0, 45_000]] }), fast({ ...losses(20), cwnd: [[0, 120_000]] })],
    "B is 2.00 × as fast as A: A's window was smaller after 1 timeout: 45 kB in the mean, B's 120 kB."],
  ["timeouts", [slow({ ...losses(3), silent: [[0.4, 1.5], [1.5, 2.6]], "row/expire": [[1.5 * SECOND - 1], [2.6 * SECOND - 1]] }), fast(losses(3))],
    "B is 2.00 × as fast as A: A waited for 2 timeouts, 2.2 s in all; B for 0."],
  ["a receive window", [slow({ limits: [["congestion window", 0.1], ["receive window", 0.9]], snd_wnd: [[0, 65_535]] }), fast()],
    "B is 2.00 × as fast as A: A's receive window of 65.5 kB was full for 3.6 s, B's for 0 s."],
  ["an application", [slow({ limits: [["application", 1]] }), fast()], "B is 2.00 × as fast as A: A's application had nothing to send for 4 s, B's for 0 s."],
  ["a send buffer", [slow({ limits: [["send buffer", 1]] }), fast()], "B is 2.00 × as fast as A: A's send buffer was full for 4 s, B's for 0 s."],
  ["a pacer", [slow({ limits: [["pacing", 1]] }), fast()], "B is 2.00 × as fast as A: A's segments waited for the pacer for 4 s, B's for 0 s."],
  ["slow start left early by delay", [slow({ exit: [[200_000, "delay_increase", 45_000]] }), fast({ exit: [[500_000, "congestion", 1_200_000]] })],
    "B is 2.00 × as fast as A: A left slow start with a window of 45 kB after 200 ms, because the round-trip time rose; B at 1.2 MB."],
  ["slow start left early, and never by the other", [slow({ exit: [[200_000, "ack_train", 45_000]] }), fast()],
    "B is 2.00 × as fast as A: A left slow start with a window of 45 kB after 200 ms, because one flight's ACKs spanned half a round trip; B stayed in it."],
  ["a window that grows more slowly", [slow({ cwnd: [[0, 20_000]] }), fast({ cwnd: [[0, 80_000]] })], "B is 2.00 × as fast as A: A's window grew more slowly: 20 kB in the mean, B's 80 kB."],
  ["a host that pauses", [slow({ silent: [[0.5, 1], [1.5, 2], [2.5, 3.3]], numbers: { sender_pause_us: 450_000 } }), fast()], "B is 2.00 × as fast as A: a host of A paused, 3 times, 1.88 s in all."],
  ["a timeout within a pause", [slow({ silent: [[0.5, 1.9]], "row/expire": [[1.8 * SECOND]], numbers: { sender_pause_us: 900_000 } }), fast()], "B is 2.00 × as fast as A: a host of A paused, 1 time, 1.44 s in all."],
  ["no difference", [slow(), run("B", 4, {})], "A and B are equally fast, within 2 %: 2 Mbit/s."],
  ["the slower one second", [run("A", 2, {}), run("B", 4, { limits: [["application", 1]] })], "A is 2.00 × as fast as B: B's application had nothing to send for 4 s, A's for 0 s."],
  ["three runs", [slow({ limits: [["pacing", 1]] }), fast(), run("C", 1, {})], "C is fastest, 4.00 × as fast as A, the slowest: A's segments waited for the pacer for 4 s, C's for 0 s."],
  ["flows of one run", [slow({ share: [[0, 1]] }), fast({ share: [[0, 1]] })], "B got 2.00 × the rate of A: 4 Mbit/s and 2 Mbit/s."],
  ["one run that fills its path", [slow({ numbers: { path_bps: 2.1e6 } })], "2 Mbit/s of the path's 2.1 Mbit/s: the path was full."],
  ["one run held by its receiver", [slow({ limits: [["receive window", 1]], snd_wnd: [[0, 65_535]], numbers: { path_bps: 1e7 } })], "2 Mbit/s of the path's 10 Mbit/s: the receive window of 65.5 kB was full for 4 s."],
  ["one run that ignores reports", [slow({ "row/lost": [[1000]], numbers: { again_segments: 811, dsacks_sent: 811 } })], "2 Mbit/s: the sender ignored 811 D-SACKs."],
  ["one run that left slow start below what the path holds", [slow({ min_rtt: [[0, 100_000]], exit: [[200_000, "css_rounds", 45_000]], numbers: { path_bps: 1e7 } })],
    "2 Mbit/s of the path's 10 Mbit/s: the sender left slow start with a window of 45 kB after 200 ms, because the round-trip time rose."],
  ["one run that left slow start at what the path holds", [slow({ min_rtt: [[0, 100_000]], exit: [[2_000_000, "css_rounds", 145_000]], numbers: { path_bps: 1e7 } })],
    "2 Mbit/s of the path's 10 Mbit/s: the sender's window took 2 s to grow to 145 kB."],
  ["one run that never left it", [slow()], "2 Mbit/s: the sender's window still grew when all was sent."],
  ["one run with a small window after a timeout that did not last", [slow({ "row/expire": [[SECOND + 20]], cwnd: [[0, 45_000]] })], "2 Mbit/s: the sender's window stayed small after 1 timeout: 45 kB in the mean."],
  ["a capture with a finding", [slow({ findings: [{ says: "a slow reader", cost: 80, isNote: false }] })], "A slow reader."],
  ["a run of which nothing is known", [slow({ numbers: { goodput_bps: 0 } })], ""],
];

for (const [name, runs, expected] of CASES) test(`the sentence of ${name}`, () => assert.equal(plain(story(runs)), expected));

test("a cause that costs the slower run nothing is not named, however often it happens", () => {
  // All that A falls behind it does while its receive window is full; its 50 losses come while B loses as much time.
  const a = slow({ ...losses(50), limits: [["receive window", 0.9], ["recovery", 0.1]] });
  assert.match(story([a, fast()]), /receive window/);
});

test("spans have no gap and end with the last acknowledgement", () => {
  const all = spans(slow({ limits: [["congestion window", 0.3], ["application", 0.5]], silent: [[1, 2]], "row/expire": [[2 * SECOND - 1]] }));
  assert.equal(all[0].from, 0);
  all.slice(1).forEach((span, at) => assert.equal(span.from, all[at].until));
  assert.equal(all.at(-1).until, 4 * SECOND);
  assert.deepEqual([...new Set(all.map(({ cause }) => cause))], ["start", "timeouts", "losses", "application", "unknown"].filter((cause) => all.some((span) => span.cause === cause)));
  assert.ok(all.some(({ cause }) => cause === "timeouts") && all.some(({ cause }) => cause === "unknown"));
});

test("what a run lost, by cause, adds up to how much longer it took", () => {
  const [a, b] = [slow({ limits: [["congestion window", 0.2], ["receive window", 0.8]] }), fast()];
  const lost = behind(a, b);
  assert.equal(lost[0][0], "receive window");
  const sum = lost.reduce((sum, [, us]) => sum + us, 0);
  assert.ok(Math.abs(sum - 2 * SECOND) < 5e4, `${sum}`);
});

test("bytes are counted a round trip after they were sent, and the last round trip belongs to no cause", () => {
  const trip = { min_rtt: [[0, 500_000]] };
  const a = slow({ ...trip, limits: [["receive window", 0.875], ["application", 0.125]] });
  assert.deepEqual([...new Set(spans(a).map(({ cause }) => cause))], ["receive window"], "nothing is left to send, but to hear");
  assert.match(story([a, fast(trip)]), /receive window/);
});
