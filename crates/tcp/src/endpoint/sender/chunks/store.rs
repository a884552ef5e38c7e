//! The unsent part of the stream in chunks, and the bursts in which they left.
//!
//! A chunk is data that leaves together: writes fill the last unsent chunk up to a target, and a record ends one early. A burst
//! is the released front of a chunk and is kept until it is acknowledged: its end may carry PSH, also in a retransmission if the
//! chunk's end did, and its memory counts. Positions are bytes since the stream began, so no position changes when data is
//! acknowledged.
//!
//! A box holds them, and exists only while data is unacknowledged.

use base::Bytes;
use std::collections::VecDeque;

/// Whether the end of this data carries PSH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    No,
    /// On its first transmission only: the end of a burst of several segments does.
    First,
    Yes,
}

/// Whether a later write may add to a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Tail {
    Open,
    /// A record ends here.
    Record,
}

/// How to treat a segment smaller than the maximum at the end of the written data; ordered from strict to lenient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::endpoint) enum SmallRule {
    /// The segment waits.
    Hold,
    /// The segment waits while anything is outstanding.
    Rfc896,
    /// The segment waits while a small one is outstanding.
    Minshall,
    /// The segment leaves.
    Leave,
}

/// A part of the written data that has not been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) struct Chunk {
    pub len: Bytes,
    pub push: Push,
    pub tail: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Burst {
    /// One past its last byte.
    end: u64,
    push: Push,
}

/// The chunks and bursts, in a box that exists only while data is unacknowledged.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Chunked(pub(super) Option<Box<Chunks>>);

impl Chunked {
    /// Returns the chunks and bursts, while data is unacknowledged.
    #[inline]
    pub fn get(&self) -> Option<&Chunks> {
        self.0.as_deref()
    }

    /// Removes everything before position `una` of the stream, which was acknowledged.
    #[inline]
    pub fn on_acked(&mut self, una: u64) {
        if let Some(chunks) = &mut self.0 {
            chunks.ack(una);
            if chunks.is_empty() {
                self.0 = None;
            }
        }
    }

    /// Returns the bytes of memory of the box.
    pub fn heap_size(&self) -> usize {
        self.get().map_or(0, Chunks::size)
    }
}

/// Chunks and bursts of one stream.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct Chunks {
    /// Oldest first; the last ones may wait to be emitted.
    bursts: VecDeque<Burst>,
    unsent: VecDeque<Chunk>,
    /// One past the last byte of the last burst.
    committed: u64,
    /// One past the last byte written.
    written: u64,
    /// One past the last byte that needs a push.
    pushed: u64,
    /// The written data ignores Nagle's rule until a new chunk begins.
    pub urged: bool,
    /// When new data may leave, check the chunks with this rule.
    pub due: Option<SmallRule>,
}

impl Chunks {
    /// Creates the state for a stream whose first `at` bytes were acknowledged and that has no others.
    pub fn new(at: u64) -> Self {
        Self { committed: at, written: at, pushed: at, ..Self::default() }
    }
    /// Returns the position one past the last byte released.
    #[inline]
    pub fn committed(&self) -> u64 {
        self.committed
    }
    /// Returns the oldest chunk.
    #[inline]
    pub fn head(&self) -> Option<Chunk> {
        self.unsent.front().copied()
    }
    /// Returns the bytes of memory of this struct and its contents.
    pub fn size(&self) -> usize {
        size_of_val(self) + self.bursts.capacity() * size_of::<Burst>() + self.unsent.capacity() * size_of::<Chunk>()
    }
    /// Returns the number of chunks that were not released in full.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.unsent.len()
    }
    /// Returns the number of chunks and bursts, for their memory.
    #[inline]
    pub fn count(&self) -> Bytes {
        (self.unsent.len() + self.bursts.len()) as Bytes
    }
    pub fn is_empty(&self) -> bool {
        self.unsent.is_empty() && self.bursts.is_empty()
    }
    /// Returns the bytes that the last chunk may still take if chunks have `goal` bytes; `None` if a new chunk has to start.
    pub fn room(&self, goal: Bytes) -> Option<Bytes> {
        let last = self.unsent.back().filter(|last| last.tail == Tail::Open)?;
        goal.checked_sub(last.len).filter(|room| *room > 0)
    }
    /// Starts a chunk.
    pub fn begin(&mut self) {
        self.urged = false;
        self.unsent.push_back(Chunk { len: 0, push: Push::No, tail: Tail::Open });
    }
    /// Adds written bytes to the last chunk; their write has written `before` bytes before them.
    pub fn fill(&mut self, bytes: Bytes, before: u64) {
        let last = self.unsent.back_mut().expect("a chunk was begun");
        last.len += bytes;
        self.written += u64::from(bytes);
        if before == 0 {
            last.push = Push::No;
        }
    }
    /// Marks the end of the last chunk, if there is one, as the end of a record.
    pub fn end_record(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.tail = Tail::Record;
        }
    }
    /// Marks the last chunk, if there is one, for a push.
    pub fn mark_push(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.push = Push::Yes;
            self.pushed = self.written;
        }
    }
    /// Returns whether more than `span` bytes were written since the last push.
    pub fn push_overdue(&self, span: Bytes) -> bool {
        self.written > self.pushed + u64::from(span)
    }
    /// Moves up to `bytes` from the second chunk to the first, unless a record ends between them.
    pub fn grow_head(&mut self, bytes: Bytes) {
        let (Some(&head), Some(&next)) = (self.unsent.front(), self.unsent.get(1)) else { return };
        if head.tail == Tail::Record {
            return;
        }
        let moved = bytes.min(next.len);
        self.unsent[0].len += moved;
        self.unsent[1].len -= moved;
        if moved == next.len {
            self.unsent[0].tail = next.tail;
            if next.push == Push::Yes {
                self.unsent[0].push = Push::Yes;
            }
            self.unsent.remove(1);
        }
    }
    /// Releases the first `bytes` of the oldest chunk as a burst; its last segment carries PSH if the chunk's end does, or if
    /// `push` asks for it.
    pub fn commit(&mut self, bytes: Bytes, push: Push) {
        let head = self.unsent.front_mut().expect("there is a chunk to release");
        assert!(bytes > 0 && bytes <= head.len, "{bytes} of {} bytes released", head.len);
        let whole = bytes == head.len;
        let push = if whole && head.push == Push::Yes { Push::Yes } else { push };
        head.len -= bytes;
        if whole {
            self.unsent.pop_front();
        }
        self.committed += u64::from(bytes);
        self.bursts.push_back(Burst { end: self.committed, push });
    }
    /// Marks everything before `end` as sent, whether or not it was released.
    pub fn cover(&mut self, end: u64) {
        while self.committed < end {
            let Some(head) = self.head() else {
                (self.committed, self.written) = (end, end);
                return;
            };
            let left = Bytes::try_from(end - self.committed).unwrap_or(Bytes::MAX);
            self.commit(head.len.min(left), Push::No);
        }
    }
    /// Returns the position one past the last byte of the burst that holds `position`.
    pub fn burst_end(&self, position: u64) -> Option<u64> {
        let index = self.bursts.partition_point(|burst| burst.end <= position);
        self.bursts.get(index).map(|burst| burst.end)
    }
    /// Returns the segments of up to `size` bytes in the bursts beyond `position`.
    pub fn segments_behind(&self, position: u64, size: Bytes) -> u32 {
        let (mut at, mut segments) = (position, 0);
        let first = self.bursts.partition_point(|burst| burst.end <= position);
        for burst in self.bursts.range(first..) {
            segments += Bytes::try_from(burst.end - at).unwrap_or(Bytes::MAX).div_ceil(size);
            at = burst.end;
        }
        segments
    }
    /// Returns whether data that ends at `end` carries PSH on its first transmission, and on later ones.
    pub fn push(&self, end: u64) -> Push {
        let at = self.bursts.binary_search_by_key(&end, |burst| burst.end);
        at.map_or(Push::No, |index| self.bursts[index].push)
    }
    /// Splits a burst that was retransmitted in part: it now ends at `end`.
    pub fn split_at(&mut self, end: u64) {
        let index = self.bursts.partition_point(|burst| burst.end < end);
        if self.bursts.get(index).is_none_or(|burst| burst.end != end) {
            self.bursts.insert(index, Burst { end, push: Push::No });
        }
    }
    /// Removes everything before `una`, which was acknowledged.
    pub fn ack(&mut self, una: u64) {
        self.cover(una);
        while self.bursts.front().is_some_and(|burst| burst.end <= una) {
            self.bursts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(chunks: &mut Chunks, goal: Bytes, mut bytes: Bytes) {
        let mut before = 0;
        while bytes > 0 {
            let room = chunks.room(goal).unwrap_or_else(|| {
                chunks.begin();
                goal
            });
            let part = room.min(bytes);
            chunks.fill(part, before);
            before += u64::from(part);
            bytes -= part;
        }
    }

    fn lens(chunks: &Chunks) -> Vec<Bytes> {
        chunks.unsent.iter().map(|chunk| chunk.len).collect()
    }

    #[test]
    fn later_writes_fill_the_last_chunk_and_what_is_left_of_one_that_was_released_in_part() {
        let mut chunks = Chunks::new(0);
        written(&mut chunks, 1_000, 1_300);
        written(&mut chunks, 1_000, 100);
        assert_eq!(lens(&chunks), [1_000, 400]);
        chunks.commit(1_000, Push::No);
        chunks.commit(300, Push::No);
        written(&mut chunks, 1_000, 1_000);
        assert_eq!(lens(&chunks), [1_000, 100]);
    }

    #[test]
    fn a_record_is_not_added_to_and_lends_nothing_to_the_chunk_before_it() {
        let mut chunks = Chunks::new(0);
        written(&mut chunks, 1_000, 400);
        chunks.end_record();
        written(&mut chunks, 1_000, 400);
        assert_eq!(lens(&chunks), [400, 400]);
        chunks.grow_head(600);
        assert_eq!(lens(&chunks), [400, 400]);
    }

    #[test]
    fn a_chunk_that_takes_all_of_the_next_one_ends_as_that_did() {
        let mut chunks = Chunks::new(0);
        written(&mut chunks, 1_000, 1_200);
        chunks.mark_push();
        chunks.end_record();
        chunks.grow_head(150);
        assert_eq!(lens(&chunks), [1_150, 50]);
        chunks.grow_head(150);
        assert_eq!(chunks.head(), Some(Chunk { len: 1_200, push: Push::Yes, tail: Tail::Record }));
        assert_eq!(chunks.unsent(), 1);
    }

    #[test]
    fn the_push_mark_of_a_chunk_is_on_its_last_burst_and_a_later_write_takes_it_back() {
        let mut chunks = Chunks::new(0);
        written(&mut chunks, 1_000, 600);
        chunks.mark_push();
        chunks.commit(500, Push::No);
        assert_eq!(chunks.push(500), Push::No);
        written(&mut chunks, 1_000, 50);
        chunks.commit(150, Push::No);
        assert_eq!(chunks.push(650), Push::No);
        written(&mut chunks, 1_000, 50);
        chunks.mark_push();
        chunks.commit(50, Push::No);
        assert_eq!((chunks.push(700), chunks.push(699)), (Push::Yes, Push::No));
        chunks.ack(700);
        assert!(chunks.is_empty());
    }

    #[test]
    fn a_burst_that_was_sent_again_in_part_has_two_ends() {
        let mut chunks = Chunks::new(0);
        written(&mut chunks, 5_000, 5_000);
        chunks.commit(5_000, Push::First);
        chunks.split_at(2_000);
        chunks.split_at(5_000);
        assert_eq!((chunks.burst_end(1_000), chunks.burst_end(2_000), chunks.count()), (Some(2_000), Some(5_000), 2));
        assert_eq!((chunks.push(2_000), chunks.push(5_000)), (Push::No, Push::First));
    }

    #[test]
    fn what_leaves_before_it_was_released_is_a_burst_and_gone_from_its_chunk() {
        let mut chunks = Chunks::new(7);
        written(&mut chunks, 1_000, 1_500);
        chunks.cover(307);
        assert_eq!((chunks.committed(), chunks.burst_end(7), lens(&chunks)), (307, Some(307), vec![700, 500]));
        chunks.cover(1_107);
        assert_eq!((chunks.committed(), chunks.burst_end(1_007), lens(&chunks)), (1_107, Some(1_107), vec![400]));
        chunks.cover(2_000);
        assert_eq!((chunks.committed(), lens(&chunks)), (2_000, vec![]));
        chunks.mark_push();
        assert!(!chunks.push_overdue(1_993), "what left counts as written");
    }

    #[test]
    fn memory_is_counted_in_proportion_to_what_is_held() {
        let mut chunks = Chunks::new(0);
        let empty = chunks.size();
        assert_eq!(empty, size_of::<Chunks>());
        let each = size_of::<Chunk>() + size_of::<Burst>();
        written(&mut chunks, 10, 2_000);
        (0..100).for_each(|_| chunks.commit(10, Push::No));
        assert!(chunks.size() >= empty + 100 * each && chunks.size() <= empty + 512 * each, "{}", chunks.size());
    }

    proptest! {
        /// Chunks, bursts and acknowledged bytes always add up to the bytes written.
        #[test]
        fn adds_up(steps in proptest::collection::vec((0u32..3_000, 0u32..3_000, 0u32..3_000, 0u32..3_000), 1..60)) {
            let mut chunks = Chunks::new(7);
            let (mut end, mut una) = (7u64, 7u64);
            for (write, grow, commit, ack) in steps {
                written(&mut chunks, 1_000, write);
                end += u64::from(write);
                chunks.grow_head(grow % 500);
                if let Some(head) = chunks.head() {
                    chunks.commit(commit % head.len + 1, Push::No);
                }
                let unsent: Bytes = lens(&chunks).iter().sum();
                prop_assert_eq!((chunks.written, chunks.committed() + u64::from(unsent)), (end, end));
                let outstanding = (chunks.committed() - una) as u32;
                una += u64::from(ack % (outstanding + 1));
                chunks.ack(una);
                prop_assert_eq!(chunks.is_empty(), una == end);
                if una < chunks.committed() {
                    prop_assert!(chunks.burst_end(una).is_some_and(|end| end > una));
                }
            }
        }
    }
}
