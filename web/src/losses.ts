// Losses as a person meets them: bursts, not segments.

import { split, type Run } from "./payload";

export interface Burst {
  from: number;
  until: number;
  segments: number;
  /** Which detectors gave them up. */
  by: string[];
}

/** Two losses closer than this belong together, if no round-trip time is known. */
const APART_US = 50_000;

/** Losses of a run, a smoothed round trip apart or more. Without the sender's word the retransmissions have to do. */
export function burstsOf(run: Run): Burst[] {
  const told = run.tables.get("row/lost");
  const times: { at: number; by: string }[] = [];
  if (told && told.rows > 0) {
    const parts = split(told, "by");
    if (parts.size === 0) for (const at of told.t) times.push({ at, by: "" });
    for (const [by, part] of parts) for (const at of part.t) times.push({ at, by });
  } else {
    for (const kind of ["fast", "sack", "timeout"]) {
      for (const at of run.tables.get(`sent/${kind}`)?.t ?? []) times.push({ at, by: `${kind} retransmission` });
    }
  }
  times.sort((a, b) => a.at - b.at);
  const rtt = run.tables.get("min_rtt")?.columns.get("v")?.values;
  const apart = rtt?.length ? rtt[rtt.length - 1] : APART_US;
  const bursts: Burst[] = [];
  for (const { at, by } of times) {
    const open = bursts.at(-1);
    if (open && at - open.until < apart) {
      open.until = at;
      open.segments += 1;
      if (by && !open.by.includes(by)) open.by.push(by);
    } else {
      bursts.push({ from: at, until: at, segments: 1, by: by ? [by] : [] });
    }
  }
  return bursts;
}
