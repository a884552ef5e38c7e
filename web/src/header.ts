// The top of the page: which runs it shows, how fast they were and what limited them.

import { el, swatch } from "./dom";
import * as format from "./format";
import { limitHue, runHue } from "./palette";
import type { Finding, Run } from "./payload";
import type { State } from "./state";

/** What an analysis found, with its part of the time. */
function finding({ says, cost, isNote }: Finding): HTMLElement {
  return el("li", { class: isNote ? "note" : "" }, el("span", { class: "cost" }, cost > 0 ? `${cost.toFixed(1)} %` : ""), el("span", {}, says));
}

function card(run: Run, index: number, state: State): HTMLElement {
  const several = state.runs.length > 1;
  const [headline, ...facts] = run.facts;
  const bar = el("div", { class: "shares", "aria-hidden": "true" });
  for (const [cause, share] of run.shares) {
    const part = el("span", { title: `${cause} ${format.percent(share)}` });
    part.style.flexGrow = String(share);
    part.style.background = limitHue(cause, state.theme);
    bar.append(part);
  }
  const badge = several ? el("span", { class: "badge" }, run.letter) : null;
  if (badge) badge.style.background = runHue(index, state.theme);
  return el(
    "article",
    { class: "card", "aria-label": several ? `Trace ${run.letter}, ${run.name}` : run.name },
    el("div", { class: "who" }, badge, el("h2", {}, run.name), el("p", { class: "about" }, run.about)),
    headline ? el("p", { class: "headline" }, el("b", {}, headline[1]), ` ${headline[0]}`) : null,
    el("dl", { class: "facts" }, ...facts.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value)))),
    run.shares.length ? bar : null,
    run.verdict ? el("p", { class: "verdict" }, run.verdict) : null,
    run.findings.length ? el("ul", { class: "findings" }, ...run.findings.map(finding)) : null,
  );
}

export function fillCards(host: HTMLElement, state: State) {
  host.replaceChildren(...state.runs.map((run, index) => card(run, index, state)));
  host.classList.toggle("several", state.runs.length > 1);
}

/** Switches for the runs, when there are several. */
export function runSwitches(state: State): HTMLElement[] {
  if (state.runs.length < 2) return [];
  return state.runs.map((run, index) => {
    const toggle = () => state.change(() => (state.shown[index] = !state.shown[index] || state.visible.length === 1));
    const button = el("button", { type: "button", class: "run", title: `Show or hide ${run.name}`, click: toggle }, swatch(runHue(index, state.theme), "block"), `${run.letter} ${run.name}`);
    const refresh = () => {
      button.setAttribute("aria-pressed", String(state.shown[index]));
      button.querySelector<HTMLElement>(".swatch")!.style.setProperty("--ink", runHue(index, state.theme));
    };
    refresh();
    state.onDraw(refresh);
    return button;
  });
}
