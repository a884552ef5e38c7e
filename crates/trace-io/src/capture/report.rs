//! The results of an analysis as plain data: a line of JSON per flow, with the unit at the end of every name.

mod time;

pub use time::TimeReport;

use super::diagnosis::Diagnosis;
use super::distribution::Distribution;
use super::flow::{Flow, Shake};
use super::quantities::ms;
use super::reordering::Extent;
use super::stream::Stream;
use super::verdict::Finding;
use super::window::Scale;
use serde::Serialize;

/// Everything about one connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowReport {
    /// Place in the order of first packets, from 1.
    pub flow: u64,
    /// The end that opened the connection where that was captured, else the one seen first.
    pub client: String,
    /// The other.
    pub server: String,
    /// Which interface of the file.
    pub interface: u32,
    /// Which interface of the capturing host, where the capture is cooked and says so.
    pub interface_index: Option<u32>,
    /// In which VXLAN network, where a tunnel carries the connection.
    pub vxlan_network: Option<u32>,
    /// Time of the first packet since 1970.
    pub start_unix_ms: f64,
    /// From the first packet to the last.
    pub duration_ms: f64,
    /// Of both directions.
    pub packets: u64,
    /// Packets that were captured once more; they count nowhere else.
    pub copies: u64,
    /// Resets among the packets.
    pub resets: u64,
    /// Packets whose options were damaged or cut off by the capture: their SACK blocks and time stamps are missing.
    pub packets_without_options: u64,
    /// `complete`, `partial`, or `missing`: the capture starts in the middle.
    pub handshake: &'static str,
    /// SYNs that were sent again.
    pub syn_retransmissions: u64,
    /// What the SYNs said, the client's first; nothing where that was not captured, or not whole.
    pub offered: [Option<Offered>; 2],
    /// `client` or `server`: who sends most.
    pub sender: &'static str,
    /// Where the capture was made, seen from that sender: `sender`, `receiver`, `between` or `unknown`.
    pub vantage: &'static str,
    /// Shortest round trip from the capture to the client and back, and to the server and back.
    pub rtt_to_client_ms: Option<f64>,
    /// The same, to the server.
    pub rtt_to_server_ms: Option<f64>,
    /// Of the whole path: from sequence numbers, in the direction of the data; half of it is a minimum where the capture was not made at the sender.
    pub rtt: Option<Distribution>,
    /// What the client sends, and what the server sends.
    pub directions: [DirectionReport; 2],
    /// One sentence: the first finding, or that nothing is wrong.
    pub summary: String,
    /// What limited the transfer, the largest first; nothing where nothing is wrong.
    pub verdict: Vec<Finding>,
    /// What cost little, or belongs to the time of a finding.
    pub notes: Vec<Finding>,
}

/// What a SYN says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offered {
    /// Maximum segment size.
    pub mss_bytes: Option<u16>,
    /// Shift of windows; without it they are not scaled, in either direction.
    pub window_scale: Option<u8>,
    /// Selective acknowledgements are welcome.
    pub sack_permitted: bool,
    /// Time stamps are in use.
    pub timestamps: bool,
}

/// How far packets overtook each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reordering {
    /// Packets that came late.
    pub packets: u64,
    /// Most packets that overtook one of them.
    pub extent_packets: u32,
    /// The longest time by which one came late.
    pub extent_ms: f64,
}

/// What one end sends, and what comes back for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectionReport {
    /// All packets of this end.
    pub packets: u64,
    /// Those with payload or FIN.
    pub data_packets: u64,
    /// Bytes of payload, sent again or not.
    pub payload_bytes: u64,
    /// Bytes that were acknowledged.
    pub delivered_bytes: u64,
    /// Bytes that were acknowledged but never captured.
    pub unseen_bytes: u64,
    /// From the first data to the last data or acknowledgement of data.
    pub data_ms: f64,
    /// Bytes acknowledged, as bits, over that time.
    pub goodput_bps: Option<f64>,
    /// Bytes of a full segment.
    pub mss_bytes: u64,
    /// Segments sent again, and their bytes.
    pub retransmissions: u64,
    /// Bytes of these.
    pub retransmitted_bytes: u64,
    /// By loss detection.
    pub fast_retransmissions: u64,
    /// Before a timeout: the last segment once more.
    pub tail_probes: u64,
    /// By a timeout; and what followed one, until all that was in flight then was acknowledged.
    pub timeouts: u64,
    /// The latter.
    pub retransmissions_after_timeouts: u64,
    /// Timeouts whose retransmissions were lost before the capture: silence, and identifications that were used up.
    pub timeouts_before: u64,
    /// Into a closed window.
    pub window_probes: u64,
    /// For no reason that the capture shows.
    pub unexplained_retransmissions: u64,
    /// Those that were acknowledged already when they passed the capture.
    pub already_acknowledged: u64,
    /// Those that had been sent again before.
    pub lost_retransmissions: u64,
    /// Time during which at least one lost retransmission waited for the next one, each moment counted once.
    pub lost_retransmissions_ms: f64,
    /// Those that a D-SACK proves needless.
    pub spurious_by_dsack: u64,
    /// Those that were answered sooner than a round trip allows: the original had arrived.
    pub originals_arrived: u64,
    /// Duplicates that the receiver reported.
    pub dsacks: u64,
    /// Acknowledgements that say nothing new while something is in flight.
    pub duplicate_acks: u64,
    /// Segments that keep a silent connection open.
    pub keep_alives: u64,
    /// Packets that a router marked instead of dropping them.
    pub congestion_experienced: u64,
    /// Packets whose numbers belong to no window.
    pub strange_packets: u64,
    /// Before the capture: seen here in another order than they were sent.
    pub reordering_before: Reordering,
    /// Behind the capture: reported by the receiver.
    pub reordering_behind: Reordering,
    /// Round trips from the capture to the receiver, from sequence numbers.
    pub rtt_to_receiver: Option<Distribution>,
    /// The same, from time stamps.
    pub rtt_from_timestamps: Option<Distribution>,
    /// What the receiver announces.
    pub window: WindowReport,
    /// Rate of the path's narrowest link, derived from the distance of acknowledgements.
    pub link_bps: Option<f64>,
    /// While the path was the limit, a queue of at least this stood half of the time.
    pub queue_ms: f64,
    /// How the sender spent its time.
    pub time: TimeReport,
}

/// The windows that a sender is given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowReport {
    /// Shift of the window field.
    pub scale: u8,
    /// The handshake was not captured, and this is the least that explains what was in flight.
    pub scale_is_guessed: bool,
    /// The largest.
    pub max_bytes: u64,
    /// The largest that limited the sender; 0 when none did.
    pub limiting_bytes: u64,
    /// Mean over time since it was largest, in per cent of that.
    pub since_largest_pct: u64,
    /// The smallest that was not closed.
    pub min_bytes: u64,
    /// Most bytes in flight, as seen at the capture.
    pub max_in_flight_bytes: u64,
    /// Segments that filled the window to the last byte.
    pub window_full: u64,
    /// How often the window was closed.
    pub zero_windows: u64,
    /// Acknowledgements that said so.
    pub zero_window_acks: u64,
    /// How long altogether.
    pub zero_window_ms: f64,
    /// The longest.
    pub longest_zero_window_ms: f64,
}

impl FlowReport {
    /// Reads the books of a connection that is over; `diagnoses` are of what the client sends, and of what the server sends.
    /// Summary, verdict and notes are left empty.
    pub(super) fn of(flow: &Flow, diagnoses: &[Diagnosis; 2]) -> Self {
        let side = flow.main_side();
        let [client, server] = flow.ends.map(|end| end.to_string());
        let directions = [0, 1].map(|side| DirectionReport::of(&flow.streams[side], &diagnoses[side]));
        Self {
            flow: flow.id,
            client,
            server,
            interface: flow.interface.file,
            interface_index: flow.interface.index,
            vxlan_network: flow.interface.network,
            start_unix_ms: ms(flow.first_at),
            duration_ms: ms(flow.last_at - flow.first_at),
            packets: flow.packets,
            copies: flow.copies,
            resets: flow.resets,
            packets_without_options: flow.options_missing,
            handshake: match flow.shakes {
                [Some(_), Some(_)] => "complete",
                [None, None] => "missing",
                _ => "partial",
            },
            syn_retransmissions: flow.shakes.iter().flatten().map(|shake| u64::from(shake.repeats)).sum(),
            offered: flow.shakes.map(|shake| shake.filter(|shake| shake.is_whole).as_ref().map(Offered::of)),
            sender: ["client", "server"][side],
            vantage: vantage(flow.half(side), flow.half(1 - side)),
            rtt_to_client_ms: flow.half(0).map(ms),
            rtt_to_server_ms: flow.half(1).map(ms),
            rtt: path_rtt(flow, side),
            directions,
            summary: String::new(),
            verdict: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Bytes of payload of both directions.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.payload_bytes).sum()
    }

    /// The direction of most data.
    pub fn main_direction(&self) -> &DirectionReport {
        &self.directions[usize::from(self.sender == "server")]
    }
}

/// Where a capture was made: the nearer an end, the shorter its half of the round trip.
fn vantage(to_sender: Option<u64>, to_receiver: Option<u64>) -> &'static str {
    let (Some(to_sender), Some(to_receiver)) = (to_sender, to_receiver) else { return "unknown" };
    let whole = to_sender + to_receiver;
    match () {
        () if whole == 0 => "unknown",
        () if to_sender <= whole / 10 => "sender",
        () if to_receiver <= whole / 10 => "receiver",
        () => "between",
    }
}

/// Of two halves the one that varies is measured, which holds the queue; the other is its minimum.
fn path_rtt(flow: &Flow, side: usize) -> Option<Distribution> {
    let [to_sender, to_receiver] = [flow.half(side), flow.half(1 - side)].map(|half| half.unwrap_or(0));
    let stream = &flow.streams[side];
    let there = || stream.rtt.distribution().or_else(|| stream.stamped.distribution());
    let (mut whole, other) = match stream.returns.distribution() {
        Some(back) if to_sender > to_receiver => (back, to_receiver),
        _ => (there()?, to_sender),
    };
    for value in [&mut whole.min_ms, &mut whole.median_ms, &mut whole.p95_ms, &mut whole.max_ms] {
        *value += ms(other);
    }
    Some(whole)
}

impl Offered {
    fn of(shake: &Shake) -> Self {
        let Shake { mss, window_scale, sack_permitted, timestamps, .. } = *shake;
        Self { mss_bytes: mss, window_scale, sack_permitted, timestamps }
    }
}

impl Reordering {
    fn of(extent: Extent) -> Self {
        Self { packets: extent.packets, extent_packets: extent.overtaken_by, extent_ms: ms(extent.late) }
    }
}

impl DirectionReport {
    fn of(stream: &Stream, diagnosis: &Diagnosis) -> Self {
        let counts = &stream.counts;
        let took = stream.last_at.saturating_sub(stream.first_at.unwrap_or(stream.last_at));
        let delivered = stream.delivered();
        Self {
            packets: counts.packets,
            data_packets: counts.data_packets,
            payload_bytes: counts.payload,
            delivered_bytes: delivered,
            unseen_bytes: counts.unseen,
            data_ms: ms(took),
            goodput_bps: (took > 0 && delivered > 0).then(|| delivered as f64 * 8e9 / took as f64),
            mss_bytes: stream.mss(),
            retransmissions: counts.retransmissions,
            retransmitted_bytes: counts.retransmitted,
            fast_retransmissions: counts.fast,
            tail_probes: counts.tail_probes,
            timeouts: counts.timeouts,
            timeouts_before: counts.timeouts_before,
            retransmissions_after_timeouts: counts.after_timeouts,
            window_probes: counts.window_probes,
            unexplained_retransmissions: counts.unexplained,
            already_acknowledged: counts.already_acknowledged,
            lost_retransmissions: counts.lost_retransmissions,
            lost_retransmissions_ms: ms(stream.lost_retransmissions.total()),
            spurious_by_dsack: counts.proved_spurious,
            originals_arrived: counts.original_arrived,
            dsacks: counts.dsacks,
            duplicate_acks: counts.dup_acks,
            keep_alives: counts.keep_alives,
            congestion_experienced: counts.congestion_experienced,
            strange_packets: counts.strange,
            reordering_before: Reordering::of(stream.before_capture),
            reordering_behind: Reordering::of(stream.behind_capture()),
            rtt_to_receiver: stream.rtt.distribution(),
            rtt_from_timestamps: stream.stamped.distribution(),
            window: WindowReport::of(stream),
            link_bps: diagnosis.link_rate.map(|bytes| bytes as f64 * 8.0),
            queue_ms: ms(diagnosis.queue),
            time: TimeReport::of(diagnosis),
        }
    }
}

impl WindowReport {
    fn of(stream: &Stream) -> Self {
        let window = &stream.window;
        Self {
            scale: window.scale.shift(),
            scale_is_guessed: matches!(window.scale, Scale::AtLeast(_)),
            max_bytes: window.largest,
            limiting_bytes: window.limiting,
            since_largest_pct: window.since_largest_pct(),
            min_bytes: if window.smallest == u64::MAX { 0 } else { window.smallest },
            max_in_flight_bytes: window.most_in_flight,
            window_full: window.filled,
            zero_windows: window.closed,
            zero_window_acks: window.closed_acks,
            zero_window_ms: ms(window.closed_time),
            longest_zero_window_ms: ms(window.closed_longest),
        }
    }
}
