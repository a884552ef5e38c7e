//! The slow-start seam: how fast the window opens while the path is unknown, and when to stop.

pub mod ack_train;
pub mod bins;
mod classic;
pub mod delay_increase;
mod drain;
mod exit_cause;
mod hystart;
mod hystart_pp;
mod limit;
mod limited;
mod plateau;
pub mod round;
mod search;
pub mod tail;

pub use bins::Expected;
pub use classic::{Classic, ClassicConfig};
pub use drain::{Drain, ExitWindow};
pub use exit_cause::ExitCause;
pub use hystart::{Detection, Hystart, HystartConfig, PacedTrain};
pub use hystart_pp::{HystartPp, HystartPpConfig};
pub use limit::AckLimit;
pub use limited::{Limited, LimitedConfig};
pub use plateau::{Plateau, PlateauConfig};
pub use search::{Search, SearchConfig, Unused};

use crate::control::{CcPhase, Pacing};
use crate::sample::AckSample;
use crate::window::Window;
use base::Bytes;
use core::fmt::Debug;

/// A slow-start policy. It borrows the window and returns a step; it never writes `cwnd`.
pub trait SlowStart: Debug + Clone + Send + 'static {
    /// The phase in traces.
    const PHASE: CcPhase;
    /// Handles an ACK while `cwnd < ssthresh`, or while the policy competes with avoidance.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step;
    /// Handles an episode or a timeout; measurements of this slow start become invalid.
    fn on_congestion(&mut self) {}
    /// Restores the state from before a spurious episode; the policy has not seen the ACKs since.
    fn on_undo(&mut self) {}
    /// Returns its phase for traces: [`PHASE`](SlowStart::PHASE) while the window opens at full speed.
    fn phase(&self) -> CcPhase {
        Self::PHASE
    }
    /// Returns departure times, for policies that control them.
    fn pacing(&self, _window: &Window) -> Option<Pacing> {
        None
    }
    /// Returns the bytes this policy occupies behind boxes of its own.
    fn boxed_size(&self) -> usize {
        0
    }
}

/// What a slow-start policy requests from the composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Stay in slow start; open the window by this many bytes.
    Grow(Bytes),
    /// The same, and the policy's [`phase`](SlowStart::phase) changes now.
    Turn(Bytes),
    /// Stay in slow start with this window, larger or smaller.
    Set(Bytes),
    /// The exit detector has fired but the search continues: take the larger of this and avoidance's own growth (LSS). The first
    /// time, the window opened by this much becomes `ssthresh`, and avoidance begins; from then on the composite asks the policy
    /// until a congestion signal, however large the window is.
    Contend(Bytes),
    /// Leave slow start with this window (the current one, or what was delivered), which becomes `ssthresh`.
    Exit {
        /// The window to continue with, in bytes.
        window: Bytes,
        /// Why.
        cause: ExitCause,
    },
}

#[cfg(test)]
mod tests;
