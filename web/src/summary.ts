// The picture as a table, for readers who cannot see it or prefer text.

import { spread } from "./columns";
import { el } from "./dom";
import * as format from "./format";
import { columnOf, tableOf } from "./lane";
import { lanesOf, ROWS } from "./lanes";
import type { State } from "./state";

function tableFor(state: State): HTMLElement {
  const head = el("tr", {}, el("th", { scope: "col" }, "Lane"), el("th", { scope: "col" }, "What"));
  for (const run of state.runs) head.append(el("th", { scope: "col" }, state.runs.length > 1 ? `${run.letter} ${run.name}` : run.name));
  const body = el("tbody");
  for (const lane of lanesOf(state.runs)) {
    for (const series of lane.series) {
      const row = el("tr", {}, el("th", { scope: "row" }, lane.title), el("td", {}, series.label));
      for (const run of state.runs) {
        const table = tableOf(run, series);
        if (!table) {
          row.append(el("td", {}, "none"));
          continue;
        }
        const values = table.columns.get(columnOf(series.ink))!.values;
        const unit = lane.unit === "seq" ? "bytes" : lane.unit;
        const last = format.value(unit, values[values.length - 1]);
        const [, high] = spread(values)!;
        row.append(el("td", {}, `${format.count(table.rows)} points, at most ${format.value(unit, high)}, last ${last}`));
      }
      body.append(row);
    }
  }
  for (const event of ROWS) {
    const row = el("tr", {}, el("th", { scope: "row" }, "Events"), el("td", {}, event.label));
    for (const run of state.runs) {
      const table = run.tables.get(event.table);
      const why = run.whyEmpty.get(event.table);
      row.append(el("td", {}, table ? format.count(table.rows) : (why ?? "0")));
    }
    body.append(row);
  }
  return el("table", { class: "summary" }, el("caption", { class: "sr" }, "Every lane in numbers"), el("thead", {}, head), body);
}

/** Closed at first; filled when it is opened. */
export function summary(state: State): HTMLElement {
  const scroll = el("div", { class: "scroll" });
  const fill = () => scroll.childElementCount === 0 && scroll.append(tableFor(state));
  return el("details", { class: "as-table", toggle: () => void fill() }, el("summary", {}, "The same as a table"), scroll);
}
