//! Limited slow start as in HyStart++'s early drafts (draft-balasubramanian-tcpm-hystartplusplus-01, RFC 3742).
//!
//! Linear growth: a round trip opens the window by the same share of `ssthresh` each time, which is the window at which the
//! detector fired. It competes with avoidance, whose growth applies where it is larger, and lasts until the next congestion
//! signal. The detector counts only from 16 segments on.

use super::{Tail, TailAck, TailStep};
use crate::avoidance::ratio;
use crate::control::CcPhase;
use crate::slow_start::Step;
use crate::slow_start::round::RttMicros;
use crate::window::Window;
use base::{Bytes, Ratio};

const MILLION: u64 = 1_000_000;

/// Where it begins, and how steep it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LssConfig {
    /// Window in segments below which the detector does not count (`LOW_CWND`).
    pub low_window_segments: u32,
    /// The share of `ssthresh` by which a round trip opens the window (`LSS_DIVISOR`), at most 1.
    pub divisor: Ratio,
}

impl Default for LssConfig {
    /// The drafts' numbers.
    fn default() -> Self {
        Self { low_window_segments: 16, divisor: ratio(1, 4) }
    }
}

/// Limited slow start.
#[derive(Clone, Debug)]
pub struct Lss {
    low_window_segments: u32,
    /// The share, in millionths.
    millionths: u32,
}

impl Tail for Lss {
    type Config = LssConfig;
    /// No state: `ssthresh` is in the window.
    type Phase = ();
    const PHASE: CcPhase = CcPhase::Lss;

    fn new(config: &LssConfig) -> Self {
        let LssConfig { low_window_segments, divisor } = *config;
        // A share with at most six decimals.
        Self { low_window_segments, millionths: (divisor.num() * MILLION / divisor.den()) as u32 }
    }

    fn is_eligible(&self, window: &Window) -> bool {
        window.cwnd() >= self.low_window_segments.saturating_mul(window.smss())
    }

    fn enter(&self, _baseline: RttMicros) {}

    fn entered(bytes: Bytes) -> Step {
        Step::Contend(bytes)
    }

    fn on_ack(&self, (): &mut (), ack: &TailAck<'_>) -> TailStep {
        // The drafts' N / K with K = cwnd / (share · ssthresh). No ACK counts for more than a window.
        let cwnd = u64::from(ack.window.cwnd());
        let a_round_trip = u64::from(ack.window.ssthresh()) * u64::from(self.millionths) / MILLION;
        let growth = u64::from(ack.acked).min(cwnd) * a_round_trip.min(cwnd) / cwnd;
        TailStep::Stay(Step::Contend(growth as Bytes))
    }
}
