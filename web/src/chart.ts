// One uPlot instance per lane: uPlot owns the axes, the grid and the drag that selects a span; its `draw` hook draws the data
// between the axes, from tables of any length.

import uPlot from "uplot";
import type { Frame } from "./decimate";
import { el } from "./dom";
import * as format from "./format";
import type { Unit } from "./payload";
import { SvgPen, type Label, type Pen } from "./pen";
import type { State } from "./state";

export const GUTTER = 84;
export const MARGIN = 14;
/** Width of what is written on, on paper of any usual size, CSS pixels. */
const PAPER = 690;
/** Maximum width of a digit on an axis, CSS pixels. */
const DIGIT = 7.7;

export interface Painter {
  /** CSS pixels, axes included. */
  height: number;
  /** Whether to draw labels under the time axis, or only its grid. */
  times: boolean;
  /** Unit of the vertical axis; null for none. */
  unit: Unit | null;
  /** Whether a drag may also select a range of values. */
  boxes?: boolean;
  /** Names at places of an axis without a unit. */
  names?(): { at: number; name: string }[];
  /** Smallest and largest value to show. */
  range(): [number, number];
  /** Returns the number of shapes. */
  draw(ctx: Pen, frame: Frame, ratio: number): number;
}

const ink = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  readonly plot: uPlot;
  readonly over: HTMLElement;
  private readonly line: HTMLElement;
  /** What stands at the axes, as uPlot last asked for it. */
  private times: [number, string][] = [];
  private values: [number, string][] = [];

  constructor(
    host: HTMLElement,
    private readonly state: State,
    private readonly painter: Painter,
  ) {
    this.plot = new uPlot(this.options(), [[0, state.end], [null, null]] as unknown as uPlot.AlignedData, host);
    this.over = this.plot.over;
    this.line = el("div", { class: "cursor-line", hidden: true });
    this.over.append(this.line);
    this.plot.ctx.canvas.setAttribute("role", "img");
    state.onDraw(() => this.redraw());
    state.onCursor(() => this.moveLine());
    this.listen();
  }

  private options(): uPlot.Options {
    const { painter } = this;
    const font = "12px Inter, ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    const common = { stroke: ink("--quiet"), font, grid: { stroke: ink("--grid"), width: 1 }, ticks: { show: false } };
    return {
      width: this.width(),
      height: painter.height,
      padding: [8, MARGIN, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, auto: false, min: this.state.x0, max: this.state.x1 }, y: { auto: false, min: 0, max: 1 } },
      axes: [
        { ...common, size: painter.times ? 28 : 4, space: 90, values: (u: uPlot, splits: number[]) => this.noteTimes(splits, painter.times ? this.timesThatFit(u, splits) : splits.map(() => "")) },
        {
          ...common,
          size: GUTTER,
          gap: 8,
          space: 34,
          grid: { ...common.grid, show: painter.unit !== null },
          ...(painter.unit ? {} : { splits: () => (painter.names?.() ?? []).map(({ at }) => at) }),
          values: (_: uPlot, splits: number[]) => this.noteValues(splits, painter.unit ? format.axis(painter.unit, splits) : (painter.names?.() ?? []).map(({ name }) => name)),
        },
      ],
      series: [{}, { show: false }],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: true, y: painter.boxes === true, uni: 40, setScale: false },
        bind: { dblclick: () => () => (this.state.reset(), null) },
      },
      hooks: { draw: [(u) => this.paint(u)], setSelect: [(u) => this.selected(u)] },
    };
  }

  private noteTimes(splits: number[], texts: string[]): string[] {
    this.times = splits.map((at, i) => [at, texts[i]]);
    return texts;
  }

  private noteValues(splits: number[], texts: string[]): string[] {
    this.values = splits.map((at, i) => [at, texts[i] ?? ""]);
    return texts;
  }

  /** The same picture as SVG, and what stands at its axes; in CSS pixels from the plot's corner. */
  drawSvg(): { drawn: string; width: number; height: number; times: Label[]; values: Label[] } {
    const { clientWidth: width, clientHeight: height } = this.over;
    const { x0, x1 } = this.state;
    const [y0, y1] = this.painter.range();
    const pen = new SvgPen();
    this.painter.draw(pen, { width, height, x0, x1, y0, y1, slope: 0 }, 1);
    const times = this.times.map(([at, text]) => ({ at: ((at - x0) / (x1 - x0)) * width, text }));
    const values = this.values.map(([at, text]) => ({ at: ((y1 - at) / (y1 - y0)) * height, text }));
    return { drawn: pen.written(), width, height, times, values };
  }

  /** Omits the labels that the edge would cut. */
  private timesThatFit(u: uPlot, splits: number[]): string[] {
    const { x0, x1 } = this.state;
    const perTime = (u.width - GUTTER - MARGIN) / (x1 - x0);
    const room = (at: number) => (x1 - at) * perTime + MARGIN;
    return format.times(splits).map((text, i) => (text.length * DIGIT > 2 * room(splits[i]) ? "" : text));
  }

  private width(): number {
    return this.state.paper ? PAPER : Math.max(240, Math.floor(this.state.width));
  }

  /** Describes the picture for a screen reader. */
  describe(label: string) {
    this.plot.ctx.canvas.setAttribute("aria-label", label);
  }

  private redraw() {
    const width = this.width();
    const [low, high] = this.painter.range();
    this.plot.batch(() => {
      if (width !== this.plot.width) this.plot.setSize({ width, height: this.painter.height });
      this.plot.setScale("x", { min: this.state.x0, max: this.state.x1 });
      this.plot.setScale("y", { min: low, max: high });
      this.plot.redraw(false, true);
    });
    this.moveLine();
  }

  private paint(u: uPlot) {
    if (!this.state.drawing) return; // uPlot paints once by itself, before the axes are known.
    const { ctx, bbox } = u;
    const width = Math.max(1, Math.round(bbox.width));
    const height = Math.max(1, Math.round(bbox.height));
    const y = u.scales.y;
    const frame: Frame = { width, height, x0: this.state.x0, x1: this.state.x1, y0: y.min ?? 0, y1: y.max ?? 1, slope: 0 };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.translate(bbox.left, bbox.top);
    this.state.stats.shapes += this.painter.draw(ctx, frame, uPlot.pxRatio);
    this.state.stats.columns = width;
    ctx.restore();
  }

  private selected(u: uPlot) {
    const { left, top, width, height } = u.select;
    if (width < 4 || height < 4) return;
    const [from, until] = [this.time(left), this.time(left + width)];
    const isBox = this.painter.boxes && height < this.over.clientHeight - 1;
    const band: [number, number] | null = isBox ? [u.posToVal(top + height, "y"), u.posToVal(top, "y")] : null;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.state.show(from, until, band);
  }

  /** The time at a point, in CSS pixels from the plot's left edge. */
  time(left: number): number {
    return this.state.x0 + (left / this.over.clientWidth) * (this.state.x1 - this.state.x0);
  }

  private moveLine() {
    const { cursor, x0, x1 } = this.state;
    const inside = cursor !== null && cursor >= x0 && cursor <= x1;
    this.line.hidden = !inside;
    if (inside) this.line.style.transform = `translateX(${((cursor - x0) / (x1 - x0)) * this.over.clientWidth}px)`;
  }

  private listen() {
    this.over.addEventListener("mousemove", (event) => {
      this.state.moveCursor(this.time(event.clientX - this.over.getBoundingClientRect().left));
    });
    this.over.addEventListener(
      "wheel",
      (event) => {
        const along = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
        if (along) this.state.pan(Math.sign(along) * 0.08);
        else if (event.ctrlKey || event.metaKey || event.altKey) this.state.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(event.offsetX));
        else return;
        event.preventDefault();
      },
      { passive: false },
    );
  }
}
