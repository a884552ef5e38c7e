//! What an endpoint tells about itself.

use crate::endpoint::State;
use crate::event::{CloseReason, DropReason};
use base::{Bytes, Duration};

/// Totals since the connection began. Octets are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, whatever they carried.
    pub segments_sent: u64,
    /// Segments received for this connection.
    pub segments_received: u64,
    /// Payload octets sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload octets sent again.
    pub bytes_retransmitted: u64,
    /// Payload octets acknowledged by the peer.
    pub bytes_acked: u64,
    /// Payload octets received in order.
    pub bytes_received: u64,
    /// Episodes: fast recoveries, and timeouts that began outside of one.
    pub episodes: u32,
    /// Episodes entered without a timeout.
    pub fast_retransmits: u32,
    /// Episodes that ended without a timeout.
    pub episodes_without_timeout: u32,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u32,
    /// Retransmissions that were given up for lost in their turn.
    pub lost_retransmissions: u32,
    /// Tail loss probes sent; saturates.
    pub probes: u16,
    /// Episodes that were proven spurious and undone; saturates.
    pub undone: u16,
    /// Payload octets marked lost.
    pub bytes_lost: u64,
    /// Duplicate ranges the peer reported.
    pub dsacks_received: u32,
    /// Duplicate ranges reported to the peer.
    pub dsacks_sent: u32,
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
    /// Octets in flight as the scoreboard counts them (RFC 6675 pipe).
    pub pipe: Bytes,
    /// Octets sent and not cumulatively acknowledged.
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
    /// Present retransmission timeout, back-off included.
    pub rto: Duration,
    /// `open`, `recovery` or `loss`.
    pub episode: &'static str,
    /// Octets received in order and not yet read.
    pub readable: u64,
    /// Received pattern octets that were not what their position says.
    pub mismatches: u64,
    /// Whether SACK, timestamps and window scaling are in use, in this order.
    pub negotiated: (bool, bool, bool),
    /// Totals.
    pub counters: Counters,
}
