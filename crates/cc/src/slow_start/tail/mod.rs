//! The phase after HyStart++'s detector: a slower slow start, which may revert to slow start or end it.

mod css;
mod lss;

pub use css::{Css, CssConfig};
pub use lss::{Lss, LssConfig};

use super::round::{Round, RttMicros};
use super::{ExitCause, Step};
use crate::control::CcPhase;
use crate::window::Window;
use base::Bytes;
use core::fmt::Debug;

/// A careful phase. Its parameters are here, its run-time state is in its [`Phase`](Tail::Phase).
pub trait Tail: Debug + Clone + Send + 'static {
    /// Its configuration.
    type Config;
    /// Run-time state of the phase.
    type Phase: Debug + Clone + Send + 'static;
    /// The phase in traces.
    const PHASE: CcPhase;
    /// Creates the tail that `config` describes; [`CcConfig::problems`](crate::CcConfig::problems) checks its bounds.
    fn new(config: &Self::Config) -> Self;
    /// Returns whether the detector counts at this window.
    fn is_eligible(&self, _window: &Window) -> bool {
        true
    }
    /// Enters the phase; `baseline` is the smallest round trip so far in the round in which the detector fired.
    fn enter(&self, baseline: RttMicros) -> Self::Phase;
    /// Returns the step of the ACK that begins the phase; slow start would have opened the window by `bytes`.
    fn entered(bytes: Bytes) -> Step;
    /// An ACK arrived in this phase.
    fn on_ack(&self, phase: &mut Self::Phase, ack: &TailAck<'_>) -> TailStep;
}

/// What a tail learns from an ACK.
#[derive(Clone, Copy, Debug)]
pub struct TailAck<'w> {
    /// Bytes acknowledged.
    pub acked: Bytes,
    /// Bytes by which slow start would have opened the window: the same, limited by `L`.
    pub bytes: Bytes,
    /// Whether a new round began with it.
    pub round: Round,
    /// The smallest round trip of the round, once it has been sampled often enough.
    pub minimum: Option<RttMicros>,
    /// The window.
    pub window: &'w Window,
}

/// What a tail requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailStep {
    /// The phase continues.
    Stay(Step),
    /// The detector was wrong: open the window by this many bytes and continue with slow start.
    Resume(Bytes),
    /// Slow start is over, and why.
    Over(ExitCause),
}
