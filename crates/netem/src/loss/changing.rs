//! Independent loss whose probability changes with time. One draw per packet.

use super::Fate;
use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Duration, Instant, Ratio, Rng};
use std::sync::Arc;

/// Loses each packet with the probability of the moment.
#[derive(Debug)]
pub struct ChangingLoss {
    probability: Ratio,
    /// From when on which probability holds, in the order of time, and how many of them have begun.
    changes: Arc<[(Duration, Ratio)]>,
    begun: usize,
    /// When time begins.
    origin: Duration,
}

impl ChangingLoss {
    /// Loses with probability `first`, and from each of these times on, which do not decrease, with another.
    pub fn new(first: Ratio, changes: Arc<[(Duration, Ratio)]>) -> Self {
        Self { probability: first, changes, begun: 0, origin: Duration::ZERO }
    }
}

impl<P: Packet> Hop<P> for ChangingLoss {
    fn begin(&mut self, at: Instant) {
        self.origin = at.since(Instant::ZERO);
    }
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        let time = now.since(Instant::ZERO + self.origin);
        while let Some((_, probability)) = self.changes.get(self.begun).filter(|(from, _)| *from <= time) {
            self.probability = *probability;
            self.begun += 1;
        }
        Fate::lost_if(rng.chance(self.probability)).apply(now, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}
