// How single runs lie: their distribution by cell, and goodput against queueing delay.

import { axisX, axisY, dot, frame, gridX, gridY, line, pointer, tip, type PlotOptions } from "@observablehq/plot";
import { el } from "../dom";
import { GRID, TIP, chart, dash, fit, hue, legend, panels, section, type Pointed } from "./chart";
import { names, type Data } from "./data";
import { ratio } from "./words";

interface Step extends Pointed {
  value: number;
  share: number;
  label: string;
  colour: string;
  dash: string | undefined;
  text: string;
}

type Quantity = "goodput_mbps" | "elapsed_ms";
const QUANTITIES: Record<Quantity, [label: string, unit: string]> = {
  goodput_mbps: ["goodput", "Mbit/s"],
  elapsed_ms: ["completion time", "ms"],
};

const shown = (value: number): string => String(Number(value.toPrecision(4)));

/** The steps of an empirical distribution, from none to all. */
function steps(data: Data, found: { cell: number; arm: number; iteration?: number; value: number }[], unit: string): Step[] {
  const sorted = [...found].sort((one, other) => one.value - other.value);
  return sorted.map((each, at) => {
    const { label } = data.arms[each.arm];
    const run = each.iteration === undefined ? "" : `, run ${each.iteration}`;
    return {
      ...each,
      share: (at + 1) / sorted.length,
      label,
      colour: hue(each.arm),
      dash: dash(each.arm),
      text: `${label}, ${data.cells[each.cell].title}${run}\n${shown(each.value)} ${unit}\n${at + 1} of ${sorted.length} are not more`,
    };
  });
}

const lineUp = { labelAnchor: "center", labelArrow: "none", color: "var(--quiet)" } as const;

function distribution(all: Step[], label: string, width: number): PlotOptions {
  const arms = [...new Set(all.map(({ arm }) => arm))];
  const ticks = Math.max(3, Math.floor(width / 80));
  /** A line begins at zero. */
  const of = (arm: number) => {
    const own = all.filter((step) => step.arm === arm);
    return [{ ...own[0], share: 0 }, ...own];
  };
  return {
    height: 220,
    marginLeft: 46,
    marginBottom: 40,
    marginRight: 14,
    marginTop: 12,
    x: { label, nice: true },
    y: { domain: [0, 1], label: null },
    marks: [
      gridX({ ...GRID, ticks }),
      gridY({ ...GRID, ticks: 4 }),
      ...arms.map((arm) => line(of(arm), { x: "value", y: "share", curve: "step-after", stroke: hue(arm), strokeWidth: 1.8, strokeDasharray: dash(arm) })),
      dot(all, { x: "value", y: "share", fill: "colour", r: all.length > 400 ? 1 : 1.8 }),
      axisX({ ...lineUp, ticks }),
      axisY({ ticks: 4, tickFormat: (share: number) => `${share * 100} %`, color: "var(--quiet)" }),
      tip(all, pointer({ x: "value", y: "share", title: "text", ...TIP })),
    ],
  };
}

export function distributions(data: Data): HTMLElement | null {
  const { runs } = data;
  const labels = names(data);
  const several = data.cells.flatMap((_, cell) => (runs.cell.filter((own) => own === cell).length > data.arms.length ? [cell] : []));
  const host = el("div", {});
  const fill = (quantity: Quantity) => {
    const [label, unit] = QUANTITIES[quantity];
    const of = (cell: number) =>
      data.arms.flatMap((_, arm) =>
        steps(data, runs.cell.flatMap((own, at) => (own === cell && runs.arm[at] === arm ? [{ cell, arm, iteration: runs.iteration[at], value: runs[quantity][at] }] : [])), unit),
      );
    host.replaceChildren(
      panels(several.map((cell) => ({ title: labels[cell], chart: () => chart(`Distribution of ${label} in ${data.cells[cell].title}`, (width) => distribution(of(cell), `${label}, ${unit}`, width)) }))),
    );
    fit();
  };
  const across = overCells(data);
  if (!several.length && !across) return null;
  const select = el("select", { "aria-label": "quantity" }, ...Object.entries(QUANTITIES).map(([key, [label]]) => el("option", { value: key }, label)));
  select.addEventListener("change", () => fill(select.value as Quantity));
  if (several.length) fill("goodput_mbps");
  return section(
    "distributions",
    "Distributions",
    "The share of runs that are not above a value. Lines that cross say that an arm is better in the middle and worse at an end.",
    legend(data.arms.map(({ label }) => label)),
    several.length ? el("p", { class: "choices" }, "of ", select) : null,
    host,
    across,
  );
}

const MANY_CELLS = 6;

/** The same over cells: in how many of them an arm's ratio is at most so large. */
function overCells(data: Data): HTMLElement | null {
  const found = data.arms.map((_, arm) => data.rows.flatMap((row, at) => (at % data.arms.length === arm && row.vs_reference ? [{ cell: Math.floor(at / data.arms.length), arm, value: row.vs_reference.median_ratio }] : [])));
  if (data.cells.length < MANY_CELLS || found.every((own) => !own.length)) return null;
  const all = found.flatMap((own) => steps(data, own, `× ${data.arms[0].label}`)).map((step) => ({ ...step, text: step.text.replace(/^\S+ ×/m, `${ratio(step.value)} ×`) }));
  const title = `Over all cells: ${data.primary.name}, arm / ${data.arms[0].label}`;
  return panels([{ title, chart: () => chart(title, (width) => distribution(all, `${data.primary.name}, arm / ${data.arms[0].label}`, width)) }], true);
}

/** One standard deviation about the mean, as a line around it. */
function outline({ centre, deviation, correlation }: Data["ellipses"][number]): { x: number; y: number }[] {
  const rest = Math.sqrt(1 - correlation * correlation);
  return Array.from({ length: 73 }, (_, at) => {
    const [cos, sin] = [Math.cos((at * Math.PI) / 36), Math.sin((at * Math.PI) / 36)];
    return { x: centre[0] + deviation[0] * cos, y: centre[1] + deviation[1] * (correlation * cos + rest * sin) };
  });
}

export function delays(data: Data): HTMLElement | null {
  const { runs, ellipses } = data;
  if (!runs.wait_p95_ms) return null;
  const labels = names(data);
  const points = runs.cell.flatMap((cell, at) => {
    const [arm, iteration, x, y] = [runs.arm[at], runs.iteration[at], runs.wait_p95_ms![at], runs.goodput_mbps[at]];
    if (x === null) return [];
    return [{ cell, arm, iteration, x, y, colour: hue(arm), text: `${data.arms[arm].label}, ${data.cells[cell].title}, run ${iteration}\n${shown(y)} Mbit/s\n95 of 100 packets waited at most ${shown(x)} ms` }];
  });
  const options = (cell: number) => (width: number): PlotOptions => {
    const own = points.filter((point) => point.cell === cell);
    const ticks = Math.max(3, Math.floor(width / 80));
    return {
      height: 240,
      marginLeft: 46,
      marginBottom: 40,
      marginRight: 16,
      marginTop: 22,
      x: { reverse: true, nice: true },
      y: { nice: true },
      marks: [
        gridX({ ...GRID, ticks }),
        gridY({ ...GRID, ticks: 5 }),
        frame({ stroke: "var(--rule)" }),
        ...ellipses.filter((ellipse) => ellipse.cell === cell).map((ellipse) => line(outline(ellipse), { x: "x", y: "y", stroke: hue(ellipse.arm), fill: hue(ellipse.arm), fillOpacity: 0.14, strokeWidth: 1.4 })),
        dot(own, { x: "x", y: "y", fill: "colour", r: 2.2, fillOpacity: 0.75 }),
        axisX({ ...lineUp, label: "← queueing delay, P95, ms", ticks }),
        axisY({ label: "Mbit/s", labelArrow: "none", ticks: 5, color: "var(--quiet)" }),
        tip(own, pointer({ x: "x", y: "y", title: "text", ...TIP })),
      ],
    };
  };
  const cells = [...new Set(points.map(({ cell }) => cell))];
  return section(
    "delays",
    "Goodput against queueing delay",
    "A point is a run; an ellipse is one standard deviation about the mean of an arm's. Up and to the right is better: more goodput, and shorter waits at the bottleneck for 95 of 100 packets.",
    legend(data.arms.map(({ label }) => label)),
    panels(cells.map((cell) => ({ title: labels[cell], chart: () => chart(`Goodput against queueing delay in ${data.cells[cell].title}`, options(cell)) }))),
  );
}
