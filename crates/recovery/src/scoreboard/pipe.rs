//! Loss marks, the queue of what waits for retransmission, and `pipe` (RFC 6675 §4, SetPipe).
//!
//! Deviation: `pipe` counts a record once. RFC 6675 counts the original and the copy of what NextSeg's rules 3 and 4
//! retransmit without believing it lost; one record has one mark here, and at most one such copy leaves per hole.

use super::sent::Counted;
use super::{Mark, Scoreboard, SegmentId, SentSegment};
use crate::rate_sample::RateStamp;
use base::Bytes;
use core::cmp::Reverse;

impl Scoreboard {
    /// Octets in flight, as far as is known.
    #[inline]
    pub fn pipe(&self) -> Bytes {
        self.outstanding.saturating_sub(self.departed)
    }

    /// `pipe` from scratch, for checkers; costs O(window).
    pub fn recount_pipe(&self) -> Bytes {
        let outstanding: Bytes =
            self.ring.iter().filter(|record| record.mark == Mark::Outstanding).map(|record| record.len()).sum();
        outstanding.saturating_sub(self.departed)
    }

    /// Octets of the flight that are to be taken for departed although no mark says so: what duplicate ACKs of a peer
    /// without SACK prove (RFC 5681 §3.2 inflates the window instead).
    pub fn set_departed(&mut self, bytes: Bytes) {
        self.departed = bytes;
    }

    /// Gives an Outstanding record up for lost: it leaves `pipe` and waits for retransmission. Returns its octets, or
    /// zero when it is not Outstanding.
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

    /// The lowest record that waits for retransmission.
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

    /// What was marked lost since the log was last cleared, each as it was sent.
    #[inline]
    pub fn lost_log(&self) -> &[(SentSegment, RateStamp)] {
        &self.lost_log
    }

    /// Empties the log.
    #[inline]
    pub fn clear_lost_log(&mut self) {
        self.lost_log.clear();
    }

    /// The receiver took its selective acknowledgements back (RFC 2018 §8): everything SACKed is Outstanding again, as it
    /// was sent. Costs O(window); used at a timeout only.
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

    /// Builds the send order anew.
    fn relink(&mut self) {
        let mut sent: Vec<u64> = (0..self.ring.len())
            .filter(|&index| self.ring[index].mark == Mark::Outstanding)
            .map(|index| self.base + index as u64)
            .collect();
        // Among equal times the order of numbers is the order of names.
        sent.sort_by_key(|&id| (self.ring[self.at(id)].sent_at, id));
        (self.oldest, self.newest) = (super::NIL, super::NIL);
        for id in sent {
            self.link(id);
        }
    }
}
