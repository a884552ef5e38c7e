// What is under the pointer: the nearest mark, told with its event's name, its fields and where it is specified.

import { within } from "./decimate";
import { el } from "./dom";
import * as format from "./format";
import { columnOf, tableOf, type LaneView } from "./lane";
import { ROWS } from "./lanes";
import type { Run, Table } from "./payload";
import type { RowsView } from "./rows";
import type { State } from "./state";

/** How far from a mark the pointer still means it, in CSS pixels. */
const REACH = 9;
/** More candidates than this are not told apart by a pointer. */
const MANY = 20_000;

interface Found {
  event: string;
  step: string;
  run: Run;
  table: Table;
  row: number;
}

export class Tooltip {
  readonly box = el("div", { class: "tooltip", hidden: true, role: "tooltip" });

  constructor(private readonly state: State) {
    document.body.append(this.box);
  }

  watchLane(view: LaneView) {
    this.watch(view.chart.over, (x, y, width, height) => this.nearest(view, x, y, width, height));
  }

  watchRows(view: RowsView) {
    this.watch(view.chart.over, (x, y, width, height) => this.nearestEvent(x, y, width, height));
  }

  private watch(over: HTMLElement, find: (x: number, y: number, width: number, height: number) => Found | null) {
    over.addEventListener("mousemove", (event) => {
      const box = over.getBoundingClientRect();
      const found = event.buttons === 0 ? find(event.clientX - box.left, event.clientY - box.top, box.width, box.height) : null;
      if (found) this.show(found, event.clientX, event.clientY);
      else this.hide();
    });
    over.addEventListener("mouseleave", () => this.hide());
  }

  hide() {
    this.box.hidden = true;
  }

  private span(x: number, width: number): [at: number, from: number, until: number, perPixel: number] {
    const perPixel = (this.state.x1 - this.state.x0) / width;
    const at = this.state.x0 + x * perPixel;
    return [at, at - REACH * perPixel, at + REACH * perPixel, perPixel];
  }

  private nearest(view: LaneView, x: number, y: number, width: number, height: number): Found | null {
    const { state } = this;
    const [at, from, until, perPixel] = this.span(x, width);
    const scale = view.chart.plot.scales.y;
    const [y0, y1] = [scale.min ?? 0, scale.max ?? 1];
    const slope = view.lane.detrends ? state.slope : 0;
    let best: Found | null = null;
    let distance = REACH;
    for (const series of view.lane.series) {
      if (state.hidden.has(series.table)) continue;
      for (const index of state.visible) {
        const run = state.runs[index];
        const table = tableOf(run, series);
        if (!table) continue;
        const hi = table.columns.get(columnOf(series.ink))!.values;
        const lo = series.ink.as === "bars" ? table.columns.get(series.ink.lo)!.values : hi;
        const [first, last] = within(table.t, from, until);
        if (last - first > MANY) continue;
        for (let row = first; row < last; row++) {
          const trend = slope * table.t[row];
          const top = ((y1 - hi[row] + trend) / (y1 - y0)) * height;
          const bottom = ((y1 - lo[row] + trend) / (y1 - y0)) * height;
          const dy = y < top ? top - y : y > bottom ? y - bottom : 0;
          const away = Math.hypot((table.t[row] - at) / perPixel, dy);
          if (away <= distance) {
            distance = away;
            best = { event: series.event, step: series.step, run, table, row };
          }
        }
      }
    }
    return best;
  }

  private nearestEvent(x: number, y: number, width: number, height: number): Found | null {
    const { state } = this;
    const line = Math.floor((y / height) * ROWS.length);
    const row = ROWS[line];
    if (!row) return null;
    const [at, from, until] = this.span(x, width);
    const tracks = state.visible.length;
    const track = Math.min(tracks - 1, Math.floor(((y / height) * ROWS.length - line) * tracks));
    const run = state.runs[state.visible[track]];
    const table = run?.tables.get(row.table);
    if (!table) return null;
    const [first, last] = within(table.t, from, until);
    let best = -1;
    for (let i = first; i < last; i++) if (best < 0 || Math.abs(table.t[i] - at) < Math.abs(table.t[best] - at)) best = i;
    return best < 0 ? null : { event: row.label, step: row.step, run, table, row: best };
  }

  private show({ event, step, run, table, row }: Found, x: number, y: number) {
    const fields = [...table.columns.values()]
      .filter((column) => column.name !== "t")
      .flatMap((column) => [el("dt", {}, column.name), el("dd", {}, format.cell(column, row))]);
    const which = this.state.runs.length > 1 ? `${run.letter} · ` : "";
    this.box.replaceChildren(
      el("p", { class: "event" }, event),
      el("p", { class: "at" }, `${which}${format.moment(table.t[row])}`),
      el("dl", {}, ...fields),
      el("p", { class: "step" }, step),
    );
    this.box.hidden = false;
    const { offsetWidth, offsetHeight } = this.box;
    const left = x + 18 + offsetWidth > innerWidth ? x - 18 - offsetWidth : x + 18;
    const top = Math.min(y + 14, innerHeight - offsetHeight - 8);
    this.box.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }
}
