// Every command of the page, defined once: buttons and keys call the same ones.

import { el } from "./dom";
import * as format from "./format";
import { runSwitches } from "./header";
import { fieldsOf, type Found, type Tooltip } from "./hover";
import { eventIn, ROWS } from "./lanes";
import { lastAt, lowerBound } from "./decimate";
import { burstsOf, roundTrip, type Burst } from "./losses";
import type { Fit, State } from "./state";

/** This many round trips show a loss, its repair and the outcome. */
const ROUND_TRIPS = 4;

interface Command {
  keys: string[];
  /** As shown in the help. */
  key: string;
  help: string;
  run(): void;
}

const FITS: Record<Fit, string> = { all: "Fit all", sent: "Fit sent", acks: "Fit ACKs" };

export class Controls {
  readonly bar: HTMLElement;
  private readonly live = el("p", { class: "sr", role: "status", "aria-live": "polite", id: "said" });
  private readonly readout = el("output", { class: "readout", "aria-hidden": "true" });
  private readonly help: HTMLDialogElement;
  private readonly commands: Command[];
  private bursts: { run: string; burst: Burst; trip: number | null }[] = [];

  constructor(
    private readonly state: State,
    private readonly tooltip: Tooltip,
    private readonly saveSvg: () => void,
  ) {
    this.commands = this.list();
    this.help = this.dialog();
    this.bar = this.build();
    document.body.append(this.live, this.help);
    state.onDraw(() => this.refresh());
    state.onCursor(() => this.showReadout());
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.refresh();
  }

  /** Announces a change to users of screen readers. */
  say(text: string) {
    this.live.textContent = text;
  }

  private list(): Command[] {
    const { state } = this;
    return [
      { keys: ["n"], key: "n", help: "Next loss", run: () => this.jump(1) },
      { keys: ["p"], key: "p", help: "Previous loss", run: () => this.jump(-1) },
      { keys: ["+", "="], key: "+", help: "Zoom in (also: drag across a lane, a box in the time–sequence lane, or Ctrl and the wheel)", run: () => this.zoom(0.5) },
      { keys: ["-", "_"], key: "−", help: "Zoom out", run: () => this.zoom(2) },
      { keys: ["0", "Home"], key: "0", help: "Show everything (also: double click)", run: () => (state.reset(), this.saySpan()) },
      { keys: ["ArrowLeft"], key: "←", help: "Earlier (also: Shift and the wheel)", run: () => (state.pan(-0.2), this.saySpan()) },
      { keys: ["ArrowRight"], key: "→", help: "Later", run: () => (state.pan(0.2), this.saySpan()) },
      { keys: ["["], key: "[", help: "Cursor to the event before", run: () => this.step(-1) },
      { keys: ["]"], key: "]", help: "Cursor to the event after", run: () => this.step(1) },
      { keys: ["f"], key: "f", help: "Fit the time–sequence lane: to everything, to the segments sent, to the acknowledgements", run: () => this.fit() },
      { keys: ["d"], key: "d", help: "Detrend: take the mean rate away from the time–sequence lane", run: () => this.detrend() },
      { keys: ["c"], key: "c", help: "Colours: tcptrace's or Wireshark's", run: () => this.colours() },
      { keys: ["t"], key: "t", help: "Light or dark", run: () => this.theme() },
      { keys: ["s"], key: "s", help: "Save the visible lanes as an SVG file", run: () => (this.saveSvg(), this.say("Saved as SVG")) },
      { keys: ["?"], key: "?", help: "This help", run: () => this.help.showModal() },
    ];
  }

  private pressed(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const command = this.commands.find(({ keys }) => keys.includes(event.key));
    if (!command) return;
    event.preventDefault();
    command.run();
  }

  private build(): HTMLElement {
    const command = (key: string) => this.commands.find((each) => each.keys[0] === key)!;
    const button = (key: string, label: string, text: string, pressed = false) =>
      el("button", { type: "button", "data-key": key, "aria-label": label, title: `${label} (${command(key).key})`, "aria-pressed": pressed && "false", click: () => command(key).run() }, text);
    const group = (label: string, ...children: HTMLElement[]) => el("div", { role: "group", "aria-label": label }, ...children);
    const switches = runSwitches(this.state);
    return el(
      "div",
      { class: "toolbar", role: "group", "aria-label": "View" },
      switches.length ? group("Traces", ...switches) : null,
      group("Losses", button("p", "Previous loss", "‹"), el("span", { class: "label" }, "loss"), button("n", "Next loss", "›")),
      group("Zoom", button("-", "Zoom out", "−"), button("+", "Zoom in", "+"), button("0", "Show everything", "All")),
      group("Look", button("f", "Fit", "Fit"), button("d", "Detrended", "Detrend", true), button("c", "Colours", "tcptrace"), button("t", "Light or dark", "◐")),
      group("Save", button("s", "Save as SVG", "SVG")),
      group("Help", button("?", "Keys", "?")),
      this.readout,
    );
  }

  private dialog(): HTMLDialogElement {
    const rows = this.commands.map(({ key, help }) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, help)));
    const dialog = el("dialog", { class: "help", "aria-labelledby": "help-title" }, el("h2", { id: "help-title" }, "Keys"), el("dl", {}, ...rows));
    dialog.append(el("form", { method: "dialog" }, el("button", { type: "submit" }, "Close")));
    return dialog;
  }

  private refresh() {
    const { state } = this;
    const set = (key: string, edit: (button: HTMLElement) => void) => edit(this.bar.querySelector<HTMLElement>(`[data-key="${key}"]`)!);
    set("d", (button) => button.setAttribute("aria-pressed", String(state.detrended)));
    const name = (key: string, what: string, text: string) =>
      set(key, (button) => {
        button.textContent = text;
        button.setAttribute("aria-label", `${what}: ${text}`);
      });
    name("c", "Colours", state.scheme === "tcptrace" ? "tcptrace" : "Wireshark");
    name("f", "Time–sequence lane", FITS[state.fit]);
    set("t", (button) => button.setAttribute("aria-label", `Theme: ${state.theme}`));
    this.bursts = state.visible
      .flatMap((index) => this.burstsOf(index).map((burst) => ({ run: state.runs[index].letter, burst, trip: roundTrip(state.runs[index]) })))
      .sort((a, b) => a.burst.from - b.burst.from);
    for (const key of ["n", "p"]) set(key, (button) => button.toggleAttribute("disabled", this.bursts.length === 0));
    this.showReadout();
  }

  private readonly known = new Map<number, Burst[]>();
  private burstsOf(index: number): Burst[] {
    if (!this.known.has(index)) this.known.set(index, burstsOf(this.state.runs[index]));
    return this.known.get(index)!;
  }

  private showReadout() {
    const { x0, x1, cursor } = this.state;
    const at = cursor === null ? "" : `${format.moment(cursor)}  ·  `;
    this.readout.textContent = `${at}${format.span(x1 - x0)} shown`;
  }

  private saySpan() {
    this.say(`Showing ${format.moment(this.state.x0)} to ${format.moment(this.state.x1)}`);
  }

  private zoom(factor: number) {
    this.state.zoom(factor);
    this.saySpan();
  }

  private detrend() {
    this.state.change(() => {
      this.state.band = null;
      this.state.detrended = !this.state.detrended;
    });
    this.say(this.state.detrended ? "Mean rate taken away" : "Sequence numbers as sent");
  }

  private colours() {
    this.state.change(() => (this.state.scheme = this.state.scheme === "tcptrace" ? "wireshark" : "tcptrace"));
    this.say(`Colours of ${this.state.scheme}`);
  }

  private fit() {
    const order: Fit[] = ["all", "sent", "acks"];
    this.state.change(() => {
      this.state.band = null;
      this.state.fit = order[(order.indexOf(this.state.fit) + 1) % order.length];
    });
    this.say(`The time–sequence lane has room for ${this.state.fit === "all" ? "everything" : this.state.fit === "sent" ? "the segments sent" : "the acknowledgements"}`);
  }

  private theme() {
    this.state.change(() => (this.state.theme = this.state.theme === "light" ? "dark" : "light"));
    this.say(`${this.state.theme} theme`);
  }

  /** Jumps to the next or previous burst of losses; shows a span a few bursts wide, never wider than before. */
  private jump(direction: 1 | -1) {
    const { state, bursts } = this;
    if (bursts.length === 0) return this.say("No losses in this trace");
    const here = state.cursor ?? (direction > 0 ? -1 : state.end + 1);
    const found = direction > 0 ? bursts.findIndex(({ burst }) => burst.from > here) : bursts.findLastIndex(({ burst }) => burst.from < here);
    const index = found >= 0 ? found : direction > 0 ? 0 : bursts.length - 1;
    const { run, burst, trip } = bursts[index];
    const wanted = Math.max((burst.until - burst.from) * 3, trip ? trip * ROUND_TRIPS : state.end / 25);
    const width = Math.min(state.x1 - state.x0, wanted);
    state.moveCursor(burst.from);
    state.show(burst.from - width / 3, burst.from + (width * 2) / 3);
    const which = state.overlaid ? `${run}, ` : "";
    const by = burst.by.length ? ` by ${burst.by.join(" and ")}` : "";
    this.say(`${which}loss ${index + 1} of ${bursts.length}: ${burst.segments} ${burst.segments === 1 ? "segment" : "segments"}${by} at ${format.moment(burst.from)}`);
  }

  /** Moves the cursor to the neighbouring event of any row, and announces it. */
  private step(direction: 1 | -1) {
    const { state } = this;
    const here = state.cursor ?? (direction > 0 ? -1 : state.end + 1);
    let best: { at: number; line: number; found: Found } | null = null;
    for (const index of state.visible) {
      for (const [line, row] of ROWS.entries()) {
        const table = state.runs[index].tables.get(row.table);
        if (!table) continue;
        const i = direction > 0 ? lastAt(table.t, here) + 1 : lowerBound(table.t, here) - 1;
        if (i < 0 || i >= table.rows) continue;
        const at = table.t[i];
        if (best && (direction > 0 ? at >= best.at : at <= best.at)) continue;
        best = { at, line, found: { event: eventIn(row.label, row.names, state.runs[index]), step: row.step, run: state.runs[index], table, row: i } };
      }
    }
    if (!best) return this.say("No further event");
    state.moveCursor(best.at);
    if (best.at < state.x0 || best.at > state.x1) {
      const half = (state.x1 - state.x0) / 2;
      state.show(best.at - half, best.at + half);
      state.drawNow();
    }
    const { found } = best;
    this.tooltip.announce(found, best.line);
    const which = state.overlaid ? `${found.run.letter}: ` : "";
    const fields = fieldsOf(found).map((field) => field.join(" "));
    this.say(`${which}${found.event}, ${fields.join(", ")}, at ${format.moment(best.at)}. ${found.step}`);
  }
}
