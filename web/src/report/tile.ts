// Tiles of a map: a value in each place of two axes, coloured by how far it is from what is even, with its numbers on hover.

import { axisX, axisY, cell as tile, pointer, text, tip, type PlotOptions } from "@observablehq/plot";
import { TIP, room, type Pointed } from "./chart";

export interface Tile extends Pointed {
  x: string;
  y: string;
  /** What is written on it; nothing leaves it blank. */
  shown: string;
  colour: string;
  ink: string;
  /** All its numbers. */
  text: string;
}

/** How a tile is painted that says nothing. */
export const BLANK = { colour: "var(--card)", ink: "var(--quiet)" };

/** Blue is better, orange is worse, and the farther from even, the stronger: `far` is 1 where the colour is full. */
export function shade(far: number, isBetter: boolean): { colour: string; ink: string } {
  const strength = Math.round(Math.min(1, far) * 85 + 12);
  const hue = isBetter ? "var(--better)" : "var(--worse)";
  return { colour: `color-mix(in srgb, ${hue} ${strength}%, var(--card))`, ink: strength > 66 ? "var(--card)" : "var(--ink)" };
}

export interface Axis {
  values: string[];
  label: string | null;
}

/** The widths of letters, CSS pixels, and the most lines below a column. */
const LETTER = 7;
const LINES = 6;

export function tiles(own: Tile[], across: Axis, down: Axis, width: number): PlotOptions {
  const { marginLeft, lineWidth } = room(down.values, width);
  const column = (width - marginLeft - 12) / across.values.length;
  const longest = Math.max(...across.values.map(({ length }) => length));
  const lines = Math.min(LINES, Math.ceil((longest * LETTER) / Math.max(column - 6, 20)));
  const wrapped = Math.max(...down.values.map((value) => Math.ceil((value.length * LETTER) / (marginLeft - 12))));
  const quiet = { tickSize: 0, labelArrow: "none", color: "var(--quiet)" } as const;
  return {
    height: down.values.length * Math.max(32, wrapped * 15 + 4) + 42 + lines * 14,
    marginLeft,
    marginRight: 12,
    marginTop: 20,
    marginBottom: 26 + lines * 14,
    x: { domain: across.values, padding: 0.04, label: across.label },
    y: { domain: down.values, padding: 0.08, label: down.label },
    marks: [
      tile(own, { x: "x", y: "y", fill: "colour", stroke: "var(--rule)" }),
      text(own, { x: "x", y: "y", text: "shown", fill: "ink", fontWeight: 600, fontSize: column < 46 ? 10 : 12 }),
      axisX({ ...quiet, lineWidth: Math.max(2, (column - 4) / 12), labelAnchor: "center" }),
      axisY({ ...quiet, lineWidth, labelAnchor: "top" }),
      tip(own, pointer({ x: "x", y: "y", title: "text", ...TIP })),
    ],
  };
}
