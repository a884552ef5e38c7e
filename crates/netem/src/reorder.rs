//! Reordered packets: chosen by probability, in both readings of "some packets are delayed differently", or by turns.
//!
//! `Late` is a packet that took a detour: it arrives after packets sent later. `Early` is a packet that took a shorter
//! route: it overtakes packets in flight. The two stress a loss detector very differently, so neither is called just
//! "reordering". `Queues` is an adapter that passes packets on through several queues, burst by burst, some of which are
//! served later than others: the order is kept only within a queue. Applied by `delay.rs`, which knows a packet's regular
//! time.

use crate::hop::Moved;
use base::{Duration, Instant, Ratio};

/// Which packets are reordered, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReorderSpec {
    /// None do.
    #[default]
    None,
    /// The chosen packet takes `extra` longer than it would have, jitter included.
    Late {
        /// How often a packet is chosen.
        probability: Ratio,
        /// The additional delay.
        extra: Duration,
    },
    /// The chosen packet takes exactly `delay` instead of the line's delay and jitter.
    Early {
        /// How often a packet is chosen.
        probability: Ratio,
        /// The delay instead; it may even exceed the line's.
        delay: Duration,
    },
    /// Packets go through `queues` in turn, `burst` of them at a time. Queue number i, from zero, takes i / (queues - 1) of
    /// `skew` longer than the line; one queue keeps the order. Draws nothing: a packet's queue follows from its index.
    Queues {
        /// How many there are; at least one.
        queues: u32,
        /// Successive packets of one queue; at least one.
        burst: u32,
        /// Additional delay of the last queue over the first.
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

    /// Returns when a packet leaves that arrived as number `index`, counted from zero, at `now` and would have left at `regular`,
    /// and how it was moved. `chosen` is the result of the draw.
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
