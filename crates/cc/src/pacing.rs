//! Pacing by the window: a multiple of `cwnd` each smoothed round trip (the formula of RFC 9002 §7.7; the RFCs of TCP
//! leave pacing open).
//!
//! The rate is computed when the window or the round trip changes, not when a segment leaves: once an ACK instead of
//! twice a segment.

use crate::control::Pacing;
use crate::window::Window;
use base::{Bytes, Duration, Rate};

/// The current rate and its origin. Small, because each connection that paces has one.
#[derive(Clone, Debug)]
pub struct WindowPacing {
    slow_start_percent: u16,
    avoidance_percent: u16,
    quantum_segments: u32,
    srtt: Duration,
    rate: Option<Rate>,
}

impl WindowPacing {
    /// Takes percentages of `cwnd / srtt`, and the largest burst in segments. Nothing is paced before a round trip is known.
    pub const fn new(slow_start_percent: u16, avoidance_percent: u16, quantum_segments: u32) -> Self {
        Self { slow_start_percent, avoidance_percent, quantum_segments, srtt: Duration::ZERO, rate: None }
    }

    /// Adjusts to a change of window, round trip or both; `None` keeps the last round trip.
    #[inline]
    pub fn update(&mut self, window: &Window, srtt: Option<Duration>) {
        self.srtt = srtt.unwrap_or(self.srtt);
        let percent = if window.in_slow_start() { self.slow_start_percent } else { self.avoidance_percent };
        self.rate = window_rate(window.cwnd(), percent.into(), self.srtt);
    }

    /// When segments may leave.
    #[inline]
    pub fn pacing(&self, window: &Window) -> Option<Pacing> {
        let rate = self.rate?;
        Some(Pacing::Rate { rate, quantum: self.quantum_segments.saturating_mul(window.smss()) })
    }
}

/// Returns `percent` of `cwnd` per `srtt`; `None` if that is not a valid rate.
#[inline]
fn window_rate(cwnd: Bytes, percent: u32, srtt: Duration) -> Option<Rate> {
    // 8 bits per byte, 10^9 ns per second, 100 percent.
    match (u64::from(cwnd) * u64::from(percent)).checked_mul(8 * 1_000_000_000 / 100) {
        Some(scaled) => Rate::from_bits_per_sec(scaled.checked_div(srtt.as_nanos())?),
        None => Rate::from_delivery(u64::from(cwnd) * u64::from(percent) / 100, srtt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::InitialWindow;
    use test_case::test_case;

    #[test_case(12_500, 100, Duration::from_millis(100), Some(1_000_000); "a window each round trip")]
    #[test_case(12_500, 200, Duration::from_millis(100), Some(2_000_000); "two windows each round trip")]
    #[test_case(1 << 30, 1_000, Duration::from_secs(1), Some(85_899_345_920); "beyond 64 bits")]
    #[test_case(12_500, 100, Duration::ZERO, None; "no round trip")]
    #[test_case(1, 1, Duration::MAX, None; "slower than a bit a second")]
    fn rate_of(cwnd: Bytes, percent: u32, srtt: Duration, bits_per_sec: Option<u64>) {
        assert_eq!(window_rate(cwnd, percent, srtt).map(Rate::bits_per_sec), bits_per_sec);
    }

    #[test]
    fn nothing_is_paced_before_a_round_trip_is_known_and_the_phase_picks_the_percentage() {
        let mut window = Window::new(&InitialWindow::plain(10), 1_250);
        let mut pacing = WindowPacing::new(200, 120, 4);
        pacing.update(&window, None);
        assert_eq!(pacing.pacing(&window), None);
        let paced = |bps| Rate::from_bits_per_sec(bps).map(|rate| Pacing::Rate { rate, quantum: 5_000 });
        pacing.update(&window, Some(Duration::from_millis(100)));
        assert_eq!(pacing.pacing(&window), paced(2_000_000));
        window.set_ssthresh(12_500);
        pacing.update(&window, None);
        assert_eq!(pacing.pacing(&window), paced(1_200_000));
    }
}
