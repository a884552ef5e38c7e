// Ratios over two axes of the sweep, a map for each arm and each combination of the others. Blank where the interval holds 1.

import { el } from "../dom";
import { chart, fit, panels, section } from "./chart";
import { axesOf, besides, brief, rowOf, short, valueOf, valuesOf, type Data } from "./data";
import { BLANK, shade, tiles, type Tile } from "./tile";
import { about, compared, isOpen, ratio } from "./words";

/** How strong a colour is at most: a factor of two, or all that occurs if that is less. */
const FULL = Math.log(2);

export function heat(data: Data): HTMLElement | null {
  const axes = axesOf(data);
  const listed = data.cells.some(({ kind }) => kind);
  if (data.arms.length < 2 || axes.length === 0 || listed || data.cells.length < 3) return null;
  const ratios = data.rows.flatMap(({ vs_reference: found }) => (found && !isOpen(found) && found.median_ratio > 0 ? [Math.abs(Math.log(found.median_ratio))] : []));
  const most = Math.min(FULL, Math.max(...ratios, Math.log(1 + data.margin)));
  const [across, down] = axes.length > 1 ? [axes[axes.length - 1], axes[0]] : [axes[0], null];
  const host = el("div", {});
  const choice = { across, down };
  const fill = () => host.replaceChildren(maps(data, choice.across, choice.down, most));
  fill();
  const explained =
    `Median ratio of ${compared(data)} to ${data.arms[0].label}'s. Blue is better, orange worse, the more the stronger, up to a factor of ${ratio(Math.exp(most))}; ` +
    `blank where the 95 % interval holds 1, or there is none.`;
  return section("heat", "Where arms differ", explained, axes.length > 2 ? chooser(axes, choice, fill) : null, host);
}

/** Lets one choose the axes, where there are more than two. */
function chooser(axes: string[], choice: { across: string; down: string | null }, fill: () => void): HTMLElement {
  const select = (label: string, of: "across" | "down", other: "across" | "down") => {
    const box = el("select", { "aria-label": label }, ...axes.map((key) => el("option", { value: key, selected: key === choice[of] }, short(key))));
    box.addEventListener("change", () => {
      if (choice[other] === box.value) {
        choice[other] = choice[of]!;
        (box.parentElement!.querySelector(`select[aria-label="${other === "across" ? "columns" : "rows"}"]`) as HTMLSelectElement).value = choice[of]!;
      }
      choice[of] = box.value;
      fill();
      fit();
    });
    return box;
  };
  return el("p", { class: "choices" }, "rows ", select("rows", "down", "across"), " columns ", select("columns", "across", "down"));
}

function maps(data: Data, across: string, down: string | null, most: number): HTMLElement {
  const groups = new Map<string, Tile[]>();
  data.cells.forEach((cell, index) => {
    const rest = besides(data, cell, [across, down]);
    const of = (key: string) => brief(data, key, valueOf(cell, key));
    data.arms.forEach(({ label }, arm) => {
      const row = rowOf(data, index, arm);
      const found = row.vs_reference;
      if (!found) return;
      const title = [down ? label : null, rest || null].filter(Boolean).join(", ");
      const open = isOpen(found);
      const gain = Math.log(found.median_ratio) * (data.primary.less_is_better ? -1 : 1);
      const paint = open ? BLANK : shade(Math.abs(gain) / most, gain > 0);
      const place = { x: of(across), y: down ? of(down) : label };
      groups.set(title, [...(groups.get(title) ?? []), { cell: index, arm, ...place, shown: open ? "" : ratio(found.median_ratio), ...paint, text: `${data.cells[index].title}\n${about(data, row)}` }]);
    });
  });
  const briefs = (key: string) => valuesOf(data, key).map((value) => brief(data, key, value));
  const xs = briefs(across);
  const ys = down ? briefs(down) : data.arms.slice(1).map(({ label }) => label);
  const [columns, rows] = [{ values: xs, label: short(across) }, { values: ys, label: down ? short(down) : null }];
  return panels(
    [...groups].map(([title, own]) => ({
      title,
      chart: () => chart(`${title}: ${own.map(({ x, y, shown }) => `${y}, ${x}: ${shown || "open"}`).join("; ")}`, (width) => tiles(own, columns, rows, width)),
    })),
    xs.length > 6 || Math.max(...xs.map((value) => value.length)) > 14,
  );
}
