//! The records of blocks: a tree orders them by position, a linked list by age.

use crate::chunked::Chunked;
use core::ops::Range;
use std::collections::BTreeMap;

/// No record.
const NONE: u32 = u32::MAX;
/// Records allocated at a time: few, because most connections have a gap or two.
const CHUNK: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    start: u64,
    /// One past the last position.
    end: u64,
    /// The record of the block touched next after this one.
    newer: u32,
    /// The record of the block touched last before this one; in a free record, the next free one.
    older: u32,
}

/// Blocks, which neither overlap nor adjoin each other.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// Records by the first position of their blocks.
    by_start: BTreeMap<u64, u32>,
    records: Chunked<Record, CHUNK>,
    /// The first free record.
    free: u32,
    /// The record of the block touched last.
    latest: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { by_start: BTreeMap::new(), records: Chunked::default(), free: NONE, latest: NONE }
    }
}

impl Blocks {
    #[inline]
    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    #[inline]
    fn range(&self, record: u32) -> Range<u64> {
        let Record { start, end, .. } = self.records[record as usize];
        start..end
    }

    /// Returns the last block.
    #[inline]
    pub fn last(&self) -> Option<Range<u64>> {
        self.by_start.last_key_value().map(|(_, record)| self.range(*record))
    }

    /// Returns the blocks that overlap or adjoin `span`, with their records, in descending order.
    #[inline]
    pub fn touched_by(&self, span: &Range<u64>) -> impl Iterator<Item = (Range<u64>, u32)> {
        let from = span.start;
        let last = self.by_start.last_key_value().map(|(_, record)| (self.range(*record), *record));
        // Most segments behind a gap arrive at the top: they extend the last block or lie beyond it, and need no search.
        let inner = last.as_ref().is_some_and(|(block, _)| from < block.start);
        let found = inner.then(|| self.up_to(span.end)).into_iter().flatten();
        last.filter(|_| !inner).into_iter().chain(found).take_while(move |(block, _)| block.end >= from)
    }

    /// Returns the blocks that begin at or before `position`, with their records, in descending order.
    #[inline]
    pub fn up_to(&self, position: u64) -> impl Iterator<Item = (Range<u64>, u32)> {
        self.by_start.range(..=position).rev().map(|(_, record)| (self.range(*record), *record))
    }

    /// Returns the blocks from the most recently touched one on.
    pub fn latest(&self) -> impl Iterator<Item = Range<u64>> {
        let record = |at: u32| Some(at).filter(|at| *at != NONE);
        let records = core::iter::successors(record(self.latest), move |at| record(self.records[*at as usize].older));
        records.map(|at| self.range(at))
    }

    /// Extends the last block by `fresh`, which begins in it or right behind it, if no other block was touched since; returns the
    /// block's previous range.
    #[inline]
    pub fn extend_latest(&mut self, fresh: &Range<u64>) -> Option<Range<u64>> {
        let record = *self.by_start.last_key_value()?.1;
        let before = self.range(record);
        let extends = record == self.latest && before.start <= fresh.start && fresh.start <= before.end;
        if !extends {
            return None;
        }
        self.records[record as usize].end = before.end.max(fresh.end);
        Some(before)
    }

    /// Adds a block and marks it as touched now.
    pub fn add(&mut self, block: Range<u64>) {
        let record = self.free;
        let record = if record == NONE {
            self.records.push(Record::default());
            // The caller limits the number of blocks far below this.
            (self.records.len() - 1) as u32
        } else {
            self.free = self.records[record as usize].older;
            record
        };
        self.by_start.insert(block.start, record);
        self.link(record, block);
    }

    /// Grows a block and marks it as touched now.
    pub fn grow(&mut self, record: u32, to: Range<u64>) {
        let start = self.records[record as usize].start;
        if start != to.start {
            self.by_start.remove(&start);
            self.by_start.insert(to.start, record);
        }
        if record == self.latest {
            let latest = &mut self.records[record as usize];
            (latest.start, latest.end) = (to.start, to.end);
        } else {
            self.unlink(record);
            self.link(record, to);
        }
    }

    /// Takes a block away.
    pub fn remove(&mut self, record: u32) {
        self.by_start.remove(&self.records[record as usize].start);
        self.discard(record);
    }

    /// Removes the first block if it begins at or before `position`.
    pub fn take_first(&mut self, position: u64) -> Option<Range<u64>> {
        let first = self.by_start.first_entry().filter(|first| *first.key() <= position)?;
        let record = first.remove();
        let block = self.range(record);
        self.discard(record);
        Some(block)
    }

    /// Takes the last block away.
    pub fn take_last(&mut self) -> Option<Range<u64>> {
        let (_, record) = self.by_start.pop_last()?;
        let block = self.range(record);
        self.discard(record);
        Some(block)
    }

    fn discard(&mut self, record: u32) {
        self.unlink(record);
        self.records[record as usize].older = self.free;
        self.free = record;
    }

    fn link(&mut self, record: u32, block: Range<u64>) {
        let older = core::mem::replace(&mut self.latest, record);
        self.records[record as usize] = Record { start: block.start, end: block.end, newer: NONE, older };
        if older != NONE {
            self.records[older as usize].newer = record;
        }
    }

    fn unlink(&mut self, record: u32) {
        let Record { newer, older, .. } = self.records[record as usize];
        if newer == NONE {
            self.latest = older;
        } else {
            self.records[newer as usize].older = older;
        }
        if older != NONE {
            self.records[older as usize].newer = newer;
        }
    }
}
