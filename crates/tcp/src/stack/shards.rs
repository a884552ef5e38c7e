//! Stacks side by side: each has the flows that a keyed hash gives it. Both directions of a flow have the same shard, and a stranger,
//! who lacks the key, cannot aim flows at one.

use super::isn::{sip_hash, words};
use crate::endpoint::FourTuple;
use core::num::NonZeroU32;

/// Which of several stacks has which flow.
#[derive(Clone, Copy, Debug)]
pub struct Shards {
    key: [u64; 2],
    count: NonZeroU32,
}

/// One of several stacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shard {
    shards: Shards,
    own: usize,
}

impl Shard {
    /// # Panics
    /// If there is no such shard.
    pub fn new(shards: Shards, own: usize) -> Self {
        assert!(own < shards.count(), "of {} shards none is number {own}", shards.count());
        Self { shards, own }
    }

    /// Returns whether a flow is its own.
    pub fn has(&self, tuple: &FourTuple) -> bool {
        self.shards.of(tuple) == self.own
    }
}

impl Shards {
    /// `secret` must be unpredictable on a real host; it may be that of the sequence numbers.
    pub fn new(secret: [u64; 2], count: NonZeroU32) -> Self {
        // Not the key of the sequence numbers, or either would reveal something about the other.
        Self { key: [0x5a4d, 0x5a4e].map(|label| sip_hash(secret, &[label])), count }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count.get() as usize
    }

    /// Returns the shard of a flow: less than [`Self::count`], and the same for both directions.
    pub fn of(&self, tuple: &FourTuple) -> usize {
        let FourTuple { remote_port, local_port, remote, local } = *tuple;
        let swapped = FourTuple { remote_port: local_port, local_port: remote_port, remote: local, local: remote };
        let ordered = if (local, local_port) < (remote, remote_port) { tuple } else { &swapped };
        let hash = sip_hash(self.key, &words(ordered));
        // The high half of the product: less than the count.
        ((u128::from(hash) * u128::from(self.count.get())) >> 64) as usize
    }
}
