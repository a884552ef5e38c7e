// The report: parses its embedded data, says what came out, and draws it.

import "../style.css";
import "./report.css";
import { el } from "../dom";
import { fit, hue, onChoice, section } from "./chart";
import { again, pageOf, read, type Data } from "./data";
import { forest } from "./forest";
import { heat } from "./heat";
import { expectations, how, leaves } from "./how";
import { courses, fairness } from "./shares";
import { sizes } from "./size";
import { delays, distributions } from "./spread";
import { cells } from "./table";

declare global {
  interface Window {
    /** For tests: what is shown. */
    report?: Data;
  }
}

const root = document.documentElement;

function verdict(data: Data): HTMLElement {
  const item = (text: string, arm: number) => {
    const node = el("li", {}, text);
    node.style.setProperty("--own", hue(arm));
    return node;
  };
  const each = data.arms.flatMap((arm, at) => (arm.verdict ? [item(arm.verdict, at)] : []));
  return section("verdict", "What came out", "", el("p", { class: "lead" }, data.verdict), el("ul", { class: "verdicts" }, ...each));
}

/** Shows how to make a run again. */
function dialog(data: Data): (found: { cell: number; arm: number; iteration?: number }) => void {
  const line = el("code", {});
  const title = el("h2", {});
  const link = el("a", {}, "Open it in the viewer");
  const opens = el("p", { class: "opens" }, link);
  const copy = el("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => void navigator.clipboard.writeText(line.textContent ?? "").then(() => (copy.textContent = "Copied"), () => getSelection()?.selectAllChildren(line)));
  const box = el("dialog", { class: "help" }, title, opens, el("p", {}, "Makes this run again, and shows it:"), el("p", { class: "command" }, line), el("form", { method: "dialog" }, copy, " ", el("button", {}, "Close")));
  document.body.append(box);
  return ({ cell, arm, iteration }) => {
    const command = again(data, cell, arm, iteration);
    if (!command) return;
    const run = iteration === undefined ? "the median run" : `run ${iteration}`;
    title.textContent = `${data.arms[arm].label}, ${data.cells[cell].title}: ${run}`;
    line.textContent = command;
    copy.textContent = "Copy";
    const page = pageOf(data, cell, arm, iteration);
    opens.hidden = page === null;
    if (page) link.setAttribute("href", page);
    box.showModal();
  };
}

/** Opens on paper what is folded on the screen, and folds it again; charts that waited for a request stay. */
function unfold(paper: boolean) {
  if (paper) document.querySelectorAll<HTMLButtonElement>("button.more").forEach((more) => more.click());
  const folded = paper ? "details:not([open])" : "details[data-folded]";
  for (const box of document.querySelectorAll<HTMLDetailsElement>(folded)) {
    box.toggleAttribute("data-folded", paper);
    box.open = paper;
  }
}

/** Light, dark, or as the system is; paper is always light. */
function themes(): HTMLElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  let theme = dark.matches ? "dark" : "light";
  const apply = () => {
    root.dataset.theme = paper.matches ? "light" : theme;
  };
  const change = (next: string) => {
    theme = next;
    apply();
  };
  dark.addEventListener("change", ({ matches }) => change(matches ? "dark" : "light"));
  paper.addEventListener("change", ({ matches }) => {
    apply();
    unfold(matches);
    fit(matches);
  });
  const button = el("button", { type: "button", class: "theme no-print", title: "light or dark" }, "◐");
  button.addEventListener("click", () => change(theme === "dark" ? "light" : "dark"));
  apply();
  return button;
}

async function start() {
  document.getElementById("controls")!.append(themes());
  const data = await read(document.getElementById("longhaul-data")!.textContent ?? "null");
  document.title = `${data.experiment.name}: longhaul`;
  document.getElementById("title")!.textContent = `${data.experiment.name}: ${data.experiment.title}`;
  const show = dialog(data);
  onChoice(show);
  const parts = [
    verdict(data),
    expectations(data),
    how(data),
    forest(data),
    heat(data),
    cells(data, (cell, arm) => show({ cell, arm })),
    sizes(data),
    fairness(data),
    courses(data),
    delays(data),
    distributions(data),
    leaves(data),
  ];
  document.getElementById("report")!.append(...parts.filter((part) => part !== null));
  fit();
  new ResizeObserver(() => requestAnimationFrame(() => fit(matchMedia("print").matches))).observe(document.getElementById("report")!);
  window.report = data;
}

start().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  document.getElementById("report")!.replaceChildren(el("p", { class: "failed", role: "alert" }, `These results cannot be shown: ${text}.`));
});
