//! Everything a handler may know about the world during one call.

use base::{Instant, Rng};
use trace::{ConnId, Event, Observer};

/// What an endpoint is lent for one call. A function that was not handed one can reach neither time nor randomness.
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
    /// Records an event; builds it only when an observer watches.
    ///
    /// Under `longhaul_unwatched` no observer can: `cargo xtask bench` compares that build with one in which none does.
    /// Where more than a call of this leads to an event, the same attribute stands before it.
    #[inline(always)]
    pub fn emit(&mut self, event: impl FnOnce() -> Event) {
        #[cfg(not(longhaul_unwatched))]
        if O::ENABLED {
            self.obs.record(self.now, self.conn, event());
        }
        #[cfg(longhaul_unwatched)]
        let _ = event;
    }
}

/// What a stack is lent for one turn or one application call.
#[derive(Debug)]
pub struct StackCx<'a, O: Observer> {
    /// The present moment; no event handled in the call is later.
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
