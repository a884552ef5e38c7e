//! Limited slow start (RFC 3742): from a given window on, a round trip opens the window by no more than half of it.
//!
//! Deviation: acknowledged bytes are counted instead of ACKs, as in the other policies, so that delayed ACKs do not halve the
//! growth. HyStart++'s early drafts use the same law with the window at which their detector fired ([`super::tail::Lss`]).

use super::limit::AckLimit;
use super::{SlowStart, Step};
use crate::control::CcPhase;
use crate::sample::AckSample;
use crate::window::Window;

/// Limited slow start's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitedConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// `max_ssthresh`, in segments: up to this window slow start doubles it; at least 2.
    pub doubling_segments: u32,
}

impl Default for LimitedConfig {
    /// RFC 3742 §2 recommends 100 segments.
    fn default() -> Self {
        Self { limit_segments: Some(2), doubling_segments: 100 }
    }
}

impl LimitedConfig {
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        need(self.doubling_segments >= 2, "cc.slow_start.doubling_segments", "must be at least 2");
    }
}

/// Slow start without an exit detector, which doubles small windows only.
#[derive(Clone, Debug)]
pub struct Limited {
    limit: AckLimit,
    doubling_segments: u32,
}

impl Limited {
    /// Creates the policy for a connection's first slow start.
    pub const fn new(config: &LimitedConfig) -> Self {
        Self { limit: AckLimit::new(config.limit_segments), doubling_segments: config.doubling_segments }
    }
}

impl SlowStart for Limited {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        let bytes = self.limit.bytes(ack, window);
        // RFC 3742 §2: K = int(cwnd / (0.5 · max_ssthresh)), and a segment opens the window by its K-th part.
        let doubling = u64::from(self.doubling_segments) * u64::from(window.smss());
        let cwnd = u64::from(window.cwnd());
        if cwnd <= doubling {
            return Step::Grow(bytes);
        }
        Step::Grow((u64::from(bytes) / (2 * cwnd / doubling)) as u32)
    }

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

    fn limited(limit_segments: Option<u32>) -> Limited {
        Limited::new(&LimitedConfig { limit_segments, ..LimitedConfig::default() })
    }

    #[test_case(99, 1_000; "below it doubles")]
    #[test_case(100, 1_000; "at the window itself it still doubles")]
    #[test_case(101, 500; "above it K is 2")]
    #[test_case(149, 500)]
    #[test_case(150, 333; "K is 3 from one and a half times the window on")]
    #[test_case(200, 250)]
    #[test_case(1_000, 50)]
    fn one_segment_opens(segments: u32, expected: Bytes) {
        let window = Window::new(&InitialWindow::plain(segments), 1_000);
        assert_eq!(limited(None).on_ack(&ack(0, 1_000), &window), Step::Grow(expected));
    }

    #[test]
    fn a_round_trip_opens_the_window_by_no_more_than_half_of_it() {
        for segments in [101, 133, 500, 4_000] {
            let mut window = Window::new(&InitialWindow::plain(segments), 1_000);
            for _ in 0..segments {
                let Step::Grow(bytes) = limited(None).on_ack(&ack(0, 1_000), &window) else { panic!("not growth") };
                window.grow(bytes);
            }
            let grown = window.cwnd() - segments * 1_000;
            assert!((25_000..=50_000).contains(&grown), "{grown} at {segments}");
        }
    }

    #[test_case(Some(2), 2_000)]
    #[test_case(None, 9_000)]
    fn one_ack_counts_up_to_its_limit_and_one_segment_after_congestion(limit: Option<u32>, expected: Bytes) {
        let window = Window::new(&InitialWindow::plain(10), 1_000);
        let mut policy = limited(limit);
        assert_eq!(policy.on_ack(&ack(0, 9_000), &window), Step::Grow(expected));
        policy.on_congestion();
        assert_eq!(policy.on_ack(&ack(0, 9_000), &window), Step::Grow(1_000));
    }
}
