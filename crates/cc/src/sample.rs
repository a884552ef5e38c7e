//! The inputs of a controller: one struct per event, named fields, no positional flags.

use base::{Bytes, Duration, Instant, RateSample, Ratio, SeqNum, SeqRange};

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeKind {
    /// No episode.
    Open,
    /// Fast recovery: the reduction decides what is sent.
    Recovery,
    /// After a retransmission timeout: slow start over the lost data.
    Loss,
}

/// A segment left.
#[derive(Clone, Copy, Debug)]
pub struct SentSample {
    /// Departure time.
    pub now: Instant,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Bytes in flight, this segment included.
    pub pipe: Bytes,
    /// One past the highest byte sent so far.
    pub snd_nxt: SeqNum,
}

/// An ACK was processed.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Ingress time of the ACK.
    pub now: Instant,
    /// Bytes that may open the window: those that the cumulative acknowledgement covers, or the unreported part of them
    /// ([`crate::GrowthCount`]).
    pub acked: Bytes,
    /// Bytes newly selectively acknowledged.
    pub sacked: Bytes,
    /// Bytes newly delivered either way; none is counted twice over the life of a connection.
    pub delivered: Bytes,
    /// Of these bytes, those whose acknowledgement echoes a congestion mark.
    pub marked: Bytes,
    /// Bytes this ACK proved lost.
    pub newly_lost: Bytes,
    /// Bytes in flight after the ACK.
    pub pipe: Bytes,
    /// Bytes in flight before it.
    pub prior_pipe: Bytes,
    /// This ACK's RTT sample, if it carried a valid one.
    pub rtt: Option<Duration>,
    /// Smoothed RTT, this sample included.
    pub srtt: Option<Duration>,
    /// Windowed minimum RTT, this sample included.
    pub min_rtt: Option<Duration>,
    /// Delivery rate, if a sample could be formed.
    pub rate: Option<RateSample>,
    /// Total bytes delivered on this connection, this ACK included.
    pub total_delivered: u64,
    /// First byte not yet cumulatively acknowledged.
    pub snd_una: SeqNum,
    /// One past the highest byte sent.
    pub snd_nxt: SeqNum,
    /// The state of loss recovery after this ACK.
    pub episode: EpisodeKind,
    /// The window, and not the application or the receiver, limited the sender in the flight this ACK acknowledges (RFC 9438
    /// §5.8, RFC 7661): otherwise the window must not grow.
    pub cwnd_limited: bool,
}

impl AckSample {
    /// Returns what was sent and is not cumulatively acknowledged. A round is over when it no longer [reaches](SeqRange::reaches) the
    /// round's end.
    #[inline]
    pub const fn outstanding(&self) -> SeqRange {
        SeqRange::new(self.snd_una, self.snd_nxt)
    }
}

/// A segment was marked lost.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// When the loss was detected.
    pub now: Instant,
    /// Its bytes.
    pub bytes: Bytes,
    /// Bytes in flight when it was sent, itself included.
    pub pipe_at_send: Bytes,
    /// Bytes delivered on the connection when it was sent.
    pub delivered_at_send: u64,
    /// Bytes delivered on the connection now.
    pub total_delivered: u64,
    /// Bytes marked lost on the connection since it was sent, itself included.
    pub lost_since_sent: u64,
    /// The sender had nothing more to send at that time.
    pub app_limited: bool,
    /// Its sequence numbers: losses in a row touch each other.
    pub range: SeqRange,
    /// The peer reports what arrives beyond a hole.
    pub selective: bool,
}

/// The connection is about to send while nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub struct FlightStart {
    /// The present time.
    pub now: Instant,
    /// Smoothed RTT, at first that of the handshake.
    pub srtt: Option<Duration>,
    /// The sender had nothing to send when it last stopped: this ends a pause and not a loss of everything.
    pub app_limited: bool,
}

impl CongestionEvent {
    /// Returns the factor by which a signal reduces the window, for an algorithm whose factor is `usual`.
    pub(crate) fn factor(&self, usual: Ratio) -> Ratio {
        match self {
            Self::Ecn { beta: Some(beta), .. } => *beta,
            _ => usual,
        }
    }

    /// Returns the same signal with `bytes` outstanding.
    pub(crate) fn at(self, bytes: Bytes) -> Self {
        match self {
            Self::Loss { .. } => Self::Loss { flight_size: bytes },
            Self::Ecn { beta, least_segments, .. } => Self::Ecn { flight_size: bytes, beta, least_segments },
            Self::Timeout { first, .. } => Self::Timeout { flight_size: bytes, first },
        }
    }
}

/// A congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// An episode of fast recovery begins.
    Loss {
        /// Bytes outstanding: sent and not cumulatively acknowledged.
        flight_size: Bytes,
    },
    /// The receiver echoed a congestion mark.
    Ecn {
        /// Bytes outstanding.
        flight_size: Bytes,
        /// The factor of the window (RFC 8511 §3); `None` for the same as after a loss.
        beta: Option<Ratio>,
        /// Minimum window after the reaction, in segments: one or two.
        least_segments: u32,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Bytes outstanding.
        flight_size: Bytes,
        /// First expiry for this data: repeated ones do not change `ssthresh` (RFC 5681 §3.1).
        first: bool,
    },
}
