//! The SACKed ranges: sorted, disjoint, never touching (RFC 6675 §4 counts *discontiguous* ranges).
//!
//! A balanced tree, because the peer chooses the order in which ranges appear: in a sorted array, each range inserted from the
//! top down would move all others. The tree is ordered by positions that never wrap; sequence numbers become positions on input
//! and numbers again on output.

use base::{SeqNum, SeqRange};
use core::cell::Cell;
use std::collections::BTreeMap;

/// A sorted set of ranges, none of which begins below the cumulative ACK.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    /// First and last position (exclusive) of each.
    map: BTreeMap<u64, u64>,
    /// The cumulative ACK and its position.
    floor: SeqNum,
    floor_at: u64,
    /// Steps through the tree, bounded by its height.
    steps: Cell<u64>,
}

impl Ranges {
    pub fn new(floor: SeqNum) -> Self {
        Self { map: BTreeMap::new(), floor, floor_at: 0, steps: Cell::new(0) }
    }

    /// Returns the position of a number at or above the cumulative ACK.
    #[inline]
    fn at(&self, seq: SeqNum) -> u64 {
        self.floor_at + u64::from(seq.distance_from(self.floor))
    }

    #[inline]
    fn range(&self, (start, end): (&u64, &u64)) -> SeqRange {
        let number = |at: u64| self.floor + (at - self.floor_at) as u32;
        SeqRange::new(number(*start), number(*end))
    }

    /// A search is about to begin.
    #[inline]
    fn count_search(&self) {
        self.steps.set(self.steps.get() + 1 + u64::from(self.map.len().checked_ilog2().unwrap_or(0)));
    }

    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// All ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SeqRange> {
        self.map.iter().map(|entry| self.range(entry))
    }

    #[inline]
    pub fn last(&self) -> Option<SeqRange> {
        self.map.last_key_value().map(|entry| self.range(entry))
    }

    /// Returns the range in which a segment ends at `end`, and the next one below it.
    pub fn ending_in(&self, end: SeqNum) -> Option<(SeqRange, Option<SeqRange>)> {
        if self.map.is_empty() || end.before(self.floor) {
            return None;
        }
        self.count_search();
        let mut below = self.map.range(..self.at(end));
        let run = below.next_back().filter(|(_, behind)| **behind >= self.at(end))?;
        Some((self.range(run), below.next_back().map(|entry| self.range(entry))))
    }

    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// Bytes of the entries; the tree's own overhead is about as much again.
    pub fn heap_size(&self) -> usize {
        self.map.len() * size_of::<(u64, u64)>()
    }

    /// The first stretch between `from` and `end`, at or above the cumulative ACK, that is not in the set.
    #[inline]
    pub fn next_gap(&self, from: SeqNum, end: SeqNum) -> Option<SeqRange> {
        if !from.before(end) {
            return None;
        }
        if self.map.is_empty() {
            return Some(SeqRange::new(from, end));
        }
        self.count_search();
        let (mut start, mut behind) = (self.at(from), self.at(end));
        if let Some((_, &known)) = self.map.range(..=start).next_back().filter(|(_, known)| **known > start) {
            start = known;
        }
        if start >= behind {
            return None;
        }
        if let Some((&next, _)) = self.map.range(start..behind).next() {
            behind = next;
        }
        Some(self.range((&start, &behind)))
    }

    /// Adds a range, merging it with any it overlaps or touches.
    pub fn insert(&mut self, range: SeqRange) {
        self.count_search();
        let (mut start, mut behind) = (self.at(range.start), self.at(range.end));
        if let Some((&below, known)) = self.map.range_mut(..=start).next_back().filter(|(_, known)| **known >= start) {
            behind = behind.max(*known);
            // Most ranges grow at their end.
            (start, *known) = (below, behind);
        } else {
            self.map.insert(start, behind);
        }
        let before = behind;
        while let Some((&above, &known)) = self.map.range(start + 1..=behind).next() {
            self.count_search();
            self.map.remove(&above);
            behind = behind.max(known);
        }
        if behind != before {
            self.map.insert(start, behind);
        }
    }

    /// Removes everything below `ack`.
    #[inline]
    pub fn forget_below(&mut self, ack: SeqNum) {
        let floor_at = self.at(ack);
        (self.floor, self.floor_at) = (ack, floor_at);
        while let Some(first) = self.map.first_entry().filter(|first| *first.key() < floor_at) {
            let (_, behind) = first.remove_entry();
            self.count_search();
            if behind > floor_at {
                self.map.insert(floor_at, behind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: u32, end: u32) -> SeqRange {
        SeqRange::new(SeqNum(start), SeqNum(end))
    }

    #[test]
    fn neighbours_that_touch_become_one() {
        let mut ranges = Ranges::new(SeqNum(0));
        for (start, end) in [(10, 20), (30, 40), (20, 30)] {
            ranges.insert(range(start, end));
        }
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [range(10, 40)]);
    }

    #[test]
    fn a_search_counts_as_many_steps_as_the_tree_is_high() {
        let mut ranges = Ranges::new(SeqNum(0));
        let mut steps = Vec::new();
        for n in 0..9 {
            let before = ranges.steps();
            ranges.insert(range(n * 10, n * 10 + 5));
            steps.push(ranges.steps() - before);
        }
        assert_eq!(steps, [1, 1, 2, 2, 3, 3, 3, 3, 4]);
        assert_eq!(ranges.heap_size() / size_of::<(u64, u64)>(), 9);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(
            origin: u32,
            steps in prop::collection::vec((0u32..100, 1u32..20, prop::bool::weighted(0.2)), 1..60),
        ) {
            let at = |offset: u32| SeqNum(origin) + offset;
            let (mut ranges, mut bytes, mut low) = (Ranges::new(at(0)), [false; 120], 0usize);
            for (start, len, forget) in steps {
                if forget {
                    low = low.max(start as usize);
                    bytes[..low].fill(false);
                    ranges.forget_below(at(low as u32));
                } else if start as usize >= low {
                    bytes[start as usize..(start + len) as usize].fill(true);
                    ranges.insert(SeqRange::new(at(start), at(start + len)));
                }
                let mut listed = [false; 120];
                let all: Vec<SeqRange> = ranges.iter().collect();
                for pair in all.windows(2) {
                    prop_assert!(pair[0].end.before(pair[1].start));
                }
                for known in all {
                    let from = known.start.distance_from(at(0)) as usize;
                    listed[from..from + known.len() as usize].fill(true);
                }
                prop_assert_eq!(listed, bytes);
                let from = low.max(start as usize);
                let gap = ranges.next_gap(at(from as u32), at(120));
                let first = (from..120).find(|&i| !bytes[i]).map(|i| at(i as u32));
                prop_assert_eq!(gap.map(|gap| gap.start), first);
                if let Some(gap) = gap {
                    let from = gap.start.distance_from(at(0)) as usize;
                    let end = (from..120).find(|&i| bytes[i]).unwrap_or(120);
                    prop_assert_eq!(gap.len() as usize, end - from);
                }
            }
        }
    }
}
