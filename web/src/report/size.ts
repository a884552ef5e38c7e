// How long a transfer takes, by its size: both on scales of factors.

import { axisX, axisY, dot, gridX, gridY, line, pointer, tip, type PlotOptions } from "@observablehq/plot";
import { bytes } from "../format";
import { GRID, TIP, chart, dash, hue, legend, panels, section } from "./chart";
import { axesOf, besides, rowOf, type Data } from "./data";
import { ticks } from "./ticks";

const KEY = "flow.bytes";

interface Point {
  cell: number;
  arm: number;
  size: number;
  time: number;
  colour: string;
  text: string;
}

const time = (ms: number): string => (ms >= 1000 ? `${Number((ms / 1000).toPrecision(4))} s` : `${Number(ms.toPrecision(4))} ms`);

export function sizes(data: Data): HTMLElement | null {
  if (!axesOf(data).includes(KEY)) return null;
  const groups = new Map<string, Point[]>();
  data.cells.forEach((cell, index) => {
    const rest = besides(data, cell, [KEY]);
    data.arms.forEach(({ label }, arm) => {
      const row = rowOf(data, index, arm);
      const [size, took] = [row.cell.bytes, row.elapsed_ms];
      if (size === null || typeof took !== "number") return;
      groups.set(rest, [...(groups.get(rest) ?? []), { cell: index, arm, size, time: took, colour: hue(arm), text: `${label}, ${cell.title}\n${bytes(size)} in ${time(took)}, median` }]);
    });
  });
  if (!groups.size) return null;
  return section(
    "sizes",
    "Completion time by size",
    "Median time from the first SYN to the last byte read. Both axes count in factors, so that lines in parallel are a constant factor apart.",
    legend(data.arms.map(({ label }) => label)),
    panels([...groups].map(([title, points]) => ({ title, chart: () => chart(`Completion time by size, ${title}`, (width) => options(points, width)) }))),
  );
}

function options(points: Point[], width: number): PlotOptions {
  const [xs, ys] = [ticks(points.map(({ size }) => size)), ticks(points.map(({ time }) => time))];
  const arms = [...new Set(points.map(({ arm }) => arm))];
  return {
    height: 230,
    marginLeft: 58,
    marginRight: 18,
    marginTop: 12,
    marginBottom: 40,
    x: { type: "log" },
    y: { type: "log" },
    marks: [
      gridX(xs, GRID),
      gridY(ys, GRID),
      axisX(width < 240 ? xs.filter((_, at) => at % 2 === 0) : xs, { text: (size: number) => bytes(size), label: "size", labelAnchor: "center", labelArrow: "none", color: "var(--quiet)" }),
      axisY(ys, { text: time, label: null, color: "var(--quiet)" }),
      ...arms.map((arm) => line(points.filter((point) => point.arm === arm), { x: "size", y: "time", stroke: hue(arm), strokeWidth: 1.8, strokeDasharray: dash(arm) })),
      dot(points, { x: "size", y: "time", fill: "colour", r: 3 }),
      tip(points, pointer({ x: "size", y: "time", title: "text", ...TIP })),
    ],
  };
}
