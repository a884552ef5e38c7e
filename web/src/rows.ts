// The ten event rows and the band of limits: lanes without a vertical value.

import { Chart, type Painter } from "./chart";
import { bands, density, type Frame } from "./decimate";
import { el, swatch } from "./dom";
import * as format from "./format";
import { LIMITS, nameIn, ROW_HEIGHT, ROWS, type Row } from "./lanes";
import { limitHue, runHue, tone } from "./palette";
import type { Pen } from "./pen";
import type { State } from "./state";

const TOP = 8;
const AXIS = 28;

export class RowsView implements Painter {
  readonly height = TOP + ROWS.length * ROW_HEIGHT + AXIS;
  readonly times = true;
  readonly unit = null;
  readonly chart: Chart;
  private readonly legend = el("div", { class: "legend rows" });
  private look = "";

  constructor(readonly state: State, section: HTMLElement) {
    const host = el("div", { class: "plot" });
    section.append(host, this.legend);
    this.chart = new Chart(host, state, this);
    state.onDraw(() => this.fillLegend());
  }

  range(): [number, number] {
    return [0, ROWS.length];
  }

  /** Short, because the legend may be far away. */
  names() {
    return ROWS.map(({ short }, line) => ({ at: ROWS.length - line - 0.5, name: short }));
  }

  /** What the system of all runs that are shown calls a row. */
  private own(row: Row): string | null {
    const { visible, runs } = this.state;
    const names = new Set(visible.map((index) => nameIn(row.names, runs[index])));
    return names.size === 1 ? [...names][0] : null;
  }

  draw(ctx: Pen, frame: Frame, ratio: number): number {
    const { state } = this;
    const pitch = frame.height / ROWS.length;
    const tracks = state.visible.length;
    const width = Math.max(1, Math.round(2 * ratio));
    let shapes = 0;
    ROWS.forEach((row, line) => {
      ctx.globalAlpha = 1;
      ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--grid");
      ctx.fillRect(0, Math.round((line + 0.5) * pitch), frame.width, 1);
      state.visible.forEach((index, track) => {
        const table = state.runs[index].tables.get(row.table);
        if (!table) return;
        ctx.fillStyle = this.colour(index);
        const height = Math.round((pitch * 0.72) / tracks);
        const top = Math.round(line * pitch + pitch * 0.14 + track * height);
        shapes += density(table.t, frame, (column, count) => {
          ctx.globalAlpha = Math.min(1, 0.55 + 0.15 * count);
          ctx.fillRect(column - (width >> 1), top, width, height - (tracks > 1 ? 1 : 0));
        });
      });
    });
    return shapes;
  }

  colour(index: number): string {
    const { overlaid, scheme, theme } = this.state;
    return overlaid ? runHue(index, theme) : tone("event", scheme, theme);
  }

  counts(table: string): string[] {
    const { state } = this;
    return state.visible.map((index) => {
      const found = state.runs[index].tables.get(table);
      return found || !state.runs[index].whyEmpty.has(table) ? format.count(found?.rows ?? 0) : "–";
    });
  }

  describe(): string {
    const parts = ROWS.map((row) => `${row.label} ${this.counts(row.table).join(" and ")}`);
    return `Events. ${parts.join("; ")}.`;
  }

  private fillLegend() {
    const { state } = this;
    const look = [state.visible, state.scheme, state.theme].join();
    if (look === this.look) return;
    this.look = look;
    const lines = ROWS.map((row, line) => {
      const whys = state.visible.map((index) => state.runs[index].whyEmpty.get(row.table));
      const why = [...new Set(whys.filter(Boolean))].join(" ");
      const own = this.own(row);
      const counts = el("span", { class: "count" });
      this.counts(row.table).forEach((text, i) => {
        const node = el("b", {}, text);
        if (state.overlaid) node.style.color = this.colour(state.visible[i]);
        counts.append(i > 0 ? " · " : "", node);
      });
      return el("li", { title: [own, row.step, why].filter(Boolean).join(". "), class: whys.every(Boolean) ? "none" : "" }, el("span", { class: "ordinal" }, String(line + 1)), el("span", { class: "name" }, row.label, own && own !== row.label ? el("span", { class: "own" }, ` ${own}`) : null), counts);
    });
    this.legend.replaceChildren(el("h3", { id: "lane-events", class: "sr" }, "Events"), el("ol", {}, ...lines), ...this.whys());
  }

  /** Why rows are empty that another trace would fill; each reason once. */
  private whys(): HTMLElement[] {
    const { state } = this;
    return state.visible.flatMap((index) => {
      const run = state.runs[index];
      const reasons = new Map<string, number[]>();
      ROWS.forEach((row, line) => {
        const why = run.whyEmpty.get(row.table);
        if (why) reasons.set(why, [...(reasons.get(why) ?? []), line + 1]);
      });
      const which = state.overlaid ? `${run.letter}, row` : "Row";
      return [...reasons].map(([why, lines]) => el("p", { class: "why" }, `${which}${lines.length > 1 ? "s" : ""} ${lines.join(", ")}: ${why}`));
    });
  }
}

/** The band that shows what limited the sender. */
export class LimitsView implements Painter {
  readonly height: number;
  readonly times = false;
  readonly unit = null;
  readonly chart: Chart;
  private readonly legend = el("div", { class: "legend limits" });
  private look = "";

  constructor(readonly state: State, readonly section: HTMLElement) {
    this.height = 26 + 18 * state.runs.length;
    const host = el("div", { class: "plot" });
    section.append(host, this.legend);
    this.chart = new Chart(host, state, this);
    state.onDraw(() => this.fillLegend());
  }

  range(): [number, number] {
    return [0, 1];
  }

  names() {
    const { visible, runs, overlaid } = this.state;
    return overlaid ? visible.map((index, track) => ({ at: 1 - (track + 0.5) / visible.length, name: runs[index].letter })) : [];
  }

  draw(ctx: Pen, frame: Frame): number {
    const { state } = this;
    const tracks = Math.max(1, state.visible.length);
    const pitch = frame.height / tracks;
    let shapes = 0;
    state.visible.forEach((index, track) => {
      const table = state.runs[index].tables.get(LIMITS.table);
      const cause = table?.columns.get("cause");
      if (!table || !cause?.words) return;
      const colours = cause.words.map((word) => limitHue(word, state.theme));
      const until = table.columns.get("until")!.values;
      shapes += bands(table.t, until, cause.values, colours.length, frame, (column, width, which) => {
        ctx.fillStyle = colours[which];
        ctx.fillRect(column, Math.round(track * pitch) + 1, width, Math.round(pitch) - 2);
      });
    });
    return shapes;
  }

  describe(): string {
    return `${LIMITS.title}. ${this.state.runs.map((run) => `${run.name}: ${run.verdict}`).join(" ")}`;
  }

  private fillLegend() {
    const { state } = this;
    const look = [state.visible, state.scheme, state.theme].join();
    if (look === this.look) return;
    this.look = look;
    const causes = [...new Set(state.visible.flatMap((index) => state.runs[index].shares.map(([cause]) => cause)))];
    const items = causes.map((cause) => {
      const shares = state.visible.map((index) => {
        const share = state.runs[index].shares.find(([name]) => name === cause)?.[1] ?? 0;
        return format.percent(share);
      });
      return el("span", { class: "item" }, el("span", { class: "swatches" }, swatch(limitHue(cause, state.theme), "block")), el("span", { class: "name" }, cause), el("span", { class: "value" }, shares.join(" · ")));
    });
    const why = items.length ? null : (state.runs[state.visible[0] ?? 0]?.whyEmpty.get("limits") ?? "This trace does not show it.");
    this.section.classList.toggle("empty", why !== null);
    this.legend.replaceChildren(el("h3", { id: "lane-limits" }, LIMITS.title), ...items, ...(why ? [el("p", { class: "why" }, why)] : []));
  }
}
