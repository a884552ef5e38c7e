// The view in the address, so that a link opens the same one: `#t=0.5-1.25` is a span in seconds, and the rest is named only where it is not
// as usual. Seconds have all their microseconds, so nothing is rounded.

import type { Fit, State } from "./state";

const FITS: Fit[] = ["all", "sent", "acks"];

const seconds = (us: number): string => String(Number((us / 1e6).toFixed(6)));

/** Two numbers around a dash; the first may be negative. */
function range(text: string | null): [number, number] | null {
  const found = text?.match(/^(-?[\d.]+)-(-?[\d.]+)$/)?.slice(1).map(Number);
  return found && found.every(Number.isFinite) && found[0] < found[1] ? [found[0], found[1]] : null;
}

/** What stands behind the `#`; nothing for what the page shows first. */
export function written(state: State): string {
  const { x0, x1, end, band, fit, detrended, scheme, shown, hidden, runs } = state;
  const parts: [string, string][] = [];
  if (x0 > 0 || x1 < end) parts.push(["t", `${seconds(x0)}-${seconds(x1)}`]);
  if (band) parts.push(["y", band.map((edge) => edge.toFixed(0)).join("-")]);
  if (fit !== "all") parts.push(["fit", fit]);
  if (detrended) parts.push(["detrend", "1"]);
  if (scheme !== "tcptrace") parts.push(["colours", scheme]);
  if (shown.includes(false)) parts.push(["traces", state.visible.map((index) => runs[index].letter).join("")]);
  if (hidden.size) parts.push(["hide", [...hidden].sort().join(",")]);
  return parts.map(([name, value]) => `${name}=${encodeURI(value)}`).join("&");
}

/** Shows what an address says; what it does not say is as usual, and what it cannot mean is left out. */
export function read(text: string, state: State) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const fit = parts.get("fit") as Fit;
  state.fit = FITS.includes(fit) ? fit : "all";
  state.detrended = parts.get("detrend") === "1";
  state.scheme = parts.get("colours") === "wireshark" ? "wireshark" : "tcptrace";
  const traces = parts.get("traces") ?? "";
  const some = state.runs.some(({ letter }) => traces.includes(letter));
  state.shown = state.runs.map(({ letter }) => !some || traces.includes(letter));
  state.hidden = new Set((parts.get("hide") ?? "").split(",").filter(Boolean));
  const span = range(parts.get("t"));
  state.show(span ? span[0] * 1e6 : 0, span ? span[1] * 1e6 : state.end, range(parts.get("y")));
}

/** Milliseconds: browsers refuse an address that changes with every frame. */
const SETTLED = 250;

/** Keeps address and view the same. */
export function keep(state: State) {
  let timer = 0;
  let last = location.hash;
  const note = () => {
    const text = written(state);
    if (last.replace(/^#/, "") === text) return;
    last = text ? `#${text}` : "";
    history.replaceState(null, "", last || location.pathname + location.search);
  };
  if (location.hash) read(location.hash, state);
  addEventListener("hashchange", () => {
    last = location.hash;
    read(location.hash, state);
  });
  state.onDraw(() => {
    clearTimeout(timer);
    timer = setTimeout(note, SETTLED);
  });
}
