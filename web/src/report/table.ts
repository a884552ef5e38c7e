// Every number of the terminal's table, cell by cell.

import { el } from "../dom";
import { hue, section } from "./chart";
import { brief, pageOf, short, type Data, type Row } from "./data";
import { compared, number, signs, versus } from "./words";

/** A number, with all its digits for those who point at it. */
function numeric(name: string, value: unknown, decimals: number): HTMLElement {
  const exact = typeof value === "number" ? `${name} ${value}` : `${name}: not known`;
  return el("td", { class: "number", "data-name": name, title: exact }, number(value, decimals));
}

export function cells(data: Data, show: (cell: number, arm: number) => void): HTMLElement {
  const keys = data.cells[0]?.swept.map(([key]) => key) ?? [];
  const head = (text: string, title: string, kind = "number") => el("th", { scope: "col", class: kind, title }, text);
  const header = el(
    "tr",
    {},
    ...keys.map((key) => head(short(key), key, "")),
    head("arm", "", ""),
    head("runs", "runs that succeeded"),
    head("Mbit/s", "median goodput: payload over the time from the first SYN to the last byte read"),
    head(`vs ${data.arms[0].label}`, `median over seeds of ${compared(data)}, arm / ${data.arms[0].label}, with its 95 % interval`, ""),
    ...data.columns.map((column) => head(column.head, `${column.name}: ${column.description}`)),
    head("", "", "no-print"),
  );
  const rows = data.rows.map((row, at) => line(data, row, Math.floor(at / data.arms.length), at % data.arms.length, show));
  const legend = data.columns.map(({ head: short, meaning }) => el("span", {}, el("b", {}, short), ` ${meaning}`));
  return section(
    "cells",
    "All cells",
    "",
    el("div", { class: "scroll" }, el("table", { class: "summary" }, el("thead", {}, header), el("tbody", {}, ...rows))),
    el("p", { class: "explained key" }, ...signs.map(([word, sign]) => el("span", {}, el("b", {}, sign), ` ${word}`)), ...legend),
  );
}

function line(data: Data, row: Row, cell: number, arm: number, show: (cell: number, arm: number) => void): HTMLElement {
  const { swept } = data.cells[cell];
  const again = el("button", { type: "button", title: "how to make a run of this row again", "aria-label": `${row.arm}, ${data.cells[cell].title}: make a run again` }, "↻");
  again.addEventListener("click", () => show(cell, arm));
  const page = pageOf(data, cell, arm);
  const name = el("th", { scope: "row" }, row.arm);
  name.style.setProperty("--own", hue(arm));
  return el(
    "tr",
    { class: arm === 0 ? "first" : "", "data-cell": String(cell), "data-arm": String(arm) },
    ...swept.map(([key, value]) => el("td", { class: arm === 0 ? "" : "again", title: value }, brief(data, key, value))),
    name,
    el("td", { class: "number" }, String(row.runs)),
    numeric("goodput_mbps", row.goodput_mbps.median, 2),
    el("td", { class: `versus ${row.vs_reference?.verdict ?? ""}`, title: row.vs_reference?.verdict ?? "" }, versus(row.vs_reference)),
    ...data.columns.map(({ name, decimals }) => numeric(name, row[name], decimals)),
    el("td", { class: "no-print" }, row.median_run ? again : null, page ? el("a", { href: page, title: "the median run in the viewer" }, "view") : null),
  );
}
