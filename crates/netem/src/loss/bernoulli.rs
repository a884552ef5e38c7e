//! Independent loss: every packet has the same probability. One draw per packet.

use super::Fate;
use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Instant, Ratio, Rng};

/// Loses each packet with a fixed probability, regardless of the others.
#[derive(Debug)]
pub struct Bernoulli {
    probability: Ratio,
}

impl Bernoulli {
    /// Loses each packet with `probability`.
    pub fn new(probability: Ratio) -> Self {
        Self { probability }
    }
}

impl<P: Packet> Hop<P> for Bernoulli {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        Fate::lost_if(rng.chance(self.probability)).apply(now, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}
