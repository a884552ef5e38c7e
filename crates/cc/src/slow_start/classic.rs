//! Slow start by byte counting (RFC 5681 §3.1, RFC 3465 §2.2).
//!
//! Each ACK opens the window by the bytes it acknowledged, up to a configured limit of segments.
//!
//! It has no exit detector: slow start ends at `ssthresh` or by congestion, both of which the composite detects.

use super::limit::AckLimit;
use super::{SlowStart, Step};
use crate::control::CcPhase;
use crate::sample::AckSample;
use crate::window::Window;

/// How far one ACK may open the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassicConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
}

impl Default for ClassicConfig {
    /// `L = 2`, as in RFC 3465: a window acknowledged at every second segment still doubles.
    fn default() -> Self {
        Self { limit_segments: Some(2) }
    }
}

//= specs/rfc9438.md#slow-start
//# The slow start is Reno's.
/// Slow start without an exit detector.
#[derive(Clone, Debug)]
pub struct Classic {
    limit: AckLimit,
}

impl Classic {
    /// Creates the policy for a connection's first slow start.
    pub const fn new(config: &ClassicConfig) -> Self {
        Self { limit: AckLimit::new(config.limit_segments) }
    }
}

impl SlowStart for Classic {
    const PHASE: CcPhase = CcPhase::SlowStart;

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# In slow start an ACK opens the window by the bytes it newly acknowledges.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        Step::Grow(self.limit.bytes(ack, window))
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# After a timeout an ACK in slow start opens the window by at most one SMSS.
    fn on_congestion(&mut self) {
        self.limit = AckLimit::AFTER_CONGESTION;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ack;
    use crate::window::InitialWindow;
    use base::Bytes;
    use test_case::test_case;

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //= type=test
    //# In slow start an ACK opens the window by the bytes it newly acknowledges.
    #[test_case(Some(1), 1_000, 1_000; "one segment a segment")]
    #[test_case(Some(1), 2_000, 1_000; "a delayed ACK counts once with L 1")]
    #[test_case(Some(2), 2_000, 2_000; "a delayed ACK counts twice with L 2")]
    #[test_case(Some(2), 9_000, 2_000; "a stretch ACK is cut to L")]
    #[test_case(None, 9_000, 9_000; "a stretch ACK counts in full without L")]
    #[test_case(Some(2), 10, 10; "bytes are counted, not ACKs")]
    #[test_case(Some(2), 0, 0; "a duplicate ACK opens nothing")]
    #[test_case(Some(u32::MAX), 9_000, 9_000; "a limit beyond all windows")]
    fn one_ack_opens(limit_segments: Option<u32>, acked: Bytes, expected: Bytes) {
        let mut classic = Classic::new(&ClassicConfig { limit_segments });
        let window = Window::new(&InitialWindow::RFC6928, 1_000);
        assert_eq!(classic.on_ack(&ack(0, acked), &window), Step::Grow(expected));
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //= type=test
    //# After a timeout an ACK in slow start opens the window by at most one SMSS.
    #[test_case(Some(2))]
    #[test_case(None)]
    fn after_congestion_one_ack_opens_one_segment(limit_segments: Option<u32>) {
        let mut classic = Classic::new(&ClassicConfig { limit_segments });
        classic.on_congestion();
        let window = Window::new(&InitialWindow::plain(1), 1_000);
        assert_eq!(classic.on_ack(&ack(0, 9_000), &window), Step::Grow(1_000));
    }
}
