//! Conservative slow start (RFC 9406 §4.2): a few rounds of slower exponential growth.
//!
//! It reverts to slow start when a round turns out faster than the one that caused it: then the delay was not caused by a queue.
//! Otherwise it ends slow start after its rounds, the first of which is the one it began in, however little was left of it. The
//! ACK that begins the round after the last one no longer opens the window.

use super::{Tail, TailAck, TailStep};
use crate::control::CcPhase;
use crate::slow_start::round::{Round, RttMicros};
use crate::slow_start::{ExitCause, Step};
use base::Bytes;

/// How slow this phase is, and how long it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CssConfig {
    /// Divisor of slow start's growth (`CSS_GROWTH_DIVISOR`), at least 2.
    pub growth_divisor: u8,
    /// After how many rounds slow start ends (`CSS_ROUNDS`), at least 1.
    pub rounds: u8,
}

impl Default for CssConfig {
    /// RFC 9406 §4.3.
    fn default() -> Self {
        Self { growth_divisor: 4, rounds: 5 }
    }
}

/// Conservative slow start.
#[derive(Clone, Debug)]
pub struct Css {
    config: CssConfig,
}

/// State of one period of conservative slow start.
#[derive(Clone, Debug)]
pub struct CssPhase {
    /// The round trip that caused it (`cssBaselineMinRtt`).
    baseline: RttMicros,
    rounds_left: u8,
}

impl Tail for Css {
    type Config = CssConfig;
    type Phase = CssPhase;
    const PHASE: CcPhase = CcPhase::Css;

    fn new(config: &CssConfig) -> Self {
        Self { config: *config }
    }

    //= specs/rfc9406.md#delay-increase
    //# The minimum with which CSS began is its baseline.
    fn enter(&self, baseline: RttMicros) -> CssPhase {
        CssPhase { baseline, rounds_left: self.config.rounds }
    }

    fn entered(bytes: Bytes) -> Step {
        Step::Turn(bytes)
    }

    //= specs/rfc9406.md#conservative-slow-start
    //# In CSS an ACK opens the window by a quarter of what it would in slow start.
    //= specs/rfc9406.md#conservative-slow-start
    //# A round of CSS with eight samples and a minimum below the baseline resumes slow start.
    //= specs/rfc9406.md#conservative-slow-start
    //# After five rounds of CSS, the one it began in included, congestion avoidance begins.
    fn on_ack(&self, phase: &mut CssPhase, ack: &TailAck<'_>) -> TailStep {
        if ack.round == Round::New {
            phase.rounds_left -= 1;
            if phase.rounds_left == 0 {
                return TailStep::Over(ExitCause::CssRounds);
            }
        }
        let growth = ack.bytes / Bytes::from(self.config.growth_divisor);
        if ack.minimum.is_some_and(|minimum| minimum < phase.baseline) {
            return TailStep::Resume(growth);
        }
        TailStep::Stay(Step::Grow(growth))
    }
}
