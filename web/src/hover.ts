// The mark under the pointer: the nearest one, with its event's name, its fields and a reference to its specification.

import { type Chart } from "./chart";
import { lastAt, within } from "./decimate";
import { el } from "./dom";
import * as format from "./format";
import { columnOf, tableOf, type LaneView } from "./lane";
import { CAUSES, eventIn, LIMITS, ROWS, type Series } from "./lanes";
import type { Run, Table } from "./payload";
import type { LimitsView, RowsView } from "./rows";
import type { State } from "./state";

/** Maximum distance between the pointer and a mark, in CSS pixels. */
const REACH = 9;
/** Added to a line's distance so that a mark wins over the line it is on. */
const BEHIND = 3;
/** A pointer cannot distinguish more candidates than this. */
const MANY = 20_000;

export interface Found {
  event: string;
  step: string;
  /** The meaning of the column `v`. */
  label?: string;
  run: Run;
  table: Table;
  row: number;
  /** Position in CSS pixels within the plot; without one, no ring is drawn. */
  at?: [x: number, y: number];
}

/** An empty place, with the reason why it is empty. */
interface Nothing {
  event: string;
  why: string;
}

interface Point {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** All fields of a found row except its time, as name and value; the event already tells a segment's kind. */
export function fieldsOf({ table, row, label }: Found): [string, string][] {
  const columns = [...table.columns.values()].filter(({ name }) => name !== "t" && name !== "kind");
  return columns.map((column) => [column.name === "v" && label ? label : column.name, format.cell(column, row)]);
}

export class Tooltip {
  readonly box = el("div", { class: "tooltip", hidden: true, role: "tooltip" });
  private rows: HTMLElement | null = null;
  private readonly ring = el("div", { class: "ring", hidden: true });

  constructor(private readonly state: State) {
    document.body.append(this.box);
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.hide());
    state.onDraw(() => this.hide());
  }

  watchLane(view: LaneView) {
    this.watch(view.chart, (point) => this.nearest(view, point));
  }

  watchRows(view: RowsView) {
    this.rows = view.chart.over;
    this.watch(view.chart, (point) => this.nearestEvent(point));
  }

  watchLimits(view: LimitsView) {
    this.watch(view.chart, (point) => this.cause(point));
  }

  private watch({ over }: Chart, find: (point: Point) => Found | Nothing | null) {
    over.addEventListener("mousemove", (event) => {
      const { left, top, width, height } = over.getBoundingClientRect();
      const point = { x: event.clientX - left, y: event.clientY - top, width, height };
      const found = event.buttons === 0 ? find(point) : null;
      if (found) this.show(found, over, event.clientX, event.clientY);
      else this.hide();
    });
    over.addEventListener("mouseleave", () => this.hide());
  }

  hide() {
    this.box.hidden = true;
    this.ring.hidden = true;
  }

  private span(x: number, width: number): [at: number, from: number, until: number, perPixel: number] {
    const perPixel = (this.state.x1 - this.state.x0) / width;
    const at = this.state.x0 + x * perPixel;
    return [at, at - REACH * perPixel, at + REACH * perPixel, perPixel];
  }

  private nearest(view: LaneView, point: Point): Found | null {
    const { state } = this;
    const scale = view.chart.plot.scales.y;
    const [y0, y1] = [scale.min ?? 0, scale.max ?? 1];
    const slope = view.lane.detrends ? state.slope : 0;
    const down = (value: number, t: number) => ((y1 - value + slope * t) / (y1 - y0)) * point.height;
    let best: Found | null = null;
    let distance = REACH;
    for (const series of view.lane.series) {
      if (state.hidden.has(series.table)) continue;
      for (const index of view.holders(series)) {
        const run = state.runs[index];
        const table = tableOf(run, series);
        if (!table) continue;
        const close = series.ink.as === "steps" ? this.onLine(series, run, table, down, point) : this.mark(series, table, down, point);
        if (!close || close.away > distance) continue;
        distance = close.away;
        best = { event: eventIn(series.event, series.names, run), step: series.step, label: series.label, run, table, row: close.row, at: [close.x, close.y] };
      }
    }
    return best;
  }

  /** The nearest of the bars or dots of a series. */
  private mark({ ink }: Series, table: Table, down: (value: number, t: number) => number, { x, y, width }: Point) {
    const [, from, until, perPixel] = this.span(x, width);
    const [first, last] = within(table.t, from, until);
    if (last - first > MANY || ink.as === "steps") return null;
    const hi = table.columns.get(columnOf(ink))!.values;
    const lo = ink.as === "bars" ? table.columns.get(ink.lo)!.values : hi;
    let best = null;
    for (let row = first; row < last; row++) {
      const t = table.t[row];
      const nearest = Math.min(Math.max(y, down(hi[row], t)), down(lo[row], t));
      const right = (t - this.state.x0) / perPixel;
      const away = Math.hypot(right - x, y - nearest);
      if (!best || away <= best.away) best = { row, away, x: right, y: nearest };
    }
    return best;
  }

  /** The value of a line under the pointer, or the step next to it. */
  private onLine({ ink }: Series, run: Run, table: Table, down: (value: number, t: number) => number, { x, y, width }: Point) {
    const [at, from, until, perPixel] = this.span(x, width);
    const values = table.columns.get(columnOf(ink))!.values;
    const held = lastAt(table.t, at);
    let best = null;
    if (held >= 0 && at <= run.end) {
      const level = down(values[held], at);
      best = { row: held, away: Math.abs(level - y) + BEHIND, x, y: level };
    }
    const [first, last] = within(table.t, from, until);
    if (last - first > MANY) return best;
    for (let row = Math.max(1, first); row < last; row++) {
      const t = table.t[row];
      const [a, b] = [down(values[row - 1], t), down(values[row], t)];
      const nearest = Math.min(Math.max(y, Math.min(a, b)), Math.max(a, b));
      const right = (t - this.state.x0) / perPixel;
      const away = Math.hypot(right - x, y - nearest) + BEHIND;
      if (!best || away < best.away) best = { row, away, x: right, y: nearest };
    }
    return best;
  }

  private nearestEvent({ x, y, width, height }: Point): Found | Nothing | null {
    const { state } = this;
    const line = Math.floor((y / height) * ROWS.length);
    const row = ROWS[line];
    if (!row) return null;
    const [at, from, until] = this.span(x, width);
    const tracks = state.visible.length;
    const track = Math.min(tracks - 1, Math.floor(((y / height) * ROWS.length - line) * tracks));
    const run = state.runs[state.visible[track]];
    const table = run.tables.get(row.table);
    const why = run.whyEmpty.get(row.table);
    if (!table || table.rows === 0) return why ? { event: this.which(run) + eventIn(row.label, row.names, run), why } : null;
    const [first, last] = within(table.t, from, until);
    let best = -1;
    for (let i = first; i < last; i++) if (best < 0 || Math.abs(table.t[i] - at) < Math.abs(table.t[best] - at)) best = i;
    if (best < 0) return null;
    const found = { event: eventIn(row.label, row.names, run), step: row.step, run, table, row: best };
    return { ...found, at: this.inRow(found, line, width, height) };
  }

  /** The position of a row's event. */
  private inRow({ run, table, row }: Found, line: number, width: number, height: number): [x: number, y: number] {
    const { x0, x1, visible, runs } = this.state;
    const track = visible.findIndex((index) => runs[index] === run);
    return [((table.t[row] - x0) / (x1 - x0)) * width, ((line + (track + 0.5) / visible.length) / ROWS.length) * height];
  }

  /** Announces a row's event without a pointer. */
  announce(found: Found, line: number) {
    if (!this.rows) return;
    const { left, top, width, height } = this.rows.getBoundingClientRect();
    const at = this.inRow(found, line, width, height);
    this.show({ ...found, at }, this.rows, left + at[0], top + at[1]);
  }

  private cause({ x, y, width, height }: Point): Found | null {
    const { state } = this;
    const tracks = state.visible.length;
    const run = state.runs[state.visible[Math.min(tracks - 1, Math.max(0, Math.floor((y / height) * tracks)))]];
    const table = run.tables.get(LIMITS.table);
    const [at] = this.span(x, width);
    const row = table ? lastAt(table.t, at) : -1;
    if (!table || row < 0 || at > table.columns.get("until")!.values[row]) return null;
    const cause = table.columns.get("cause")!;
    const word = cause.words?.[cause.values[row]] ?? "";
    const lasted = table.columns.get("until")!.values[row] - table.t[row];
    return { event: `${LIMITS.title} ${word} for ${format.span(lasted)}`, step: CAUSES[word] ?? "", run, table, row };
  }

  private which(run: Run): string {
    return this.state.runs.length > 1 ? `${run.letter} · ` : "";
  }

  private show(found: Found | Nothing, over: HTMLElement, x: number, y: number) {
    const place = "why" in found ? undefined : found.at;
    this.ring.hidden = !place;
    if (place) {
      if (this.ring.parentElement !== over) over.append(this.ring);
      this.ring.style.transform = `translate(${place[0]}px, ${place[1]}px)`;
    }
    this.box.replaceChildren(...("why" in found ? [el("p", { class: "event" }, found.event), el("p", {}, found.why)] : this.described(found)));
    this.box.hidden = false;
    const { offsetWidth, offsetHeight } = this.box;
    const left = x + 18 + offsetWidth > innerWidth ? x - 18 - offsetWidth : x + 18;
    const top = y + 14 + offsetHeight > innerHeight ? y - 14 - offsetHeight : y + 14;
    this.box.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, Math.min(top, innerHeight - offsetHeight - 8))}px)`;
  }

  private described(found: Found): HTMLElement[] {
    const fields = fieldsOf(found).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    return [
      el("p", { class: "event" }, found.event),
      el("p", { class: "at" }, `${this.which(found.run)}${format.moment(found.table.t[found.row])}`),
      el("dl", {}, ...fields),
      el("p", { class: "step" }, found.step),
    ];
  }
}
