//! The board's public side: a flight while there is one, otherwise the position from which to continue.
//!
//! Most connections are idle: one whose flight was acknowledged leaves all its memory to the [`Delivered`] that learns so, which
//! the owner keeps for the next flight or drops. Flights that drain each time then allocate nothing.

use super::{Delivered, Flight, SegmentId, SentSegment};
use crate::rate_sample::RateStamp;
use base::{Bytes, Instant, SeqNum, SeqRange};

//= specs/rfc8985.md#prerequisites
//# The sender keeps a SACK scoreboard for each connection.
/// The sender's record of its flight. Owns `pipe`, every mark, and the SACKed ranges.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    flight: Option<Box<Flight>>,
    /// Number of the next flight's first record, ...
    next: u64,
    /// ... and where it begins.
    nxt: SeqNum,
    /// Records touched in earlier flights; wraps.
    visited: u32,
}

impl Scoreboard {
    /// Creates a board before anything is sent; `iss` is the first sequence number. Allocates nothing.
    pub fn new(iss: SeqNum) -> Self {
        Self { flight: None, next: 0, nxt: iss, visited: 0 }
    }

    #[inline]
    pub(super) fn flight(&self) -> Option<&Flight> {
        self.flight.as_deref()
    }

    /// Records new data: at most one segment, starting where the last one ended. A FIN counts as one byte.
    ///
    /// `stamp.pipe` is what was in flight before; the record keeps it with this segment included.
    #[inline]
    pub fn on_sent(&mut self, range: SeqRange, tsval: u32, stamp: RateStamp, now: Instant) -> SegmentId {
        let (next, nxt) = (self.next, self.nxt);
        self.flight.get_or_insert_with(|| Box::new(Flight::new(next, nxt))).on_sent(range, tsval, stamp, now)
    }

    /// Prepares an empty board for [`Self::on_sent`], which must follow at once: the flight uses the memory of the last one, if
    /// `from` has it.
    pub fn begin(&mut self, from: &mut Delivered) {
        assert!(self.flight.is_none(), "a flight begins on an empty board");
        if let Some(mut spare) = from.spare.take() {
            spare.begin_again(Flight::new(self.next, self.nxt));
            self.flight = Some(spare);
        }
    }

    /// Records a retransmission: the record is Outstanding and the newest in send order.
    pub fn on_retransmitted(&mut self, id: SegmentId, tsval: u32, stamp: RateStamp, now: Instant) {
        let flight = self.flight.as_mut().expect("only what is on the board can be retransmitted");
        flight.on_retransmitted(id, tsval, stamp, now);
    }

    /// Applies an acknowledgement of everything before `ack`, with genuine SACK blocks (the caller has removed D-SACKs).
    ///
    /// Clears `out` and fills it. Ignores numbers in blocks below what was already acknowledged, or beyond what was sent; an
    /// `ack` beyond what was sent is a bug in the caller.
    #[inline]
    pub fn apply(&mut self, ack: SeqNum, blocks: &[SeqRange], out: &mut Delivered) {
        out.clear();
        let nxt = self.flight().map_or(self.nxt, |flight| flight.nxt);
        assert!(ack.at_or_before(nxt), "ACK {ack} is beyond {nxt}, the end of what was sent");
        let Some(flight) = &mut self.flight else { return };
        flight.apply(ack, blocks, out);
        if flight.ring.is_empty() {
            flight.shrink(flight.base - self.next);
            (self.next, self.nxt) = (flight.base, flight.nxt);
            self.visited = self.visited.wrapping_add(flight.visited.get() as u32);
            out.spare = self.flight.take();
        }
    }

    /// Marks an Outstanding record lost: it leaves `pipe` and waits for retransmission. Returns its bytes, or zero if it is not
    /// Outstanding.
    pub fn mark_lost(&mut self, id: SegmentId) -> Bytes {
        self.flight.as_mut().map_or(0, |flight| flight.mark_lost(id))
    }

    /// Handles a receiver that reneged (RFC 2018 §8): all SACKed data is Outstanding again, as it was sent. Costs O(window); used
    /// only at a timeout.
    pub fn clear_sacked(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.clear_sacked();
        }
    }

    /// Undoes an episode's marks: data marked lost and not retransmitted is Outstanding again. Costs O(window).
    pub fn unmark_lost(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.unmark_lost();
        }
    }

    /// Limits segments to `size` bytes from now on: longer ones that are not SACKed are split, and their first `most` bytes are
    /// lost without an entry in the log; a FIN may follow the last byte (`fin` is 1 then). Returns the bytes newly marked lost.
    /// Costs O(window); used only when the path's MTU shrinks.
    pub fn recut(&mut self, size: Bytes, fin: u32, most: Bytes) -> Bytes {
        assert!(size > 0, "a segment must hold at least one byte");
        self.flight.as_mut().map_or(0, |flight| flight.recut(size, fin, most))
    }

    /// Sets the bytes of the flight that count as departed although no mark says so: duplicate ACKs of a peer without SACK prove
    /// them (RFC 5681 §3.2 inflates the window instead).
    pub fn set_departed(&mut self, bytes: Bytes) {
        if let Some(flight) = &mut self.flight {
            flight.departed = bytes;
        }
    }

    /// Begins an episode of fast recovery: `HighRxt` returns to the cumulative ACK.
    pub fn begin_episode(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.begin_episode();
        }
    }
}

/// Queries about the flight.
impl Scoreboard {
    /// Returns the bytes that are presumably in flight.
    #[inline]
    pub fn pipe(&self) -> Bytes {
        self.flight().map_or(0, Flight::pipe)
    }
    /// Recomputes `pipe` from scratch, for checkers; costs O(window).
    pub fn recount_pipe(&self) -> Bytes {
        self.flight().map_or(0, Flight::recount_pipe)
    }
    /// Returns the record with that name, while it is on the board.
    #[inline]
    pub fn get(&self, id: SegmentId) -> Option<SentSegment> {
        self.flight()?.get(id)
    }
    /// Returns the rate sampler's stamp of a record's latest transmission.
    #[inline]
    pub fn stamp(&self, id: SegmentId) -> Option<RateStamp> {
        let flight = self.flight()?;
        flight.index(id).map(|index| flight.ring[index].stamp)
    }
    /// The lowest record.
    #[inline]
    pub fn first(&self) -> Option<SentSegment> {
        self.flight().map(|flight| flight.view(0))
    }
    /// The Outstanding record that was sent first.
    #[inline]
    pub fn oldest_sent(&self) -> Option<SentSegment> {
        self.flight()?.oldest_sent()
    }
    /// The highest record.
    #[inline]
    pub fn last(&self) -> Option<SentSegment> {
        self.flight().map(|flight| flight.view(flight.ring.len() - 1))
    }
    /// When an Outstanding record was last sent.
    #[inline]
    pub fn newest_sent_at(&self) -> Option<Instant> {
        let flight = self.flight()?;
        (flight.newest != super::record::NIL).then(|| flight.ring[flight.at(flight.newest)].sent_at)
    }
    /// The Outstanding record sent next after `id`, which must be Outstanding itself.
    #[inline]
    pub fn next_sent(&self, id: SegmentId) -> Option<SentSegment> {
        self.flight()?.next_sent(id)
    }
    /// Bytes selectively acknowledged.
    #[inline]
    pub fn sacked_bytes(&self) -> Bytes {
        self.flight().map_or(0, |flight| flight.sacked)
    }
    /// Returns the last value of [`Self::set_departed`], while there is a flight.
    #[inline]
    pub fn departed_bytes(&self) -> Bytes {
        self.flight().map_or(0, |flight| flight.departed)
    }
    /// Segments selectively acknowledged.
    #[inline]
    pub fn sacked_segments(&self) -> u32 {
        self.flight().map_or(0, |flight| flight.sacked_segments)
    }
    /// Returns the segments in flight according to the marks.
    #[inline]
    pub fn outstanding_segments(&self) -> u32 {
        self.flight().map_or(0, |flight| flight.outstanding_segments)
    }
    /// Returns the bytes marked lost and not yet retransmitted.
    #[inline]
    pub fn lost_bytes(&self) -> Bytes {
        self.flight().map_or(0, |flight| flight.lost)
    }
    /// The selectively acknowledged ranges, ascending and never touching each other; their edges are segment edges.
    #[inline]
    pub fn sacked_ranges(&self) -> impl DoubleEndedIterator<Item = SeqRange> {
        self.flight().into_iter().flat_map(|flight| flight.ranges.iter())
    }
    /// One past the highest number selectively acknowledged.
    #[inline]
    pub fn highest_sacked(&self) -> Option<SeqNum> {
        self.flight()?.ranges.last().map(|range| range.end)
    }
    /// Returns whether everything sent was cumulatively acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flight.is_none()
    }
    /// Records on the board.
    #[inline]
    pub fn len(&self) -> usize {
        self.flight().map_or(0, |flight| flight.ring.len())
    }
    /// Returns the records visited since the board was made: the tests of cost per ACK count them.
    pub fn visited(&self) -> u64 {
        u64::from(self.visited) + self.flight().map_or(0, |flight| flight.visited.get())
    }
    /// Steps through the SACKed ranges of this flight, as their tree's height bounds them: what the tests of cost count beside
    /// the records.
    pub fn range_steps(&self) -> u64 {
        self.flight().map_or(0, |flight| flight.ranges.steps())
    }
    /// Bytes behind this board on the heap; zero when nothing is in flight.
    pub fn heap_size(&self) -> usize {
        self.flight().map_or(0, |flight| size_of::<Flight>() + flight.heap_size())
    }
}

/// Queries about retransmissions.
impl Scoreboard {
    /// The lowest record that waits for retransmission.
    #[inline]
    pub fn next_lost(&mut self) -> Option<SentSegment> {
        self.flight.as_mut()?.next_lost()
    }
    /// Returns the segments marked lost since the log was last cleared, each as it was sent. A flight acknowledged in full leaves
    /// no log.
    #[inline]
    pub fn lost_log(&self) -> &[(SentSegment, RateStamp)] {
        self.flight().map_or(&[], |flight| &flight.lost_log)
    }
    /// Empties the log.
    #[inline]
    pub fn clear_lost_log(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.lost_log.clear();
        }
    }
    /// Returns the lowest record that starts at or after `from`, ends at or before `end` and is not SACKed. Skips SACKed ranges
    /// without visiting their records.
    pub fn next_unsacked(&self, from: SeqNum, end: SeqNum) -> Option<SentSegment> {
        self.flight()?.next_unsacked(from, end)
    }
    /// NextSeg's rule 3 (RFC 6675 §4): the lowest record above `HighRxt` and below the highest SACKed one that is neither
    /// SACKed nor marked.
    pub fn next_unmarked_hole(&self) -> Option<SentSegment> {
        self.flight()?.next_unmarked_hole()
    }
    /// NextSeg's rule 4: the highest record that is not SACKed, until [`Self::spend_rescue`].
    pub fn rescue(&self) -> Option<SentSegment> {
        self.flight()?.rescue()
    }
    /// The record of [`Self::rescue`] is about to be retransmitted: the episode has had its rescue.
    pub fn spend_rescue(&mut self, id: SegmentId) {
        if let Some(flight) = &mut self.flight {
            flight.spend_rescue(id);
        }
    }
}

#[cfg(test)]
impl Scoreboard {
    pub(super) fn una(&self) -> SeqNum {
        self.flight().map_or(self.nxt, |flight| flight.una)
    }
    pub(super) fn nxt(&self) -> SeqNum {
        self.flight().map_or(self.nxt, |flight| flight.nxt)
    }
}
