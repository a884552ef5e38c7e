//! Whether the congestion window is what holds the sender back.
//!
//! A window that was not used says nothing about the path and must not grow (RFC 9438 §5.8, RFC 7661 §4.1). An ACK counts
//! as window-limited when the flight it acknowledges was sent up to the window, or, in slow start, when at least half of
//! the window was in use, so that a doubling sender is not stopped by the grain of its own bursts.

use base::{Bytes, SeqNum};

/// Remembers how far the window was used.
#[derive(Clone, Debug)]
pub(crate) struct CwndUsage {
    /// `SND.NXT` when the window last stopped a segment that was ready to leave.
    limited_at: SeqNum,
    /// Most octets in flight since `round_end` was set.
    max_pipe: Bytes,
    round_end: SeqNum,
}

impl CwndUsage {
    /// Starts at the first sequence number.
    pub fn new(nxt: SeqNum) -> Self {
        Self { limited_at: nxt, max_pipe: 0, round_end: nxt }
    }
    /// A segment was sent; `pipe` includes it.
    #[inline]
    pub fn on_sent(&mut self, pipe: Bytes) {
        self.max_pipe = self.max_pipe.max(pipe);
    }
    /// The window stopped a segment that was ready.
    #[inline]
    pub fn on_blocked(&mut self, nxt: SeqNum) {
        self.limited_at = nxt;
    }
    //= specs/rfc9438.md#application-limit
    //# The window of a flow that does not use it does not grow.
    /// Whether the flight that ends at the acknowledged `una` was limited by the window.
    #[inline]
    pub fn on_ack(&mut self, una: SeqNum, nxt: SeqNum, cwnd: Bytes, ssthresh: Bytes) -> bool {
        let limited = una.at_or_before(self.limited_at) || (cwnd < ssthresh && cwnd / 2 < self.max_pipe);
        if una.at_or_after(self.round_end) {
            self.round_end = nxt;
            self.max_pipe = 0;
        }
        // Serial numbers compare within half the circle: an old mark must not come round again as a future one.
        if una.distance_from(self.limited_at) < 1 << 31 && una.distance_from(self.limited_at) > 1 << 30 {
            self.limited_at = una - 1;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= specs/rfc9438.md#application-limit
    //= type=test
    //# The window of a flow that does not use it does not grow.
    #[test]
    fn a_flight_that_was_stopped_by_the_window_counts_and_a_later_one_does_not() {
        let mut usage = CwndUsage::new(SeqNum(0));
        usage.on_blocked(SeqNum(10_000));
        assert!(usage.on_ack(SeqNum(1_000), SeqNum(10_000), 10_000, 5_000));
        assert!(usage.on_ack(SeqNum(10_000), SeqNum(12_000), 10_000, 5_000));
        assert!(!usage.on_ack(SeqNum(11_000), SeqNum(12_000), 10_000, 5_000));
    }

    #[test]
    fn slow_start_counts_a_window_that_was_half_used() {
        let mut usage = CwndUsage::new(SeqNum(0));
        usage.on_sent(6_000);
        assert!(usage.on_ack(SeqNum(1), SeqNum(6_000), 10_000, u32::MAX));
        let mut usage = CwndUsage::new(SeqNum(0));
        usage.on_sent(4_000);
        assert!(!usage.on_ack(SeqNum(1), SeqNum(4_000), 10_000, u32::MAX));
    }

    #[test]
    fn an_old_mark_does_not_come_round_again() {
        let mut usage = CwndUsage::new(SeqNum(0));
        let mut una = SeqNum(0);
        for _ in 0..64 {
            una += 1 << 27;
            assert!(!usage.on_ack(una, una, 10_000, 5_000));
        }
    }
}
