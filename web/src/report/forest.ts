// Paired differences by cell: the median ratio of each arm with its interval, and the band within which a difference does not matter.

import { axisFy, axisX, dot, frame, gridX, pointer, rect, ruleX, ruleY, tip, type PlotOptions } from "@observablehq/plot";
import { GRID, TIP, chart, hue, legend, room, section } from "./chart";
import { el } from "../dom";
import { names, rowOf, type Data } from "./data";
import { about, compared, ratio } from "./words";

interface Mark {
  cell: number;
  arm: number;
  place: string;
  label: string;
  middle: number;
  lo: number;
  hi: number;
  colour: string;
  text: string;
}

/** At most so many marks in a picture, so that paper can hold each. */
const MARKS = 64;
const LINE = 14;

const TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

interface Scale {
  x: PlotOptions["x"];
  /** Where a scale of factors has its labels; the other finds its own. */
  ticks: number[] | undefined;
}

/** Ratios on a scale of their own: by steps if all are close, by factors otherwise. */
function scale(marks: Mark[], margin: number): Scale {
  const low = Math.min(...marks.map(({ lo }) => lo), 1 - 2 * margin);
  const high = Math.max(...marks.map(({ hi }) => hi), 1 + 2 * margin);
  const rim = (high - low) * 0.04;
  if (high / low < 4 || low <= 0) return { x: { type: "linear", domain: [low - rim, high + rim] }, ticks: undefined };
  const domain: [number, number] = [low / 1.08, high * 1.08];
  return { x: { type: "log", domain }, ticks: TICKS.filter((tick) => tick >= domain[0] && tick <= domain[1]) };
}

export function forest(data: Data): HTMLElement | null {
  const labels = names(data);
  const marks = data.cells.flatMap((_, cell) =>
    data.arms.flatMap(({ label }, arm): Mark[] => {
      const row = rowOf(data, cell, arm);
      const found = row.vs_reference;
      if (!found) return [];
      const { median_ratio: middle, lo, hi } = found;
      return [{ cell, arm, place: labels[cell], label, middle, lo: lo ?? middle, hi: hi ?? middle, colour: hue(arm), text: `${data.cells[cell].title}\n${about(data, row)}` }];
    }),
  );
  if (!marks.length) return null;
  const found = scale(marks, data.margin);
  const arms = data.arms.length - 1;
  const per = Math.max(1, Math.floor(MARKS / arms));
  const parts: HTMLElement[] = [];
  for (let first = 0; first < data.cells.length; first += per) {
    const cells = labels.slice(first, first + per);
    const some = marks.filter(({ cell }) => cell >= first && cell < first + per);
    const label = some.map(({ place, label, middle }) => `${place}, ${label}: ${ratio(middle)}`).join("; ");
    parts.push(chart(`Ratios to ${data.arms[0].label} by cell: ${label}`, (width) => options(data, some, cells, found, width)));
  }
  const { less_is_better } = data.primary;
  const explained =
    `Each mark is the median over seeds of an arm's ${compared(data)} divided by ${data.arms[0].label}'s; its line is the 95 % interval. ` +
    `Within the grey band, ±${data.margin * 100} %, a difference does not matter. ${less_is_better ? "Left of 1 is better." : "Right of 1 is better."}`;
  return section("forest", "Differences, cell by cell", explained, legend(data.arms.map(({ label }) => label), 1), el("div", { class: "stack" }, ...parts));
}

function options(data: Data, marks: Mark[], cells: string[], { x, ticks }: Scale, width: number): PlotOptions {
  const count = Math.max(3, Math.floor(width / 90));
  const arms = data.arms.slice(1).map(({ label }) => label);
  const { marginLeft, lineWidth } = room(cells, width);
  const lines = Math.max(...cells.map((label) => Math.ceil((label.length * 7) / (marginLeft - 14))));
  const step = Math.max(arms.length * LINE + 8, lines * 15 + 6);
  const one = { y: "label", fy: "place" };
  const named = { label: `${compared(data)}, arm / ${data.arms[0].label}`, labelAnchor: "center", labelArrow: "none", color: "var(--quiet)" } as const;
  return {
    height: cells.length * step + 56,
    marginLeft,
    marginRight: 16,
    marginTop: 8,
    marginBottom: 44,
    x,
    y: { domain: arms, axis: null, padding: 0.6 },
    fy: { domain: cells, padding: 0.08, label: null },
    marks: [
      rect([0], { x1: 1 - data.margin, x2: 1 + data.margin, fill: "var(--band)" }),
      frame({ stroke: "var(--rule)" }),
      ticks ? gridX(ticks, GRID) : gridX({ ...GRID, ticks: count }),
      ruleX([1], { stroke: "var(--quiet)" }),
      axisFy({ anchor: "left", lineWidth, dx: -4, fill: "var(--ink)", textAnchor: "end", frameAnchor: "left", label: null }),
      ticks ? axisX(ticks, { ...named, text: String }) : axisX({ ...named, ticks: count }),
      ruleY(marks, { ...one, x1: "lo", x2: "hi", stroke: "colour", strokeWidth: 2.2 }),
      dot(marks, { ...one, x: "middle", fill: "colour", r: 3.8 }),
      tip(marks, pointer({ ...one, x: "middle", title: "text", ...TIP })),
    ],
  };
}
