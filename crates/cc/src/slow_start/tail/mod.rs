//! What follows HyStart++'s detector: a slower slow start, which may take its entry back or end slow start.

mod css;
mod lss;

pub use css::{Css, CssConfig};
pub use lss::{Lss, LssConfig};

use super::round::{Round, RttMicros};
use super::{ExitCause, Step};
use crate::window::Window;
use base::Bytes;
use core::fmt::Debug;

/// A careful phase. Its numbers are here, what it remembers while it runs is in its [`Phase`](Tail::Phase).
pub trait Tail: Debug + Clone + Send + 'static {
    /// Its configuration.
    type Config;
    /// What the phase remembers.
    type Phase: Debug + Clone + Send + 'static;
    /// Name of the phase in traces.
    const NAME: &'static str;
    /// The tail that `config` describes, whose bounds [`CcConfig::problems`](crate::CcConfig::problems) checks.
    fn new(config: &Self::Config) -> Self;
    /// Whether the detector counts with this window.
    fn is_eligible(&self, _window: &Window) -> bool {
        true
    }
    /// The detector fired in a round whose smallest round trip so far is `baseline`.
    fn enter(&self, baseline: RttMicros) -> Self::Phase;
    /// The step of the ACK with which the phase begins; slow start would have opened the window by `bytes`.
    fn entered(bytes: Bytes) -> Step;
    /// An ACK arrived in this phase.
    fn on_ack(&self, phase: &mut Self::Phase, ack: &TailAck<'_>) -> TailStep;
}

/// What a tail learns about an ACK.
#[derive(Clone, Copy, Debug)]
pub struct TailAck<'w> {
    /// Bytes acknowledged.
    pub acked: Bytes,
    /// What slow start would have opened the window by: the same, held to `L`.
    pub bytes: Bytes,
    /// Whether a new round began with it.
    pub round: Round,
    /// The smallest round trip of the round, once it has been sampled often enough.
    pub minimum: Option<RttMicros>,
    /// The window.
    pub window: &'w Window,
}

/// What a tail asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailStep {
    /// The phase goes on.
    Stay(Step),
    /// The detector was wrong: open the window by this many bytes and go on with slow start.
    Resume(Bytes),
    /// Slow start is over, and why.
    Over(ExitCause),
}
