// What the arm's flows get beside others: a matrix of shares by company, and shares second by second.

import { axisX, axisY, gridX, gridY, line, pointer, ruleY, tip, type PlotOptions } from "@observablehq/plot";
import { GRID, TIP, chart, dash, hue, legend, panels, section } from "./chart";
import { axesOf, besides, brief, names, rowOf, valueOf, valuesOf, type Cell, type Data } from "./data";
import { BLANK, shade, tiles, type Tile } from "./tile";
import { share } from "./words";

/** What flows of an arm are beside, where a sweep changes it. */
const KEYS = ["flow.company", "flow.mix"];
/** The only column, where none is swept. */
const OTHERS = "the others";

/** How far a share is from the fair one: none of all and all of it are farthest. */
const unfair = (pct: number, fair: number): number => (pct >= fair ? (pct - fair) / (100 - fair) : (fair - pct) / fair);

/** Shares of the arm's flows: a row for each arm, a column for each company or mix; without a colour where the interval holds a fair share. */
export function fairness(data: Data): HTMLElement | null {
  const key = KEYS.find((key) => axesOf(data).includes(key)) ?? null;
  const beside = (cell: Cell) => (key ? brief(data, key, valueOf(cell, key)) : OTHERS);
  const groups = new Map<string, Tile[]>();
  data.cells.forEach((cell, index) => {
    const { fair_pct: fair } = cell;
    const rest = besides(data, cell, [key]);
    data.arms.forEach(({ label }, arm) => {
      const { share_pct: pct, share_lo_pct: lo, share_hi_pct: hi } = rowOf(data, index, arm);
      if (typeof pct !== "number" || fair === null) return;
      const bounds = typeof lo === "number" && typeof hi === "number" ? ([lo, hi] as const) : null;
      const interval = bounds ? ` [${bounds.map((bound) => share(bound)).join(", ")}]` : "";
      const said = `${label}, ${cell.title}\n${share(pct)} %${interval} of all bytes; fair are ${share(fair)} %`;
      const paint = bounds && bounds[0] <= fair && fair <= bounds[1] ? { ...BLANK, ink: "var(--ink)" } : shade(unfair(pct, fair), pct >= fair);
      groups.set(rest, [...(groups.get(rest) ?? []), { cell: index, arm, x: beside(cell), y: label, shown: share(pct), ...paint, text: said }]);
    });
  });
  if (!groups.size) return null;
  const across = { values: key ? valuesOf(data, key).map((value) => brief(data, key, value)) : [OTHERS], label: key === "flow.mix" ? "part of the flows that are the arm's" : "beside" };
  const down = { values: data.arms.map(({ label }) => label), label: "arm" };
  const drawn = [...groups].map(([title, own]) => ({
    title,
    chart: () => chart(`Shares in per cent, ${title}: ${own.map(({ x, y, shown }) => `${y} beside ${x}: ${shown}`).join("; ")}`, (width) => tiles(own, across, down, width)),
  }));
  const explained =
    `What the flows of each arm, a row, get beside others, a column: per cent of all bytes read in the window, median of runs. Blue is more than a fair share, orange less; ` +
    `without a colour where the 95 % interval holds the fair share. Point at a share for its interval.`;
  return section("fairness", key === "flow.mix" ? "Shares by mix" : "Shares by company", explained, panels(drawn, across.values.length > 4));
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
        tip(own, pointer({ x: "second", y: "pct", title: "text", ...TIP })),
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
