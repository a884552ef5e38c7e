// The page: parses its embedded data, builds the lanes, draws.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { keep } from "./address";
import { Controls } from "./controls";
import { el } from "./dom";
import { fillCards } from "./header";
import { Tooltip } from "./hover";
import { LaneView } from "./lane";
import { lanesOf } from "./lanes";
import { decode } from "./payload";
import { LimitsView, RowsView } from "./rows";
import { State } from "./state";
import { story } from "./story";
import { summary } from "./summary";
import { save, svg } from "./svg";

declare global {
  interface Window {
    /** For tests and measurements: what is shown, and how long the last frame took. */
    longhaul?: State;
  }
}

function lane(host: HTMLElement, id: string): HTMLElement {
  const section = el("section", { class: "lane", "data-lane": id, "aria-labelledby": `lane-${id}` });
  host.append(section);
  return section;
}

/** Light and dark as the system is; paper is light, and drawn before it is printed. */
function followSystem(state: State) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
    if (!state.paper) state.change(() => (state.theme = matches ? "dark" : "light"));
  });
  let theme = state.theme;
  const print = (paper: boolean) => {
    if (paper === state.paper) return;
    if (paper) theme = state.theme;
    state.paper = paper;
    state.theme = paper ? "light" : theme;
    state.drawNow();
  };
  matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}

async function start() {
  const payload = await decode(document.getElementById("longhaul-data")!.textContent ?? "null");
  const state = new State(payload);
  keep(state);
  document.title = payload.title;
  document.getElementById("title")!.textContent = payload.title;
  document.documentElement.dataset.theme = state.theme;
  const said = story(payload.runs);
  document.getElementById("story")!.textContent = said;

  const cards = document.getElementById("runs")!;
  let theme = "";
  state.onDraw(() => {
    if (theme === state.theme) return;
    theme = state.theme;
    document.documentElement.dataset.theme = theme;
    fillCards(cards, state);
  });

  const tooltip = new Tooltip(state);
  const controls = new Controls(state, tooltip, () => save(`${payload.title.replaceAll(/[^\p{L}\p{N}.-]+/gu, "-")}.svg`, svg({ lanes, limits, rows }, state, said)));
  document.getElementById("controls")!.append(controls.bar);
  const host = document.getElementById("lanes")!;
  state.onDraw(() => (state.width = host.querySelector(".lane:not(.empty) .plot")?.clientWidth ?? 0));
  const lanes = lanesOf(payload.runs).map((each) => new LaneView(each, state, lane(host, each.id)));
  const limits = new LimitsView(state, lane(host, "limits"));
  const rows = new RowsView(state, lane(host, "events"));
  for (const view of lanes) tooltip.watchLane(view);
  tooltip.watchLimits(limits);
  tooltip.watchRows(rows);
  document.getElementById("table")!.append(summary(state));

  new ResizeObserver(() => state.redraw()).observe(host);
  followSystem(state);
  state.drawNow();
  performance.mark("longhaul-drawn");
  // The summary has to read every value, and can wait until the picture is visible.
  await new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
  for (const view of [...lanes, limits, rows]) view.chart.describe(view.describe());
  window.longhaul = state;
}

start().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  document.getElementById("lanes")!.replaceChildren(el("p", { class: "failed", role: "alert" }, `This trace cannot be shown: ${text}.`));
});
