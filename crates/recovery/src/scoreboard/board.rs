//! The board as everyone else sees it: a flight while there is one, and the place to go on from while there is none.
//!
//! Connections are many and mostly at rest: one whose flight was acknowledged gives back all the memory it took.

use super::{Delivered, Flight, SegmentId, SentSegment};
use crate::rate_sample::RateStamp;
use base::{Bytes, Instant, SeqNum, SeqRange};

//= specs/rfc8985.md#prerequisites
//# The sender keeps a SACK scoreboard for each connection.
/// The sender's record of its flight. Owner of `pipe`, of every mark, and of the SACKed ranges.
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
    /// A board on which nothing was sent yet; `iss` is the first number that will be. Allocates nothing.
    pub fn new(iss: SeqNum) -> Self {
        Self { flight: None, next: 0, nxt: iss, visited: 0 }
    }

    #[inline]
    pub(super) fn flight(&self) -> Option<&Flight> {
        self.flight.as_deref()
    }

    /// New data left: at most one segment, starting where the last one ended. A FIN counts as one byte.
    ///
    /// `stamp.pipe` is what was in flight before; the record keeps it with this segment included.
    #[inline]
    pub fn on_sent(&mut self, range: SeqRange, tsval: u32, stamp: RateStamp, now: Instant) -> SegmentId {
        let (next, nxt) = (self.next, self.nxt);
        self.flight.get_or_insert_with(|| Box::new(Flight::new(next, nxt))).on_sent(range, tsval, stamp, now)
    }

    /// A record was sent again: it is Outstanding and, in send order, the newest.
    pub fn on_retransmitted(&mut self, id: SegmentId, tsval: u32, stamp: RateStamp, now: Instant) {
        let flight = self.flight.as_mut().expect("only what is on the board can be retransmitted");
        flight.on_retransmitted(id, tsval, stamp, now);
    }

    /// Takes an acknowledgement of everything before `ack`, with genuine SACK blocks (D-SACKs are separated before).
    ///
    /// Clears `out` and fills it. Numbers below what was acknowledged already, or beyond what was sent, are ignored in
    /// blocks; an `ack` beyond what was sent is the caller's mistake.
    #[inline]
    pub fn apply(&mut self, ack: SeqNum, blocks: &[SeqRange], out: &mut Delivered) {
        out.clear();
        let nxt = self.flight().map_or(self.nxt, |flight| flight.nxt);
        assert!(ack.at_or_before(nxt), "ACK {ack} is beyond {nxt}, the end of what was sent");
        let Some(flight) = &mut self.flight else { return };
        flight.apply(ack, blocks, out);
        if flight.ring.is_empty() {
            (self.next, self.nxt) = (flight.base, flight.nxt);
            self.visited = self.visited.wrapping_add(flight.visited.get() as u32);
            self.flight = None;
        }
    }

    /// Gives an Outstanding record up for lost: it leaves `pipe` and waits for retransmission. Returns its bytes, or
    /// zero when it is not Outstanding.
    pub fn mark_lost(&mut self, id: SegmentId) -> Bytes {
        self.flight.as_mut().map_or(0, |flight| flight.mark_lost(id))
    }

    /// The receiver took its selective acknowledgements back (RFC 2018 §8): everything SACKed is Outstanding again, as it
    /// was sent. Costs O(window); used at a timeout only.
    pub fn clear_sacked(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.clear_sacked();
        }
    }

    /// An episode was undone: what it gave up for lost and did not send again is Outstanding. Costs O(window).
    pub fn unmark_lost(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.unmark_lost();
        }
    }

    /// Segments may have `size` bytes at most from now on: what is not SACKed and longer is cut, and the first `most` bytes of
    /// it are lost without a line in the log; behind the last byte, a FIN may go with it (`fin` is 1 then). Returns the bytes
    /// newly marked lost. Costs O(window); used when the path's MTU shrinks only.
    pub fn recut(&mut self, size: Bytes, fin: u32, most: Bytes) -> Bytes {
        assert!(size > 0, "a segment must hold at least one byte");
        self.flight.as_mut().map_or(0, |flight| flight.recut(size, fin, most))
    }

    /// Bytes of the flight that are to be taken for departed although no mark says so: what duplicate ACKs of a peer
    /// without SACK prove (RFC 5681 §3.2 inflates the window instead).
    pub fn set_departed(&mut self, bytes: Bytes) {
        if let Some(flight) = &mut self.flight {
            flight.departed = bytes;
        }
    }

    /// An episode of fast recovery begins: `HighRxt` returns to the cumulative ACK.
    pub fn begin_episode(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.begin_episode();
        }
    }
}

/// What is in flight, and what became of it.
impl Scoreboard {
    /// Bytes in flight, as far as is known.
    #[inline]
    pub fn pipe(&self) -> Bytes {
        self.flight().map_or(0, Flight::pipe)
    }
    /// `pipe` from scratch, for checkers; costs O(window).
    pub fn recount_pipe(&self) -> Bytes {
        self.flight().map_or(0, Flight::recount_pipe)
    }
    /// The record of that name, while it is on the board.
    #[inline]
    pub fn get(&self, id: SegmentId) -> Option<SentSegment> {
        self.flight()?.get(id)
    }
    /// What the rate sampler knew at the latest transmission of a record.
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
    /// What [`Self::set_departed`] said last, while there is a flight.
    #[inline]
    pub fn departed_bytes(&self) -> Bytes {
        self.flight().map_or(0, |flight| flight.departed)
    }
    /// Segments selectively acknowledged.
    #[inline]
    pub fn sacked_segments(&self) -> u32 {
        self.flight().map_or(0, |flight| flight.sacked_segments)
    }
    /// Segments in flight, as far as marks say.
    #[inline]
    pub fn outstanding_segments(&self) -> u32 {
        self.flight().map_or(0, |flight| flight.outstanding_segments)
    }
    /// Bytes given up for lost and not yet retransmitted.
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
    /// Whether everything sent was cumulatively acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flight.is_none()
    }
    /// Records on the board.
    #[inline]
    pub fn len(&self) -> usize {
        self.flight().map_or(0, |flight| flight.ring.len())
    }
    /// Records touched since the board was made: what the tests of cost per ACK count.
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

/// What is to be sent again.
impl Scoreboard {
    /// The lowest record that waits for retransmission.
    #[inline]
    pub fn next_lost(&mut self) -> Option<SentSegment> {
        self.flight.as_mut()?.next_lost()
    }
    /// What was marked lost since the log was last cleared, each as it was sent. What is acknowledged in full leaves no log.
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
    /// The lowest record that starts at or after `from`, ends at or before `end` and is not SACKed. Skips SACKed ranges
    /// without touching them.
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
