//! Reordering by probability, in both readings of "some packets are delayed differently".
//!
//! `Late` is a packet that took a detour: it arrives behind packets sent after it. `Early` is a packet that took a short
//! cut: it overtakes what is in flight. The two stress a loss detector very differently, so neither is called
//! "reordering" alone. Applied by `delay.rs`, which knows what a packet would have taken otherwise.

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
}

impl ReorderSpec {
    pub(crate) fn probability(self) -> Ratio {
        match self {
            Self::None => Ratio::ZERO,
            Self::Late { probability, .. } | Self::Early { probability, .. } => probability,
        }
    }

    /// Which way a chosen packet is moved.
    pub(crate) fn moved(self) -> Option<Moved> {
        match self {
            Self::None => None,
            Self::Late { .. } => Some(Moved::Late),
            Self::Early { .. } => Some(Moved::Early),
        }
    }

    /// When a chosen packet leaves that arrived at `now` and would have left at `regular`.
    pub(crate) fn exit(self, now: Instant, regular: Instant) -> Instant {
        match self {
            Self::None => regular,
            Self::Late { extra, .. } => regular + extra,
            Self::Early { delay, .. } => now + delay,
        }
    }
}
