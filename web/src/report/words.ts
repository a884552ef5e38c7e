// Numbers and verdicts as the terminal's table shows them.

import type { Data, Row, Versus } from "./data";

export const NOTHING = "–";

const SIGNS: Record<string, string> = { better: "▲", worse: "▼", equivalent: "≈", inconclusive: "?", undecided: "…", deterministic: "=" };

export const sign = (verdict: string): string => SIGNS[verdict] ?? "";
export const signs = Object.entries(SIGNS);

export const number = (value: unknown, decimals: number): string => (typeof value === "number" ? value.toFixed(decimals) : NOTHING);

/** Four digits. */
export const ratio = (value: number): string => value.toFixed(value >= 100 ? 1 : value >= 10 ? 2 : 3);

/** A share in per cent, to a tenth. */
export const share = (pct: number): string => pct.toFixed(1);

export function versus(found: Versus | null): string {
  if (!found) return "";
  const interval = found.lo !== null && found.hi !== null ? ` [${ratio(found.lo)}, ${ratio(found.hi)}]` : "";
  return `${ratio(found.median_ratio)}${interval} ${sign(found.verdict)}`;
}

/** Whether the data do not say that an arm differs: their interval holds 1, or there is none. */
export function isOpen(found: Versus): boolean {
  if (found.verdict === "deterministic") return found.median_ratio === 1;
  return found.lo === null || found.hi === null || (found.lo <= 1 && found.hi >= 1);
}

/** What the ratio is of. */
export const compared = (data: Data): string => data.primary.name;

/** All that a row says of its comparison, a line each. */
export function about(data: Data, row: Row): string {
  const found = row.vs_reference;
  const lines = [row.arm, `goodput ${number(row.goodput_mbps.median, 2)} Mbit/s, median of ${row.runs} run${row.runs === 1 ? "" : "s"}`];
  if (found) {
    lines.push(`${compared(data)} ${versus(found)} of ${data.arms[0].label}`, found.verdict);
    if (found.p !== null) lines.push(`p ${found.p.toPrecision(2)}, of the whole table ${found.p_table?.toPrecision(2) ?? NOTHING}`);
  }
  return lines.join("\n");
}
