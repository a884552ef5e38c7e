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

impl Chain {
    /// Gilbert's chain whose bad state loses every packet: losses of `loss` in the long run, in bursts of `num / den` packets in the
    /// mean (Gilbert 1960, with r = den / num and p = r · loss / (1 − loss)).
    ///
    /// `None` if there is none: the mean burst is shorter than a packet or than loss / (1 − loss), everything is lost, or a number
    /// does not fit.
    pub fn of_bursts(loss: Ratio, num: u64, den: u64) -> Option<Self> {
        let into_good = Ratio::new(den, num)?;
        let kept = loss.den() - loss.num();
        let above = u128::from(loss.num()) * u128::from(den);
        let below = u128::from(kept) * u128::from(num);
        let divisor = gcd(above, below).max(1);
        let narrow = |number: u128| u64::try_from(number / divisor).ok();
        let into_bad = Ratio::new(narrow(above)?, narrow(below)?)?;
        Some(Self { into_bad, into_good, loss_in_good: Ratio::ZERO, loss_in_bad: Ratio::ONE })
    }
}

/// Greatest common divisor (Euclid).
const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
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
