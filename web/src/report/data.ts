// The page's data, as crates/report/src/comparison writes them. Rows are the lines of `--format jsonl`.

import { inflate } from "../payload";

const FORMAT = 1;

export interface Versus {
  median_ratio: number;
  lo: number | null;
  hi: number | null;
  verdict: string;
  p: number | null;
  p_table: number | null;
}

export interface Row {
  cell: { bytes: number | null; [key: string]: unknown };
  arm: string;
  runs: number;
  goodput_mbps: { median: number | null; mean: number | null; p10: number | null; p90: number | null };
  vs_reference: Versus | null;
  median_run: { iteration: number; seed: number; version: string } | null;
  [metric: string]: unknown;
}

export interface Arm {
  label: string;
  profile: string | null;
  verdict: string | null;
  differs: Record<string, [string | null, string | null]> | null;
  by_cell: string[] | null;
  kept: Record<string, string> | null;
}

export interface Cell {
  title: string;
  swept: [string, string][];
  kind: string | null;
  /** What the arm's flows would get if all got the same; `null` for one flow, and where flows come and go. */
  fair_pct: number | null;
  once: boolean;
}

export interface Column {
  name: string;
  head: string;
  decimals: number;
  meaning: string;
  description: string;
}

export interface Runs {
  cell: number[];
  arm: number[];
  iteration: number[];
  goodput_mbps: number[];
  elapsed_ms: number[];
  wait_p95_ms: (number | null)[] | null;
}

export interface Ellipse {
  cell: number;
  arm: number;
  centre: [number, number];
  deviation: [number, number];
  correlation: number;
}

export interface Course {
  cell: number;
  arm: number;
  iteration: number;
  /** By second. */
  share_pct: (number | null)[];
}

export interface Data {
  experiment: {
    name: string;
    title: string;
    source: string;
    constants: string;
    iterations: number;
    seed: number;
    runs: number;
    planned: number;
    cells_once: number;
    until_decided: boolean;
    made_by: string | null;
  };
  version: string;
  command: string;
  again: string[];
  /** By row, the page of its median run, beside this one; empty if none were written. */
  pages: (string | null)[];
  primary: { name: string; less_is_better: boolean };
  margin: number;
  verdict: string;
  arms: Arm[];
  cells: Cell[];
  columns: Column[];
  expect: {
    written: { text: string; at_least: number | null; at_most: number | null }[];
    unmet: { cell: number; complaint: string }[];
    unchecked: string[];
  };
  together: { comparisons: number; differ: number; needs: number | null } | null;
  runs: Runs;
  ellipses: Ellipse[];
  courses: Course[];
  rows: Row[];
}

export async function read(text: string): Promise<Data> {
  const outer = JSON.parse(text) as { format: number; block: string } | null;
  if (!outer) throw new Error("this file is the empty report: `longhaul ab EXPERIMENT --report FILE` puts results into it");
  if (outer.format !== FORMAT) throw new Error(`the data have format ${outer.format}; this page reads format ${FORMAT}`);
  return JSON.parse(new TextDecoder().decode(await inflate(outer.block))) as Data;
}

/** The row of an arm in a cell. */
export const rowOf = (data: Data, cell: number, arm: number): Row => data.rows[cell * data.arms.length + arm];

/** The axes of the sweep: keys whose values differ between cells. */
export const axesOf = (data: Data): string[] => (data.cells[0]?.swept ?? []).map(([key]) => key).filter((key) => valuesOf(data, key).length > 1);
export const valueOf = (cell: Cell, key: string): string => cell.swept.find(([known]) => known === key)?.[1] ?? "";
export const valuesOf = (data: Data, key: string): string[] => [...new Set(data.cells.map((cell) => valueOf(cell, key)))];

const LONG = 16;

/** A long value without the words that all values of its axis have in common. */
export function brief(data: Data, key: string, value: string): string {
  const others = valuesOf(data, key).map((other) => new Set(other.split(" ")));
  if (value.length <= LONG || others.length < 2) return value;
  const own = value.split(" ").filter((word) => !others.every((other) => other.has(word)));
  const found = own.join(" ");
  const taken = valuesOf(data, key).some((other) => other !== value && other.split(" ").filter((word) => !others.every((words) => words.has(word))).join(" ") === found);
  return found && !taken ? found : value;
}

/** What distinguishes each cell, in a few words; two of one name are numbered. */
export function names(data: Data): string[] {
  const each = data.cells.map((cell) => cell.swept.map(([key, value]) => brief(data, key, value)).join(" ") || "the only cell");
  return each.map((name, at) => (each.indexOf(name) === each.lastIndexOf(name) ? name : `${at + 1}: ${name}`));
}

/** What the other axes of a cell say. */
export const besides = (data: Data, cell: Cell, shown: (string | null)[]): string =>
  axesOf(data).filter((key) => !shown.includes(key)).map((key) => `${short(key)} ${brief(data, key, valueOf(cell, key))}`).join(", ");

/** `path.rtt` as `rtt`; leaves of arms keep their arm. */
export const short = (key: string): string => key.replace(/^(path|flow)\./, "");

/** The page of the median run of a row, if there is one. */
export function pageOf(data: Data, cell: number, arm: number, iteration?: number): string | null {
  const median = rowOf(data, cell, arm).median_run?.iteration;
  return iteration === undefined || iteration === median ? (data.pages[cell * data.arms.length + arm] ?? null) : null;
}

/** The command that makes a run again: the median one of a row, or another iteration. */
export function again(data: Data, cell: number, arm: number, iteration?: number): string | null {
  const which = iteration ?? rowOf(data, cell, arm).median_run?.iteration;
  return which === undefined ? null : data.again[arm].replaceAll("{cell}", String(cell + 1)).replaceAll("{iteration}", String(which));
}
