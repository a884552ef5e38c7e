//! One deadline per endpoint in one heap, re-armed lazily.
//!
//! A deadline that moves later leaves its entry where it is; when the entry comes up, the endpoint's real deadline decides
//! whether it is served or put back. Idle connections cost nothing, and a retransmission timer pushed back by every ACK
//! costs one entry per timeout interval.

use base::Instant;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// The heap.
#[derive(Debug, Default)]
pub(super) struct DeadlineHeap {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl DeadlineHeap {
    #[inline]
    pub fn push(&mut self, at: Instant, slot: u32) {
        self.heap.push(Reverse((at, slot)));
    }
    /// The earliest entry; perhaps of a deadline that has moved since.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        self.heap.peek().map(|Reverse(entry)| *entry)
    }
    #[inline]
    pub fn pop(&mut self) {
        self.heap.pop();
    }
}
