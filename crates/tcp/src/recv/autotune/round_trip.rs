//! The round-trip time as seen by a receiver that sends no data itself.
//!
//! With timestamps (RFC 7323 §3) the age of an echo is a sample. Without them, the time in which one window arrives is one (M.
//! Fisk and W. Feng, "Dynamic Right-Sizing in TCP", 2001). Neither is ever less than a round trip, but both may be much more if
//! the peer had nothing to send; so the smallest counts.

use base::{Bytes, Duration, Instant, SeqNum};

/// No estimate yet. (Endpoints are many; a sentinel keeps this small.)
const UNKNOWN: Duration = Duration::MAX;
/// No echo in this round trip yet.
const NO_ECHO: u32 = u32::MAX;

/// An estimate of the round-trip time.
#[derive(Clone, Debug)]
pub(super) struct ReceiverRtt {
    /// [`UNKNOWN`] before the first measurement.
    estimate: Duration,
    /// When the current measurement of a full window's arrival began; [`Instant::MAX`] before the first.
    window_since: Instant,
    /// What ends it.
    window_edge: SeqNum,
    /// Smallest age of an echo in the current round trip, in milliseconds: the unit of our timestamps.
    least_ms: u32,
}

impl ReceiverRtt {
    pub fn new() -> Self {
        Self { estimate: UNKNOWN, window_since: Instant::MAX, window_edge: SeqNum(0), least_ms: NO_ECHO }
    }
    /// [`Duration::MAX`] while nothing is known.
    #[inline]
    pub fn estimate(&self) -> Duration {
        self.estimate
    }
    #[inline]
    pub fn is_known(&self) -> bool {
        self.estimate != UNKNOWN
    }
    /// Returns whether `elapsed` is a round trip or more.
    #[inline]
    pub fn is_over(&self, elapsed: Duration) -> bool {
        elapsed >= self.estimate
    }
    /// Starts from a round trip measured elsewhere.
    pub fn begin_with(&mut self, rtt: Duration) {
        self.estimate = self.estimate.min(rtt);
    }

    /// Takes the age of an echoed timestamp as a sample, at least a millisecond.
    ///
    /// An echo can be older than a round trip, if the peer had nothing to send, but never younger. Until the next echo lowers it,
    /// too long an estimate only makes the current period look richer.
    #[inline]
    pub fn on_echo(&mut self, age: Duration) {
        self.least_ms = self.least_ms.min(u32::try_from(age.as_millis()).unwrap_or(NO_ECHO));
        self.estimate = self.estimate.min(age);
    }

    /// Without timestamps: bytes beyond the edge offered at some moment can only answer a later ACK, so they arrive at least a
    /// round trip after that moment; and soon after it, if the peer uses the window.
    pub fn on_progress(&mut self, now: Instant, rcv_nxt: SeqNum, promised: Bytes) {
        if self.window_since != Instant::MAX {
            if !rcv_nxt.after(self.window_edge) {
                return;
            }
            self.estimate = self.estimate.min(now.since(self.window_since));
        }
        self.window_edge = rcv_nxt + promised;
        self.window_since = now;
    }

    /// A round trip is over: with timestamps the estimate follows one that has become longer, be it by a queue the peer
    /// fills.
    pub fn on_round_trip(&mut self) {
        let least = core::mem::replace(&mut self.least_ms, NO_ECHO);
        if least != NO_ECHO {
            self.estimate = Duration::from_millis(u64::from(least));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn bytes_within_the_promised_window_do_not_end_the_measurement() {
        let at = |after| Instant::ZERO + ms(after);
        let mut rtt = ReceiverRtt::new();
        rtt.on_progress(at(1), SeqNum(1_000), 9_000);
        rtt.on_progress(at(2), SeqNum(10_000), 0);
        assert!(!rtt.is_known());
        rtt.on_progress(at(51), SeqNum(10_001), 9_000);
        assert_eq!(rtt.estimate(), ms(50));
        // A slower window means that the peer had less to send, not that the path became longer.
        rtt.on_progress(at(900), SeqNum(20_000), 9_000);
        assert_eq!(rtt.estimate(), ms(50));
    }

    #[test]
    fn the_estimate_is_the_smallest_echo_of_this_period_and_the_last() {
        let mut rtt = ReceiverRtt::new();
        let mut echo = |age: u64| {
            rtt.on_echo(ms(age));
            rtt.on_round_trip();
            rtt.estimate().as_millis()
        };
        assert_eq!([echo(10), echo(90), echo(10)], [10, 90, 10]);
    }

    #[test]
    fn what_the_handshake_measured_is_only_lowered_by_windows() {
        let mut rtt = ReceiverRtt::new();
        rtt.begin_with(ms(25));
        rtt.on_progress(Instant::ZERO, SeqNum(0), 1_000);
        rtt.on_progress(Instant::ZERO + ms(60), SeqNum(2_000), 1_000);
        assert_eq!((rtt.estimate(), rtt.is_over(ms(24)), rtt.is_over(ms(25))), (ms(25), false, true));
    }
}
