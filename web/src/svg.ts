// All visible lanes as one SVG file, which needs nothing else: what happened, the runs, and each lane with its axes and its legend.

import { GUTTER, MARGIN, type Chart } from "./chart";
import { columnOf } from "./lane";
import type { LaneView } from "./lane";
import { LIMITS, type Series } from "./lanes";
import { limitHue, runHue } from "./palette";
import { escaped, tag } from "./pen";
import type { LimitsView, RowsView } from "./rows";
import type { State } from "./state";

const LINE = 18;
const FONT = "Inter, system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

interface Item {
  colours: string[];
  text: string;
}

interface Part {
  title: string;
  chart: Chart;
  items: Item[];
  grid: boolean;
}

export interface Views {
  lanes: LaneView[];
  limits: LimitsView;
  rows: RowsView;
}

const paint = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function text(x: number, y: number, content: string, more: Record<string, string | number> = {}): string {
  return tag("text", { x, y, fill: paint("--ink"), "font-size": 12, ...more }, escaped(content));
}

const isDrawn = (section: HTMLElement): boolean => !section.classList.contains("empty");

/** The lanes that show something, in their order. */
function partsOf({ lanes, limits, rows }: Views, state: State): Part[] {
  const item = (view: LaneView, series: Series): Item[] => {
    const colours = state.hidden.has(series.table) ? [] : view.holders(series).map((index) => view.colour(series, index));
    return colours.length && columnOf(series.ink) ? [{ colours: [...new Set(colours)], text: series.label }] : [];
  };
  const parts = lanes
    .filter(({ section }) => isDrawn(section))
    .map((view): Part => ({ title: view.name, chart: view.chart, items: view.lane.series.flatMap((series) => item(view, series)), grid: true }));
  const causes = [...new Set(state.visible.flatMap((index) => state.runs[index].shares.map(([cause]) => cause)))];
  if (isDrawn(limits.section)) parts.push({ title: LIMITS.title, chart: limits.chart, items: causes.map((cause) => ({ colours: [limitHue(cause, state.theme)], text: cause })), grid: false });
  parts.push({ title: "Events", chart: rows.chart, items: [], grid: false });
  return parts;
}

/** The legend in lines that fit; returns its height, too. */
function legend(items: Item[], width: number): [string, number] {
  let [x, y] = [0, 0];
  const drawn = items.map(({ colours, text: content }) => {
    const wide = colours.length * 10 + 10 + content.length * 6.8 + 12;
    if (x > 0 && x + wide > width) [x, y] = [0, y + LINE];
    const marks = colours.map((colour, at) => tag("rect", { x: x + at * 10, y: y - 8, width: 8, height: 8, rx: 1.5, fill: colour })).join("");
    const out = marks + text(x + colours.length * 10 + 4, y, content);
    x += wide;
    return out;
  });
  return [drawn.join(""), items.length ? y + LINE : 0];
}

function lane({ title, chart, items, grid }: Part, y: number, number: number): [string, number] {
  const { drawn, width, height, times, values } = chart.drawSvg();
  const [named, deep] = legend(items, width);
  const top = LINE + deep + 4;
  const rule = (attributes: Record<string, number>) => tag("line", { ...attributes, stroke: paint("--grid") });
  const vertical = times.map(({ at }) => rule({ x1: at, x2: at, y1: 0, y2: height }));
  const across = grid ? values.map(({ at }) => rule({ x1: 0, x2: width, y1: at, y2: at })) : [];
  const quiet = { fill: paint("--quiet") };
  const under = times.map(({ at, text: content }) => content && text(at, height + 16, content, { ...quiet, "text-anchor": "middle" }));
  const beside = values.map(({ at, text: content }) => content && text(-8, at + 4, content, { ...quiet, "text-anchor": "end" }));
  const clip = `plot-${number}`;
  const body = [
    text(0, 0, title, { "font-weight": 650, "font-size": 13 }),
    tag("g", { transform: `translate(0 ${LINE})` }, named || " "),
    tag("clipPath", { id: clip }, tag("rect", { width, height })),
    tag("g", { transform: `translate(0 ${top})` }, [...vertical, ...across, tag("g", { "clip-path": `url(#${clip})` }, drawn || " "), ...under, ...beside].join("")),
  ];
  return [tag("g", { transform: `translate(${GUTTER} ${y})` }, body.join("")), top + height + 42];
}

/** The file's text. */
export function svg(views: Views, state: State, story: string): string {
  const parts = partsOf(views, state);
  const width = GUTTER + MARGIN + Math.max(1, ...parts.map(({ chart }) => chart.over.clientWidth));
  let y = 28;
  const head = [text(16, y, document.title, { "font-size": 16, "font-weight": 650 })];
  if (story) head.push(text(16, (y += 22), story, { "font-size": 13 }));
  const several = state.runs.length > 1;
  for (const index of state.visible) {
    const { letter, name, about, facts } = state.runs[index];
    const [fast] = facts;
    const said = [several ? `${letter}  ${name}` : name, fast ? `${fast[1]} ${fast[0]}` : "", about].filter(Boolean).join("  ·  ");
    head.push(tag("rect", { x: 16, y: y + 10, width: 10, height: 10, rx: 2, fill: several ? runHue(index, state.theme) : paint("--accent") }), text(32, (y += 20), said, { fill: paint("--quiet") }));
  }
  y += 32;
  const lanes = parts.map((part, number) => {
    const [drawn, height] = lane(part, y, number);
    y += height;
    return drawn;
  });
  const size = { width, height: y, viewBox: `0 0 ${width} ${y}` };
  const back = tag("rect", { width, height: y, fill: paint("--card") });
  const title = tag("title", {}, escaped(document.title));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${tag("svg", { xmlns: "http://www.w3.org/2000/svg", ...size, "font-family": FONT }, [title, back, ...head, ...lanes].join(""))}\n`;
}

/** Gives the reader the file. */
export function save(name: string, content: string) {
  const url = URL.createObjectURL(new Blob([content], { type: "image/svg+xml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
