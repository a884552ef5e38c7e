//! Loss marks, the queue of records that wait for retransmission, and `pipe` (RFC 6675 §4, SetPipe).
//!
//! Deviation: `pipe` counts a record once. RFC 6675 counts both original and copy of a segment that NextSeg's rules 3 and 4
//! retransmit without marking it lost; here one record has one mark, and at most one such copy leaves per hole.

use super::record::Counted;
use super::{Flight, Mark, SegmentId, SentSegment};
use base::Bytes;
use core::cmp::Reverse;

impl Flight {
    //= specs/rfc6675.md#scoreboard
    //# In flight is what was sent and is neither SACKed nor lost, and what was retransmitted.
    /// Kept by every change of a mark.
    #[inline]
    pub fn pipe(&self) -> Bytes {
        self.outstanding.saturating_sub(self.departed)
    }

    /// The same from scratch.
    pub fn recount_pipe(&self) -> Bytes {
        let outstanding: Bytes =
            self.ring.iter().filter(|record| record.mark == Mark::Outstanding).map(|record| record.len()).sum();
        outstanding.saturating_sub(self.departed)
    }

    //= specs/rfc8985.md#loss-detection
    //# A segment marked lost is not judged again until it was retransmitted.
    /// Moves a record from the send order to the queue and the log; returns its bytes.
    pub fn mark_lost(&mut self, id: SegmentId) -> Bytes {
        let Some(index) = self.index(id).filter(|&index| self.ring[index].mark == Mark::Outstanding) else { return 0 };
        self.unlink(id.0);
        self.ring[index].mark = Mark::Lost;
        let (segment, stamp, len) = (self.view(index), self.ring[index].stamp, self.ring[index].len());
        self.outstanding -= len;
        self.lost += len;
        self.lost_queue.push(Reverse(id.0));
        self.lost_log.push((segment, stamp));
        len
    }

    //= specs/rfc2018.md#sender
    //# A SACKed segment is not retransmitted.
    //= specs/rfc6675.md#next-segment
    //# The lowest lost hole is sent first.
    /// The lowest record of the queue that is still Lost.
    pub fn next_lost(&mut self) -> Option<SentSegment> {
        if self.lost == 0 {
            self.lost_queue.clear();
            return None;
        }
        while let Some(&Reverse(id)) = self.lost_queue.peek() {
            if let Some(segment) = self.get(SegmentId(id)).filter(|segment| segment.mark == Mark::Lost) {
                return Some(segment);
            }
            self.lost_queue.pop();
        }
        None
    }

    /// Makes everything SACKed Outstanding again.
    pub fn clear_sacked(&mut self) {
        self.outstanding += self.sacked;
        (self.sacked, self.sacked_segments) = (0, 0);
        self.ranges.clear();
        for record in self.ring.iter_mut().filter(|record| record.mark == Mark::Sacked) {
            record.mark = Mark::Outstanding;
            record.counted = Counted::Yes;
        }
        self.relink();
    }

    /// Makes everything Lost Outstanding again, as it was sent: the undone episode has shown that it was late.
    pub fn unmark_lost(&mut self) {
        if self.lost == 0 {
            return;
        }
        self.outstanding += self.lost;
        self.lost = 0;
        self.lost_queue.clear();
        for record in self.ring.iter_mut().filter(|record| record.mark == Mark::Lost) {
            record.mark = Mark::Outstanding;
        }
        self.relink();
    }

    /// Rebuilds the send order.
    pub(super) fn relink(&mut self) {
        let mut sent: Vec<u64> = (0..self.ring.len())
            .filter(|&index| self.ring[index].mark == Mark::Outstanding)
            .map(|index| self.base + index as u64)
            .collect();
        // Among equal times the order of numbers is the order of ids.
        sent.sort_by_key(|&id| (self.ring[self.at(id)].sent_at, id));
        (self.oldest, self.newest) = (super::NIL, super::NIL);
        self.outstanding_segments = 0;
        for id in sent {
            self.link(id);
        }
    }
}
