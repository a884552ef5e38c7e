//! Reno: one more segment per round trip, a fixed fraction less on congestion (RFC 5681 §3.1, RFC 3465 §2.1).
//!
//! Growth counts acknowledged bytes, so that it depends neither on the number of ACKs nor on the segmentation.
//! Deviations: the fraction is data; RFC 5681's is one half.

use super::{Avoidance, SsthreshBase, scaled};
use crate::control::CcPhase;
use crate::sample::{AckSample, CongestionEvent};
use crate::window::Window;
use base::{Bytes, Instant, Ratio};

/// Reno's response to congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenoConfig {
    /// The fraction of the window that remains, between 0 and 1.
    pub beta: Ratio,
    /// The quantity that `beta` multiplies.
    pub ssthresh_base: SsthreshBase,
}

impl Default for RenoConfig {
    /// Half of the outstanding data (RFC 5681 §3.1, equation 4).
    fn default() -> Self {
        Self { beta: super::ratio(1, 2), ssthresh_base: SsthreshBase::FlightSize }
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Reno {
    config: RenoConfig,
    /// Bytes acknowledged since the window last grew.
    bytes_acked: Bytes,
}

impl Reno {
    /// Creates the state before the first avoidance.
    pub const fn new(config: &RenoConfig) -> Self {
        Self { config: *config, bytes_acked: 0 }
    }
}

impl Avoidance for Reno {
    const PHASE: CcPhase = CcPhase::Reno;

    fn on_enter(&mut self, _window: &Window, _now: Instant) {
        self.bytes_acked = 0;
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# Congestion avoidance opens the window by no more than one SMSS in a round trip.
    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# Congestion avoidance counts acknowledged bytes, and opens the window by one SMSS for each window's worth.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Bytes {
        if !ack.cwnd_limited {
            return 0;
        }
        // No ACK counts for more than a window, so none opens the window by more than a segment.
        let cwnd = window.cwnd();
        self.bytes_acked = self.bytes_acked.min(cwnd) + ack.acked.min(cwnd);
        if self.bytes_acked < cwnd {
            return 0;
        }
        self.bytes_acked -= cwnd;
        window.smss()
    }

    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# Fast retransmit sets `ssthresh` to half the FlightSize, but to no less than two segments.
    //= specs/rfc6675.md#recovery
    //# When recovery begins, the window and `ssthresh` become half the FlightSize.
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent, _now: Instant) -> Bytes {
        scaled(self.config.ssthresh_base.bytes(window, event), event.factor(self.config.beta))
    }

    fn values(&self) -> [(&'static str, u64); 2] {
        [("bytes_acked", u64::from(self.bytes_acked)), ("", 0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, app_limited};
    use crate::window::InitialWindow;
    use test_case::test_case;

    fn ten_segments() -> (Reno, Window) {
        (Reno::new(&RenoConfig::default()), Window::new(&InitialWindow::plain(10), 1_000))
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //= type=test
    //# Congestion avoidance opens the window by no more than one SMSS in a round trip.
    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //= type=test
    //# Congestion avoidance counts acknowledged bytes, and opens the window by one SMSS for each window's worth.
    #[test_case(1_000; "every segment acknowledged")]
    #[test_case(2_000; "every second segment acknowledged")]
    #[test_case(10; "by tiny ACKs")]
    #[test_case(10_000; "by one ACK")]
    fn a_window_acknowledged_opens_it_by_one_segment(acked: Bytes) {
        let (mut reno, window) = ten_segments();
        let opened: Bytes = (0..10_000 / acked).map(|_| reno.on_ack(&ack(0, acked), &window)).sum();
        assert_eq!(opened, 1_000);
    }

    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //= type=test
    //# Congestion avoidance counts acknowledged bytes, and opens the window by one SMSS for each window's worth.
    #[test]
    fn what_exceeds_a_window_is_kept_for_the_next() {
        let (mut reno, window) = ten_segments();
        let opened: Vec<Bytes> = [6_000, 6_000, 7_000, 1_000].map(|n| reno.on_ack(&ack(0, n), &window)).to_vec();
        assert_eq!(opened, [0, 1_000, 0, 1_000]);
    }

    #[test]
    fn an_ack_of_an_unused_window_is_not_counted() {
        let (mut reno, window) = ten_segments();
        assert_eq!(reno.on_ack(&app_limited(0, 9_999), &window), 0);
        assert_eq!(reno.on_ack(&ack(0, 1), &window), 0);
    }

    #[test]
    fn entering_forgets_what_was_counted() {
        let (mut reno, window) = ten_segments();
        assert_eq!(reno.on_ack(&ack(0, 9_999), &window), 0);
        reno.on_enter(&window, Instant::ZERO);
        assert_eq!(reno.on_ack(&ack(0, 9_999), &window), 0);
    }

    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //= type=test
    //# Fast retransmit sets `ssthresh` to half the FlightSize, but to no less than two segments.
    #[test_case(SsthreshBase::FlightSize, 8_000, 4_000; "half the flight")]
    #[test_case(SsthreshBase::FlightSize, 14_000, 5_000; "a flight beyond the window counts as the window")]
    #[test_case(SsthreshBase::Cwnd, 8_000, 5_000; "half the window")]
    fn a_loss_halves(ssthresh_base: SsthreshBase, flight_size: Bytes, expected: Bytes) {
        let (_, window) = ten_segments();
        let mut reno = Reno::new(&RenoConfig { ssthresh_base, ..RenoConfig::default() });
        assert_eq!(reno.on_congestion(&window, &CongestionEvent::Loss { flight_size }, Instant::ZERO), expected);
    }

    #[test]
    fn a_mark_reduces_by_its_own_factor() {
        let (mut reno, window) = ten_segments();
        let mark = |beta| CongestionEvent::Ecn { flight_size: 10_000, beta, least_segments: 1 };
        let reduced = [None, Ratio::new(17, 20)].map(|beta| reno.on_congestion(&window, &mark(beta), Instant::ZERO));
        assert_eq!(reduced, [5_000, 8_500]);
    }

    #[test]
    fn what_was_counted_is_reported() {
        let (mut reno, window) = ten_segments();
        reno.on_ack(&ack(0, 9_999), &window);
        assert_eq!(reno.values(), [("bytes_acked", 9_999), ("", 0)]);
    }
}
