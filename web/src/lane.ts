// A lane of series: its vertical range, how it is drawn, its legend.

import { Chart, type Painter } from "./chart";
import { bars, extent, type Frame, lastAt, steps, within } from "./decimate";
import { spread } from "./columns";
import { el, swatch } from "./dom";
import * as format from "./format";
import type { Ink, Lane, Series } from "./lanes";
import { markHue, runHue, tone } from "./palette";
import type { Run, Table, Unit } from "./payload";
import type { Pen } from "./pen";
import type { State } from "./state";

/** An axis never spans less than this, so that noise does not look significant. */
const LEAST: Partial<Record<Unit, number>> = { bytes: 3000, us: 1000, bps: 100_000 };

/** With fewer marks in view than this, each gets its letter. */
const LETTERS = 80;
/** With fewer than this, each mark's ends are drawn, even where they touch. */
const ENDS = 400;
/** Each run is drawn wider than those drawn over it, in CSS pixels, so that it shows around them where they cover it. */
const RIM = 2;

export function columnOf(ink: Ink): string {
  return ink.as === "bars" ? ink.hi : ink.y;
}

/** The table of a run's series, if it is not empty. */
export function tableOf(run: Run, series: Series): Table | undefined {
  const table = run.tables.get(series.table);
  return table && table.rows > 0 ? table : undefined;
}

export class LaneView implements Painter {
  readonly height: number;
  readonly times: boolean;
  readonly unit;
  readonly boxes: boolean;
  readonly chart: Chart;
  private readonly values = new Map<Series, HTMLElement>();
  private readonly legend: HTMLElement;
  private readonly title = el("h3");
  private look = "";
  /** Greatest value the axis shows. */
  private top = Infinity;

  constructor(readonly lane: Lane, readonly state: State, readonly section: HTMLElement) {
    this.height = lane.height;
    this.times = lane.times === true;
    this.unit = lane.unit;
    this.boxes = lane.detrends === true;
    this.title.id = `lane-${lane.id}`;
    const host = el("div", { class: "plot" });
    this.legend = el("div", { class: "legend" });
    section.append(host, this.legend);
    this.chart = new Chart(host, state, this);
    this.fillLegend();
    state.onDraw(() => (this.fillLegend(), this.fillTitle(), this.markAbove()));
    state.onCursor(() => this.readValues());
  }

  private drawn(): { series: Series; run: Run; index: number; table: Table }[] {
    const all = [];
    for (const series of this.lane.series) {
      if (this.state.hidden.has(series.table)) continue;
      for (const index of this.holders(series)) {
        const run = this.state.runs[index];
        all.push({ series, run, index, table: tableOf(run, series)! });
      }
    }
    return all;
  }

  /** Indices of the visible runs with the series; of those that share a table, the first. */
  holders(series: Series): number[] {
    const seen = new Set<Table>();
    return this.state.visible.filter((index) => {
      const table = tableOf(this.state.runs[index], series);
      if (!table || seen.has(table)) return false;
      seen.add(table);
      return true;
    });
  }

  /** Whether all visible runs with the series have the same table. */
  private isCommon(series: Series): boolean {
    const having = this.state.visible.filter((index) => tableOf(this.state.runs[index], series));
    return having.length > 1 && this.holders(series).length === 1;
  }

  colour(series: Series, index: number): string {
    const { scheme, theme, overlaid } = this.state;
    if (!overlaid || series.overlaid === "own" || this.isCommon(series)) return tone(series.tone, scheme, theme);
    return series.overlaid === "mark" ? markHue(index, theme) : runHue(index, theme);
  }

  /** How much wider than usual a run is drawn, so that those over it do not hide it. */
  private rim(series: Series, index: number): number {
    const over = this.holders(series);
    // Faint lines show through each other.
    const isSeen = series.overlaid === "own" || (series.ink.as === "steps" && series.ink.faint);
    return isSeen ? 0 : RIM * (over.length - 1 - over.indexOf(index));
  }

  range(): [number, number] {
    const { band, fit } = this.state;
    if (!this.boxes) return this.rangeOf(this.drawn());
    if (band) return [band[0], (this.top = band[1])];
    const part = fit === "all" ? [] : this.drawn().filter(({ series }) => series.part === fit && this.isInView(series));
    return this.rangeOf(part.length ? part : this.drawn());
  }

  /** Whether any visible run has a mark, or a line, within the span. */
  private isInView(series: Series): boolean {
    const { state } = this;
    if (series.ink.as === "steps") return true;
    return state.visible.some((index) => {
      const [from, to] = within(tableOf(state.runs[index], series)?.t ?? new Float64Array(), state.x0, state.x1);
      return from < to;
    });
  }

  private rangeOf(drawn: { series: Series; table: Table }[]): [number, number] {
    const { x0, x1 } = this.state;
    const slope = this.slope();
    let low = Infinity;
    let high = -Infinity;
    let soft = -Infinity;
    for (const { series, table } of drawn) {
      const held = series.ink.as === "steps";
      const top = extent(table.t, table.columns.get(columnOf(series.ink))!.values, x0, x1, slope, held);
      if (!top) continue;
      const bottom =
        series.ink.as === "bars" ? extent(table.t, table.columns.get(series.ink.lo)!.values, x0, x1, slope, false)! : top;
      if (series.soft) {
        soft = Math.max(soft, top[1]);
      } else {
        low = Math.min(low, bottom[0]);
        high = Math.max(high, top[1]);
      }
    }
    if (high < low) [low, high] = soft > 0 ? [0, soft] : [0, 1];
    if (this.lane.zero || (this.lane.unit !== "seq" && low < high * 0.5)) low = 0;
    const height = Math.max(high - low, LEAST[this.lane.unit] ?? 1);
    high = low + height;
    if (soft > high && soft <= high + height * (this.lane.id === "sequence" ? 0.35 : 1.5)) high = soft;
    const room = (high - low) * 0.06;
    this.top = high + room;
    return [low === 0 ? 0 : low - room, this.top];
  }

  private slope(): number {
    return this.lane.detrends ? this.state.slope : 0;
  }

  draw(ctx: Pen, frame: Frame, ratio: number): number {
    frame.slope = this.slope();
    let shapes = 0;
    for (const { series, run, index, table } of this.drawn()) {
      ctx.save();
      const colour = this.colour(series, index);
      const { ink } = series;
      const rim = this.rim(series, index) * ratio;
      if (ink.as === "steps") {
        shapes += this.drawSteps(ctx, frame, ratio, table, run.end, ink, colour, rim);
      } else {
        shapes += this.drawBars(ctx, frame, ratio, table, ink, colour, series, rim);
      }
      ctx.restore();
    }
    return shapes;
  }

  private drawSteps(ctx: Pen, frame: Frame, ratio: number, table: Table, end: number, ink: Ink & { as: "steps" }, colour: string, rim: number): number {
    ctx.strokeStyle = colour;
    ctx.lineWidth = ink.width * ratio + rim;
    ctx.lineJoin = "round";
    // All lines of a run share one hue: this one is drawn fainter.
    ctx.globalAlpha = ink.faint && this.state.overlaid ? 0.5 : 1;
    if (ink.dash) ctx.setLineDash(ink.dash.map((length) => length * ratio));
    ctx.beginPath();
    const points = steps(table.t, table.columns.get(ink.y)!.values, end, frame, ctx);
    ctx.stroke();
    return points;
  }

  private drawBars(ctx: Pen, frame: Frame, ratio: number, table: Table, ink: Ink & { as: "bars" | "dots" }, colour: string, series: Series, rim: number): number {
    const [from, to] = within(table.t, frame.x0, frame.x1);
    const rows = to - from;
    if (rows === 0) return 0;
    const wide = ink.as === "bars" && ink.wide;
    const lo = table.columns.get(ink.as === "bars" ? ink.lo : ink.y)!.values;
    const hi = table.columns.get(columnOf(ink))!.values;
    const room = frame.width / rows / ratio;
    const dots = ink.as === "dots";
    const width = Math.round(Math.min(dots ? 4 : wide ? 3 : 2, Math.max(wide ? 2 : 1, room / 3)) * ratio + rim);
    const least = dots ? Math.max(width, Math.round(2 * ratio)) : Math.round((wide ? 4 : 2) * ratio);
    ctx.fillStyle = colour;
    if (series.table === "sacks" && rows > LETTERS) ctx.globalAlpha = this.state.overlaid ? 0.3 : 0.55;
    if (ink.as === "dots") ctx.globalAlpha = 0.8;
    // This many marks would hide which run a line belongs to.
    if (this.state.overlaid && series.overlaid === "mark" && rows > LETTERS) ctx.globalAlpha = 0.4;
    let shapes = bars(table.t, lo, hi, frame, least, (column, top, height) => ctx.fillRect(column - (width >> 1), top, width, height));
    if (ink.as !== "bars") return shapes;
    if (ink.ends && rows <= ENDS && room >= 4) shapes += this.drawEnds(ctx, frame, ratio, table.t, lo, hi, from, to, ink.ends);
    if (ink.glyph && rows <= LETTERS) shapes += this.drawLetters(ctx, frame, ratio, table, ink.glyph, hi, from, to);
    return shapes;
  }

  /** tcptrace's arrows at both ends of a segment, and the short strokes that bound a SACKed range. */
  private drawEnds(ctx: Pen, frame: Frame, ratio: number, t: Float64Array, lo: Float64Array, hi: Float64Array, from: number, to: number, ends: "arrows" | "caps"): number {
    const kx = frame.width / (frame.x1 - frame.x0);
    const ky = frame.height / (frame.y1 - frame.y0);
    let shapes = 0;
    ctx.strokeStyle = ctx.fillStyle;
    ctx.lineWidth = 1.25 * ratio;
    ctx.beginPath();
    for (let i = from; i < to; i++) {
      const tall = (hi[i] - lo[i]) * ky;
      if (tall < 6 * ratio) continue;
      const half = Math.min(3.5 * ratio, tall * 0.3);
      const x = Math.floor((t[i] - frame.x0) * kx) + (ratio & 1) / 2;
      const top = (frame.y1 - hi[i] + frame.slope * t[i]) * ky;
      const depth = ends === "arrows" ? half : 0;
      for (const [y, inward] of [[top, depth], [top + tall, -depth]]) {
        ctx.moveTo(x - half, y + inward);
        ctx.lineTo(x, y);
        ctx.lineTo(x + half, y + inward);
      }
      shapes += 2;
    }
    ctx.stroke();
    return shapes;
  }

  private drawLetters(ctx: Pen, frame: Frame, ratio: number, table: Table, glyph: string, hi: Float64Array, from: number, to: number): number {
    ctx.font = `600 ${11 * ratio}px Inter, ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif`;
    ctx.textAlign = "center";
    ctx.lineJoin = "round";
    ctx.lineWidth = 3 * ratio;
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--card");
    ctx.globalAlpha = 1;
    let shapes = 0;
    let free = -Infinity;
    for (let i = from; i < to; i++) {
      const x = ((table.t[i] - frame.x0) / (frame.x1 - frame.x0)) * frame.width;
      if (x < free) continue;
      free = x + 9 * ratio;
      const y = ((frame.y1 - hi[i] + frame.slope * table.t[i]) / (frame.y1 - frame.y0)) * frame.height;
      if (y < 0 || y > frame.height) continue;
      const base = Math.max(10 * ratio, y - 5 * ratio);
      ctx.strokeText(glyph, x, base);
      ctx.fillText(glyph, x, base);
      shapes += 1;
    }
    return shapes;
  }

  /** Describes the canvas for a screen reader. */
  describe(): string {
    const parts = this.lane.series.flatMap((series) =>
      this.state.runs.flatMap((run) => {
        const table = tableOf(run, series);
        if (!table) return [];
        const [low, high] = spread(table.columns.get(columnOf(series.ink))!.values)!;
        const which = this.state.runs.length > 1 ? `${run.letter}, ` : "";
        const unit = this.lane.unit === "seq" ? "bytes" : this.lane.unit;
        return [`${which}${series.label}: ${format.count(table.rows)} points from ${format.value(unit, low)} to ${format.value(unit, high)}`];
      }),
    );
    return `${this.lane.title}. ${parts.length ? parts.join("; ") : "Empty"}.`;
  }

  private fillLegend() {
    const { state } = this;
    const look = [state.visible, [...state.hidden], state.scheme, state.theme].join();
    if (look === this.look) return;
    this.look = look;
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.series;
    this.values.clear();
    const items = this.lane.series
      .filter((series) => state.visible.some((index) => tableOf(state.runs[index], series)))
      .map((series) => this.item(series));
    const why = items.length === 0 ? this.whyEmpty() : null;
    this.section.classList.toggle("empty", why !== null);
    this.legend.replaceChildren(this.title, ...items, ...(why ? [el("p", { class: "why" }, why)] : this.missing()));
    if (focused) this.legend.querySelector<HTMLElement>(`[data-series="${focused}"]`)?.focus();
    this.readValues();
  }

  /** The lane's name, and anything unusual about its axis. */
  get name(): string {
    const { band, fit } = this.state;
    const slope = this.slope();
    const parts = [this.lane.title];
    if (slope > 0) parts.push(`less ${format.rate(slope * 8e6, 3)}`);
    if (this.boxes && !band && fit !== "all") parts.push(fit === "sent" ? "segments sent alone" : "acknowledgements alone");
    return parts.join(", ");
  }

  private fillTitle() {
    const text = this.name;
    if (this.title.textContent !== text) this.title.textContent = text;
  }

  private whyEmpty(): string {
    const { state } = this;
    const first = state.runs[state.visible[0] ?? 0];
    return first?.whyEmpty.get(this.lane.id) ?? "This trace holds nothing for this lane.";
  }

  /** Series that no visible run has; lists each reason once. */
  private missing(): HTMLElement[] {
    const { state } = this;
    const reasons = new Map<string, string[]>();
    for (const { table, label } of this.lane.series) {
      const whys = state.visible.map((index) => state.runs[index].whyEmpty.get(table));
      const [why] = whys;
      if (why && whys.every(Boolean)) reasons.set(why, [...(reasons.get(why) ?? []), label]);
    }
    return [...reasons].map(([why, labels]) => el("p", { class: "why" }, `${labels.join(", ")}: ${why}`));
  }

  private item(series: Series): HTMLElement {
    const { state } = this;
    const hidden = state.hidden.has(series.table);
    const holders = this.holders(series);
    const shape = series.ink.as === "steps" ? (series.ink.dash ? "dashed" : "line") : series.ink.as === "dots" ? "dot" : "bar";
    const value = el("span", { class: "value" });
    this.values.set(series, value);
    const toggle = () => state.change(() => (hidden ? state.hidden.delete(series.table) : state.hidden.add(series.table)));
    const swatches = (series.overlaid === "own" ? holders.slice(0, 1) : holders).map((index) => swatch(this.colour(series, index), shape));
    const rows = holders.map((index) => format.count(tableOf(state.runs[index], series)!.rows)).join(" · ");
    const counted = series.ink.as === "bars" ? el("span", { class: "count" }, rows) : null;
    return el(
      "button",
      { class: "item", type: "button", "aria-pressed": String(!hidden), "data-series": series.table, title: series.step, click: toggle },
      el("span", { class: shape === "bar" || shape === "dot" ? "swatches abreast" : "swatches" }, ...swatches),
      el("span", { class: "name" }, series.label),
      counted,
      value,
    );
  }

  private markAbove() {
    for (const [series, node] of this.values) node.parentElement!.classList.toggle("above", series.soft === true && this.isAbove(series));
  }

  /** Whether a line lies above everything that is shown. */
  private isAbove(series: Series): boolean {
    const { state } = this;
    const slope = this.slope();
    return state.visible.every((index) => {
      const table = tableOf(state.runs[index], series);
      const span = table && extent(table.t, table.columns.get(columnOf(series.ink))!.values, state.x0, state.x1, slope, true);
      return !span || span[0] > this.top;
    });
  }

  private readValues() {
    const { cursor, runs, visible } = this.state;
    const unit = this.lane.unit;
    for (const [series, node] of this.values) {
      if (series.ink.as === "bars") continue;
      const texts = (this.isCommon(series) ? this.holders(series) : visible).map((index) => {
        const table = tableOf(runs[index], series);
        const row = table && cursor !== null ? lastAt(table.t, cursor) : -1;
        if (!table || row < 0) return "–";
        const value = table.columns.get(columnOf(series.ink))!.values[row];
        return unit === "seq" ? format.bytes(value) : format.value(unit, value);
      });
      node.textContent = cursor === null ? "" : texts.join(" · ");
    }
  }
}
