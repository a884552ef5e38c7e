// A chart in the page: drawn anew when its width changes, coloured by CSS alone, with a tooltip on what is nearest.

import { plot, type PlotOptions } from "@observablehq/plot";
import { el } from "../dom";

/** Colours of arms are variables of the style sheet; more than six arms begin again, with other lines. */
const HUES = 6;
export const hue = (arm: number): string => `var(--arm${arm % HUES})`;
export const dash = (arm: number): string | undefined => ["", "6 3", "2 3"][Math.floor(arm / HUES) % 3] || undefined;

/** How lines behind the data look. */
export const GRID = { stroke: "var(--rule)", strokeOpacity: 1 };

/** How tooltips look: wide enough for a line of numbers. */
export const TIP = { fill: "var(--card)", stroke: "var(--rule)", lineHeight: 1.25, lineWidth: 34 };

export interface Pointed {
  cell: number;
  arm: number;
  iteration?: number;
}

/** What is done when someone chooses what a tooltip is about. */
let chosen: (found: Pointed) => void = () => {};
export const onChoice = (then: (found: Pointed) => void) => (chosen = then);

const drawn: { host: HTMLElement; width: number; draw: (width: number) => void }[] = [];

/** Width of what is written on, on paper of any usual size. */
const PAPER = 700;

/** Draws all charts again whose room has another width. */
export function fit(paper = false) {
  for (const chart of drawn) {
    const room = Math.floor(chart.host.clientWidth);
    const width = paper ? Math.min(room, PAPER) : room;
    if (width === 0 || width === chart.width) continue;
    chart.width = width;
    chart.draw(width);
  }
}

/** Makes a chart; `label` is what those hear who do not see it. */
export function chart(label: string, options: (width: number) => PlotOptions): HTMLElement {
  const host = el("div", { class: "chart", role: "img", "aria-label": label });
  const draw = (width: number) => {
    const figure = plot({
      className: "plot-of",
      style: { background: "none", fontSize: "12px", overflow: "visible" },
      ...options(width),
      width,
    }) as SVGSVGElement & { value: Pointed | null };
    // The page's policy allows its own style sheet alone, which has these rules.
    figure.querySelectorAll("style").forEach((style) => style.remove());
    figure.addEventListener("click", () => figure.value && chosen(figure.value));
    host.replaceChildren(figure);
  };
  drawn.push({ host, width: 0, draw });
  return host;
}

/** A box with a heading for a chart or several. */
export function section(id: string, title: string, explained: string, ...content: (Node | string | null)[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `of-${id}` }, el("h2", { id: `of-${id}` }, title), explained ? el("p", { class: "explained" }, explained) : null, ...content);
}

const AT_ONCE = 12;

/** Small charts beside each other; beyond a dozen, the rest on request. */
export function panels(each: { title: string; chart: () => HTMLElement }[], wide = false): HTMLElement {
  const grid = el("div", { class: wide ? "panels wide" : "panels" });
  const show = (some: typeof each) => some.forEach(({ title, chart }) => grid.append(el("figure", {}, el("figcaption", {}, title), chart())));
  show(each.slice(0, AT_ONCE));
  if (each.length <= AT_ONCE) return grid;
  const more = el("button", { class: "more", type: "button" }, `Show all ${each.length}`);
  more.addEventListener("click", () => {
    more.remove();
    show(each.slice(AT_ONCE));
    fit();
  });
  return el("div", {}, grid, more);
}

/** Which colour is which arm. */
export function legend(labels: string[], from = 0): HTMLElement {
  const item = (label: string, arm: number) => {
    const mark = el("i", { class: "swatch block", "aria-hidden": "true" });
    mark.style.setProperty("background", hue(arm));
    return el("li", {}, mark, label);
  };
  return el("ul", { class: "arms" }, ...labels.map((label, arm) => (arm < from ? null : item(label, arm))));
}

/** Room at the left for labels, and the width in which they are wrapped, in ems. */
export function room(labels: string[], width: number): { marginLeft: number; lineWidth: number } {
  const longest = Math.max(...labels.map((label) => label.length), 4);
  const marginLeft = Math.round(Math.min(longest * 7 + 22, Math.max(width * 0.32, 70)));
  return { marginLeft, lineWidth: (marginLeft - 8) / 12 };
}
