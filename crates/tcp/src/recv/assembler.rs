//! Which sequence numbers have arrived: `RCV.NXT` and the blocks beyond it (RFC 9293 §3.10.7.4, RFC 2018 §3).
//!
//! Owns `RCV.NXT`. Keeps ranges, never octets; a FIN takes part as the one sequence number it occupies. Blocks stand in
//! ascending order with at least one missing number between any two and below the first. Beside them the few most
//! recently touched blocks are kept in that order, so that an ACK can list them (RFC 2018 §4) without looking at all.
//!
//! Serial comparison (RFC 9293 §3.4) is sound here because everything held lies inside one receive window.

use base::{Bytes, SeqNum, SeqRange};
use std::collections::VecDeque;

/// Blocks kept in order of recency: what the longest SACK option holds, and two in reserve, so that merging blocks seldom
/// leaves fewer than an option's worth.
const RECENT: usize = 6;
/// Below this many a search of all blocks refills the list.
const RECENT_LOW: usize = 4;

/// How a segment relates to what had arrived before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It continues the stream, and nothing waits behind a gap.
    InOrder,
    /// It continues the stream while blocks wait: all or part of the first gap is filled.
    FillsGap,
    /// It brings something new, but not the next octet.
    OutOfOrder,
    /// It brings nothing new.
    Duplicate,
}

/// What one segment changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// How far `RCV.NXT` moved.
    pub advanced: Bytes,
    /// The first contiguous part of the segment that had arrived before (RFC 2883 §4).
    pub duplicate: Option<SeqRange>,
    /// How the segment relates to what had arrived before.
    pub kind: Arrival,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    range: SeqRange,
    /// When the block was last touched: the value of `Assembler::clock` then.
    touched: u32,
}

/// The most recently touched blocks, latest first.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    ranges: [SeqRange; RECENT],
    len: u8,
}

/// `RCV.NXT` and everything that arrived out of order beyond it.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    rcv_nxt: SeqNum,
    blocks: VecDeque<Block>,
    recent: Recent,
    /// Counts touches of blocks; wraps, and is compared by age only.
    clock: u32,
    out_of_order: Bytes,
}

impl Assembler {
    /// Nothing has arrived; `rcv_nxt` is expected next.
    pub fn new(rcv_nxt: SeqNum) -> Self {
        Self { rcv_nxt, blocks: VecDeque::new(), recent: Recent::default(), clock: 0, out_of_order: 0 }
    }
    /// The next sequence number expected (`RCV.NXT`).
    #[inline]
    pub fn rcv_nxt(&self) -> SeqNum {
        self.rcv_nxt
    }
    /// Number of blocks beyond the first gap.
    #[inline]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }
    /// Up to [`RECENT`] blocks, the most recently touched first; at least four, if there are as many.
    #[inline]
    pub fn recent(&self) -> &[SeqRange] {
        self.recent.as_slice()
    }
    /// The block that holds all of `range`.
    pub fn block_holding(&self, range: SeqRange) -> Option<SeqRange> {
        let at = self.blocks.partition_point(|block| block.range.end.before(range.end));
        self.blocks.get(at).map(|block| block.range).filter(|block| block.covers(range))
    }

    /// The sequence numbers of `range` have arrived.
    ///
    /// The range may start below `RCV.NXT`; it must end inside the window. An empty one changes nothing.
    #[inline]
    pub fn insert(&mut self, range: SeqRange) -> Insertion {
        if range.start == self.rcv_nxt && self.blocks.is_empty() && !range.is_empty() {
            self.rcv_nxt = range.end;
            return Insertion { advanced: range.len(), duplicate: None, kind: Arrival::InOrder };
        }
        self.insert_anywhere(range)
    }

    fn insert_anywhere(&mut self, range: SeqRange) -> Insertion {
        if range.is_empty() || range.end.at_or_before(self.rcv_nxt) {
            let duplicate = Some(range).filter(|range| !range.is_empty());
            return Insertion { advanced: 0, duplicate, kind: Arrival::Duplicate };
        }
        let known = SeqRange::new(range.start, self.rcv_nxt);
        let fresh = SeqRange::new(range.start.max(self.rcv_nxt), range.end);
        // The blocks from `first` up to but not including `behind` overlap or adjoin the fresh part.
        let first = self.blocks.partition_point(|block| block.range.end.before(fresh.start));
        let behind = first + self.blocks.range(first..).take_while(|b| b.range.start.at_or_before(fresh.end)).count();
        let overlap = || self.blocks.range(first..behind).map(|b| intersection(b.range, fresh)).find(|r| !r.is_empty());
        let duplicate = if known.is_empty() { overlap() } else { Some(known) };
        let (advanced, kind) = if fresh.start == self.rcv_nxt {
            self.advance(fresh.end, behind)
        } else {
            (0, self.hold(fresh, first, behind))
        };
        Insertion { advanced, duplicate, kind }
    }

    /// The stream continues up to `end` and through the first `absorbed` blocks.
    fn advance(&mut self, end: SeqNum, absorbed: usize) -> (Bytes, Arrival) {
        let kind = if self.blocks.is_empty() { Arrival::InOrder } else { Arrival::FillsGap };
        let before = self.rcv_nxt;
        self.rcv_nxt = end;
        for block in self.blocks.drain(..absorbed) {
            self.out_of_order -= block.range.len();
            self.rcv_nxt = self.rcv_nxt.max(block.range.end);
        }
        if absorbed > 0 {
            self.recent.remove_inside(SeqRange::new(before, self.rcv_nxt));
            self.refill_recent();
        }
        (self.rcv_nxt.distance_from(before), kind)
    }

    /// Keeps `fresh`, merged with the blocks from `first` up to but not including `behind`.
    fn hold(&mut self, fresh: SeqRange, first: usize, behind: usize) -> Arrival {
        self.clock = self.clock.wrapping_add(1);
        let mut merged = fresh;
        let mut held_before = 0;
        for block in self.blocks.range(first..behind) {
            held_before += block.range.len();
            merged = SeqRange::new(merged.start.min(block.range.start), merged.end.max(block.range.end));
        }
        let block = Block { range: merged, touched: self.clock };
        if first == behind {
            self.blocks.insert(first, block);
        } else {
            self.blocks[first] = block;
            self.blocks.drain(first + 1..behind);
        }
        self.out_of_order += merged.len() - held_before;
        self.recent.remove_inside(merged);
        self.recent.push_front(merged);
        self.refill_recent();
        if merged.len() == held_before { Arrival::Duplicate } else { Arrival::OutOfOrder }
    }

    /// Merging took entries away: looks through all blocks when an ACK could run short of them. Each merge takes away one
    /// entry net and a search brings back as many as fit, so this happens once in several merges of recent blocks.
    #[inline]
    fn refill_recent(&mut self) {
        if self.recent().len() < RECENT_LOW && self.recent().len() < self.blocks.len() {
            self.search_recent();
        }
    }

    #[cold]
    fn search_recent(&mut self) {
        let mut found: [Option<(u32, SeqRange)>; RECENT] = [None; RECENT];
        // From the top, where the latest mostly are: most of the others then fail the first comparison.
        for block in self.blocks.iter().rev() {
            let age = self.clock.wrapping_sub(block.touched);
            if found[RECENT - 1].is_some_and(|(oldest, _)| oldest < age) {
                continue;
            }
            let mut entry = Some((age, block.range));
            for place in &mut found {
                if place.is_none_or(|(age, _)| entry.is_some_and(|(younger, _)| younger < age)) {
                    core::mem::swap(place, &mut entry);
                }
            }
        }
        self.recent = Recent::default();
        for (_, range) in found.into_iter().flatten().rev() {
            self.recent.push_front(range);
        }
    }
}

fn intersection(a: SeqRange, b: SeqRange) -> SeqRange {
    SeqRange::new(a.start.max(b.start), a.end.min(b.end))
}

impl Recent {
    fn as_slice(&self) -> &[SeqRange] {
        &self.ranges[..usize::from(self.len)]
    }
    fn push_front(&mut self, range: SeqRange) {
        let kept = usize::from(self.len).min(RECENT - 1);
        self.ranges.copy_within(..kept, 1);
        self.ranges[0] = range;
        self.len = kept as u8 + 1;
    }
    fn remove_inside(&mut self, outer: SeqRange) {
        let mut kept = 0;
        for at in 0..usize::from(self.len) {
            if !outer.covers(self.ranges[at]) {
                self.ranges[kept] = self.ranges[at];
                kept += 1;
            }
        }
        self.len = kept as u8;
    }
}

#[cfg(test)]
mod tests;
