// The page's data: `crates/report/src/payload.rs` writes it, this file reads it.
//
// A run is a set of named tables; a table is a set of named columns of equal length, sorted by the column `t`
// (microseconds since the connection's first packet). All numbers are stored in one block of little-endian arrays, deflated and
// base64-encoded; a column says where in the block it begins. Columns of type u32 hold differences from the previous row.

export const FORMAT = 1;

export type Unit = "time" | "seq" | "bytes" | "us" | "bps" | "count" | "text";

/** Systems whose names of events are known. */
export type System = "windows" | "linux";

interface ColumnJson {
  name: string;
  unit: Unit;
  type: "u8" | "u16" | "u32" | "f64";
  /** Offset into the block, in bytes. */
  at: number;
  words?: string[];
}

interface RunJson {
  name: string;
  about: string;
  facts: [string, string][];
  verdict: string;
  shares: [string, number][];
  end: number;
  tables: Record<string, { rows: number; columns: ColumnJson[] }>;
  why_empty: Record<string, string>;
  queue_before?: number;
  numbers: Record<string, number>;
  system: System | null;
  findings: { says: string; cost_pct: number; is_note: boolean }[];
}

interface PayloadJson {
  format: number;
  title: string;
  runs: RunJson[];
  block: string;
}

/** One column; a text column holds indices into `words`. Its numbers are decoded on demand: most are needed only for hovering. */
export class Column {
  private made: Float64Array | null = null;

  constructor(
    readonly name: string,
    readonly unit: Unit,
    readonly words: string[] | undefined,
    private readonly make: () => Float64Array,
  ) {}

  get values(): Float64Array {
    return (this.made ??= this.make());
  }
}

/** Rows in order of time. */
export interface Table {
  rows: number;
  t: Float64Array;
  columns: Map<string, Column>;
}

/** One trace. */
export interface Run {
  /** A, B, … in the order given. */
  letter: string;
  name: string;
  about: string;
  /** Label and value, for the card at the top. */
  facts: [string, string][];
  /** What limited the transfer, in a sentence. */
  verdict: string;
  /** Cause and its share of the time, 0 to 1. */
  shares: [string, number][];
  /** Microseconds. */
  end: number;
  /** A queue that flows of one run share is the same object in each of them. */
  tables: Map<string, Table>;
  whyEmpty: Map<string, string>;
  /** Totals, each with its unit at the end of its name; one that is not known is not there. */
  numbers: Record<string, number>;
  /** The system that the profile imitates. */
  system: System | null;
  /** What an analysis of a capture found: the first finding limited it, and notes cost little. */
  findings: Finding[];
}

export interface Finding {
  says: string;
  /** Per cent of the time. */
  cost: number;
  isNote: boolean;
}

export interface Payload {
  title: string;
  runs: Run[];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Fed by hand: going through a blob and a response takes half as long again. */
export async function inflate(base64: string): Promise<ArrayBuffer> {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  // Errors here also reach the reader.
  const written = Promise.allSettled([writer.write(bytesOf(base64)), writer.close()]);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = readable.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    bytes += part.value.length;
  }
  await written;
  const block = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    block.set(part, at);
    at += part.length;
  }
  return block.buffer;
}

const BYTES = { u8: 1, u16: 2, u32: 4, f64: 8 };

/** The values of a column that lies inside the block. */
function numbersOf(column: ColumnJson, rows: number, block: ArrayBuffer): Float64Array {
  const part = block.slice(column.at, column.at + rows * BYTES[column.type]);
  switch (column.type) {
    case "u8":
      return new Float64Array(new Uint8Array(part));
    case "u16":
      return new Float64Array(new Uint16Array(part));
    case "u32": {
      const differences = new Uint32Array(part);
      const values = new Float64Array(rows);
      let value = 0;
      for (let i = 0; i < rows; i++) {
        value = (value + differences[i]) >>> 0;
        values[i] = value;
      }
      return values;
    }
    case "f64":
      return new Float64Array(part);
  }
}

function tableOf(name: string, json: RunJson["tables"][string], block: ArrayBuffer): Table {
  const columns = new Map<string, Column>();
  for (const column of json.columns) {
    const whole = Math.floor((block.byteLength - column.at) / BYTES[column.type]);
    if (whole < json.rows) throw new Error(`table ${name}, column ${column.name}: ${whole} rows instead of ${json.rows}`);
    columns.set(column.name, new Column(column.name, column.unit, column.words, () => numbersOf(column, json.rows, block)));
  }
  const t = columns.get("t");
  if (!t) throw new Error(`table ${name} has no column t`);
  return { rows: json.rows, t: t.values, columns };
}

/** The rows of `table` grouped by the word in their text column `by`. */
export function split(table: Table, by: string): Map<string, Table> {
  const column = table.columns.get(by);
  const parts = new Map<string, Table>();
  if (!column?.words) return parts;
  const which = column.values;
  const counts = new Uint32Array(column.words.length);
  for (let i = 0; i < table.rows; i++) counts[which[i]] += 1;
  column.words.forEach((word, index) => {
    const rows = new Uint32Array(counts[index]);
    for (let i = 0, n = 0; n < rows.length; i++) if (which[i] === index) rows[n++] = i;
    const pick = (source: Column) => {
      const all = source.values;
      const values = new Float64Array(rows.length);
      for (let n = 0; n < rows.length; n++) values[n] = all[rows[n]];
      return values;
    };
    const columns = new Map<string, Column>();
    for (const [name, source] of table.columns) columns.set(name, new Column(name, source.unit, source.words, () => pick(source)));
    parts.set(word, { rows: rows.length, t: columns.get("t")!.values, columns });
  });
  return parts;
}

/** Parses the page's data. Throws an `Error` that names what is wrong. */
export async function decode(text: string): Promise<Payload> {
  const json = JSON.parse(text) as PayloadJson | null;
  if (!json) throw new Error("this file is the empty viewer: `longhaul view TRACE` puts a trace into it");
  if (json.format !== FORMAT) throw new Error(`the data have format ${json.format}; this viewer reads format ${FORMAT}`);
  const block = await inflate(json.block);
  const runs = json.runs.map((run, index): Run => {
    const tables = new Map(Object.entries(run.tables).map(([name, table]) => [name, tableOf(name, table, block)]));
    const sent = tables.get("sent");
    if (sent) for (const [kind, part] of split(sent, "kind")) tables.set(`sent/${kind}`, part);
    return {
      letter: String.fromCharCode(65 + index),
      name: run.name,
      about: run.about,
      facts: run.facts,
      verdict: run.verdict,
      shares: run.shares,
      end: run.end,
      tables,
      whyEmpty: new Map(Object.entries(run.why_empty)),
      numbers: run.numbers,
      system: run.system,
      findings: run.findings.map(({ says, cost_pct, is_note }) => ({ says, cost: cost_pct, isNote: is_note })),
    };
  });
  json.runs.forEach(({ queue_before: before }, index) => {
    const queue = before ? runs[index - before]?.tables.get("queue") : undefined;
    if (queue) runs[index].tables.set("queue", queue);
  });
  return { title: json.title, runs };
}
