//! Duplication: some packets arrive twice, the copy right after the original.
//!
//! Draws once per packet; a copy is not offered again, so a packet never becomes three.

use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Instant, Ratio, Rng};

/// Duplicates packets with a fixed probability.
#[derive(Debug)]
pub struct Duplicate {
    probability: Ratio,
}

impl Duplicate {
    /// Doubles each packet with `probability`.
    pub fn new(probability: Ratio) -> Self {
        Self { probability }
    }
}

impl<P: Packet> Hop<P> for Duplicate {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        if rng.chance(self.probability) {
            let copy = packet.duplicate();
            Offer::Both(now, packet, now, copy)
        } else {
            Offer::Forwards(now, packet)
        }
    }
    fn kind(&self) -> HopKind {
        HopKind::Duplicate
    }
}
