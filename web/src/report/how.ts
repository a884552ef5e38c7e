// What was compared and how: the command, the network, the arms and the leaves in which they differ; and the file's expectations.

import { el } from "../dom";
import { section } from "./chart";
import { axesOf, short, valuesOf, type Arm, type Data } from "./data";
import { NOTHING } from "./words";

export function how(data: Data): HTMLElement {
  const { experiment: e } = data;
  const fact = (label: string, value: Node | string | null) => (value ? [el("dt", {}, label), el("dd", {}, value)] : []);
  const axes = axesOf(data);
  const swept = axes.map((key) => `${short(key)} ${valuesOf(data, key).join(", ")}`).join("; ");
  const missing = e.runs < e.planned ? `; ${e.planned - e.runs} more are missing or failed` : "";
  const once = e.cells_once > 0 ? `; 1 where the path draws nothing and all runs would be equal` : "";
  const each = `${e.iterations} of each arm in each cell${e.until_decided ? " and more, until verdicts were clear" : ""}${once}`;
  return section(
    "how",
    "What was compared",
    "",
    el(
      "dl",
      { class: "how" },
      ...fact("command", el("code", {}, data.command)),
      ...fact("arms", data.arms.map(({ label }, at) => (at === 0 ? `${label} (the reference)` : label)).join(", ")),
      ...fact("compared by", `${data.primary.name}, ${data.primary.less_is_better ? "less" : "more"} is better`),
      ...fact("cells", `${data.cells.length}${swept ? `: ${swept}` : ""}`),
      ...fact("path and flow", e.constants),
      ...fact("runs", `${e.runs}: ${each}${missing}`),
      ...fact("seed", `${e.seed}; arms of one iteration have equal seeds`),
      ...fact("made by", `longhaul ${data.version}${e.made_by ? `, ${e.made_by}` : ", in virtual time"}; behaviour ${versions(data)}`),
      ...fact("after", e.source),
    ),
  );
}

/** The stamps of the arms' behaviour, each once. */
function versions(data: Data): string {
  const found = data.rows.flatMap(({ median_run: run }) => (run ? [run.version.replace(/^.*\+/, "")] : []));
  return [...new Set(found)].join(", ") || NOTHING;
}

const OPEN_UP_TO = 12;

export function leaves(data: Data): HTMLElement | null {
  const arms = data.arms.slice(1);
  if (!arms.length) return null;
  return section("leaves", "In what arms differ", `Only leaves of profiles that differ from ${data.arms[0].label}'s are listed.`, ...arms.map((arm) => differences(data, arm)));
}

function differences(data: Data, arm: Arm): HTMLElement {
  const found = Object.entries(arm.differs ?? {});
  const count = arm.differs === null ? "no leaves to compare: only profiles have" : `${found.length} ${found.length === 1 ? "leaf" : "leaves"}`;
  const head = el("tr", {}, ...["leaf", data.arms[0].label, arm.label].map((text) => el("th", { scope: "col" }, text)));
  const rows = found.map(([leaf, values]) => el("tr", {}, el("th", { scope: "row" }, leaf), ...values.map((value) => el("td", {}, value ?? NOTHING))));
  const beside = [
    arm.by_cell?.length ? `By cell: ${arm.by_cell.join(", ")}.` : "",
    Object.keys(arm.kept ?? {}).length ? `Kept beside a kind: ${Object.entries(arm.kept!).map(([leaf, value]) => `${leaf} ${value}`).join(", ")}.` : "",
  ];
  return el(
    "details",
    { open: found.length <= OPEN_UP_TO },
    el("summary", {}, el("b", {}, arm.label), ` ${count}`),
    found.length ? el("div", { class: "scroll" }, el("table", { class: "summary" }, el("thead", {}, head), el("tbody", {}, ...rows))) : null,
    ...beside.filter(Boolean).map((text) => el("p", { class: "explained" }, text)),
  );
}

export function expectations(data: Data): HTMLElement | null {
  const { written, unmet, unchecked } = data.expect;
  if (!written.length) return null;
  const bound = ({ at_least, at_most }: (typeof written)[number]) => [at_least === null ? "" : `at least ${at_least}`, at_most === null ? "" : `at most ${at_most}`].filter(Boolean).join(", ");
  const all = unchecked.length ? "" : unmet.length ? `${unmet.length} of them ${unmet.length === 1 ? "does" : "do"} not hold in some cell.` : "All of them hold in every cell.";
  const items = [
    ...written.map((condition) => el("li", {}, el("code", {}, condition.text), ` ${bound(condition)}`)),
    ...unmet.map(({ cell, complaint }) => el("li", { class: "unmet" }, `▼ ${data.cells[cell].title}: ${complaint}`)),
    ...unchecked.map((sentence) => el("li", { class: "explained" }, sentence)),
  ];
  return section("expect", "Expectations", `The experiment's file says what is expected of it. ${all}`, el("ul", { class: "expect" }, ...items));
}
