// A made-up trace of any length in the viewer's format, from a small model of a sender whose window grows by rounds and
// falls at losses. It stands in for a real one where only size and shape matter.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

export const VIEWER = fileURLToPath(new URL("../../crates/report/assets/viewer.html", import.meta.url));

const MSS = 1460;
const RTT = 100_000;

/** Numbers without a clock: the same seed, the same trace. */
function generator(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

class Builder {
  tables = new Map();
  add(table, row) {
    let rows = this.tables.get(table);
    if (!rows) this.tables.set(table, (rows = []));
    rows.push(row);
  }
}

const UNITS = { t: "time", until: "time", len: "bytes", v: "bytes", reo_wnd: "us", multiplier: "count", copies: "count" };
const TABLE_UNITS = { rtt: "us", srtt: "us", min_rtt: "us", reo_wnd: "us", rate: "bps" };

class Block {
  parts = [];
  length = 0;
  put(array) {
    const at = this.length;
    this.parts.push(Buffer.from(array.buffer));
    this.length += array.byteLength;
    return at;
  }
}

function column(block, table, name, values) {
  if (typeof values[0] === "string") {
    const words = [...new Set(values)];
    return { name, unit: "text", type: "u8", words, at: block.put(Uint8Array.from(values, (value) => words.indexOf(value))) };
  }
  const unit = name === "v" ? (TABLE_UNITS[table] ?? "bytes") : (UNITS[name] ?? "seq");
  let before = 0;
  const differences = Uint32Array.from(values, (value) => {
    const difference = value - before;
    before = value;
    return difference;
  });
  return { name, unit, type: "u32", at: block.put(differences) };
}

function encode(block, tables) {
  const out = {};
  for (const [table, rows] of tables) {
    rows.sort((a, b) => a.t - b.t);
    const columns = Object.keys(rows[0]).map((name) => column(block, table, name, rows.map((row) => Math.round(row[name]) || row[name])));
    out[table] = { rows: rows.length, columns };
  }
  return out;
}

/** One run of about `segments` segments. `wise` senders believe D-SACKs and stop mistaking reordering for loss. */
export function madeUpRun({ name, segments, seed = 1, wise = true }) {
  const random = generator(seed);
  const b = new Builder();
  const pipeLimit = Math.max(400, Math.min(4000, segments / 40));
  let cwnd = 10;
  let ssthresh = Infinity;
  let multiplier = 1;
  let t = 0;
  let seq = 1;
  let sent = 0;
  let srtt = RTT;
  b.add("snd_wnd", { t: 0, v: 6_000_000 });
  b.add("reo_wnd", { t: 0, v: RTT / 4 });
  b.add("min_rtt", { t: RTT, v: RTT });
  while (sent < segments) {
    const round = Math.max(2, Math.min(Math.floor(cwnd), segments - sent + 1));
    const queue = Math.max(0, round - pipeLimit * 0.7);
    const rtt = RTT + (queue / pipeLimit) * RTT * 0.6;
    const overshoot = round > pipeLimit;
    let reduce = false;
    for (let i = 0; i < round; i++) {
      const at = Math.round(t + (i / round) * rtt * 0.96);
      const back = at + rtt;
      b.add("sent", { t: at, seq, end: seq + MSS, kind: "new", copies: 0 });
      const late = random() < 0.0008;
      const lost = overshoot && i > round * 0.9 && random() < 0.5;
      if (lost || (late && (!wise || multiplier < 4))) {
        reduce = true;
        const seen = Math.round(back + RTT * 0.25 * multiplier);
        const kind = i % 9 === 0 ? "fast" : "sack";
        b.add("sent", { t: seen + 100, seq, end: seq + MSS, kind, copies: 1 });
        b.add(`row/${kind}`, { t: seen + 100, seq, len: MSS });
        b.add("row/lost", { t: seen, seq, len: MSS, by: late ? "reordering window" : "sequence" });
        b.add("row/early", { t: seen, seq, by: "rack" });
        for (let k = 1; k < 9; k++) b.add("sacks", { t: back + k * 400, lo: seq + MSS, hi: seq + MSS * (1 + k * 2) });
        if (late && wise) {
          multiplier += 1;
          b.add("row/dsack", { t: seen + RTT, lo: seq, hi: seq + MSS });
          b.add("row/reo_wnd", { t: seen + RTT, reo_wnd: (RTT / 4) * multiplier, multiplier });
          b.add("reo_wnd", { t: seen + RTT, v: (RTT / 4) * multiplier });
        }
      }
      if (late) {
        b.add("row/reordered", { t: back - RTT / 2, seq, len: MSS });
        b.add("row/sack_reordering", { t: back + 500, seq });
      }
      seq += MSS;
      sent += 1;
      if (i % 2 === 1) {
        const sample = Math.round(rtt * (0.99 + random() * 0.03));
        srtt += (sample - srtt) / 8;
        b.add("acks", { t: Math.round(back), ack: seq });
        b.add("window", { t: Math.round(back), edge: seq + 6_000_000 });
        b.add("rtt", { t: Math.round(back), v: sample });
        b.add("srtt", { t: Math.round(back), v: Math.round(srtt) });
        b.add("pipe", { t: Math.round(back), v: Math.round((round - (i % 3)) * MSS) });
        b.add("queue", { t: at, v: Math.round(queue * MSS * (i / round)) });
        if (cwnd < ssthresh) cwnd += 1;
        b.add("cwnd", { t: Math.round(back), v: Math.round(cwnd * MSS) });
      }
    }
    b.add("rate", { t: Math.round(t + rtt), v: Math.round((round * MSS * 8e6) / rtt) });
    b.add("limits", { t, until: Math.round(t + rtt), cause: reduce ? "recovery" : round < 20 ? "application" : "congestion window" });
    if (overshoot && random() < 0.3) {
      b.add("row/expire", { t: t + 2 * rtt, kind: "retransmit" });
      b.add("row/timeout", { t: t + 2 * rtt + 50, seq, len: MSS });
      b.add("sent", { t: t + 2 * rtt + 50, seq: seq - 40 * MSS, end: seq - 39 * MSS, kind: "timeout", copies: 2 });
    }
    if (reduce) {
      ssthresh = Math.max(10, cwnd * 0.7);
      cwnd = ssthresh;
      b.add("ssthresh", { t: Math.round(t + rtt), v: Math.round(ssthresh * MSS) });
    } else if (cwnd >= ssthresh) cwnd += pipeLimit / 60;
    t = Math.round(t + rtt);
  }
  const end = t + 2 * RTT;
  const mbit = ((sent * MSS * 8) / end).toFixed(1);
  return {
    name,
    about: `${((sent * MSS) / 1e6).toFixed(0)} MB made up for a test, round-trip time 100 ms`,
    facts: [["goodput", `${mbit} Mbit/s`], ["retransmitted", "0.4 %"], ["recoveries", "12"], ["timeouts", "1"], ["D-SACKs", wise ? "31" : "0"]],
    verdict: "Mostly limited by the congestion window.",
    shares: [["congestion window", 0.7], ["recovery", 0.25], ["application", 0.05]],
    end,
    tables: b.tables,
    numbers: { payload_bytes: sent * MSS, took_us: end, goodput_bps: (sent * MSS * 8e6) / end, again_segments: b.tables.get("row/lost")?.length ?? 0 },
    system: "windows",
    findings: [],
    why_empty: wise ? {} : { "row/dsack": "This sender does not recognise D-SACKs." },
  };
}

/** How many rows a run has in all its tables. */
export const rowsOf = (run) => [...run.tables.values()].reduce((sum, rows) => sum + rows.length, 0);

/** The viewer with data in it, as `longhaul view` would write it. */
export function page(runs, title = "made up") {
  const block = new Block();
  const encoded = runs.map((run) => ({ ...run, tables: encode(block, run.tables) }));
  const packed = deflateRawSync(Buffer.concat(block.parts)).toString("base64");
  const data = JSON.stringify({ format: 1, title, runs: encoded, block: packed }).replaceAll("<", "\\u003c");
  return readFileSync(VIEWER, "utf8").replace('id="longhaul-data">null<', () => `id="longhaul-data">${data}<`);
}
