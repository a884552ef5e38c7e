//! The slow-start seam: how fast the window opens while the path is unknown, and when to stop.

pub mod ack_train;
pub mod bins;
mod chirping;
mod classic;
pub mod delay_increase;
mod drain;
mod exit_cause;
pub mod floor;
mod hystart;
mod hystart_pp;
mod limit;
mod limited;
mod plateau;
mod rapid;
mod resume;
pub mod round;
mod search;
pub mod settling;
pub mod tail;
mod trains;

pub use bins::Expected;
pub use chirping::{Chirping, ChirpingConfig};
pub use classic::{Classic, ClassicConfig};
pub use drain::{Drain, ExitWindow};
pub use exit_cause::ExitCause;
pub use hystart::{Detection, Hystart, HystartConfig, PacedTrain};
pub use hystart_pp::{HystartPp, HystartPpConfig};
pub use limit::AckLimit;
pub use limited::{Limited, LimitedConfig};
pub use plateau::{Plateau, PlateauConfig};
pub use rapid::{Rapid, RapidConfig};
pub use resume::{Resuming, SavedPath};
pub use search::{Search, SearchConfig, Unused};
pub use trains::{Trains, TrainsConfig};

use crate::control::{CcPhase, Pacing, Resumption};
use crate::sample::{AckSample, LossSample, SentSample};
use crate::window::Window;
use base::{Bytes, Duration};
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
    /// Handles a jump of the window to what an earlier connection found, which leaves spread over a round trip.
    fn on_jump(&mut self) {}
    /// Returns its phase for traces: [`PHASE`](SlowStart::PHASE) while the window opens at full speed.
    fn phase(&self) -> CcPhase {
        Self::PHASE
    }
    /// Returns departure times, for policies that control them.
    fn pacing(&self, _window: &Window) -> Option<Pacing> {
        None
    }
    /// Returns whether the policy continues beside the avoidance that follows a congestion signal, as after [`Step::Contend`].
    fn contends(&self) -> bool {
        false
    }
    /// Returns whether a policy beside avoidance opens the window now, and does not only watch.
    fn competes(&self) -> bool {
        true
    }
    /// Handles that the connection is about to send while nothing is in flight; `srtt` is at first the handshake's round trip.
    fn on_flight_start(&mut self, _srtt: Option<Duration>, _window: &Window) {}
    /// Handles a departing segment, for policies that decide when the next one leaves.
    #[inline]
    fn on_sent(&mut self, _sent: &SentSample) {}
    /// Handles a lost segment.
    fn on_lost(&mut self, _lost: &LossSample) {}
    /// Whether the policy may answer the congestion signal that ends it by a recovery of its own.
    const RECOVERS: bool = false;
    /// Handles the signal that ends this slow start, with `prior` bytes in flight, of which avoidance would leave `reduced`. A
    /// policy that recovers by itself returns the window; it is asked for the next ones until its recovery is over, and whether
    /// it takes further signals for part of it. Otherwise [`SlowStart::on_congestion`] follows.
    fn takes_over(&mut self, _prior: Bytes, _reduced: Bytes) -> Option<Bytes> {
        None
    }
    /// Returns whether a recovery of the policy's own is in progress.
    fn is_recovering(&self) -> bool {
        false
    }
    /// Handles an ACK in such a recovery.
    fn recover(&mut self, _ack: &AckSample) -> RecoveryStep {
        RecoveryStep::Window(0)
    }
    /// Ends such a recovery because the episode is over.
    fn end_recovery(&mut self) -> RecoveryStep {
        RecoveryStep::Window(0)
    }
    /// Returns what came of what an earlier connection had found; `None` for a policy without.
    fn resumption(&self) -> Option<Resumption> {
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
    /// The same, and the policy's phase changes now.
    TurnTo(Bytes),
    /// The exit detector has fired but the search continues: take the larger of this and avoidance's own growth (LSS). The first
    /// time, the window opened by this much becomes `ssthresh`, and avoidance begins; from then on the composite asks the policy
    /// until a congestion signal, and behind it if [`SlowStart::contends`], however large the window is.
    Contend(Bytes),
    /// Leave slow start with this window (the current one, or what was delivered), which becomes `ssthresh`.
    Exit {
        /// The window to continue with, in bytes.
        window: Bytes,
        /// Why.
        cause: ExitCause,
    },
}

/// What a policy requests in a recovery of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStep {
    /// It continues with this window.
    Window(Bytes),
    /// It is over. The avoidance handles a congestion signal at a window of `capacity` bytes, what the path was seen to hold,
    /// and the present window stays if that leaves no less.
    Over {
        /// What the path holds, bytes.
        capacity: Bytes,
    },
    /// The same, but slow start continues from the present window up to what the avoidance leaves of `capacity`.
    Resume {
        /// What the path holds, bytes.
        capacity: Bytes,
    },
}

#[cfg(test)]
mod tests;
