//! The slow-start seam: how fast the window opens before anything is known about the path, and when to stop.

pub mod ack_train;
mod classic;
pub mod delay_increase;
mod exit_cause;
mod hystart;
mod hystart_pp;
mod limit;
pub mod round;
pub mod tail;

pub use classic::{Classic, ClassicConfig};
pub use exit_cause::ExitCause;
pub use hystart::{Detection, Hystart, HystartConfig, PacedTrain};
pub use hystart_pp::{HystartPp, HystartPpConfig};
pub use limit::AckLimit;

use crate::control::Pacing;
use crate::sample::AckSample;
use crate::window::Window;
use base::Bytes;
use core::fmt::Debug;

/// A slow-start policy. It is lent the window and returns a step; it never writes `cwnd`.
pub trait SlowStart: Debug + Clone + Send + 'static {
    /// Name of the phase in traces.
    const NAME: &'static str;
    /// An ACK arrived while `cwnd < ssthresh`, or while the policy contends with avoidance.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step;
    /// An episode or a timeout began; whatever was measured about this slow start is void.
    fn on_congestion(&mut self) {}
    /// The policy is back in the state it had before an episode that was spurious; it has not seen the ACKs since.
    fn on_undo(&mut self) {}
    /// The phase it is in, for traces; its [`NAME`](SlowStart::NAME) while the window opens at full speed.
    fn phase(&self) -> &'static str {
        Self::NAME
    }
    /// Departure times, for policies that decide them.
    fn pacing(&self, _window: &Window) -> Option<Pacing> {
        None
    }
}

/// What a slow-start policy asks of the composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Stay in slow start; open the window by this many bytes.
    Grow(Bytes),
    /// The same, and the policy's [`phase`](SlowStart::phase) is another one from now on.
    Turn(Bytes),
    /// The exit detector has fired but the search goes on: take the larger of this and avoidance's own growth (LSS). The
    /// first time the window, opened by this much, becomes `ssthresh`, and avoidance begins; from then on the policy is
    /// asked until a congestion signal, however large the window is.
    Contend(Bytes),
    /// Leave slow start with this window (the present one, or what was delivered), which becomes `ssthresh`.
    Exit {
        /// The window to go on with, bytes.
        window: Bytes,
        /// Why.
        cause: ExitCause,
    },
}

#[cfg(test)]
mod tests;
