//! The avoidance seam: how the window grows once the path's capacity has been reached, and how it shrinks.

mod compound;
mod cubic;
pub mod cubic_math;
mod reno;

pub use compound::{Compound, CompoundConfig, RoundTrip};
pub use cubic::{Cubic, CubicConfig, FastConvergence, RenoGrowth, Undone};
pub use reno::{Reno, RenoConfig};

use crate::control::CcPhase;
use crate::sample::{AckSample, CongestionEvent};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Ratio};
use core::fmt::Debug;

/// A congestion-avoidance algorithm. It borrows the window and returns numbers; it never writes `cwnd`.
pub trait Avoidance: Debug + Clone + Send + 'static {
    /// The phase in traces.
    const PHASE: CcPhase;
    /// Begins avoidance, with or without a preceding congestion event.
    fn on_enter(&mut self, window: &Window, now: Instant);
    /// Returns the bytes that an ACK in avoidance adds to `cwnd`. Also called if `ack.cwnd_limited` is false, to keep track of
    /// time; the caller then ignores the result.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Bytes;
    /// Whether the window may shrink without a congestion signal.
    const SHRINKS: bool = false;
    /// Returns by how many bytes the window shrinks after the ACK that was just handled, once.
    fn withdrawn(&mut self) -> Bytes {
        0
    }
    /// Returns the new `ssthresh` after a congestion signal, in bytes (the composite applies the floor of two segments).
    fn on_congestion(&mut self, window: &Window, event: &CongestionEvent, now: Instant) -> Bytes;
    /// Notes that nothing was sent for `idle`, and sending is about to resume.
    fn on_idle(&mut self, _idle: Duration) {}
    /// Returns whether it starts over after an undo, from its state after the reduction; otherwise its earlier state is restored.
    fn begins_anew_after_undo(&self) -> bool {
        false
    }
    /// Returns up to two named numbers for traces.
    fn values(&self) -> [(&'static str, u64); 2];
}

/// The quantity that a congestion signal reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsthreshBase {
    /// The outstanding data, at most the window (RFC 5681 §3.1, RFC 9438 §4.6).
    FlightSize,
    /// The window, used or not. RFC 9438 §4.6 allows this to senders that do not let an unused window grow; none of these
    /// algorithms does.
    Cwnd,
}

impl SsthreshBase {
    //= specs/rfc9438.md#multiplicative-decrease
    //# The new `ssthresh` is β times what is in flight.
    /// Returns the bytes to reduce.
    pub fn bytes(self, window: &Window, event: &CongestionEvent) -> Bytes {
        let in_question = in_question(window, event);
        match (self, *event) {
            (Self::Cwnd, _) => in_question,
            (
                Self::FlightSize,
                CongestionEvent::Loss { flight_size }
                | CongestionEvent::Ecn { flight_size, .. }
                | CongestionEvent::Timeout { flight_size, .. },
            ) => flight_size.min(in_question),
        }
    }
}

/// Returns the window that a signal is about: `cwnd`, except that a second timeout during the recovery from a first one concerns
/// the window that the first one left, and not the segment or two sent since.
fn in_question(window: &Window, event: &CongestionEvent) -> Bytes {
    match event {
        CongestionEvent::Timeout { .. } => window.believed(),
        CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => window.cwnd(),
    }
}

/// `bytes` times `ratio`, rounded down.
pub(crate) fn scaled(bytes: Bytes, ratio: Ratio) -> Bytes {
    // A ratio is at most one, so the result fits.
    (u128::from(bytes) * u128::from(ratio.num()) / u128::from(ratio.den())) as Bytes
}

/// A fraction known to be one.
pub(crate) const fn ratio(num: u64, den: u64) -> Ratio {
    match Ratio::new(num, den) {
        Some(ratio) => ratio,
        None => panic!("not a fraction of one"),
    }
}

/// Finer fractions are rejected: they would have no effect and strain the arithmetic.
pub(crate) const DENOMINATOR_MAX: u64 = 1_000_000;

/// Returns whether `share` is a valid one between 0 and 1, neither included.
pub(crate) fn is_open(share: Ratio) -> bool {
    !share.is_zero() && share.num() < share.den() && share.den() <= DENOMINATOR_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::InitialWindow;
    use test_case::test_case;

    const RESTARTED: (Bytes, Bytes) = (1_000, 50_000);

    #[test_case(SsthreshBase::FlightSize, CongestionEvent::Timeout { flight_size: 90_000, first: true }, 50_000)]
    #[test_case(SsthreshBase::FlightSize, CongestionEvent::Timeout { flight_size: 20_000, first: true }, 20_000)]
    #[test_case(SsthreshBase::Cwnd, CongestionEvent::Timeout { flight_size: 20_000, first: true }, 50_000)]
    #[test_case(SsthreshBase::Cwnd, CongestionEvent::Loss { flight_size: 20_000 }, 1_000; "a loss is about cwnd")]
    #[test_case(SsthreshBase::FlightSize, CongestionEvent::Ecn { flight_size: 20_000, beta: None, least_segments: 1 }, 1_000; "so is a mark")]
    fn on_the_way_back_from_a_timeout(base: SsthreshBase, event: CongestionEvent, expected: Bytes) {
        let mut window = Window::new(&InitialWindow::plain(1), RESTARTED.0);
        window.set_ssthresh(RESTARTED.1);
        assert_eq!(base.bytes(&window, &event), expected);
    }
}
