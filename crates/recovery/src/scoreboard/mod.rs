//! The scoreboard: which segments were sent and what happened to them (RFC 2018 §5, RFC 6675 §4, RFC 8985 §6.1).
//!
//! A ring of records in sequence order (found by position, or by binary search) with send-order links through it. One record per
//! segment of at most one SMSS, also inside a TSO burst, so only a path that becomes narrower splits records in the middle; a
//! cumulative ACK that ends inside the front record trims it. A SACK block that covers part of a record marks nothing until a
//! later one covers all of it.
//!
//! `board` is the interface, and all that remains while nothing is in flight; `segment` is a record as others see it, `record` as
//! it is kept; `sent` appends and links, `apply` processes ACKs, `pipe` marks losses and counts, `next_seg` implements RFC 6675's
//! NextSeg, `ranges` keeps the SACKed ranges, `arrival` detects overtaking, `recut` splits segments that are too large for the
//! path.

mod apply;
mod arrival;
mod board;
mod next_seg;
mod pipe;
mod ranges;
mod record;
mod recut;
mod segment;
mod sent;
#[cfg(test)]
mod tests;

pub use arrival::Arrival;
pub use board::Scoreboard;
pub use segment::{Mark, SegmentId, SentSegment, Xmit};

use crate::rate_sample::RateStamp;
use base::{Bytes, Duration, Instant, SeqNum};
use core::cell::Cell;
use core::cmp::Reverse;
use ranges::Ranges;
use record::{NIL, Record, Rescue};
use std::collections::{BinaryHeap, VecDeque};

/// Room for records that is kept in any case, in records or segments: 24 KiB.
const KEPT: usize = 256;

/// Data that was sent and is not cumulatively acknowledged; at least one record.
#[derive(Clone, Debug)]
struct Flight {
    /// Records in sequence order; the front one is number `base`.
    ring: VecDeque<Record>,
    base: u64,
    /// First number not cumulatively acknowledged, and one past the last one sent.
    una: SeqNum,
    nxt: SeqNum,
    /// Ends of the send-order list, which holds exactly the Outstanding records.
    oldest: u64,
    newest: u64,
    /// Bytes under each mark.
    outstanding: Bytes,
    sacked: Bytes,
    lost: Bytes,
    sacked_segments: u32,
    /// Records in the send-order list.
    outstanding_segments: u32,
    /// Bytes that, according to duplicate ACKs without SACK, have left the network.
    departed: Bytes,
    ranges: Ranges,
    /// Lost records, lowest first; a stale entry, whose record is no longer Lost, is dropped when it is reached.
    lost_queue: BinaryHeap<Reverse<u64>>,
    lost_log: Vec<(SentSegment, RateStamp)>,
    high_rxt: SeqNum,
    rescue: Rescue,
    visited: Cell<u64>,
}

/// The segment sent last among those that one ACK delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestDelivered {
    /// Its latest transmission.
    pub xmit: Xmit,
    /// The rate sampler's stamp of that transmission.
    pub stamp: RateStamp,
}

/// What one ACK delivered. The endpoint keeps one as long as the connection is active and lends it out, so that most ACKs
/// allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// Bytes the cumulative acknowledgement advanced by.
    pub acked: Bytes,
    /// Bytes newly selectively acknowledged.
    pub sacked: Bytes,
    /// Bytes newly delivered either way, each counted once in its life.
    pub delivered: Bytes,
    /// Segments newly delivered, in sequence order; `mark` is what each was before this ACK.
    pub batch: Vec<SentSegment>,
    /// The one of the batch that was sent last.
    pub newest: Option<NewestDelivered>,
    /// Bytes of the largest one: evidence of what the path carries.
    pub largest: Bytes,
    /// Departure of the one sent last among those never retransmitted.
    newest_original: Option<Instant>,
    /// The last flight, without a record: memory for the next one ([`Scoreboard::begin`]).
    spare: Option<Box<Flight>>,
}

impl Delivered {
    //= specs/rfc6298.md#taking-samples
    //# A segment that was retransmitted gives no RTT sample, unless a timestamp tells which copy was acknowledged.
    /// Returns the RTT that this ACK measures under Karn's rule (RFC 6298 §3): that of the newly delivered segment sent last, if
    /// it was sent only once. If it was a retransmission, the ACK may have waited for it, and the rest of what it covers arrived
    /// long ago.
    pub fn rtt_sample(&self, now: Instant) -> Option<Duration> {
        let original = self.newest_original?;
        self.newest.is_none_or(|newest| newest.xmit.at <= original).then(|| now.since(original))
    }

    /// Frees most of the room for segments, if this ACK used little of it.
    pub fn shrink(&mut self) {
        if self.batch.capacity() > KEPT.max(16 * self.batch.len()) {
            self.batch.shrink_to(KEPT.max(4 * self.batch.len()));
        }
    }

    /// Bytes behind this on the heap.
    pub fn heap_size(&self) -> usize {
        let spare = self.spare.as_deref().map_or(0, |spare| size_of::<Flight>() + spare.heap_size());
        self.batch.capacity() * size_of::<SentSegment>() + spare
    }

    fn clear(&mut self) {
        self.batch.clear();
        (self.acked, self.sacked, self.delivered, self.largest) = (0, 0, 0, 0);
        (self.newest, self.newest_original) = (None, None);
    }
}

impl Flight {
    /// Creates an empty flight; the first record will have number `base` and start at `nxt`.
    fn new(base: u64, nxt: SeqNum) -> Self {
        Self {
            ring: VecDeque::new(),
            base,
            una: nxt,
            nxt,
            oldest: NIL,
            newest: NIL,
            outstanding: 0,
            sacked: 0,
            lost: 0,
            sacked_segments: 0,
            outstanding_segments: 0,
            departed: 0,
            ranges: Ranges::new(nxt),
            lost_queue: BinaryHeap::new(),
            lost_log: Vec::new(),
            high_rxt: nxt,
            rescue: Rescue::Unset,
            visited: Cell::new(0),
        }
    }

    /// Becomes `begin`, which has no record, and keeps the allocated memory.
    fn begin_again(&mut self, begin: Self) {
        let old = core::mem::replace(self, begin);
        (self.ring, self.lost_queue, self.lost_log) = (old.ring, old.lost_queue, old.lost_log);
        self.lost_queue.clear();
        self.lost_log.clear();
    }

    /// Frees most of the room, if the flight that has ended used little of it: `records` in its whole life.
    #[inline]
    fn shrink(&mut self, records: u64) {
        let used = usize::try_from(records).unwrap_or(usize::MAX);
        if self.ring.capacity() > KEPT.max(used.saturating_mul(16)) {
            self.ring.shrink_to(KEPT.max(4 * used));
        }
        if self.lost_queue.capacity().max(self.lost_log.capacity()) > KEPT {
            (self.lost_queue, self.lost_log) = (BinaryHeap::new(), Vec::new());
        }
    }

    #[inline]
    fn get(&self, id: SegmentId) -> Option<SentSegment> {
        let index = self.index(id)?;
        Some(self.view(index))
    }

    fn heap_size(&self) -> usize {
        self.ring.capacity() * size_of::<Record>()
            + self.ranges.heap_size()
            + self.lost_queue.capacity() * size_of::<Reverse<u64>>()
            + self.lost_log.capacity() * size_of::<(SentSegment, RateStamp)>()
    }

    #[inline]
    fn visit(&self) {
        self.visited.set(self.visited.get() + 1);
    }
}
