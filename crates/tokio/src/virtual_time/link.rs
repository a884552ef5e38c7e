//! Two stacks and the emulated paths between them.

use base::{Instant, Rng};
use netem::{Path, PathSpec};
use pipe::{Batch, Tunnel};

/// Packets that are moved at once.
const BATCH: usize = 64;

/// Carries packets between two stacks.
#[derive(Debug)]
pub struct Link {
    ends: [Tunnel; 2],
    /// To the second stack, and back.
    paths: [Path<Vec<u8>>; 2],
    /// Buffers.
    batch: Batch,
    /// Packets that found a stack's queue full.
    overflowed: u64,
}

impl Link {
    pub fn new(one: Tunnel, other: Tunnel, specs: &[PathSpec; 2], rng: &Rng) -> Self {
        let paths = [specs[0].build(&rng.fork("there")), specs[1].build(&rng.fork("back"))];
        Self { ends: [one, other], paths, batch: Batch::default(), overflowed: 0 }
    }

    /// Takes what the stacks have sent, and brings what has arrived by `now`.
    pub fn carry(&mut self, now: Instant) {
        let Self { ends, paths, batch, overflowed } = self;
        let mut lost = |_, _, _| {};
        for (path, [from, to]) in paths.iter_mut().zip([[0, 1], [1, 0]]) {
            // An end that is gone sends nothing, and what goes to it is lost.
            while ends[from].try_recv(batch, BATCH).is_ok_and(|came| came > 0) {
                batch.packets().iter().for_each(|packet| path.offer(now, packet.bytes().to_vec(), &mut lost));
            }
            batch.clear();
            while let Some((_, packet)) = path.poll(now, &mut lost) {
                batch.push(&packet);
            }
            let _ = ends[to].try_send(batch);
            *overflowed += batch.len() as u64;
            batch.clear();
        }
    }

    /// Returns when the next packet arrives.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.paths.iter().filter_map(Path::next_deadline).min()
    }

    /// Packets that were lost.
    pub fn dropped(&self) -> u64 {
        let lost: u64 = self.paths.iter().map(|path| path.stats().dropped.total()).sum();
        lost + self.overflowed
    }
}
