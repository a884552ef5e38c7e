// The lanes and what each shows: a table of data, drawn by `plot.ts`.
//
// Event names are those of the Windows provider Microsoft-Windows-TCPIP, so that a row here and a row of such a log mean the same
// thing; the ten rows and their order are those of the 2022 graph that exposed a fault.

import type { Tone } from "./palette";
import type { Run, Unit } from "./payload";

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

const sent = (kind: string, label: string, tone: Tone, glyph: string, event: string, step: string): Series => ({
  table: `sent/${kind}`,
  label,
  tone,
  ink: { as: "bars", lo: "seq", hi: "end", wide: true, glyph, ends: "arrows" },
  event,
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
      { table: "share", label: "Each flow's rate", tone: "rate", ink: { as: "steps", y: "v", width: 1.75 }, event: "share",
        step: "Bytes newly acknowledged in each second, or in a part of one where a trace is short" },
    ],
  },
  {
    id: "sequence",
    title: "Time–sequence",
    unit: "seq",
    height: 340,
    zero: false,
    times: true,
    detrends: true,
    series: [
      {
        table: "sacks", label: "SACKed range", tone: "sack", ink: { as: "bars", lo: "lo", hi: "hi", wide: false, ends: "caps" }, part: "acks",
        event: "TcpReceiveSackBlock", step: "RFC 2018 §4: the receiver holds this range above the cumulative ACK",
      },
      {
        table: "window", label: "Receive window edge", tone: "window", ink: { as: "steps", y: "edge", width: 1 }, soft: true,
        event: "TcpDataTransferCumAck", step: "RFC 9293 §3.8.6: SND.UNA + SND.WND, the highest byte that may be sent",
      },
      {
        table: "acks", label: "Cumulative ACK", tone: "ack", ink: { as: "steps", y: "ack", width: 1.25 }, part: "acks",
        event: "TcpDataTransferCumAck", step: "RFC 9293 §3.10.7.4: SND.UNA advances",
      },
      {
        table: "sent/new", label: "Data segment", tone: "data", ink: { as: "bars", lo: "seq", hi: "end", wide: false, ends: "arrows" }, part: "sent",
        event: "TcpDataTransferSend", step: "RFC 9293 §3.8: sent for the first time",
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
      { table: "rtt", label: "Sample", tone: "sample", ink: { as: "dots", y: "v" }, event: "TcpDataTransferRttSample",
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
    title: "Delivery rate",
    unit: "bps",
    height: 120,
    zero: true,
    series: [
      { table: "rate", label: "Delivered", tone: "rate", ink: { as: "steps", y: "v", width: 1.5 }, event: "delivery rate",
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
  label: string;
  step: string;
}

/** The event rows, in the order of the 2022 graph. */
export const ROWS: Row[] = [
  { table: "row/reordered", label: "Packet reordering", step: "What the network did, from the emulator or the receiver: a packet arrived after one sent later" },
  { table: "row/early", label: "TcpEarlyRetransmit (FACK, RACK)", step: "RFC 8985 §6.2, RFC 6675 §5: lost by time or by sequence, before three duplicate ACKs" },
  { table: "row/fast", label: "TcpLossRecoverySend Fast Retransmit", step: "RFC 5681 §3.2, RFC 6675 §5: the first retransmission of an episode" },
  { table: "row/sack", label: "TcpLossRecoverySend SACK Retransmit", step: "RFC 6675 §5, step C: a further hole, as the pipe allows" },
  { table: "row/timeout", label: "TcpDataTransferRetransmit", step: "RFC 6298 §5.4: the earliest segment, because the timer expired" },
  { table: "row/expire", label: "TcpTcbExpireTimer", step: "RFC 6298 §5.4 to §5.6: the retransmission timer of this connection fired" },
  { table: "row/dsack", label: "D-SACK", step: "RFC 2883 §4: the receiver got this range twice; RFC 8985 §6.2, step 4 listens to it" },
  { table: "row/lost", label: "TcpSendTrackerDetectLoss", step: "RFC 8985 §6.2, step 5: given up for lost" },
  { table: "row/sack_reordering", label: "TcpSendTrackerSackReorderingDetected", step: "RFC 8985 §6.2, step 3: delivered below what had been delivered before" },
  { table: "row/reo_wnd", label: "TcpSendTrackerUpdateReoWnd", step: "RFC 8985 §6.2, step 4: the window's new width and its multiplier" },
];

/** Height of one row, in CSS pixels. */
export const ROW_HEIGHT = 24;
