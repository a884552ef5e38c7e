//! The slow-start seam: how fast the window opens before anything is known about the path, and when to stop.

mod classic;

pub use classic::{Classic, ClassicConfig};

use crate::control::Pacing;
use crate::sample::{AckSample, SentSample};
use crate::window::Window;
use base::Bytes;
use core::fmt::Debug;

/// A slow-start policy. It is lent the window and returns a step; it never writes `cwnd`.
pub trait SlowStart: Debug + Clone + Send + 'static {
    /// Name of the phase in traces.
    const NAME: &'static str;
    /// A segment left.
    fn on_sent(&mut self, _sent: &SentSample) {}
    /// An ACK arrived while `cwnd < ssthresh`.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step;
    /// An episode or a timeout began; whatever was measured about this slow start is void.
    fn on_congestion(&mut self) {}
    /// Departure times, for policies that decide them.
    fn pacing(&self, _window: &Window) -> Option<Pacing> {
        None
    }
}

/// What a slow-start policy asks of the composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Stay in slow start; open the window by this many octets.
    Grow(Bytes),
    /// The exit detector has fired but the search goes on: take the larger of this and avoidance's own growth (LSS).
    Contend(Bytes),
    /// Leave slow start with this window (the present one, or what was delivered), which becomes `ssthresh`.
    Exit {
        /// The window to go on with, octets.
        window: Bytes,
        /// Why.
        cause: ExitCause,
    },
}

/// Why slow start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// `cwnd` reached `ssthresh`.
    Threshold,
    /// A congestion signal.
    Congestion,
    /// The round-trip time rose (HyStart's delay test).
    DelayIncrease,
    /// ACKs of one flight spanned half a round trip (HyStart's train test).
    AckTrain,
}
