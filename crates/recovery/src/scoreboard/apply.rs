//! Applies one acknowledgement to the board: the cumulative part first, then its SACK blocks (RFC 2018 §5).
//!
//! Cost: each newly delivered record is visited once; a block that repeats known ranges visits none.

use super::record::Counted;
use super::{Delivered, Flight, Mark, NewestDelivered};
use base::{SeqNum, SeqRange};

impl Flight {
    /// Fills `out`, which is empty.
    pub fn apply(&mut self, ack: SeqNum, blocks: &[SeqRange], out: &mut Delivered) {
        if ack.after(self.una) {
            self.take_acked(ack, out);
        }
        if blocks.is_empty() {
            return;
        }
        let acked = out.batch.len();
        for &block in blocks {
            self.take_block(block, out);
        }
        // Blocks come newest first (RFC 2018 §4); the batch is in sequence order.
        out.batch[acked..].sort_unstable_by_key(|segment| segment.id);
    }

    fn take_acked(&mut self, ack: SeqNum, out: &mut Delivered) {
        out.acked = ack.distance_from(self.una);
        while let Some(front) = self.ring.front() {
            if front.start.at_or_after(ack) {
                break;
            }
            if front.end.after(ack) {
                self.trim_front(ack, out);
                break;
            }
            self.leave_mark(0, out);
            self.ring.pop_front();
            self.base += 1;
        }
        self.una = ack;
        self.ranges.forget_below(ack);
    }

    /// Handles an ACK that ends inside the front record: the covered part is delivered, the rest stays.
    fn trim_front(&mut self, ack: SeqNum, out: &mut Delivered) {
        self.visit();
        let record = &mut self.ring[0];
        let cut = ack.distance_from(record.start);
        record.start = ack;
        let (mark, counted) = (record.mark, record.counted);
        *self.bytes_under(mark) -= cut;
        if mark != Mark::Sacked && counted == Counted::No {
            out.delivered += cut;
        }
    }

    /// Marks what a block newly reports.
    fn take_block(&mut self, block: SeqRange, out: &mut Delivered) {
        let end = block.end.min(self.nxt);
        let mut from = block.start.max(self.una);
        while let Some(gap) = self.ranges.next_gap(from, end) {
            if let Some(marked) = self.sack_gap(gap, out) {
                self.ranges.insert(marked);
            }
            from = gap.end;
        }
    }

    //= specs/rfc2018.md#sender
    //# The sender remembers which of its segments were SACKed.
    /// Marks the records that lie wholly inside a gap between SACKed ones; returns their total bytes.
    fn sack_gap(&mut self, gap: SeqRange, out: &mut Delivered) -> Option<SeqRange> {
        let mut index = self.find(gap.start);
        if self.ring[index].start.before(gap.start) {
            index += 1;
        }
        let start = self.ring.get(index)?.start;
        let mut end = start;
        while let Some(record) = self.ring.get(index).filter(|record| record.end.at_or_before(gap.end)) {
            end = record.end;
            let len = record.len();
            self.leave_mark(index, out);
            self.ring[index].mark = Mark::Sacked;
            self.sacked += len;
            self.sacked_segments += 1;
            out.sacked += len;
            index += 1;
        }
        start.before(end).then(|| SeqRange::new(start, end))
    }

    /// Removes a record from the count of its mark and, unless it was delivered before, reports it delivered.
    #[inline]
    fn leave_mark(&mut self, index: usize, out: &mut Delivered) {
        let segment = self.view(index);
        let (len, stamp) = (self.ring[index].len(), self.ring[index].stamp);
        *self.bytes_under(segment.mark) -= len;
        out.largest = out.largest.max(len);
        match segment.mark {
            Mark::Sacked => {
                self.sacked_segments -= 1;
                return;
            }
            Mark::Outstanding => self.unlink(segment.id.0),
            Mark::Lost => {}
        }
        if self.ring[index].counted == Counted::No {
            out.delivered += len;
        } else if segment.retransmits == 0 {
            // Delivered long ago and later reneged: it says nothing about the current path.
            return;
        }
        out.batch.push(segment);
        if out.newest.is_none_or(|newest| segment.xmit.is_after(newest.xmit)) {
            out.newest = Some(NewestDelivered { xmit: segment.xmit, stamp });
        }
        if segment.retransmits == 0 {
            out.newest_original = out.newest_original.max(Some(segment.xmit.at));
        }
    }

    #[inline]
    fn bytes_under(&mut self, mark: Mark) -> &mut u32 {
        match mark {
            Mark::Outstanding => &mut self.outstanding,
            Mark::Sacked => &mut self.sacked,
            Mark::Lost => &mut self.lost,
        }
    }
}
