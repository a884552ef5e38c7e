//! What no ACK has covered yet, and what every ACK policy knows of the peer's segments.
//!
//! The peer's segments define "full-sized": the largest one it has sent, between 536 bytes and `rmss`. Otherwise a peer whose
//! path allows less than our MSS would get fewer ACKs than one per two segments.

use super::config::AckConfig;
use crate::recv::Arrival;
use base::{Bytes, Duration, Instant};

/// A smaller segment never counts as the largest one that the peer can send (RFC 9293 MUST-15: the default MSS).
const SMALLEST_FULL_SIZE: Bytes = 536;

/// What to do about a segment that brought data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckDecision {
    /// An ACK leaves with this turn.
    Now,
    /// An ACK leaves at this moment at the latest: the caller arms the timer.
    After(Instant),
    /// The timer armed earlier also covers this segment.
    Pending,
}

/// What the application requests (by a socket option; no RFC covers it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPace {
    /// Received data is acknowledged as soon as it is read, and later data as quickly as the policy allows.
    Quick,
    /// Received data is acknowledged as soon as it is read; later data is delayed.
    QuickOnce,
    /// Later data is delayed, so that replies carry the ACKs.
    Delayed,
}

/// A segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub now: Instant,
    /// Its bytes.
    pub len: Bytes,
    pub kind: Arrival,
    /// Out-of-order data waits after this segment.
    pub holes: bool,
    /// Largest segment the peer may send.
    pub rmss: Bytes,
    /// The retransmission timeout.
    pub rto: Duration,
}

/// Whether a delayed ACK is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    ForTimer,
}

/// What no ACK has covered yet.
#[derive(Clone, Debug)]
pub(super) struct Owed {
    pub waiting: Waiting,
    /// Bytes received since the last ACK.
    pub unacknowledged: Bytes,
    /// Largest segment seen.
    pub largest: Bytes,
    /// Number of segments still to be acknowledged individually.
    pub quick_left: u16,
    /// When data last arrived, in wrapping milliseconds to save memory: a pause of 49 days may look like none. Kept only where a
    /// pause matters.
    pub latest_ms: u32,
}

impl Owed {
    /// Nothing has arrived, and so many segments are acknowledged one by one.
    pub fn new(quick_left: u16) -> Self {
        Self { waiting: Waiting::Nothing, unacknowledged: 0, largest: 0, quick_left, latest_ms: 0 }
    }

    /// Returns the bytes of a full-sized segment.
    #[inline]
    pub fn full_size(&self, rmss: Bytes) -> Bytes {
        self.largest.max(SMALLEST_FULL_SIZE).min(rmss)
    }

    /// A segment left that acknowledges everything received so far.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.unacknowledged = 0;
        self.waiting = Waiting::Nothing;
    }

    /// The timer fired; returns whether an ACK waited for it.
    pub fn on_timer(&mut self) -> bool {
        core::mem::replace(&mut self.waiting, Waiting::Nothing) == Waiting::ForTimer
    }
}

/// Segments that are acknowledged one by one at a start.
pub(super) fn quick(config: &AckConfig) -> u16 {
    u16::try_from(config.quick_segments).unwrap_or(u16::MAX)
}

/// An instant in milliseconds that wrap.
#[inline]
pub(super) fn ms(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}
