//! Tells selective acknowledgements from duplicate reports and from nonsense (RFC 2883 §4, §5).
//!
//! One pure function behind one function pointer, so that a faulty check somebody shipped is another function.
//! Deviation: a duplicate report that reaches further back than the largest window the peer ever offered is refused;
//! nothing that old can be a copy from this flight.

use base::{Bytes, SeqNum, SeqRange};

/// A block as the option carries it: first number inside, first number behind.
pub type SackBlock = SeqRange;

/// What the check of one block may know.
#[derive(Clone, Copy, Debug)]
pub struct BlockCx {
    /// The acknowledgement number of the segment that carries the block.
    pub seg_ack: SeqNum,
    /// First octet not cumulatively acknowledged, before this segment.
    pub snd_una: SeqNum,
    /// One past the highest octet sent.
    pub snd_nxt: SeqNum,
    /// The largest window the peer ever offered.
    pub max_window: Bytes,
    /// Place of the block in the option; zero is the first.
    pub position: usize,
    /// The second block, when this is the first and there is one.
    pub second: Option<SackBlock>,
}

/// What a block means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockClass {
    /// Data above the cumulative ACK has arrived.
    Sack,
    /// Data arrived twice.
    Dsack,
    /// Nothing that may be believed, or nothing new.
    Reject(RejectReason),
}

/// Why a block is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectReason {
    /// Its end is not behind its start.
    Empty,
    /// It reports what was never sent.
    BeyondSent,
    /// Below the cumulative ACK, but not where a duplicate report stands, or partly above it.
    BelowAck,
    /// All of it was acknowledged by an earlier segment that this one was overtaken by.
    Stale,
    /// A duplicate report from before the largest window.
    TooOld,
}

/// The seam: how a block is classified.
pub type ClassifyBlock = fn(SackBlock, &BlockCx) -> BlockClass;

/// The check of RFC 2883 §4: a first block is a duplicate report when it lies below the segment's own acknowledgement, its
/// end included, or inside the second block.
pub fn rfc2883(block: SackBlock, cx: &BlockCx) -> BlockClass {
    if block.is_empty() {
        return BlockClass::Reject(RejectReason::Empty);
    }
    if block.end.after(cx.snd_nxt) {
        return BlockClass::Reject(RejectReason::BeyondSent);
    }
    // Against the segment's own ACK: a segment that was overtaken reports duplicates relative to what it acknowledged,
    // and its genuine blocks may lie below SND.UNA by now.
    if block.start.before(cx.seg_ack) {
        if cx.position > 0 || block.end.after(cx.seg_ack) {
            return BlockClass::Reject(RejectReason::BelowAck);
        }
        if cx.seg_ack.distance_from(block.start) > cx.max_window {
            return BlockClass::Reject(RejectReason::TooOld);
        }
        return BlockClass::Dsack;
    }
    if cx.position == 0 && cx.second.is_some_and(|second| !second.is_empty() && second.covers(block)) {
        return BlockClass::Dsack;
    }
    if block.end.at_or_before(cx.snd_una) {
        return BlockClass::Reject(RejectReason::Stale);
    }
    BlockClass::Sack
}
