// Colours by meaning. "tcptrace" keeps the conventions of that tool's graphs (data, green ACKs, yellow window, purple SACKs, red
// R); "wireshark" those of Wireshark's tcptrace graph. Both exist for light and dark backgrounds.

export type Scheme = "tcptrace" | "wireshark";
export type Theme = "light" | "dark";

export type Tone =
  | "data" | "fast" | "sack-rtx" | "timeout" | "probe" | "ack" | "window" | "sack" | "drop"
  | "cwnd" | "ssthresh" | "pipe" | "snd-wnd"
  | "sample" | "srtt" | "min-rtt" | "reo-wnd"
  | "rate" | "acked" | "queue" | "event";

type Pair = readonly [light: string, dark: string];

const TCPTRACE: Record<Tone, Pair> = {
  data: ["#1f2937", "#e5e7eb"],
  fast: ["#dc2626", "#f87171"],
  "sack-rtx": ["#ea580c", "#fb923c"],
  timeout: ["#c026d3", "#e879f9"],
  probe: ["#0891b2", "#22d3ee"],
  ack: ["#16a34a", "#4ade80"],
  window: ["#a87400", "#facc15"],
  sack: ["#8b5cf6", "#a78bfa"],
  drop: ["#9f1239", "#fda4af"],
  cwnd: ["#16a34a", "#4ade80"],
  ssthresh: ["#6b7280", "#9ca3af"],
  pipe: ["#3b82f6", "#60a5fa"],
  "snd-wnd": ["#a87400", "#facc15"],
  sample: ["#77879e", "#7d8ca1"],
  srtt: ["#2563eb", "#60a5fa"],
  "min-rtt": ["#0f766e", "#2dd4bf"],
  "reo-wnd": ["#db2777", "#f472b6"],
  rate: ["#77879e", "#7d8ca1"],
  acked: ["#2563eb", "#60a5fa"],
  queue: ["#b45309", "#fbbf24"],
  event: ["#2563eb", "#60a5fa"],
};

const WIRESHARK: Partial<Record<Tone, Pair>> = {
  data: ["#204a87", "#729fcf"],
  fast: ["#a40000", "#ef2929"],
  "sack-rtx": ["#a40000", "#ef2929"],
  timeout: ["#a40000", "#ef2929"],
  probe: ["#a40000", "#ef2929"],
  ack: ["#b08700", "#edd400"],
  window: ["#4e9a06", "#8ae234"],
  sack: ["#cc0000", "#f57900"],
};

/** One hue per run, when several are shown on the same axes. */
const RUNS: readonly Pair[] = [
  ["#2563eb", "#60a5fa"],
  ["#c2410c", "#fb923c"],
  ["#0f766e", "#2dd4bf"],
  ["#9333ea", "#c084fc"],
  ["#be123c", "#fb7185"],
  ["#4d7c0f", "#a3e635"],
];

/** Hues for marks that must stand out from a run's own line: retransmissions. */
const MARKS: readonly Pair[] = [
  ["#0c1f6b", "#c7dcff"],
  ["#7a1d04", "#ffd9bf"],
  ["#053f3a", "#c5fff4"],
  ["#45067a", "#eddcff"],
  ["#5c0620", "#ffd5dd"],
  ["#243a04", "#e4ffb3"],
];

const LIMITS: Record<string, Pair> = {
  "congestion window": ["#3b82f6", "#3b82f6"],
  "receive window": ["#b58105", "#eab308"],
  recovery: ["#ef4444", "#ef4444"],
  "send buffer": ["#0d9488", "#14b8a6"],
  application: ["#858e9c", "#7b8494"],
  "cwnd, path or pace": ["#4f8fe8", "#60a5fa"],
  pacing: ["#8b5cf6", "#a78bfa"],
};

const pick = (pair: Pair, theme: Theme) => pair[theme === "light" ? 0 : 1];

export const tone = (name: Tone, scheme: Scheme, theme: Theme) =>
  pick((scheme === "wireshark" ? WIRESHARK[name] : undefined) ?? TCPTRACE[name], theme);
export const runHue = (index: number, theme: Theme) => pick(RUNS[index % RUNS.length], theme);
export const markHue = (index: number, theme: Theme) => pick(MARKS[index % MARKS.length], theme);
export const limitHue = (cause: string, theme: Theme) => pick(LIMITS[cause] ?? ["#8c8680", "#857e78"], theme);
