//! The SACKed ranges: sorted, disjoint, never touching (RFC 6675 §4 counts *discontiguous* ranges).
//!
//! All arithmetic is serial; every range lies inside one window, so the order is a true one.

use base::{SeqNum, SeqRange};

/// A sorted set of ranges. What falls below the cumulative ACK leaves lazily, so that no ACK moves the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    items: Vec<SeqRange>,
    /// Items before this one are spent.
    head: usize,
}

impl Ranges {
    #[inline]
    pub fn as_slice(&self) -> &[SeqRange] {
        &self.items[self.head..]
    }

    pub fn clear(&mut self) {
        self.items.clear();
        self.head = 0;
    }

    pub fn heap_size(&self) -> usize {
        self.items.capacity() * size_of::<SeqRange>()
    }

    /// The first stretch between `from` and `end` that is not in the set.
    #[inline]
    pub fn next_gap(&self, from: SeqNum, end: SeqNum) -> Option<SeqRange> {
        let ranges = self.as_slice();
        let mut index = ranges.partition_point(|range| range.end.at_or_before(from));
        let mut start = from;
        if let Some(range) = ranges.get(index).filter(|range| range.start.at_or_before(from)) {
            start = range.end;
            index += 1;
        }
        let end = ranges.get(index).map_or(end, |range| range.start.min(end));
        start.before(end).then(|| SeqRange::new(start, end))
    }

    /// Adds a range, merging it with what it overlaps or touches.
    pub fn insert(&mut self, range: SeqRange) {
        let first = self.head + self.as_slice().partition_point(|known| known.end.before(range.start));
        let behind = self.head + self.as_slice().partition_point(|known| known.start.at_or_before(range.end));
        if first == behind {
            self.items.insert(first, range);
            return;
        }
        let start = self.items[first].start.min(range.start);
        let end = self.items[behind - 1].end.max(range.end);
        self.items[first] = SeqRange::new(start, end);
        self.items.drain(first + 1..behind);
    }

    /// Forgets everything below `ack`.
    #[inline]
    pub fn forget_below(&mut self, ack: SeqNum) {
        while let Some(range) = self.items.get_mut(self.head) {
            if range.end.after(ack) {
                range.start = range.start.max(ack);
                break;
            }
            self.head += 1;
        }
        // Moving the rest only when the spent part outweighs it keeps the cost of each range constant.
        if self.head * 2 > self.items.len() {
            self.items.drain(..self.head);
            self.head = 0;
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
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (20, 30)] {
            ranges.insert(range(start, end));
        }
        assert_eq!(ranges.as_slice(), [range(10, 40)]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_octets(
            origin: u32,
            steps in prop::collection::vec((0u32..100, 1u32..20, prop::bool::weighted(0.2)), 1..60),
        ) {
            let at = |offset: u32| SeqNum(origin) + offset;
            let (mut ranges, mut octets, mut low) = (Ranges::default(), [false; 120], 0usize);
            for (start, len, forget) in steps {
                if forget {
                    low = low.max(start as usize);
                    octets[..low].fill(false);
                    ranges.forget_below(at(low as u32));
                } else if start as usize >= low {
                    octets[start as usize..(start + len) as usize].fill(true);
                    ranges.insert(SeqRange::new(at(start), at(start + len)));
                }
                let mut listed = [false; 120];
                for pair in ranges.as_slice().windows(2) {
                    prop_assert!(pair[0].end.before(pair[1].start));
                }
                for known in ranges.as_slice() {
                    let from = known.start.distance_from(at(0)) as usize;
                    listed[from..from + known.len() as usize].fill(true);
                }
                prop_assert_eq!(listed, octets);
                let gap = ranges.next_gap(at(start), at(120));
                let first = (start as usize..120).find(|&i| !octets[i]).map(|i| at(i as u32));
                prop_assert_eq!(gap.map(|gap| gap.start), first);
                if let Some(gap) = gap {
                    let from = gap.start.distance_from(at(0)) as usize;
                    let end = (from..120).find(|&i| octets[i]).unwrap_or(120);
                    prop_assert_eq!(gap.len() as usize, end - from);
                }
            }
        }
    }
}
