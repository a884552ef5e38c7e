//! The context of a handler: all it may know about the outside during one call.

use base::{Instant, Rng};
use trace::{ConnId, Event, Observer};

/// What an endpoint borrows for one call. A function without it has access to neither time nor randomness.
#[derive(Debug)]
pub struct Cx<'a, O: Observer> {
    /// Ingress time of the segment, or the deadline being served.
    pub now: Instant,
    /// This connection's own random stream.
    pub rng: &'a mut Rng,
    /// The connection, for traces.
    pub conn: ConnId,
    obs: &'a mut O,
}

impl<'a, O: Observer> Cx<'a, O> {
    /// Puts the parts together.
    pub fn new(now: Instant, rng: &'a mut Rng, conn: ConnId, obs: &'a mut O) -> Self {
        Self { now, rng, conn, obs }
    }
    /// Returns whether events are wanted: for what only they need.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        O::ENABLED && self.obs.is_on()
    }
    /// Records an event; builds it only when an observer is attached.
    ///
    /// Under `longhaul_unwatched` no observer can attach: `cargo xtask bench` compares that build with one that merely has none.
    /// Where code beyond a call of this function leads to an event, the same attribute precedes it.
    #[inline(always)]
    pub fn emit(&mut self, event: impl FnOnce() -> Event) {
        #[cfg(not(longhaul_unwatched))]
        if self.is_observed() {
            self.obs.record(self.now, self.conn, event());
        }
        #[cfg(longhaul_unwatched)]
        let _ = event;
    }
}

/// What a stack borrows for one turn or one application call.
#[derive(Debug)]
pub struct StackCx<'a, O: Observer> {
    /// The current time; every event handled in the call is at or before it.
    pub now: Instant,
    /// Who watches.
    pub obs: &'a mut O,
}

impl<'a, O: Observer> StackCx<'a, O> {
    /// Puts the parts together.
    pub fn new(now: Instant, obs: &'a mut O) -> Self {
        Self { now, obs }
    }
}
