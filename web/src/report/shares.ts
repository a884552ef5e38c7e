// What the arm's flows get beside others: a matrix of shares by company, and shares second by second.

import { axisX, axisY, cell as tile, gridX, gridY, line, pointer, ruleY, text, tip, type PlotOptions } from "@observablehq/plot";
import { GRID, chart, dash, hue, legend, panels, room, section } from "./chart";
import { axesOf, besides, brief, names, rowOf, valueOf, valuesOf, type Data } from "./data";
import { number, share } from "./words";

const KEY = "flow.company";

interface Square {
  cell: number;
  arm: number;
  x: string;
  y: string;
  shown: string;
  colour: string;
  ink: string;
  text: string;
}

/** Blue above the fair share, orange below, full at none and at all. */
function shade(pct: number, fair: number): { colour: string; ink: string } {
  const far = pct >= fair ? (pct - fair) / (100 - fair) : (fair - pct) / fair;
  const strength = Math.round(Math.min(1, far) * 92 + 4);
  return { colour: `color-mix(in srgb, ${pct >= fair ? "var(--better)" : "var(--worse)"} ${strength}%, var(--card))`, ink: strength > 66 ? "var(--card)" : "var(--ink)" };
}

/** Shares of the arm's flows: a row for each arm, a column for each company. */
export function fairness(data: Data): HTMLElement | null {
  if (!axesOf(data).includes(KEY) || data.cells.some(({ fair_pct }) => fair_pct === null)) return null;
  const groups = new Map<string, Square[]>();
  data.cells.forEach((cell, index) => {
    const rest = besides(data, cell, [KEY]);
    data.arms.forEach(({ label }, arm) => {
      const row = rowOf(data, index, arm);
      const [pct, lo, hi] = [row.share_pct, row.share_lo_pct, row.share_hi_pct];
      if (typeof pct !== "number") return;
      const interval = typeof lo === "number" ? ` [${number(lo, 1)}, ${number(hi, 1)}]` : "";
      const said = `${label}, ${cell.title}\n${number(pct, 1)} %${interval} of all bytes; fair are ${number(cell.fair_pct, 1)} %`;
      const found = { cell: index, arm, x: brief(data, KEY, valueOf(cell, KEY)), y: label, shown: number(pct, 1), ...shade(pct, cell.fair_pct!), text: said };
      groups.set(rest, [...(groups.get(rest) ?? []), found]);
    });
  });
  if (!groups.size) return null;
  const xs = valuesOf(data, KEY).map((value) => brief(data, KEY, value));
  const ys = data.arms.map(({ label }) => label);
  const drawn = [...groups].map(([title, squares]) => ({
    title,
    chart: () => chart(`Shares in per cent, ${title}: ${squares.map(({ x, y, shown }) => `${y} beside ${x}: ${shown}`).join("; ")}`, (width) => matrix(squares, xs, ys, width)),
  }));
  return section("fairness", "Shares by company", "What the flows of each arm, a row, get beside others, a column: per cent of all bytes read in the window, median of runs. Blue is more than a fair share, orange less.", panels(drawn, xs.length > 4));
}

function matrix(squares: Square[], xs: string[], ys: string[], width: number): PlotOptions {
  const { marginLeft, lineWidth } = room(ys, width);
  const column = (width - marginLeft - 12) / xs.length;
  const lines = Math.min(5, Math.ceil((Math.max(...xs.map(({ length }) => length)) * 8) / Math.max(column - 4, 20)));
  return {
    height: ys.length * 34 + 42 + lines * 14,
    marginLeft,
    marginRight: 12,
    marginTop: 20,
    marginBottom: 26 + lines * 14,
    x: { domain: xs, padding: 0.04 },
    y: { domain: ys, padding: 0.08 },
    marks: [
      tile(squares, { x: "x", y: "y", fill: "colour", stroke: "var(--rule)" }),
      text(squares, { x: "x", y: "y", text: "shown", fill: "ink", fontWeight: 600, fontSize: column < 46 ? 10 : 12 }),
      axisX({ label: "beside", lineWidth: Math.max(3, (column - 2) / 12), tickSize: 0, labelAnchor: "center", labelArrow: "none", color: "var(--quiet)" }),
      axisY({ label: "arm", lineWidth, tickSize: 0, labelAnchor: "top", labelArrow: "none", color: "var(--quiet)" }),
      tip(squares, pointer({ x: "x", y: "y", title: "text", fill: "var(--card)", stroke: "var(--rule)" })),
    ],
  };
}

/** Shares second by second, of the run with the median goodput of each arm. */
export function courses(data: Data): HTMLElement | null {
  if (!data.courses.length) return null;
  const labels = names(data);
  const points = data.courses.flatMap(({ cell, arm, iteration, share_pct }) =>
    share_pct.flatMap((pct, second) => {
      if (pct === null) return [];
      const said = `${data.arms[arm].label}, ${data.cells[cell].title}, run ${iteration}\nsecond ${second}: ${share(pct)} % of all bytes acknowledged`;
      return [{ cell, arm, iteration, second: second + 0.5, pct, text: said }];
    }),
  );
  const options = (cell: number) => (width: number): PlotOptions => {
    const own = points.filter((point) => point.cell === cell);
    const arms = [...new Set(own.map(({ arm }) => arm))];
    const fair = data.cells[cell].fair_pct;
    const ticks = Math.max(3, Math.floor(width / 80));
    return {
      height: 220,
      marginLeft: 46,
      marginRight: 14,
      marginTop: 12,
      marginBottom: 40,
      x: { nice: true },
      y: { domain: [0, 100] },
      marks: [
        gridX({ ...GRID, ticks }),
        gridY({ ...GRID, ticks: 4 }),
        fair === null ? null : ruleY([fair], { stroke: "var(--quiet)", strokeDasharray: "4 3" }),
        ...arms.map((arm) => line(own.filter((point) => point.arm === arm), { x: "second", y: "pct", stroke: hue(arm), strokeWidth: 1.5, strokeDasharray: dash(arm) })),
        axisX({ label: "seconds", labelAnchor: "center", labelArrow: "none", ticks, color: "var(--quiet)" }),
        axisY({ label: null, ticks: 4, tickFormat: (pct: number) => `${pct} %`, color: "var(--quiet)" }),
        tip(own, pointer({ x: "second", y: "pct", title: "text", fill: "var(--card)", stroke: "var(--rule)" })),
      ],
    };
  };
  const cells = [...new Set(points.map(({ cell }) => cell))];
  return section(
    "courses",
    "Shares over time",
    "What the arm's flows get of all bytes acknowledged in each second, in the run with the arm's median goodput. The broken line is a fair share.",
    legend(data.arms.map(({ label }) => label)),
    panels(cells.map((cell) => ({ title: labels[cell], chart: () => chart(`Shares over time in ${data.cells[cell].title}`, options(cell)) }))),
  );
}
