//! The next deadline of each endpoint, in one indexed heap.
//!
//! The heap holds at most one entry per live connection, so its memory follows from the number of connections and not from how
//! often they re-arm. An entry may be early: a deadline that moves later leaves its entry where it is, and when the entry comes up,
//! the endpoint's real deadline decides whether it is served or queued again. A retransmission timer that every ACK pushes back
//! therefore costs one move per timeout interval. A deadline that moves earlier moves its entry; a connection that is gone takes its
//! entry along.

use crate::chunked::Chunked;
use base::Instant;

/// The place of a slot without an entry.
const NONE: u32 = u32::MAX;

/// The heap.
#[derive(Debug, Default)]
pub(super) struct DeadlineHeap {
    /// A binary heap by time, then by slot.
    entries: Chunked<(Instant, u32)>,
    /// Where each slot's entry is in `entries`, by slot.
    places: Chunked<u32>,
}

impl DeadlineHeap {
    /// Sets the entry of `slot` to `at`.
    #[inline]
    pub fn set(&mut self, at: Instant, slot: u32) {
        while self.places.len() <= slot as usize {
            self.places.push(NONE);
        }
        let place = match self.places[slot as usize] {
            NONE => {
                self.entries.push((at, slot));
                self.entries.len() - 1
            }
            place => {
                self.entries[place as usize].0 = at;
                place as usize
            }
        };
        let place = self.sift_up(place);
        self.sift_down(place);
    }

    /// Returns the earliest entry; the deadline may have moved later since.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        (self.entries.len() > 0).then(|| self.entries[0])
    }

    /// Drops the entry of `slot`, if there is one.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        if slot as usize >= self.places.len() {
            return;
        }
        let place = core::mem::replace(&mut self.places[slot as usize], NONE) as usize;
        if place == NONE as usize {
            return;
        }
        let Some(last) = self.entries.pop() else { return };
        if place < self.entries.len() {
            self.entries[place] = last;
            let place = self.sift_up(place);
            self.sift_down(place);
        }
    }

    /// Moves the entry at `place` towards the root while it is earlier than its parent; returns where it ends.
    fn sift_up(&mut self, mut place: usize) -> usize {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent] <= entry {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    /// Moves the entry at `place` away from the root while a child is earlier.
    fn sift_down(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let left = 2 * place + 1;
            if left >= self.entries.len() {
                break;
            }
            let (mut child, mut earliest) = (left, self.entries[left]);
            if left + 1 < self.entries.len() && self.entries[left + 1] < earliest {
                (child, earliest) = (left + 1, self.entries[left + 1]);
            }
            if entry <= earliest {
                break;
            }
            self.put(place, earliest);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Instant, u32)) {
        self.entries[place] = entry;
        // There are at most as many entries as slots, whose numbers fit.
        self.places[entry.1 as usize] = place as u32;
    }

    /// Returns how many entries there are, and the bytes that they and the places take.
    pub fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.entries.bytes() + self.places.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Any order of sets and removals, compared with a map that is searched.
        #[test]
        fn agrees_with_a_map(steps in proptest::collection::vec((0u32..40, proptest::option::of(0u64..100)), 1..400)) {
            let (mut heap, mut model) = (DeadlineHeap::default(), BTreeMap::new());
            for (slot, at) in steps {
                match at.map(Instant::from_nanos) {
                    Some(at) => {
                        heap.set(at, slot);
                        model.insert(slot, at);
                    }
                    None => {
                        heap.remove(slot);
                        model.remove(&slot);
                    }
                }
                prop_assert_eq!(heap.peek(), model.iter().map(|(slot, at)| (*at, *slot)).min());
                prop_assert_eq!(heap.size().0, model.len());
            }
        }
    }

    #[test]
    fn a_former_crowd_leaves_little_behind() {
        let mut heap = DeadlineHeap::default();
        for slot in 0..100_000 {
            heap.set(Instant::from_nanos(u64::from(slot * 7 % 1_000)), slot);
        }
        for slot in 0..100_000 {
            heap.remove(slot);
        }
        // Only the places remain, which the slots themselves keep as well.
        assert_eq!(heap.size().0, 0);
        assert!(heap.entries.bytes() <= 32 << 10);
    }
}
