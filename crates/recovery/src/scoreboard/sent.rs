//! Transmissions: appending records, and the send-order list through them.
//!
//! The list is in RACK order (RFC 8985 §6.2: time, then sequence) and holds only Outstanding records, so that the oldest one
//! still in doubt is always at its front.

use super::record::{Counted, NIL, Record};
use super::{Flight, Mark, SegmentId, SentSegment};
use crate::rate_sample::RateStamp;
use base::{Instant, SeqNum, SeqRange};

impl Flight {
    //= specs/rfc8985.md#prerequisites
    //# The sender knows when each data segment was last sent, on a clock finer than a quarter of the minimum RTT.
    //= specs/rfc8985.md#transmission
    //# Every transmission of a segment, first or repeated, records its time and takes back a loss mark.
    /// Appends a record.
    pub fn on_sent(&mut self, range: SeqRange, tsval: u32, stamp: RateStamp, now: Instant) -> SegmentId {
        assert!(range.start == self.nxt && !range.is_empty(), "{range} does not follow {}", self.nxt);
        let id = self.base + self.ring.len() as u64;
        self.outstanding += range.len();
        self.ring.push_back(Record {
            start: range.start,
            end: range.end,
            sent_at: now,
            first_sent: now,
            stamp: RateStamp { pipe: stamp.pipe + range.len(), ..stamp },
            older: NIL,
            newer: NIL,
            tsval,
            retransmits: 0,
            mark: Mark::Outstanding,
            counted: Counted::No,
        });
        self.nxt = range.end;
        self.link(id);
        SegmentId(id)
    }

    //= specs/rfc8985.md#transmission
    //# Every transmission of a segment, first or repeated, records its time and takes back a loss mark.
    //= specs/rfc8985.md#transmission
    //# A segment that was ever retransmitted is remembered as such.
    /// Moves a record to the end of the send order, whatever its earlier state.
    pub fn on_retransmitted(&mut self, id: SegmentId, tsval: u32, stamp: RateStamp, now: Instant) {
        let index = self.index(id).expect("only what is on the board can be retransmitted");
        let (mark, end, len) = (self.ring[index].mark, self.ring[index].end, self.ring[index].len());
        match mark {
            Mark::Outstanding => self.unlink(id.0),
            Mark::Lost => {
                self.lost -= len;
                self.outstanding += len;
            }
            Mark::Sacked => panic!("{id:?} was selectively acknowledged and needs no retransmission"),
        }
        let record = &mut self.ring[index];
        record.mark = Mark::Outstanding;
        record.sent_at = now;
        record.tsval = tsval;
        record.stamp = RateStamp { pipe: stamp.pipe + len, ..stamp };
        record.retransmits = record.retransmits.saturating_add(1);
        self.link(id.0);
        self.note_retransmission(id, end);
    }

    /// The front of the send order.
    #[inline]
    pub fn oldest_sent(&self) -> Option<SentSegment> {
        self.linked(self.oldest)
    }

    /// The one behind `id` in the send order.
    #[inline]
    pub fn next_sent(&self, id: SegmentId) -> Option<SentSegment> {
        let index = self.index(id)?;
        self.linked(self.ring[index].newer)
    }

    #[inline]
    fn linked(&self, id: u64) -> Option<SentSegment> {
        (id != NIL).then(|| self.view(self.at(id)))
    }

    #[inline]
    pub(super) fn index(&self, id: SegmentId) -> Option<usize> {
        let index = id.0.checked_sub(self.base)? as usize;
        (index < self.ring.len()).then_some(index)
    }

    /// Position of a record that is known to be on the board.
    #[inline]
    pub(super) fn at(&self, id: u64) -> usize {
        (id - self.base) as usize
    }

    #[inline]
    pub(super) fn view(&self, index: usize) -> SentSegment {
        self.visit();
        self.ring[index].view(SegmentId(self.base + index as u64))
    }

    /// Appends to the send order; records sent at the same moment with higher numbers stay behind it.
    pub(super) fn link(&mut self, id: u64) {
        self.visit();
        self.outstanding_segments += 1;
        let index = self.at(id);
        let xmit = self.ring[index].xmit();
        let mut older = self.newest;
        let mut newer = NIL;
        while older != NIL && self.ring[self.at(older)].xmit().is_after(xmit) {
            self.visit();
            newer = older;
            older = self.ring[self.at(older)].older;
        }
        (self.ring[index].older, self.ring[index].newer) = (older, newer);
        self.join(older, id);
        self.join(id, newer);
    }

    /// Takes a record out of the send order.
    #[inline]
    pub(super) fn unlink(&mut self, id: u64) {
        self.outstanding_segments -= 1;
        let record = &self.ring[self.at(id)];
        let (older, newer) = (record.older, record.newer);
        self.join(older, newer);
    }

    /// Makes two list entries neighbours; `NIL` stands for the end of the list.
    #[inline]
    fn join(&mut self, older: u64, newer: u64) {
        match older {
            NIL => self.oldest = newer,
            id => {
                let index = self.at(id);
                self.ring[index].newer = newer;
            }
        }
        match newer {
            NIL => self.newest = older,
            id => {
                let index = self.at(id);
                self.ring[index].older = older;
            }
        }
    }

    /// Returns the position of the record that contains `seq`, which must lie on the board.
    ///
    /// With segments of equal size interpolation gives the position, so the first probe usually hits.
    pub(super) fn find(&self, seq: SeqNum) -> usize {
        let (offset, span) = (seq.distance_from(self.una), self.nxt.distance_from(self.una));
        let mut index = (u64::from(offset) * self.ring.len() as u64 / u64::from(span)) as usize;
        for _ in 0..4 {
            self.visit();
            let record = &self.ring[index];
            if seq.before(record.start) {
                index -= 1;
            } else if seq.at_or_after(record.end) {
                index += 1;
            } else {
                return index;
            }
        }
        self.ring.partition_point(|record| {
            self.visit();
            record.end.at_or_before(seq)
        })
    }
}
