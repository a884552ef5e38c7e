//! Which sequence numbers have arrived: `RCV.NXT` and the blocks beyond it (RFC 9293 §3.10.7.4, RFC 2018 §3).
//!
//! Owns `RCV.NXT`. Keeps ranges, never octets; a FIN takes part as the one sequence number it occupies. Blocks stand in
//! ascending order with at least one missing number between any two and below the first. They are also kept in the order in which
//! segments last touched them, so that an ACK can list the latest (RFC 2018 §4).
//!
//! A peer that sends single octets with gaps between them has us keep a block for each. The caller bounds their number, by asking
//! [`Assembler::admits`] before it keeps anything; and both orders are trees, so that a segment visits a number of records that is
//! logarithmic in that bound, besides the blocks that it merges, each of which is gone afterwards.
//!
//! Serial comparison (RFC 9293 §3.4) is sound here because everything held lies inside one receive window.

use base::{Bytes, SeqNum, SeqRange};
use core::ops::{Bound, Range};
use std::collections::BTreeMap;

/// Blocks listed by recency: what the longest SACK option holds, and two in reserve, so that merging blocks seldom
/// leaves fewer than an option's worth.
const RECENT: usize = 6;
/// Below this many the list is filled again.
const RECENT_LOW: usize = 4;

/// Memory of one block in both trees, in bytes: an estimate from half-full nodes, without the allocator's overhead.
pub(crate) const BLOCK_BYTES: usize = 96;

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

/// A block, behind its first position.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// One past its last position.
    end: u64,
    /// When a segment last touched the block: the value of `Beyond::clock` then.
    touched: u64,
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
///
/// A *position* is a sequence number on a line instead of a circle: its low half is the number. Trees need a total order.
#[derive(Clone, Debug)]
struct Beyond {
    /// The position of `RCV.NXT`.
    next: u64,
    /// Blocks by their first position.
    blocks: BTreeMap<u64, Block>,
    /// First positions of the blocks by the last touch.
    by_touch: BTreeMap<u64, u64>,
    recent: Recent,
    /// Counts touches of blocks.
    clock: u64,
    /// Records that were looked at, for tests of the bound.
    #[cfg(test)]
    visited: core::cell::Cell<u64>,
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
        let beyond = self.beyond.as_ref()?;
        if range.start.before(self.rcv_nxt) {
            return None;
        }
        let (start, block) = beyond.blocks.range(..=beyond.position(range.start)).next_back()?;
        Some(seq_range(*start..block.end)).filter(|block| block.covers(range))
    }

    /// Whether something waits behind `seq`.
    pub fn holds_behind(&self, seq: SeqNum) -> bool {
        let last = self.beyond.as_ref().and_then(|beyond| beyond.blocks.last_key_value());
        last.is_some_and(|(_, block)| seq_at(block.end).after(seq))
    }

    //= specs/rfc2018.md#receiver
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    /// Whether `range` can be kept while there may be no more than `limit` blocks: unless it would be one more, it can. What
    /// continues the stream always can, and so can what extends or joins blocks, whatever the limit.
    ///
    /// What is not kept was in no part here before, so there is no duplicate to report either.
    #[inline]
    pub fn admits(&self, range: SeqRange, limit: u32) -> bool {
        self.block_count() < limit as usize || self.admits_no_more_blocks(range)
    }

    fn admits_no_more_blocks(&self, range: SeqRange) -> bool {
        let continues = range.is_empty() || range.start.at_or_before(self.rcv_nxt);
        continues || self.beyond.as_ref().is_some_and(|beyond| beyond.touches(&beyond.span(range)))
    }

    /// Calls `keep` for each part of `range` that has not arrived yet, in ascending order: the first copy of an octet stays.
    #[inline]
    pub fn for_each_missing(&self, range: SeqRange, keep: impl FnMut(SeqRange)) {
        let fresh = SeqRange::new(range.start.max(self.rcv_nxt), range.end);
        match &self.beyond {
            _ if range.end.at_or_before(self.rcv_nxt) => {}
            None => core::iter::once(fresh).for_each(keep),
            Some(beyond) => beyond.missing(beyond.span(fresh), keep),
        }
    }

    /// Forgets every block.
    pub fn discard_blocks(&mut self) {
        self.beyond = None;
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
        let first = self.rcv_nxt;
        let beyond = self.beyond.get_or_insert_with(|| Box::new(Beyond::new(first)));
        let span = beyond.span(fresh);
        let duplicate = duplicate.or_else(|| beyond.overlap(&span));
        if fresh.start != self.rcv_nxt {
            return Insertion { advanced: 0, duplicate, kind: beyond.hold(span) };
        }
        let kind = if beyond.blocks.is_empty() { Arrival::InOrder } else { Arrival::FillsGap };
        let end = beyond.release(span);
        if beyond.blocks.is_empty() {
            self.beyond = None;
        }
        let advanced = end.distance_from(self.rcv_nxt);
        self.rcv_nxt = end;
        Insertion { advanced, duplicate, kind }
    }
}

impl Beyond {
    fn new(rcv_nxt: SeqNum) -> Self {
        Self {
            next: u64::from(rcv_nxt.0),
            blocks: BTreeMap::new(),
            by_touch: BTreeMap::new(),
            recent: Recent::default(),
            clock: 0,
            #[cfg(test)]
            visited: core::cell::Cell::new(0),
        }
    }

    /// The position of a number that is not before `RCV.NXT`.
    fn position(&self, seq: SeqNum) -> u64 {
        self.next + u64::from(seq.distance_from(seq_at(self.next)))
    }

    fn span(&self, range: SeqRange) -> Range<u64> {
        let start = self.position(range.start);
        start..start + u64::from(range.len())
    }

    /// Calls `look` for each block that overlaps or adjoins `fresh`, in ascending order.
    #[inline]
    fn for_each_touched(&self, fresh: &Range<u64>, mut look: impl FnMut(u64, Block)) {
        let mut look = |start: &u64, block: &Block| {
            self.visit();
            look(*start, *block);
        };
        // Most segments behind a gap arrive at the top: they extend the last block or stand behind it.
        match self.blocks.last_key_value() {
            Some((_, last)) if fresh.start > last.end => {}
            Some((start, last)) if fresh.start >= *start => look(start, last),
            Some(_) => {
                let before = self.blocks.range(..=fresh.start).next_back();
                if let Some((start, block)) = before.filter(|(_, block)| block.end >= fresh.start) {
                    look(start, block);
                }
                let behind = self.blocks.range((Bound::Excluded(fresh.start), Bound::Included(fresh.end)));
                behind.for_each(|(start, block)| look(start, block));
            }
            None => {}
        }
    }

    /// Whether `fresh` overlaps or adjoins a block.
    fn touches(&self, fresh: &Range<u64>) -> bool {
        let mut any = false;
        self.for_each_touched(fresh, |_, _| any = true);
        any
    }

    /// The first part of `fresh` that a block holds already.
    fn overlap(&self, fresh: &Range<u64>) -> Option<SeqRange> {
        let mut first = None;
        self.for_each_touched(fresh, |start, block| {
            let part = start.max(fresh.start)..block.end.min(fresh.end);
            if first.is_none() && !part.is_empty() {
                first = Some(seq_range(part));
            }
        });
        first
    }

    /// Calls `keep` for each part of `fresh` that no block holds.
    fn missing(&self, fresh: Range<u64>, mut keep: impl FnMut(SeqRange)) {
        let mut from = fresh.start;
        self.for_each_touched(&fresh, |start, block| {
            if start > from {
                keep(seq_range(from..start));
            }
            from = from.max(block.end);
        });
        if from < fresh.end {
            keep(seq_range(from..fresh.end));
        }
    }

    /// The stream continues through `fresh` and the blocks it touches; returns where it ends then.
    fn release(&mut self, fresh: Range<u64>) -> SeqNum {
        let mut end = fresh.end;
        let mut absorbed = false;
        while let Some(first) = self.blocks.first_entry().filter(|first| *first.key() <= end) {
            let block = first.remove();
            self.visit();
            self.by_touch.remove(&block.touched);
            end = end.max(block.end);
            absorbed = true;
        }
        self.next = end;
        if absorbed {
            self.recent.remove_inside(seq_range(fresh.start..end));
            self.refill_recent();
        }
        seq_at(end)
    }

    /// Keeps `fresh`, merged with the blocks it touches.
    fn hold(&mut self, fresh: Range<u64>) -> Arrival {
        if let Some(kind) = self.extend_latest(&fresh) {
            return kind;
        }
        let (mut merged, mut held_before, mut any) = (fresh.clone(), 0, false);
        self.for_each_touched(&fresh, |start, block| {
            held_before += block.end - start;
            merged = merged.start.min(start)..merged.end.max(block.end);
            any = true;
        });
        self.replace(&merged, any);
        let range = seq_range(merged.clone());
        self.recent.remove_inside(range);
        self.recent.push_front(range);
        self.refill_recent();
        if merged.end - merged.start == held_before { Arrival::Duplicate } else { Arrival::OutOfOrder }
    }

    /// The usual segment behind a gap extends the last block, which the segment before it touched: neither order changes.
    fn extend_latest(&mut self, fresh: &Range<u64>) -> Option<Arrival> {
        let mut last = self.blocks.last_entry()?;
        let (start, block) = (*last.key(), last.get_mut());
        let extends = block.touched == self.clock && start <= fresh.start && fresh.start <= block.end;
        if !extends {
            return None;
        }
        let before = block.end;
        block.end = before.max(fresh.end);
        self.recent.ranges[0] = seq_range(start..block.end);
        Some(if block.end == before { Arrival::Duplicate } else { Arrival::OutOfOrder })
    }

    /// Puts one block in the place of all that lie inside it.
    fn replace(&mut self, merged: &Range<u64>, any: bool) {
        while any && let Some((start, block)) = self.blocks.range(merged.start..merged.end).next() {
            let (start, touched) = (*start, block.touched);
            self.visit();
            self.by_touch.remove(&touched);
            self.blocks.remove(&start);
        }
        self.clock += 1;
        self.by_touch.insert(self.clock, merged.start);
        self.blocks.insert(merged.start, Block { end: merged.end, touched: self.clock });
    }

    /// Lists the latest blocks again when merging took so many away that an ACK could run short of them.
    #[inline]
    fn refill_recent(&mut self) {
        let listed = usize::from(self.recent.len);
        if listed < RECENT_LOW && listed < self.blocks.len() {
            self.list_recent();
        }
    }

    #[cold]
    fn list_recent(&mut self) {
        let mut recent = Recent::default();
        for start in self.by_touch.values().rev().take(RECENT) {
            self.visit();
            let Some(block) = self.blocks.get(start) else { continue };
            recent.ranges[usize::from(recent.len)] = seq_range(*start..block.end);
            recent.len += 1;
        }
        self.recent = recent;
    }

    /// Counts a record that is looked at; nothing outside of tests.
    #[inline]
    fn visit(&self) {
        #[cfg(test)]
        self.visited.set(self.visited.get() + 1);
    }
}

/// The sequence number at a position.
fn seq_at(position: u64) -> SeqNum {
    // Truncation is meant: the low half is the number.
    SeqNum(position as u32)
}

fn seq_range(span: Range<u64>) -> SeqRange {
    SeqRange::new(seq_at(span.start), seq_at(span.end))
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
