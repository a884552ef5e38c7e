//! The handles of a stack's shards, of which there is one unless the builder was asked for more.

use crate::shared::Handle;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tcp::{FourTuple, Shards};

#[derive(Debug)]
pub(crate) struct Handles {
    all: Vec<Handle>,
    shards: Shards,
    /// The shard that is asked first the next time.
    next: AtomicUsize,
}

impl Handles {
    /// # Panics
    /// If there are not as many handles as shards.
    pub fn new(all: Vec<Handle>, shards: Shards) -> Self {
        assert_eq!(all.len(), shards.count(), "handles, and shards");
        Self { all, shards, next: AtomicUsize::new(0) }
    }

    /// Returns the first shard's, which has what is not TCP.
    pub fn first(&self) -> &Handle {
        &self.all[0]
    }

    /// Returns all of them.
    pub fn all(&self) -> &[Handle] {
        &self.all
    }

    /// Returns each of them once, and begins with another one each time.
    pub fn in_turn(&self) -> impl Iterator<Item = &Handle> {
        let from = if self.all.len() > 1 { self.next.fetch_add(1, Relaxed) % self.all.len() } else { 0 };
        self.all[from..].iter().chain(&self.all[..from])
    }

    /// Returns that of a flow's shard.
    pub fn of(&self, flow: &FourTuple) -> &Handle {
        &self.all[self.shards.of(flow)]
    }
}
