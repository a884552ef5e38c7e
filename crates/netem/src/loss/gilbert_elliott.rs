//! Loss in bursts: the two-state Markov chain of Gilbert (1960) and Elliott (1963).
//!
//! The chain starts in the good state and moves once per packet, after the packet's fate is decided. Two draws per packet (fate,
//! then move) in either state, so that decisions stay aligned with packet indices. The long-run fraction of packets in the bad
//! state is `into_bad / (into_bad + into_good)`.

use super::Fate;
use crate::hop::{Hop, HopKind, Offer, Packet};
use base::{Instant, Ratio, Rng};

/// Loses packets with one probability in the good state and another in the bad state.
#[derive(Debug)]
pub struct GilbertElliott {
    chain: Chain,
    state: State,
}

/// The four numbers of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Probability of moving from good to bad, per packet (`p`).
    pub into_bad: Ratio,
    /// Probability of moving from bad to good, per packet (`r`).
    pub into_good: Ratio,
    /// Loss in the good state (`1 − k`); zero in Gilbert's own model.
    pub loss_in_good: Ratio,
    /// Loss in the bad state (`1 − h`).
    pub loss_in_bad: Ratio,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Good,
    Bad,
}

impl GilbertElliott {
    /// The chain, in its good state.
    pub fn new(chain: Chain) -> Self {
        Self { chain, state: State::Good }
    }

    fn decide(&mut self, rng: &mut Rng) -> Fate {
        let (loss, leave, other) = match self.state {
            State::Good => (self.chain.loss_in_good, self.chain.into_bad, State::Bad),
            State::Bad => (self.chain.loss_in_bad, self.chain.into_good, State::Good),
        };
        let fate = Fate::lost_if(rng.chance(loss));
        if rng.chance(leave) {
            self.state = other;
        }
        fate
    }
}

impl<P: Packet> Hop<P> for GilbertElliott {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        self.decide(rng).apply(now, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}
