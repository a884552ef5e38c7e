//! Packets that leave the order: by probability, in both readings of "some packets are delayed differently", or by taking turns.
//!
//! `Late` is a packet that took a detour: it arrives behind packets sent after it. `Early` is a packet that took a short
//! cut: it overtakes what is in flight. The two stress a loss detector very differently, so neither is called
//! "reordering" alone. `Queues` is an adapter that hands packets on through several queues, burst by burst, of which some are
//! served later than others: the order is kept within a queue and nowhere else. Applied by `delay.rs`, which knows what a packet
//! would have taken otherwise.

use crate::hop::Moved;
use base::{Duration, Instant, Ratio};

/// Which packets leave the order, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReorderSpec {
    /// None do.
    #[default]
    None,
    /// The chosen packet takes `extra` more than it would have, jitter included.
    Late {
        /// How often a packet is chosen.
        probability: Ratio,
        /// What it takes on top.
        extra: Duration,
    },
    /// The chosen packet takes exactly `delay` instead of the line's delay and jitter.
    Early {
        /// How often a packet is chosen.
        probability: Ratio,
        /// What it takes instead; nothing forbids more than the line's delay.
        delay: Duration,
    },
    /// Packets go through `queues` in turn, `burst` of them at a time. Queue number i, from zero, takes i / (queues - 1) of `skew`
    /// more than the line; one queue keeps the order. Nothing is drawn: a packet's queue follows from its index.
    Queues {
        /// How many there are; at least one.
        queues: u32,
        /// Successive packets of one queue; at least one.
        burst: u32,
        /// By how much the last queue is slower than the first.
        skew: Duration,
    },
}

impl ReorderSpec {
    pub(crate) fn probability(self) -> Ratio {
        match self {
            Self::None | Self::Queues { .. } => Ratio::ZERO,
            Self::Late { probability, .. } | Self::Early { probability, .. } => probability,
        }
    }

    /// When the packet leaves that came as number `index`, counted from zero, at `now` and would have left at `regular`, and
    /// which way it was moved. `chosen` is what the draw said.
    pub(crate) fn exit(self, index: u64, chosen: bool, now: Instant, regular: Instant) -> (Instant, Option<Moved>) {
        match self {
            Self::Queues { queues, burst, skew } => {
                let queue = index / u64::from(burst) % u64::from(queues);
                let extra = skew.scale(queue, u64::from(queues - 1).max(1));
                (regular + extra, (extra > Duration::ZERO).then_some(Moved::Late))
            }
            Self::Late { extra, .. } if chosen => (regular + extra, Some(Moved::Late)),
            Self::Early { delay, .. } if chosen => (now + delay, Some(Moved::Early)),
            Self::None | Self::Late { .. } | Self::Early { .. } => (regular, None),
        }
    }
}
