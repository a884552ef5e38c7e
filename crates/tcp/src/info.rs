//! Reports of an endpoint about itself.

use crate::endpoint::{Origin, State};
use crate::event::{CloseReason, DropReason};
use base::{Bytes, Duration, Rate};
use cc::{Pacing, Resumption};
use trace::Episode;

/// Totals since the connection began. Bytes are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, whatever they carried.
    pub segments_sent: u64,
    /// Segments received for this connection.
    pub segments_received: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload bytes sent again.
    pub bytes_retransmitted: u64,
    /// Payload bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Payload bytes received in order.
    pub bytes_received: u64,
    /// Segments sent with payload, each transmission counted; wraps, as the next two do.
    pub data_segments_sent: u32,
    /// Segments received with payload.
    pub data_segments_received: u32,
    /// Segments delivered to the peer according to its acknowledgements, each counted once.
    pub segments_delivered: u32,
    /// Data segments sent again.
    pub segments_retransmitted: u32,
    /// Segments received that left a gap before them.
    pub segments_out_of_order: u32,
    /// Episodes: fast recoveries, and timeouts that began outside of one.
    pub episodes: u32,
    /// Episodes entered without a timeout.
    pub fast_retransmits: u32,
    /// Episodes that ended without a timeout.
    pub episodes_without_timeout: u32,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u32,
    /// Retransmissions that were themselves marked lost.
    pub lost_retransmissions: u32,
    /// Tail loss probes sent; saturates.
    pub probes: u16,
    /// Episodes that were proven spurious and undone; saturates.
    pub undone: u16,
    /// Payload bytes marked lost.
    pub bytes_lost: u64,
    /// Duplicate ranges the peer reported.
    pub dsacks_received: u32,
    /// Duplicate ranges reported to the peer.
    pub dsacks_sent: u32,
    /// ACKs received with SACK blocks.
    pub sacks_received: u32,
    /// How many of them reported nothing new: they acknowledged nothing, cumulatively or selectively, and reported no duplicate.
    pub stale_sacks: u32,
    /// Received segments that were dropped or challenged, by reason; saturates.
    pub dropped: [u16; DropReason::COUNT],
}

/// A snapshot of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// RFC 9293 state.
    pub state: State,
    /// How it ended, if it did.
    pub closed: Option<CloseReason>,
    /// Sender's maximum segment size, options already deducted.
    pub smss: Bytes,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold.
    pub ssthresh: Bytes,
    /// Bytes in flight as the scoreboard counts them (RFC 6675 pipe).
    pub pipe: Bytes,
    /// Bytes sent and not cumulatively acknowledged.
    pub flight_size: Bytes,
    /// The peer's window.
    pub snd_wnd: Bytes,
    /// The window last offered.
    pub rcv_wnd: Bytes,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Its variation.
    pub rttvar: Option<Duration>,
    /// Windowed minimum RTT.
    pub min_rtt: Option<Duration>,
    /// Multiplier of the reordering window (RFC 8985 §6.2 step 4); `None` for detectors without one.
    pub reo_wnd_mult: Option<u32>,
    /// Current retransmission timeout, including back-off.
    pub rto: Duration,
    /// Its state of loss recovery.
    pub episode: Episode,
    /// Bytes received in order and not yet read.
    pub readable: u64,
    /// Received pattern bytes that differ from the pattern at their position.
    pub mismatches: u64,
    /// Whether SACK, timestamps and window scaling are in use, in this order.
    pub negotiated: (bool, bool, bool),
    /// Explicit congestion notification.
    pub ecn: EcnInfo,
    /// Whether data in a SYN was accepted, by us or by the peer (RFC 7413).
    pub syn_data_taken: bool,
    /// What came of what an earlier connection had found on the path (RFC 9959); `None` if this one was given nothing.
    pub resumption: Option<Resumption>,
    /// Totals.
    pub counters: Counters,
}

/// The memory that holds received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMemory {
    /// Size of the buffer.
    pub buffer: Bytes,
    /// Memory in use.
    pub used: Bytes,
    /// The size of arriving segments, in bytes of payload.
    pub mss: Bytes,
    /// The window that arriving segments have opened, in bytes of payload.
    pub opened: Bytes,
}

/// The full report of a connection, which takes some work to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// The part that is cheap to report.
    pub info: TcpInfo,
    /// Which side opened the connection.
    pub origin: Origin,
    /// The sender's view of the path.
    pub congestion: CongestionState,
    /// Bytes that may currently be in flight: during a reduction, the bytes in flight plus what may leave (RFC 9937 §6.2);
    /// otherwise the congestion window.
    pub window: Bytes,
    /// Timeouts of the same data, or SYN, since the last progress.
    pub consecutive_timeouts: u32,
    /// Probes of a closed window sent since it closed.
    pub window_probes: u32,
    /// How often the current timeout was doubled (RFC 6298 §5.5).
    pub back_off: u32,
    /// The peer's window shift and ours, in this order, if scaling is in use (RFC 7323 §2).
    pub shifts: Option<(u8, u8)>,
    /// Longest delay of an acknowledgement at present.
    pub ack_delay: Duration,
    /// Largest segment seen from the peer; zero before the first.
    pub rmss: Bytes,
    /// The segment size our SYN announced.
    pub advertised_mss: u16,
    /// Current value of our timestamp option (RFC 7323 §3), whether or not it is in use.
    pub timestamp: u32,
    /// The largest packet that the path carries according to routers, in bytes.
    pub path_mtu: u16,
    /// The flight in segments.
    pub flight: FlightSegments,
    /// Bytes written and not yet sent.
    pub unsent: Bytes,
    /// The size limit of the send buffer, ...
    pub send_buffer: Bytes,
    /// ... and what counts against it: unacknowledged bytes, and the memory overhead of keeping them.
    pub send_memory: Bytes,
    /// Time since data was last sent, or the connection began; in milliseconds, as the next two.
    pub since_data_sent: Duration,
    /// Time since data last arrived.
    pub since_data_received: Duration,
    /// Time since an acceptable acknowledgement last arrived.
    pub since_ack_received: Duration,
    /// The largest window currently offered.
    pub receive_limit: Bytes,
    /// The memory of received frames, where it counts.
    pub receive_memory: Option<ReceiveMemory>,
    /// The round trip as the receiver measures it.
    pub receiver_rtt: Option<Duration>,
    /// Most bytes that the application took within a round trip; zero before the first.
    pub receiver_space: Bytes,
    /// The largest distance by which a segment was overtaken, in bytes of sequence numbers.
    pub reordering_extent: Bytes,
    /// ACKs that showed reordering.
    pub reorderings: u32,
    /// When segments may leave, for controllers that pace.
    pub pacing: Option<Pacing>,
    /// The latest meaningful delivery rate (draft-ietf-ccwg-bbr §4.1).
    pub delivery_rate: Option<Rate>,
    /// What this rate measures.
    pub rate_limit: RateLimit,
    /// Time with something to send, ...
    pub busy: Duration,
    /// ... during which only the peer's window limited the sender, ...
    pub window_limited: Duration,
    /// ... or only the size of the send buffer.
    pub buffer_limited: Duration,
    /// Timeouts, including those of SYNs; saturates, as the next counter does.
    pub all_timeouts: u16,
    /// Recoveries begun by a timeout.
    pub timeout_recoveries: u16,
    /// Time spent in them, including the current one.
    pub timeout_time: Duration,
}

/// The sender's view of the path's congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// All is well.
    Open,
    /// A segment arrived out of order, or not at all: it is not yet known which.
    Disorder,
    /// The window shrinks in reaction to a congestion mark.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Recovery after a timeout.
    Loss,
}

/// What a delivery rate measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// The path.
    Path,
    /// The application, which had no more to send; or no measurement exists yet.
    Application,
}

/// A flight, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlightSegments {
    /// Sent and not cumulatively acknowledged.
    pub outstanding: u32,
    /// Of these, selectively acknowledged, ...
    pub sacked: u32,
    /// ... marked lost, retransmitted or not, ...
    pub lost: u32,
    /// ... and retransmitted, waiting to be acknowledged for that reason.
    pub retransmitted: u32,
}

/// Explicit congestion notification on a connection (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnInfo {
    /// Whether both sides agreed on it.
    pub negotiated: bool,
    /// Segments delivered by acknowledgements that echoed a mark.
    pub delivered_ce: u32,
    /// Segments received with a mark.
    pub received_ce: u32,
    /// Echoes that reduced the window.
    pub reductions: u32,
    /// Data segments received with an ECN-capable codepoint.
    pub received_capable: u32,
}
