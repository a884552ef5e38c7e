//! A segment that was sent, as the rest of the house sees it.

use base::{Instant, SeqNum, SeqRange};

/// Names a record while it is on the board: its number since the connection began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// The fate of a segment's latest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Presumably in flight; counted in `pipe`.
    Outstanding,
    /// Selectively acknowledged.
    Sacked,
    /// Marked lost and waiting for retransmission.
    Lost,
}

/// A transmission in RACK's order: time, then sequence (RFC 8985 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xmit {
    /// When.
    pub at: Instant,
    /// First sequence number behind the segment.
    pub end: SeqNum,
}

impl Xmit {
    /// Whether this transmission comes after `other`: later, or at the same time with a higher sequence number.
    #[inline]
    pub fn is_after(self, other: Self) -> bool {
        self.at > other.at || (self.at == other.at && self.end.after(other.end))
    }
}

/// A record as seen from outside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentSegment {
    /// Its name.
    pub id: SegmentId,
    /// First sequence number.
    pub start: SeqNum,
    /// Latest transmission.
    pub xmit: Xmit,
    /// First transmission.
    pub first_sent: Instant,
    /// TSval of the latest transmission (zero without the option).
    pub tsval: u32,
    /// How often it was retransmitted; saturates.
    pub retransmits: u8,
    /// Whether it is outstanding, SACKed or lost.
    pub mark: Mark,
}

impl SentSegment {
    /// The sequence numbers it occupies.
    pub const fn range(&self) -> SeqRange {
        SeqRange::new(self.start, self.xmit.end)
    }
}
