//! Scripted loss: exactly the packets named by their index. No draws.

use super::Fate;
use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Instant, Rng};

/// Loses the packets with the given indices, counted from zero as they are offered to this hop.
#[derive(Debug)]
pub struct Mask {
    /// Indices still to come, the next one last.
    to_lose: Vec<u64>,
    next_index: u64,
}

impl Mask {
    /// Loses the packets at `indices`, in any order; duplicates count once.
    pub fn new(mut indices: Vec<u64>) -> Self {
        indices.sort_unstable_by(|a, b| b.cmp(a));
        indices.dedup();
        Self { to_lose: indices, next_index: 0 }
    }
}

impl<P: Packet> Hop<P> for Mask {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let lost = self.to_lose.pop_if(|index| *index == self.next_index).is_some();
        self.next_index += 1;
        Fate::lost_if(lost).apply(now, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}
