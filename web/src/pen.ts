// What lanes are drawn with: the part of a canvas's context that they use, and the same as SVG.

export type Pen = Pick<
  CanvasRenderingContext2D,
  | "save" | "restore" | "beginPath" | "moveTo" | "lineTo" | "stroke" | "fillRect" | "setLineDash" | "fillText" | "strokeText"
  | "strokeStyle" | "fillStyle" | "lineWidth" | "lineJoin" | "globalAlpha" | "font" | "textAlign"
>;

/** A line of the grid with what is written at it; in CSS pixels from the plot's corner. */
export interface Label {
  at: number;
  text: string;
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (found) => ESCAPES[found]);

/** Elements with their attributes, as text. */
export function tag(name: string, attributes: Record<string, string | number>, content = ""): string {
  const own = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`).join("");
  return content ? `<${name}${own}>${content}</${name}>` : `<${name}${own}/>`;
}

/** Tenths of a pixel: no screen shows more. */
const short = (value: number): string => String(Math.round(value * 10) / 10);

interface Look {
  strokeStyle: string;
  fillStyle: string;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  dash: number[];
}

/** Writes what is drawn as SVG. Rectangles of one look become one path. */
export class SvgPen implements Pen {
  strokeStyle = "#000";
  fillStyle = "#000";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign: CanvasTextAlign = "start";
  private dash: number[] = [];
  private readonly parts: string[] = [];
  private readonly saved: Look[] = [];
  private path: string[] = [];
  private filled: { look: string; path: string[] } | null = null;

  save() {
    const { strokeStyle, fillStyle, lineWidth, lineJoin, globalAlpha, font, textAlign, dash } = this;
    this.saved.push({ strokeStyle, fillStyle, lineWidth, lineJoin, globalAlpha, font, textAlign, dash });
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  setLineDash(dash: Iterable<number>) {
    this.dash = [...dash];
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x: number, y: number) {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x: number, y: number) {
    this.path.push(`L${short(x)} ${short(y)}`);
  }

  stroke() {
    this.flush();
    if (!this.path.length) return;
    this.parts.push(tag("path", { d: this.path.join(""), fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth), "stroke-linejoin": this.lineJoin, ...this.dashes(), ...this.alpha() }));
  }

  fillRect(x: number, y: number, width: number, height: number) {
    const look = JSON.stringify({ fill: this.fillStyle, ...this.alpha() });
    if (this.filled?.look !== look) {
      this.flush();
      this.filled = { look, path: [] };
    }
    this.filled.path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`);
  }

  fillText(text: string, x: number, y: number) {
    this.flush();
    this.parts.push(this.text(text, x, y, { fill: this.fillStyle }));
  }

  strokeText(text: string, x: number, y: number) {
    this.flush();
    this.parts.push(this.text(text, x, y, { fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth), "stroke-linejoin": this.lineJoin }));
  }

  /** All that was drawn. */
  written(): string {
    this.flush();
    return this.parts.join("");
  }

  private text(text: string, x: number, y: number, paint: Record<string, string>): string {
    const anchor = this.textAlign === "center" ? "middle" : this.textAlign === "right" || this.textAlign === "end" ? "end" : "start";
    return tag("text", { x: short(x), y: short(y), "text-anchor": anchor, "font-size": 11, "font-weight": 600, ...paint, ...this.alpha() }, escaped(text));
  }

  private flush() {
    if (!this.filled) return;
    this.parts.push(tag("path", { d: this.filled.path.join(""), ...(JSON.parse(this.filled.look) as Record<string, string>) }));
    this.filled = null;
  }

  private dashes(): Record<string, string> {
    return this.dash.length ? { "stroke-dasharray": this.dash.map(short).join(" ") } : {};
  }

  private alpha(): Record<string, number> {
    return this.globalAlpha < 1 ? { opacity: Math.round(this.globalAlpha * 100) / 100 } : {};
  }
}
