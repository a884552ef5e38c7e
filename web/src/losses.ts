// Losses as bursts, which is how a user sees them, not as single segments.

import { split, type Run } from "./payload";

export interface Burst {
  from: number;
  until: number;
  segments: number;
  /** Which detectors declared them lost. */
  by: string[];
}

/** Losses closer together than this belong to one burst, if no round-trip time is known. */
const APART_US = 50_000;

const REPAIRS = { fast: "fast retransmission", sack: "SACK retransmission", timeout: "timeout retransmission", probe: "tail loss probe" };

/** A run's latest round-trip time, in microseconds; null if it measured none. */
export function roundTrip(run: Run): number | null {
  return run.tables.get("min_rtt")?.columns.get("v")?.values.at(-1) ?? null;
}

/** Losses of a run, at least a round trip apart: as marked by the sender, else its retransmissions, else as known to the network.
/** */
export function burstsOf(run: Run): Burst[] {
  const marked = run.tables.get("row/lost");
  const times: { at: number; by: string }[] = [];
  if (marked && marked.rows > 0) {
    const parts = split(marked, "by");
    if (parts.size === 0) for (const at of marked.t) times.push({ at, by: "" });
    for (const [by, part] of parts) for (const at of part.t) times.push({ at, by });
  } else {
    for (const [kind, by] of Object.entries(REPAIRS)) {
      for (const at of run.tables.get(`sent/${kind}`)?.t ?? []) times.push({ at, by });
    }
  }
  if (times.length === 0) for (const at of run.tables.get("drops")?.t ?? []) times.push({ at, by: "the network" });
  times.sort((a, b) => a.at - b.at);
  const apart = roundTrip(run) ?? APART_US;
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
