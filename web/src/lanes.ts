// The lanes and what each shows: a table of data, drawn by `plot.ts`.
//
// An event of a run whose profile imitates a system has that system's own name beside ours, so that a row here and a line of such a log mean
// the same thing: those of the Windows provider Microsoft-Windows-TCPIP, and tracepoints and counters of Linux (docs/events.md). The ten
// rows and their order are those of the 2022 graph that exposed a fault.

import type { Tone } from "./palette";
import type { Run, System, Unit } from "./payload";

/** A system's own names. */
type Names = Partial<Record<System, string>>;

const RETRANSMIT = "tcp:tcp_retransmit_skb";

/** What a run's system calls something; `null` where it has no name of its own, or the profile is of no system. */
export const nameIn = (names: Names | undefined, { system }: Run): string | null => (system && names?.[system]) ?? null;

/** An event as a run's tooltip calls it. */
export function eventIn(event: string, names: Names | undefined, run: Run): string {
  const own = nameIn(names, run);
  return own && own !== event ? `${event} (${own})` : event;
}

/** How a table is drawn. */
export type Ink =
  | { as: "bars"; lo: string; hi: string; wide: boolean; glyph?: string; ends?: "arrows" | "caps" }
  | { as: "steps"; y: string; width: number; dash?: number[]; faint?: boolean }
  | { as: "dots"; y: string };

export interface Series {
  /** Name of the table in a run. */
  table: string;
  label: string;
  tone: Tone;
  ink: Ink;
  /** The event named in the tooltip, with a reference to its specification. */
  event: string;
  names?: Names;
  step: string;
  /** May extend beyond the top of the lane instead of flattening the rest. */
  soft?: boolean;
  /** The part of the time–sequence lane it belongs to; a series of neither part never enlarges the lane. */
  part?: "sent" | "acks";
  /** With overlaid runs: still its own colour, or the stronger of the run's two hues. */
  overlaid?: "own" | "mark";
}

export interface Lane {
  id: string;
  title: string;
  unit: Unit;
  height: number;
  zero: boolean;
  detrends?: boolean;
  /** Times are written below it. */
  times?: boolean;
  series: Series[];
}

const sent = (kind: string, label: string, tone: Tone, glyph: string, windows: string, step: string): Series => ({
  table: `sent/${kind}`,
  label,
  tone,
  ink: { as: "bars", lo: "seq", hi: "end", wide: true, glyph, ends: "arrows" },
  event: label,
  names: { windows, linux: RETRANSMIT },
  step,
  part: "acks",
  overlaid: "mark",
});

const LANES: Lane[] = [
  {
    id: "share",
    title: "Share over time",
    unit: "bps",
    height: 190,
    zero: true,
    times: true,
    series: [
      { table: "share", label: "Each flow's rate", tone: "acked", ink: { as: "steps", y: "v", width: 1.75 }, event: "share",
        step: "Bytes newly acknowledged in each second, or in a part of one where a trace is short" },
    ],
  },
  {
    id: "sequence",
    title: "Time–sequence",
    unit: "seq",
    height: 480,
    zero: false,
    times: true,
    detrends: true,
    series: [
      {
        table: "sacks", label: "SACKed range", tone: "sack", ink: { as: "bars", lo: "lo", hi: "hi", wide: false, ends: "caps" }, part: "acks",
        event: "SACK block", names: { windows: "TcpReceiveSackBlock" }, step: "RFC 2018 §4: the receiver holds this range above the cumulative ACK",
      },
      {
        table: "window", label: "Receive window edge", tone: "window", ink: { as: "steps", y: "edge", width: 1 }, soft: true,
        event: "Window update", names: { windows: "TcpDataTransferCumAck", linux: "tcp:tcp_probe" }, step: "RFC 9293 §3.8.6: SND.UNA + SND.WND, the highest byte that may be sent",
      },
      {
        table: "acks", label: "Cumulative ACK", tone: "ack", ink: { as: "steps", y: "ack", width: 1.25 }, part: "acks",
        event: "Cumulative ACK", names: { windows: "TcpDataTransferCumAck", linux: "tcp:tcp_probe" }, step: "RFC 9293 §3.10.7.4: SND.UNA advances",
      },
      {
        table: "sent/new", label: "Data segment", tone: "data", ink: { as: "bars", lo: "seq", hi: "end", wide: false, ends: "arrows" }, part: "sent",
        event: "Data segment", names: { windows: "TcpDataTransferSend" }, step: "RFC 9293 §3.8: sent for the first time",
      },
      {
        table: "drops", label: "Lost by the network", tone: "drop", ink: { as: "bars", lo: "lo", hi: "hi", wide: true, glyph: "×" }, overlaid: "own", part: "sent",
        event: "Dropped packet", step: "Known to the emulator alone: this packet never arrived",
      },
      sent("fast", "Fast retransmit", "fast", "R", "TcpLossRecoverySend Fast Retransmit",
        "RFC 5681 §3.2, RFC 8985 §6.2: the first retransmission of a recovery episode"),
      sent("sack", "SACK retransmit", "sack-rtx", "S", "TcpLossRecoverySend SACK Retransmit",
        "RFC 6675 §5, step C: a further hole, as the pipe allows"),
      sent("probe", "Tail loss probe", "probe", "P", "TcpTailLossProbe",
        "RFC 8985 §7.3: the last segment again, to draw an ACK out of a silent tail"),
      sent("timeout", "Timeout retransmit", "timeout", "T", "TcpDataTransferRetransmit",
        "RFC 6298 §5.4: the earliest segment, because the timer expired"),
    ],
  },
  {
    id: "window",
    title: "Congestion window",
    unit: "bytes",
    height: 190,
    zero: true,
    series: [
      { table: "pipe", label: "pipe", tone: "pipe", ink: { as: "steps", y: "v", width: 1, faint: true }, event: "pipe",
        step: "RFC 6675 §2: bytes believed to be in flight" },
      { table: "ssthresh", label: "ssthresh", tone: "ssthresh", ink: { as: "steps", y: "v", width: 1.25, dash: [6, 4] }, event: "ssthresh",
        step: "RFC 5681 §3.1: where slow start gives way to congestion avoidance", soft: true },
      { table: "snd_wnd", label: "Send window", tone: "snd-wnd", ink: { as: "steps", y: "v", width: 1.25, dash: [2, 3] }, event: "SND.WND",
        step: "RFC 9293 §3.8.6: what the receiver offers", soft: true },
      { table: "cwnd", label: "cwnd", tone: "cwnd", ink: { as: "steps", y: "v", width: 2 }, event: "cwnd",
        step: "RFC 5681 §3.1: what congestion control permits" },
    ],
  },
  {
    id: "rtt",
    title: "Round-trip time",
    unit: "us",
    height: 150,
    zero: false,
    series: [
      { table: "rtt", label: "Sample", tone: "sample", ink: { as: "dots", y: "v" }, event: "Sample of the round-trip time", names: { windows: "TcpDataTransferRttSample" },
        step: "RFC 7323 §4, RFC 6298 §3: one measurement; never of a retransmitted segment without time stamps" },
      { table: "reo_wnd", label: "Reordering window", tone: "reo-wnd", ink: { as: "steps", y: "v", width: 1.5 }, event: "RACK.reo_wnd",
        step: "RFC 8985 §6.2, step 4: how much later than its successors a segment may arrive" },
      { table: "min_rtt", label: "Minimum", tone: "min-rtt", ink: { as: "steps", y: "v", width: 1.25, dash: [5, 3] }, event: "RACK.min_RTT",
        step: "RFC 8985 §6.2, step 1: the least of the recent past" },
      { table: "srtt", label: "Smoothed", tone: "srtt", ink: { as: "steps", y: "v", width: 1.5 }, event: "SRTT", step: "RFC 6298 §2.3" },
    ],
  },
  {
    id: "rate",
    title: "Throughput",
    unit: "bps",
    height: 140,
    zero: true,
    series: [
      { table: "acked", label: "Acknowledged", tone: "acked", ink: { as: "steps", y: "v", width: 1.75 }, event: "acknowledged",
        step: "Bytes newly acknowledged in each bin, which lasts a round trip at least; from ACKs alone, so a capture shows it, too" },
      { table: "rate", label: "Delivered", tone: "rate", ink: { as: "steps", y: "v", width: 1, faint: true }, event: "delivery rate",
        step: "Bytes newly acknowledged or SACKed, over one round trip" },
    ],
  },
  {
    id: "queue",
    title: "Bottleneck queue",
    unit: "bytes",
    height: 110,
    zero: true,
    series: [
      { table: "queue", label: "Queued", tone: "queue", ink: { as: "steps", y: "v", width: 1.25 }, event: "queue",
        step: "Known to the emulator alone: what waits at the slowest hop" },
    ],
  },
];

/** The lanes of these runs: a flow that is alone has no share. */
export const lanesOf = (runs: Run[]) => LANES.filter(({ id }) => id !== "share" || runs.some((run) => run.tables.has(id)));

/** What limited the sender at each moment. */
export const LIMITS = { id: "limits", title: "Limited by", table: "limits" };

/** The meaning of each cause, with a reference to its specification. */
export const CAUSES: Record<string, string> = {
  "congestion window": "RFC 5681 §3.1: cwnd was full, and no more may be in flight",
  "receive window": "RFC 9293 §3.8.6: SND.WND was full, and the receiver permits no more",
  recovery: "RFC 6675 §5, RFC 8985 §6: losses were being repaired",
  "send buffer": "RFC 9293 §3.9.1.2: the sender could hold no more of what the application had",
  application: "RFC 7661 §1: the application had nothing to send",
  "cwnd, path or pace": "The congestion window, the path or the pace of the application: packets do not say which",
  pacing: "RFC 9002 §7.7 describes it: segments waited for their moment",
};

export interface Row {
  table: string;
  /** In the margin of the picture. */
  short: string;
  label: string;
  names?: Names;
  step: string;
}

/** The event rows, in the order of the 2022 graph. */
export const ROWS: Row[] = [
  { table: "row/reordered", short: "reordered", label: "Packet reordered", step: "What the network did, from the emulator or the receiver: a packet arrived after one sent later" },
  { table: "row/early", short: "early", label: "Early recovery", names: { windows: "TcpEarlyRetransmit" }, step: "RFC 8985 §6.2, RFC 6675 §5: lost by time or by sequence, before three duplicate ACKs" },
  { table: "row/fast", short: "fast rtx", label: "Fast retransmit", names: { windows: "TcpLossRecoverySend", linux: RETRANSMIT }, step: "RFC 5681 §3.2, RFC 6675 §5: the first retransmission of an episode" },
  { table: "row/sack", short: "SACK rtx", label: "SACK retransmit", names: { windows: "TcpLossRecoverySend", linux: RETRANSMIT }, step: "RFC 6675 §5, step C: a further hole, as the pipe allows" },
  { table: "row/timeout", short: "RTO rtx", label: "Timeout retransmit", names: { windows: "TcpDataTransferRestransmit", linux: RETRANSMIT }, step: "RFC 6298 §5.4: the earliest segment, because the timer expired" },
  { table: "row/expire", short: "timer", label: "Retransmission timer", names: { windows: "TcpTcbExpireTimer", linux: "TCPTimeouts" }, step: "RFC 6298 §5.4 to §5.6: the retransmission timer of this connection fired" },
  { table: "row/dsack", short: "D-SACK", label: "D-SACK", names: { windows: "TcpReceiveSack DSackCount", linux: "TCPDSACKRecv" }, step: "RFC 2883 §4: the receiver got this range twice; RFC 8985 §6.2, step 4 listens to it" },
  { table: "row/lost", short: "lost", label: "Given up for lost", names: { windows: "TcpSendTrackerDetectLoss" }, step: "RFC 8985 §6.2, step 5: given up for lost" },
  { table: "row/sack_reordering", short: "reordering", label: "Reordering seen", names: { windows: "TcpSendTrackerSackReorderingDetected", linux: "TCPSACKReorder" }, step: "RFC 8985 §6.2, step 3: delivered below what had been delivered before" },
  { table: "row/reo_wnd", short: "reo_wnd", label: "Reordering window", names: { windows: "TcpSendTrackerUpdateReoWnd", linux: "rack.reo_wnd_steps" }, step: "RFC 8985 §6.2, step 4: the window's new width and its multiplier" },
];

/** Height of one row, in CSS pixels. */
export const ROW_HEIGHT = 24;
