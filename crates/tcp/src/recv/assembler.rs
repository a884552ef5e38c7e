//! Which sequence numbers have arrived: `RCV.NXT` and the blocks beyond it (RFC 9293 §3.10.7.4, RFC 2018 §3).
//!
//! Owns `RCV.NXT`. Keeps ranges, never octets; a FIN takes part as the one sequence number it occupies. Blocks stand in
//! ascending order with at least one missing number between any two and below the first. Beside them the few most
//! recently touched blocks are kept in that order, so that an ACK can list them (RFC 2018 §4) without looking at all.
//!
//! How many blocks there may be is the caller's business, who asks [`Assembler::admits`] before it keeps anything: a peer that
//! sends single octets with gaps between them would else have us keep a block for each, and look through all of them.
//!
//! Serial comparison (RFC 9293 §3.4) is sound here because everything held lies inside one receive window.

use base::{Bytes, SeqNum, SeqRange};
use core::ops::Range;
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
    /// When the block was last touched: the value of `Beyond::clock` then.
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
    /// Only while segments wait out of order: idle connections do not need it.
    beyond: Option<Box<Beyond>>,
}

/// The blocks beyond the first gap.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Ascending.
    blocks: VecDeque<Block>,
    recent: Recent,
    /// Counts touches of blocks; wraps, and is compared by age only.
    clock: u32,
}

impl Assembler {
    /// Nothing has arrived; `rcv_nxt` is expected next.
    pub fn new(rcv_nxt: SeqNum) -> Self {
        Self { rcv_nxt, beyond: None }
    }
    //= specs/rfc2018.md#receiver
    //# The acknowledgement number stays the cumulative one.
    /// The next sequence number expected (`RCV.NXT`).
    #[inline]
    pub fn rcv_nxt(&self) -> SeqNum {
        self.rcv_nxt
    }
    /// Number of blocks beyond the first gap.
    #[inline]
    pub fn block_count(&self) -> usize {
        self.beyond.as_ref().map_or(0, |beyond| beyond.blocks.len())
    }
    //= specs/rfc2018.md#receiver
    //# After the first come the blocks reported most recently, so that each is reported in at least three ACKs.
    /// Up to [`RECENT`] blocks, the most recently touched first; at least four, if there are as many.
    #[inline]
    pub fn recent(&self) -> &[SeqRange] {
        self.beyond.as_ref().map_or(&[], |beyond| beyond.recent.as_slice())
    }
    /// The block that holds all of `range`.
    pub fn block_holding(&self, range: SeqRange) -> Option<SeqRange> {
        let blocks = &self.beyond.as_ref()?.blocks;
        let at = blocks.partition_point(|block| block.range.end.before(range.end));
        blocks.get(at).map(|block| block.range).filter(|block| block.covers(range))
    }

    /// Whether something waits behind `seq`.
    pub fn holds_behind(&self, seq: SeqNum) -> bool {
        let last = self.beyond.as_ref().and_then(|beyond| beyond.blocks.back());
        last.is_some_and(|block| block.range.end.after(seq))
    }

    //= specs/rfc2018.md#receiver
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    /// Whether `range` can be kept while there may be no more than `limit` blocks: unless it would be one more, it can. What
    /// continues the stream always can, and so can what extends or joins blocks, whatever the limit.
    ///
    /// What is not kept was in no part here before, so there is no duplicate to report either.
    #[inline]
    pub fn admits(&self, range: SeqRange, limit: Option<u32>) -> bool {
        match limit {
            Some(limit) if self.block_count() >= limit as usize => self.admits_no_more_blocks(range),
            _ => true,
        }
    }

    fn admits_no_more_blocks(&self, range: SeqRange) -> bool {
        let continues = range.is_empty() || range.start.at_or_before(self.rcv_nxt);
        continues || self.beyond.as_ref().is_some_and(|beyond| !beyond.touched_by(range).is_empty())
    }

    /// The sequence numbers of `range` have arrived.
    ///
    /// The range may start below `RCV.NXT`; it must end inside the window. An empty one changes nothing.
    #[inline]
    pub fn insert(&mut self, range: SeqRange) -> Insertion {
        if range.start == self.rcv_nxt && self.block_count() == 0 && !range.is_empty() {
            self.rcv_nxt = range.end;
            return Insertion { advanced: range.len(), duplicate: None, kind: Arrival::InOrder };
        }
        self.insert_anywhere(range)
    }

    //= specs/rfc2883.md#receiver
    //# The block of a duplicate spans the first contiguous stretch of octets that came twice.
    fn insert_anywhere(&mut self, range: SeqRange) -> Insertion {
        let known = SeqRange::new(range.start, range.end.min(self.rcv_nxt));
        let duplicate = Some(known).filter(|known| !known.is_empty());
        if range.is_empty() || range.end.at_or_before(self.rcv_nxt) {
            return Insertion { advanced: 0, duplicate, kind: Arrival::Duplicate };
        }
        let fresh = SeqRange::new(range.start.max(self.rcv_nxt), range.end);
        let beyond = self.beyond.get_or_insert_default();
        let touched = beyond.touched_by(fresh);
        let duplicate = duplicate.or_else(|| beyond.overlap(fresh, touched.clone()));
        if fresh.start != self.rcv_nxt {
            return Insertion { advanced: 0, duplicate, kind: beyond.hold(fresh, touched) };
        }
        let kind = if beyond.blocks.is_empty() { Arrival::InOrder } else { Arrival::FillsGap };
        let end = beyond.release(fresh, touched.end);
        if beyond.blocks.is_empty() {
            self.beyond = None;
        }
        let advanced = end.distance_from(self.rcv_nxt);
        self.rcv_nxt = end;
        Insertion { advanced, duplicate, kind }
    }
}

impl Beyond {
    /// Which blocks overlap or adjoin `fresh`, by their places.
    fn touched_by(&self, fresh: SeqRange) -> Range<usize> {
        let first = self.blocks.partition_point(|block| block.range.end.before(fresh.start));
        let reached = self.blocks.range(first..).take_while(|block| block.range.start.at_or_before(fresh.end));
        first..first + reached.count()
    }

    /// The first part of `fresh` that one of these blocks holds already.
    fn overlap(&self, fresh: SeqRange, blocks: Range<usize>) -> Option<SeqRange> {
        self.blocks.range(blocks).map(|block| intersection(block.range, fresh)).find(|overlap| !overlap.is_empty())
    }

    /// The stream continues through `fresh` and through the first `absorbed` blocks; returns where it ends then.
    fn release(&mut self, fresh: SeqRange, absorbed: usize) -> SeqNum {
        let end = self.blocks.drain(..absorbed).fold(fresh.end, |end, block| end.max(block.range.end));
        if absorbed > 0 {
            self.recent.remove_inside(SeqRange::new(fresh.start, end));
            self.refill_recent();
        }
        end
    }

    /// Keeps `fresh`, merged with the blocks it touches.
    fn hold(&mut self, fresh: SeqRange, touched: Range<usize>) -> Arrival {
        self.clock = self.clock.wrapping_add(1);
        let mut merged = fresh;
        let mut held_before = 0;
        for block in self.blocks.range(touched.clone()) {
            held_before += block.range.len();
            merged = SeqRange::new(merged.start.min(block.range.start), merged.end.max(block.range.end));
        }
        let block = Block { range: merged, touched: self.clock };
        if touched.is_empty() {
            self.blocks.insert(touched.start, block);
        } else {
            self.blocks[touched.start] = block;
            self.blocks.drain(touched.start + 1..touched.end);
        }
        self.recent.remove_inside(merged);
        self.recent.push_front(merged);
        self.refill_recent();
        if merged.len() == held_before { Arrival::Duplicate } else { Arrival::OutOfOrder }
    }

    /// Merging took entries away: looks through all blocks when an ACK could run short of them. Each merge takes away one
    /// entry net and a search brings back as many as fit, so this happens once in several merges of recent blocks.
    #[inline]
    fn refill_recent(&mut self) {
        let listed = usize::from(self.recent.len);
        if listed < RECENT_LOW && listed < self.blocks.len() {
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
