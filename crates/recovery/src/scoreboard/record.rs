//! What the board keeps of one segment, and of an episode's rescue retransmission.

use super::segment::{Mark, SegmentId, SentSegment, Xmit};
use crate::rate_sample::RateStamp;
use base::{Bytes, Instant, SeqNum};

/// No neighbour in the send-order list.
pub(super) const NIL: u64 = u64::MAX;

/// One segment. Links are record numbers, which stay valid while the ring moves.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub start: SeqNum,
    pub end: SeqNum,
    pub sent_at: Instant,
    pub first_sent: Instant,
    pub stamp: RateStamp,
    pub older: u64,
    pub newer: u64,
    pub tsval: u32,
    pub retransmits: u8,
    pub mark: Mark,
    pub counted: Counted,
}

/// Whether a record's bytes were already counted as delivered: they were if a SACK for them was later revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    No,
    Yes,
}

impl Record {
    #[inline]
    pub fn len(&self) -> Bytes {
        self.end.distance_from(self.start)
    }
    #[inline]
    pub fn xmit(&self) -> Xmit {
        Xmit { at: self.sent_at, end: self.end }
    }
    #[inline]
    pub fn view(&self, id: SegmentId) -> SentSegment {
        SentSegment {
            id,
            start: self.start,
            xmit: self.xmit(),
            first_sent: self.first_sent,
            tsval: self.tsval,
            retransmits: self.retransmits,
            mark: self.mark,
        }
    }
}

/// RFC 6675's `RescueRxt`: one rescue retransmission per episode, and none before the first retransmission is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rescue {
    /// Nothing was retransmitted in this episode.
    Unset,
    /// Allowed once the cumulative ACK is beyond this number.
    Beyond(SeqNum),
    /// Spent on this record.
    Spent(SegmentId),
}
