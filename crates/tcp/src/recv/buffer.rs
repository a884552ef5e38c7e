//! The receive buffer: octets in order that the application has not read, and octets out of order at their place behind
//! them (RFC 9293 §3.9.1.3).
//!
//! Owns the octets and the position of the reader. Which of the octets out of order count is the assembler's knowledge; it
//! is told here by [`ReceiveBuffer::commit`]. A direction carries octets or the position-coded pattern ([`crate::pattern`]);
//! whoever comes first decides, the reader or the first payload, and the other kind is then compared or made up as needed,
//! so that each kind of sender can be read in each way. Memory grows with what arrives; the window bounds it.

use crate::pattern::{Payload, fill_pattern, pattern_mismatches};
use base::Bytes;
use core::fmt;
use std::collections::VecDeque;

/// A buffer that was read to its end keeps no more room than this: about what it begins with, enough for readers that keep
/// up, and little beside what a connection that once waited for a retransmission has held.
const KEPT: usize = 1 << 16;

/// Received octets, or in pattern mode the count of them.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    content: Content,
    /// Octets in order that were not read.
    readable: Bytes,
    /// Stream offset of the next octet to be read.
    consumed: u64,
    mismatches: u64,
}

#[derive(Clone)]
#[expect(clippy::box_collection, reason = "most connections are idle, and many never carry octets")]
enum Content {
    /// Nothing arrived, nobody read.
    Unset,
    /// The readable octets, then those out of order at their places, with anything in the gaps.
    Octets(Box<VecDeque<u8>>),
    /// Every octet is checked on arrival and dropped.
    Pattern,
}

impl fmt::Debug for Content {
    /// Prints how much there is, not megabytes of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("Unset"),
            Self::Octets(octets) => write!(f, "Octets({})", octets.len()),
            Self::Pattern => f.write_str("Pattern"),
        }
    }
}

impl ReceiveBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self { content: Content::Unset, readable: 0, consumed: 0, mismatches: 0 }
    }
    /// Octets the application can read.
    #[inline]
    pub fn readable(&self) -> u64 {
        u64::from(self.readable)
    }
    /// Octets in order that take room in the window.
    #[inline]
    pub fn used(&self) -> Bytes {
        self.readable
    }
    /// Octets that were not what the pattern has at their place. Counted when the reader or the stream is in pattern mode.
    #[inline]
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }

    /// Puts `payload` where it belongs: `ahead` octets behind the last readable one, which is `stream_offset` octets behind
    /// the beginning of the stream. What was there before is overwritten.
    #[inline]
    pub fn place(&mut self, ahead: Bytes, stream_offset: u64, payload: Payload<'_>) {
        debug_assert_eq!(stream_offset, self.consumed + self.readable() + u64::from(ahead), "offset of the payload");
        match (&mut self.content, payload) {
            (_, payload) if payload.is_empty() => {}
            (Content::Pattern, Payload::Pattern { offset, len }) => {
                self.mismatches += if offset == stream_offset { 0 } else { u64::from(len) };
            }
            (Content::Pattern, Payload::Bytes(octets)) => {
                self.mismatches += pattern_mismatches(stream_offset, octets);
            }
            (Content::Octets(held), payload) => write_at(held, self.readable as usize + ahead as usize, payload),
            (Content::Unset, Payload::Pattern { .. }) => {
                self.content = Content::Pattern;
                self.place(ahead, stream_offset, payload);
            }
            (Content::Unset, Payload::Bytes(_)) => {
                self.content = Content::Octets(Box::default());
                self.place(ahead, stream_offset, payload);
            }
        }
    }

    /// The next `n` octets behind the readable ones are all in place: they become readable.
    ///
    /// # Panics
    /// When fewer were placed.
    #[inline]
    pub fn commit(&mut self, n: Bytes) {
        self.readable += n;
        if let Content::Octets(held) = &self.content {
            assert!(held.len() >= self.readable as usize, "{} octets readable, {} held", self.readable, held.len());
        }
    }

    /// Moves readable octets to the front of `out` and returns how many.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let taken = self.peek(out);
        match &mut self.content {
            Content::Unset => self.content = Content::Octets(Box::default()),
            Content::Octets(held) => take(held, taken),
            Content::Pattern => {}
        }
        self.consume(taken as Bytes);
        taken
    }

    /// Copies readable octets to the front of `out`, leaves them where they are, and returns how many.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        let len = out.len().min(self.readable as usize);
        let out = &mut out[..len];
        match &self.content {
            Content::Unset => {}
            Content::Octets(held) => {
                let (first, second) = parts(held, len);
                out[..first.len()].copy_from_slice(first);
                out[first.len()..].copy_from_slice(second);
            }
            Content::Pattern => fill_pattern(self.consumed, out),
        }
        len
    }

    /// Like [`Self::peek`], for the octets `behind` the first readable ones; these are few, or `out` is small.
    pub fn peek_behind(&self, behind: u64, out: &mut [u8]) -> usize {
        if behind == 0 {
            return self.peek(out);
        }
        let len = out.len().min(usize::try_from(self.readable().saturating_sub(behind)).unwrap_or(usize::MAX));
        match &self.content {
            Content::Unset => {}
            Content::Octets(held) => {
                let octets = held.iter().skip(usize::try_from(behind).unwrap_or(usize::MAX));
                out.iter_mut().zip(octets).take(len).for_each(|(to, octet)| *to = *octet);
            }
            Content::Pattern => fill_pattern(self.consumed + behind, &mut out[..len]),
        }
        len
    }

    /// Drops `n` readable octets that are not for the reader of the stream.
    ///
    /// # Panics
    /// When fewer are readable.
    pub fn skip(&mut self, n: Bytes) {
        assert!(n <= self.readable, "{n} octets to skip, {} readable", self.readable);
        if let Content::Octets(held) = &mut self.content {
            take(held, n as usize);
        }
        self.consume(n);
    }

    /// Drops up to `max` readable octets, which count as checked against the pattern, and returns how many.
    pub fn read_pattern(&mut self, max: u64) -> u64 {
        let taken = Bytes::try_from(max).unwrap_or(Bytes::MAX).min(self.readable);
        match &mut self.content {
            Content::Unset => self.content = Content::Pattern,
            Content::Octets(held) => {
                let (first, second) = parts(held, taken as usize);
                self.mismatches += pattern_mismatches(self.consumed, first);
                self.mismatches += pattern_mismatches(self.consumed + first.len() as u64, second);
                take(held, taken as usize);
            }
            Content::Pattern => {}
        }
        self.consume(taken);
        u64::from(taken)
    }

    fn consume(&mut self, taken: Bytes) {
        self.readable -= taken;
        self.consumed += u64::from(taken);
    }
}

/// The first `len` octets, in at most two pieces.
fn parts(held: &VecDeque<u8>, len: usize) -> (&[u8], &[u8]) {
    let (front, back) = held.as_slices();
    let first = &front[..len.min(front.len())];
    (first, &back[..len - first.len()])
}

/// Drops the first `len` octets, and the room they took if nothing else is held and it is large.
fn take(held: &mut VecDeque<u8>, len: usize) {
    held.drain(..len);
    if held.is_empty() && held.capacity() > KEPT {
        *held = VecDeque::new();
    }
}

/// Writes `payload` at position `at`, making room as needed.
fn write_at(held: &mut VecDeque<u8>, at: usize, payload: Payload<'_>) {
    if let Payload::Bytes(octets) = payload
        && at == held.len()
    {
        // The usual case, in order: no room is cleared that is overwritten at once.
        held.extend(octets);
        return;
    }
    let end = at + payload.len() as usize;
    if held.len() < end {
        held.resize(end, 0);
    }
    let (front, back) = held.as_mut_slices();
    let boundary = front.len();
    let first = &mut front[at.min(boundary)..end.min(boundary)];
    let second = &mut back[at.max(boundary) - boundary..end.max(boundary) - boundary];
    match payload {
        Payload::Bytes(octets) => {
            let (left, right) = octets.split_at(first.len());
            first.copy_from_slice(left);
            second.copy_from_slice(right);
        }
        Payload::Pattern { offset, .. } => {
            fill_pattern(offset, first);
            fill_pattern(offset + first.len() as u64, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(offset: u64, len: usize) -> Vec<u8> {
        let mut octets = vec![0; len];
        fill_pattern(offset, &mut octets);
        octets
    }

    #[test]
    fn octets_out_of_order_become_readable_when_the_gap_is_filled() {
        let mut buffer = ReceiveBuffer::new();
        buffer.place(3, 3, Payload::Bytes(b"def"));
        assert_eq!((buffer.readable(), buffer.used()), (0, 0));
        buffer.place(0, 0, Payload::Bytes(b"abc"));
        buffer.commit(6);
        let mut out = [0; 8];
        assert_eq!((buffer.peek(&mut out[..4]), &out), (4, b"abcd\0\0\0\0"));
        assert_eq!((buffer.readable(), buffer.read(&mut out)), (6, 6));
        assert_eq!(&out, b"abcdef\0\0");
        assert_eq!(buffer.read(&mut out), 0);
    }

    #[test]
    fn what_was_read_to_its_end_leaves_no_large_room_behind() {
        let mut buffer = ReceiveBuffer::new();
        let room = |buffer: &ReceiveBuffer| match &buffer.content {
            Content::Octets(held) => held.capacity(),
            _ => 0,
        };
        let mut out = vec![0; 1 << 20];
        buffer.place(0, 0, Payload::Bytes(&out));
        buffer.commit(1 << 20);
        buffer.read(&mut out[1..]);
        assert!(room(&buffer) >= 1 << 20, "not while something is held");
        buffer.read(&mut out);
        assert_eq!(room(&buffer), 0);
    }

    #[test]
    fn a_described_stream_is_checked_by_its_offsets() {
        let mut buffer = ReceiveBuffer::new();
        buffer.place(0, 0, Payload::Pattern { offset: 0, len: 100 });
        buffer.commit(100);
        assert_eq!((buffer.read_pattern(60), buffer.mismatches()), (60, 0));
        buffer.place(0, 100, Payload::Pattern { offset: 99, len: 10 });
        assert_eq!(buffer.mismatches(), 10);
    }

    #[test]
    fn octets_are_checked_when_the_reader_wants_the_pattern() {
        let mut wrong = stream(0, 100);
        wrong[70] ^= 1;
        // The reader came first: checked on arrival.
        let mut buffer = ReceiveBuffer::new();
        assert_eq!(buffer.read_pattern(10), 0);
        buffer.place(0, 0, Payload::Bytes(&wrong));
        assert_eq!(buffer.mismatches(), 1);
        // The octets came first: checked when read.
        let mut buffer = ReceiveBuffer::new();
        buffer.place(0, 0, Payload::Bytes(&wrong));
        buffer.commit(100);
        assert_eq!((buffer.read_pattern(70), buffer.mismatches()), (70, 0));
        assert_eq!((buffer.read_pattern(u64::MAX), buffer.mismatches()), (30, 1));
    }

    #[test]
    fn a_described_stream_can_be_read_as_octets() {
        let mut out = [0; 50];
        for reader_first in [true, false] {
            let mut buffer = ReceiveBuffer::new();
            if reader_first {
                buffer.read(&mut out);
            }
            buffer.place(0, 0, Payload::Pattern { offset: 0, len: 100 });
            buffer.commit(100);
            buffer.read(&mut out);
            buffer.read(&mut out);
            assert_eq!(&out[..], stream(50, 50), "reader first: {reader_first}");
        }
    }

    #[test]
    #[should_panic(expected = "4 octets readable, 3 held")]
    fn what_was_not_placed_cannot_become_readable() {
        let mut buffer = ReceiveBuffer::new();
        buffer.place(0, 0, Payload::Bytes(b"abc"));
        buffer.commit(4);
    }

    proptest! {
        /// Segments of the stream in any order and overlap, as octets and as descriptions, against a vector.
        #[test]
        fn agrees_with_a_vector(
            steps in proptest::collection::vec((0usize..60, 1usize..40, 0usize..80), 1..80),
            described: bool,
        ) {
            let mut buffer = ReceiveBuffer::new();
            buffer.read(&mut []);
            let mut have = vec![false; 80 * 100];
            let (mut committed, mut read) = (0usize, 0usize);
            for (ahead, len, take) in steps {
                let at = committed + ahead;
                let octets = stream(at as u64, len);
                let payload = if described { Payload::Pattern { offset: at as u64, len: len as u32 } } else { Payload::Bytes(&octets) };
                buffer.place(ahead as u32, at as u64, payload);
                have[at..at + len].fill(true);
                let run = have[committed..].iter().take_while(|&&there| there).count();
                buffer.commit(run as u32);
                committed += run;
                prop_assert_eq!(buffer.readable(), (committed - read) as u64);
                let mut out = vec![0; take];
                let taken = buffer.read(&mut out);
                prop_assert_eq!(taken, take.min(committed - read));
                prop_assert_eq!(&out[..taken], &stream(read as u64, taken)[..]);
                read += taken;
            }
        }
    }
}
