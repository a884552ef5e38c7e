//! Tracks which sequence numbers have arrived: `RCV.NXT` and the blocks beyond it (RFC 9293 §3.10.7.4, RFC 2018 §3).
//!
//! Owns `RCV.NXT`. Stores ranges, never bytes; a FIN counts as the one sequence number it occupies. Blocks are in ascending
//! order, with at least one missing number between two of them and below the first. They are also linked in the order in which
//! segments last touched them, so that an ACK can list the latest (RFC 2018 §4).
//!
//! A peer that sends single bytes with gaps between them makes us keep a block for each. The caller limits their number by asking
//! [`Assembler::admits`] before it keeps anything. A tree finds the blocks, so that a segment visits a number of records
//! logarithmic in that limit, plus the blocks it merges, which then disappear; the order of touches is a list, since a second
//! tree would cost three more searches for each segment that joins two blocks.
//!
//! Serial comparison (RFC 9293 §3.4) is sound here because everything held lies inside one receive window.

mod blocks;

use base::{Bytes, SeqNum, SeqRange};
use blocks::Blocks;
use core::ops::Range;

/// Blocks listed by recency: the capacity of the longest SACK option, and two in reserve, so that merging blocks rarely leaves
/// fewer than fit.
const RECENT: usize = 6;
/// Below this number the list is refilled.
const RECENT_LOW: usize = 4;

/// Memory of one block, in bytes: its record and its place in a half-full node of the tree, without the allocator's overhead.
pub(crate) const BLOCK_BYTES: usize = 64;

/// How a segment relates to earlier arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It continues the stream, and no block waits behind a gap.
    InOrder,
    /// It continues the stream while blocks wait: it fills all or part of the first gap.
    FillsGap,
    /// It brings new data, but not the next byte.
    OutOfOrder,
    /// It brings no new data.
    Duplicate,
}

/// What one segment changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// How far `RCV.NXT` moved.
    pub advanced: Bytes,
    /// The first contiguous part of the segment that had already arrived (RFC 2883 §4).
    pub duplicate: Option<SeqRange>,
    /// How the segment relates to earlier arrivals.
    pub kind: Arrival,
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
    /// Present only while out-of-order segments wait: idle connections do not need it.
    beyond: Option<Box<Beyond>>,
}

/// The blocks beyond the first gap.
///
/// A *position* is a sequence number on a line instead of a circle: its low half is the number. Trees need a total order.
#[derive(Clone, Debug)]
struct Beyond {
    /// The position of `RCV.NXT`.
    next: u64,
    blocks: Blocks,
    recent: Recent,
    /// Number of records visited, for tests of the bound.
    #[cfg(test)]
    visited: core::cell::Cell<u64>,
}

/// The blocks that a segment overlaps or adjoins, and the result of merging them.
struct Touched {
    /// The segment and the blocks, together.
    merged: Range<u64>,
    /// The first part of the segment that a block already holds.
    overlap: Option<SeqRange>,
    /// Positions that the blocks hold.
    held: u64,
    /// Blocks beside the first one.
    more: u32,
    /// The record of the first block.
    first: Option<u32>,
    /// The record of the last block.
    last: Option<u32>,
}

impl Assembler {
    /// Creates an assembler before anything has arrived; `rcv_nxt` is expected next.
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
    /// Returns up to [`RECENT`] blocks, the most recently touched first; at least four if there are that many.
    #[inline]
    pub fn recent(&self) -> &[SeqRange] {
        self.beyond.as_ref().map_or(&[], |beyond| beyond.recent.as_slice())
    }
    /// Returns the block that holds all of `range`.
    pub fn block_holding(&self, range: SeqRange) -> Option<SeqRange> {
        let beyond = self.beyond.as_ref()?;
        if range.start.before(self.rcv_nxt) {
            return None;
        }
        let (block, _) = beyond.blocks.up_to(beyond.position(range.start)).next()?;
        Some(seq_range(block)).filter(|block| block.covers(range))
    }

    /// Returns whether any block lies beyond `seq`.
    pub fn holds_behind(&self, seq: SeqNum) -> bool {
        let last = self.beyond.as_ref().and_then(|beyond| beyond.blocks.last());
        last.is_some_and(|block| seq_at(block.end).after(seq))
    }

    //= specs/rfc2018.md#receiver
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    /// Returns whether `range` can be kept within `limit` blocks. Data that continues the stream, or extends or joins blocks, can
    /// always be kept, whatever the limit.
    ///
    /// Rejected data was in no part present before, so it needs no duplicate report either.
    #[inline]
    pub fn admits(&self, range: SeqRange, limit: u32) -> bool {
        self.block_count() < limit as usize || self.admits_no_more_blocks(range)
    }

    fn admits_no_more_blocks(&self, range: SeqRange) -> bool {
        let continues = range.is_empty() || range.start.at_or_before(self.rcv_nxt);
        continues || self.beyond.as_ref().is_some_and(|beyond| beyond.touches(&beyond.span(range)))
    }

    /// Calls `keep` for each part of `range` that has not arrived yet, in descending order: the first copy of a byte stays.
    #[inline]
    pub fn for_each_missing(&self, range: SeqRange, keep: impl FnMut(SeqRange)) {
        let fresh = SeqRange::new(range.start.max(self.rcv_nxt), range.end);
        match &self.beyond {
            _ if range.end.at_or_before(self.rcv_nxt) => {}
            None => core::iter::once(fresh).for_each(keep),
            Some(beyond) => beyond.missing(beyond.span(fresh), keep),
        }
    }

    /// Discards every block.
    pub fn discard_blocks(&mut self) {
        self.beyond = None;
    }

    /// Discards the last block; returns the end of the remaining ones.
    pub fn discard_last(&mut self) -> SeqNum {
        let Some(beyond) = &mut self.beyond else { return self.rcv_nxt };
        if let Some(block) = beyond.blocks.take_last() {
            beyond.recent.remove_inside(seq_range(block));
            beyond.refill_recent();
        }
        let left = beyond.blocks.last().map(|block| seq_at(block.end));
        if left.is_none() {
            self.beyond = None;
        }
        left.unwrap_or(self.rcv_nxt)
    }

    /// Records that the sequence numbers of `range` have arrived.
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
    //# The block of a duplicate spans the first contiguous stretch of bytes that came twice.
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
        if fresh.start != self.rcv_nxt {
            let (kind, overlap) = beyond.hold(&span);
            return Insertion { advanced: 0, duplicate: duplicate.or(overlap), kind };
        }
        let duplicate = duplicate.or_else(|| beyond.touched(&span).overlap);
        let kind = if beyond.blocks.len() == 0 { Arrival::InOrder } else { Arrival::FillsGap };
        let end = beyond.release(span);
        if beyond.blocks.len() == 0 {
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
            blocks: Blocks::default(),
            recent: Recent::default(),
            #[cfg(test)]
            visited: core::cell::Cell::new(0),
        }
    }

    /// Returns the position of a sequence number that is not before `RCV.NXT`.
    fn position(&self, seq: SeqNum) -> u64 {
        self.next + u64::from(seq.distance_from(seq_at(self.next)))
    }

    fn span(&self, range: SeqRange) -> Range<u64> {
        let start = self.position(range.start);
        start..start + u64::from(range.len())
    }

    /// Returns the blocks that overlap or adjoin `fresh`, in descending order.
    #[inline]
    fn touched_by(&self, fresh: &Range<u64>) -> impl Iterator<Item = (Range<u64>, u32)> {
        self.blocks.touched_by(fresh).inspect(|_| self.visit())
    }

    /// Returns whether `fresh` overlaps or adjoins a block.
    fn touches(&self, fresh: &Range<u64>) -> bool {
        self.touched_by(fresh).next().is_some()
    }

    fn touched(&self, fresh: &Range<u64>) -> Touched {
        let mut touched = Touched { merged: fresh.clone(), overlap: None, held: 0, more: 0, first: None, last: None };
        for (block, record) in self.touched_by(fresh) {
            let part = block.start.max(fresh.start)..block.end.min(fresh.end);
            if !part.is_empty() {
                touched.overlap = Some(seq_range(part));
            }
            touched.merged = touched.merged.start.min(block.start)..touched.merged.end.max(block.end);
            touched.held += block.end - block.start;
            touched.last = touched.last.or(Some(record));
            touched.more += u32::from(touched.first.replace(record).is_some());
        }
        touched
    }

    /// Calls `keep` for each part of `fresh` that no block holds.
    fn missing(&self, fresh: Range<u64>, mut keep: impl FnMut(SeqRange)) {
        if self.blocks.last().is_none_or(|last| last.end <= fresh.start) {
            return keep(seq_range(fresh));
        }
        let mut to = fresh.end;
        for (block, _) in self.touched_by(&fresh) {
            if block.end < to {
                keep(seq_range(block.end..to));
            }
            to = to.min(block.start);
        }
        if fresh.start < to {
            keep(seq_range(fresh.start..to));
        }
    }

    /// Continues the stream through `fresh` and the blocks it touches; returns its new end.
    fn release(&mut self, fresh: Range<u64>) -> SeqNum {
        let mut end = fresh.end;
        let mut absorbed = false;
        while let Some(first) = self.blocks.take_first(end) {
            self.visit();
            end = end.max(first.end);
            absorbed = true;
        }
        self.next = end;
        if absorbed {
            self.recent.remove_inside(seq_range(fresh.start..end));
            self.refill_recent();
        }
        seq_at(end)
    }

    /// Keeps `fresh`, merged with the blocks it touches; returns its kind, and the part that was already present.
    fn hold(&mut self, fresh: &Range<u64>) -> (Arrival, Option<SeqRange>) {
        if let Some(last) = self.blocks.extend_latest(fresh) {
            // Usually a segment behind a gap extends the last block, which the previous segment touched: neither order changes.
            let overlap = fresh.start..fresh.end.min(last.end);
            self.recent.ranges[0] = seq_range(last.start..last.end.max(fresh.end));
            let kind = if fresh.end <= last.end { Arrival::Duplicate } else { Arrival::OutOfOrder };
            return (kind, Some(seq_range(overlap.clone())).filter(|_| !overlap.is_empty()));
        }
        let Touched { merged, overlap, held, more, first, mut last } = self.touched(fresh);
        for _ in 0..more {
            self.visit();
            let record = last.take().or_else(|| self.blocks.up_to(fresh.end).next().map(|(_, record)| record));
            record.into_iter().for_each(|record| self.blocks.remove(record));
        }
        match first {
            Some(record) => self.blocks.grow(record, merged.clone()),
            None => self.blocks.add(merged.clone()),
        }
        let range = seq_range(merged.clone());
        self.recent.remove_inside(range);
        self.recent.push_front(range);
        self.refill_recent();
        let kind = if merged.end - merged.start == held { Arrival::Duplicate } else { Arrival::OutOfOrder };
        (kind, overlap)
    }

    /// Refills the list of latest blocks when merging removed so many that an ACK could run short of them.
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
        for block in self.blocks.latest().take(RECENT) {
            self.visit();
            recent.ranges[usize::from(recent.len)] = seq_range(block);
            recent.len += 1;
        }
        self.recent = recent;
    }

    /// Counts a visited record; does nothing outside tests.
    #[inline]
    fn visit(&self) {
        #[cfg(test)]
        self.visited.set(self.visited.get() + 1);
    }
}

/// Returns the sequence number at a position.
fn seq_at(position: u64) -> SeqNum {
    // Truncation is intended: the low half is the number.
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
        let listed = usize::from(self.len);
        // Usually there is none.
        let Some(first) = self.ranges[..listed].iter().position(|range| outer.covers(*range)) else { return };
        let mut kept = first;
        for at in first..listed {
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
