//! The scoreboard: what was sent and what became of it.
//!
//! A ring of records in sequence order (found by binary search) with send-order links through it. One record per
//! segment of at most one SMSS, also inside a TSO burst, so nothing is ever split in mid-ring; only the front record is
//! trimmed by a cumulative ACK that ends inside it. A SACK block that covers part of a record marks nothing until a
//! later one covers it all.

use base::{Bytes, Instant, SeqNum, SeqRange};

/// Names a record for as long as it is on the board: its number since the connection began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// What became of the latest transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// In flight, as far as is known; counted in `pipe`.
    Outstanding,
    /// Selectively acknowledged.
    Sacked,
    /// Given up for lost and waiting to be retransmitted.
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

/// A record as the rest of the house sees it.
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
    /// What became of it.
    pub mark: Mark,
}

/// The sender's record of its flight. Owner of `pipe`, of every mark, and of the SACKed ranges.
#[derive(Clone, Debug)]
pub struct Scoreboard;

/// What one ACK delivered. The endpoint keeps one and lends it, so that no ACK allocates.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// Octets the cumulative acknowledgement advanced by.
    pub acked: Bytes,
    /// Octets newly selectively acknowledged.
    pub sacked: Bytes,
    /// Octets newly delivered either way, each counted once in its life.
    pub delivered: Bytes,
    /// Segments newly delivered, in sequence order.
    pub batch: Vec<SentSegment>,
}

const _: fn(SeqRange) = |_| {};
