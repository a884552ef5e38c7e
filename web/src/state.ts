// The current view. One object, changed by its methods; everything that draws subscribes to it.

import { lastAt } from "./decimate";
import type { Payload, Run } from "./payload";
import type { Scheme, Theme } from "./palette";

/** Parts of the time–sequence lane: an RTT apart, so a segment of either is a dot where both have room. */
export type Fit = "all" | "sent" | "acks";

/** Narrowest span that can be shown, in microseconds. */
const NARROWEST = 20;

export interface FrameStats {
  /** Time to draw the last frame, in milliseconds. */
  ms: number;
  /** Points, bars and bands drawn on all canvases. */
  shapes: number;
  /** Device pixels across one lane. */
  columns: number;
  frames: number;
}

export class State {
  readonly runs: Run[];
  /** End of the longest run, in microseconds. */
  readonly end: number;
  x0 = 0;
  x1: number;
  /** Position of the cursor, in microseconds; null when there is none. */
  cursor: number | null = null;
  shown: boolean[];
  hidden = new Set<string>();
  scheme: Scheme = "tcptrace";
  theme: Theme;
  detrended = false;
  /** Which marks the time–sequence lane must fit. */
  fit: Fit = "all";
  /** Sequence numbers that a drag selected for that lane, detrended in detrended mode; null to fit what is shown. */
  band: [low: number, high: number] | null = null;
  /** Width of a lane's picture in CSS pixels, axis included; measured once a frame, because each query forces a layout. */
  width = 0;
  /** On paper: always light, and as wide as any usual size has room for. */
  paper = false;
  readonly stats: FrameStats = { ms: 0, shapes: 0, columns: 0, frames: 0 };
  /** Whether a frame is being drawn right now. */
  drawing = false;
  private drawers: (() => void)[] = [];
  private cursors: (() => void)[] = [];
  private pending = 0;

  constructor(payload: Payload) {
    this.runs = payload.runs;
    this.end = Math.max(1, ...payload.runs.map((run) => run.end));
    this.x1 = this.end;
    this.shown = payload.runs.map(() => true);
    this.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  /** Called once per frame after any change of what is drawn. */
  onDraw(drawer: () => void) {
    this.drawers.push(drawer);
  }

  onCursor(listener: () => void) {
    this.cursors.push(listener);
  }

  /** Indices of the runs that are switched on. */
  get visible(): number[] {
    return this.runs.map((_, index) => index).filter((index) => this.shown[index]);
  }

  get overlaid(): boolean {
    return this.visible.length > 1;
  }

  /** Mean rate of the first visible run, in sequence numbers per microsecond; the detrended mode subtracts it. */
  get slope(): number {
    if (!this.detrended) return 0;
    const run = this.runs[this.visible[0] ?? 0];
    const acks = run.tables.get("acks");
    const ack = acks?.columns.get("ack");
    if (!acks || !ack || acks.rows < 2) return 0;
    const last = acks.rows - 1;
    return (ack.values[last] - ack.values[0]) / Math.max(1, acks.t[last] - acks.t[0]);
  }

  show(x0: number, x1: number, band: [number, number] | null = null) {
    this.band = band;
    let width = Math.min(this.end, Math.max(NARROWEST, x1 - x0));
    let from = x0 + (x1 - x0 - width) / 2;
    from = Math.min(Math.max(0, from), this.end - width);
    if (width >= this.end * 0.999) {
      from = 0;
      width = this.end;
    }
    this.x0 = from;
    this.x1 = from + width;
    this.redraw();
  }

  /** Makes the span `factor` times as wide; `around` keeps its position. */
  zoom(factor: number, around?: number) {
    const inside = this.cursor !== null && this.cursor >= this.x0 && this.cursor <= this.x1;
    const centre = around ?? (inside ? this.cursor! : (this.x0 + this.x1) / 2);
    this.show(centre - (centre - this.x0) * factor, centre + (this.x1 - centre) * factor, this.x1 - this.x0 < this.end ? this.band : null);
  }

  /** Moves by a fraction of the span; a band of sequence numbers moves with the data. */
  pan(share: number) {
    const width = this.x1 - this.x0;
    const from = Math.min(Math.max(0, this.x0 + width * share), this.end - width);
    const middle = width / 2;
    const risen = this.acked(from + middle) - this.acked(this.x0 + middle) - this.slope * (from - this.x0);
    this.show(from, from + width, this.band && [this.band[0] + risen, this.band[1] + risen]);
  }

  /** What the first visible run had acknowledged at a given time. */
  private acked(at: number): number {
    const acks = this.runs[this.visible[0] ?? 0].tables.get("acks");
    if (!acks || acks.rows === 0) return 0;
    return acks.columns.get("ack")!.values[Math.max(0, lastAt(acks.t, at))];
  }

  reset() {
    this.show(0, this.end);
  }

  moveCursor(at: number | null) {
    this.cursor = at === null ? null : Math.min(Math.max(0, at), this.end);
    for (const listener of this.cursors) listener();
  }

  change(edit: () => void) {
    edit();
    this.redraw();
  }

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => this.drawNow());
  }

  /** Draws at once; used by the first picture and by measurements. */
  drawNow() {
    cancelAnimationFrame(this.pending);
    this.pending = 0;
    const start = performance.now();
    this.stats.shapes = 0;
    this.drawing = true;
    for (const drawer of this.drawers) drawer();
    this.drawing = false;
    this.stats.ms = performance.now() - start;
    this.stats.frames += 1;
  }
}
