//! Propagation delay: a fixed part, jitter, and reordering.
//!
//! Every packet has a *regular* exit time: arrival + delay + jitter, and with order-keeping jitter never before the regular exit
//! of its predecessor. Reordering moves single packets away from their regular time and does not affect others: they arrive as if
//! none had been chosen. It is part of this hop because an early packet takes a separate delay *instead of* this one, which a
//! separate hop could neither know nor undo.
//!
//! Draws: two per packet (jitter, then choice), whether or not both are enabled, so that enabling one does not change the
//! decisions of the other; none if neither is enabled.

use crate::hop::{Hop, HopKind, Moved, Offer, Packet};
use crate::reorder::ReorderSpec;
use base::{Duration, Instant, Rng};

/// Uniformly distributed extra delay from zero up to and including `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The largest extra delay.
    pub max: Duration,
    /// How it affects the order.
    pub kind: JitterKind,
}

/// Whether jitter may change the order of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterKind {
    /// A packet whose draw would let it overtake leaves together with its predecessor, after it.
    KeepOrder,
    /// Every packet leaves according to its own draw.
    Reorder,
}

/// A line of fixed length, optionally with jitter and reordering.
#[derive(Debug)]
pub struct Delay {
    delay: Duration,
    jitter: Option<Jitter>,
    reorder: ReorderSpec,
    /// Number of earlier packets.
    index: u64,
    /// The regular exit of the last packet.
    last_exit: Instant,
}

impl Delay {
    /// The same delay for every packet.
    pub fn fixed(delay: Duration) -> Self {
        Self::new(delay, None, ReorderSpec::None)
    }
    /// A delay with jitter, reordering, both or neither.
    pub fn new(delay: Duration, jitter: Option<Jitter>, reorder: ReorderSpec) -> Self {
        Self { delay, jitter, reorder, index: 0, last_exit: Instant::ZERO }
    }

    /// Returns the delay without jitter and reordering.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// Changes it for packets that enter from now on.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    fn varied_exit(&mut self, now: Instant, rng: &mut Rng) -> (Instant, Option<Moved>) {
        let (max, kind) =
            self.jitter.map_or((Duration::ZERO, JitterKind::KeepOrder), |jitter| (jitter.max, jitter.kind));
        let extra = Duration::from_nanos(rng.below(max.as_nanos().saturating_add(1)));
        let chosen = rng.chance(self.reorder.probability());
        let drawn = now + self.delay + extra;
        let regular = match kind {
            JitterKind::KeepOrder => drawn.max(self.last_exit),
            JitterKind::Reorder => drawn,
        };
        self.last_exit = regular;
        let index = self.index;
        self.index += 1;
        self.reorder.exit(index, chosen, now, regular)
    }
}

impl<P: Packet> Hop<P> for Delay {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        let (exit, moved) = match (self.jitter, self.reorder) {
            (None, ReorderSpec::None) => return Offer::Forwards(now + self.delay, packet),
            _ => self.varied_exit(now, rng),
        };
        match moved {
            Some(moved) => Offer::Moves(exit, packet, moved),
            None => Offer::Forwards(exit, packet),
        }
    }
    fn reorders(&self) -> bool {
        let jitter_reorders = matches!(self.jitter, Some(Jitter { kind: JitterKind::Reorder, .. }));
        jitter_reorders || self.reorder != ReorderSpec::None
    }
    fn kind(&self) -> HopKind {
        HopKind::Delay
    }
}

#[cfg(test)]
mod tests;
