//! The send buffer: what the application has written and the peer has not yet acknowledged (RFC 9293 §3.9.1.2).
//!
//! Owns the bytes and the totals of the stream. A direction carries either bytes or the position-coded pattern
//! ([`crate::pattern`]); the first write decides, and mixing the two is a bug in the caller. The scoreboard, not the buffer,
//! knows what is in flight.

use base::Bytes;
use core::fmt;
use std::collections::VecDeque;

/// An empty buffer keeps at most this capacity for the next write, ...
const KEPT: usize = 256 << 10;
/// ... this much if that does not follow soon ([`SendBuffer::shrink_if_empty`]), and later none.
const KEPT_IDLE: usize = 4_096;

/// Bytes waiting to be sent or acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    content: Content,
    capacity: Bytes,
    /// Bytes acknowledged since the stream began.
    acked: u64,
    /// The writer was cut short and waits for room.
    writer_waits: bool,
    /// A segment has arrived since sending last stopped: the writer may have room.
    heard: bool,
}

#[derive(Clone)]
#[expect(clippy::box_collection, reason = "most connections are idle, and many never carry bytes")]
enum Content {
    /// Nothing was written yet.
    Unset,
    /// The bytes, oldest first.
    Bytes(Box<VecDeque<u8>>),
    /// That many bytes of the pattern.
    Pattern(Bytes),
}

impl fmt::Debug for Content {
    /// Prints the amount of data instead of megabytes of content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("Unset"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Pattern(len) => write!(f, "Pattern({len})"),
        }
    }
}

/// A part of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendSlice<'a> {
    /// Bytes in one piece.
    Contiguous(&'a [u8]),
    /// Bytes that wrap around the end of the ring: first and second part, neither empty.
    Wrapped(&'a [u8], &'a [u8]),
    /// `len` bytes of the pattern from stream offset `offset`.
    Pattern {
        /// Bytes of the stream before the first one.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
}

impl SendBuffer {
    /// Creates an empty buffer for up to `capacity` bytes; it allocates memory as it fills.
    pub fn new(capacity: Bytes) -> Self {
        Self { content: Content::Unset, capacity, acked: 0, writer_waits: false, heard: false }
    }
    /// Swaps only the bytes with those of another buffer.
    pub fn exchange_bytes(&mut self, other: &mut SendBuffer) {
        core::mem::swap(&mut self.content, &mut other.content);
    }
    /// Sets another capacity. The buffer keeps its data, even if that exceeds it.
    pub fn set_capacity(&mut self, capacity: Bytes) {
        self.capacity = capacity;
    }
    /// Appends as many bytes of `data` as fit, and returns their number.
    ///
    /// # Panics
    /// If this stream began with [`Self::write_pattern`].
    pub fn write(&mut self, data: &[u8]) -> usize {
        let taken = data.len().min(self.free() as usize);
        self.append(&data[..taken]);
        taken
    }
    /// Appends all of `data`, even beyond the capacity.
    ///
    /// # Panics
    /// As [`Self::write`].
    pub fn append(&mut self, data: &[u8]) {
        if let Content::Unset = self.content {
            self.content = Content::Bytes(Box::default());
        }
        match &mut self.content {
            Content::Bytes(bytes) => bytes.extend(data),
            _ => panic!("bytes written to a stream that carries the pattern"),
        }
    }
    /// Appends up to `len` bytes of the pattern, as many as fit, and returns their number.
    ///
    /// # Panics
    /// When this stream was begun with [`Self::write`].
    pub fn write_pattern(&mut self, len: u64) -> u64 {
        let taken = Bytes::try_from(len).unwrap_or(Bytes::MAX).min(self.free());
        self.append_pattern(taken);
        u64::from(taken)
    }
    /// Appends `taken` bytes of the pattern, even beyond the capacity.
    ///
    /// # Panics
    /// As [`Self::write_pattern`].
    pub fn append_pattern(&mut self, taken: Bytes) {
        match &mut self.content {
            Content::Unset => self.content = Content::Pattern(taken),
            Content::Pattern(held) => *held += taken,
            Content::Bytes(_) => panic!("pattern written to a stream that carries bytes"),
        }
    }
    /// Whether the writer was cut short and waits for room.
    #[inline]
    pub fn writer_waits(&self) -> bool {
        self.writer_waits
    }
    /// The writer waits, or not any more.
    #[inline]
    pub fn set_writer_waits(&mut self, waits: bool) {
        self.writer_waits = waits;
    }
    /// Notes that a segment has arrived.
    #[inline]
    pub fn on_heard(&mut self) {
        self.heard = true;
    }
    /// Whether a segment has arrived since this was asked last.
    #[inline]
    pub fn take_heard(&mut self) -> bool {
        core::mem::take(&mut self.heard)
    }
    /// Returns the bytes that can still be written.
    #[inline]
    pub fn free(&self) -> Bytes {
        self.capacity.saturating_sub(self.len())
    }
    /// Returns the capacity.
    #[inline]
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }
    /// Returns the unacknowledged bytes, sent or not.
    #[inline]
    pub fn len(&self) -> Bytes {
        match &self.content {
            Content::Unset => 0,
            // The capacity is a `Bytes`, so this cannot truncate.
            Content::Bytes(bytes) => bytes.len() as Bytes,
            Content::Pattern(len) => *len,
        }
    }
    /// Returns the stream offset of the first byte held: the number of bytes acknowledged.
    #[inline]
    pub fn start_offset(&self) -> u64 {
        self.acked
    }
    /// Memory of the bytes, in bytes.
    pub fn memory(&self) -> usize {
        match &self.content {
            Content::Bytes(bytes) => bytes.capacity(),
            Content::Unset | Content::Pattern(_) => 0,
        }
    }
    /// Frees the memory of a buffer that holds nothing, if it is much.
    pub fn shrink_if_empty(&mut self) {
        self.release_beyond(KEPT_IDLE);
    }
    /// Frees the memory of a buffer that holds nothing.
    pub fn release_if_empty(&mut self) {
        self.release_beyond(0);
    }
    fn release_beyond(&mut self, kept: usize) {
        if let Content::Bytes(bytes) = &mut self.content
            && bytes.is_empty()
            && bytes.capacity() > kept
        {
            **bytes = VecDeque::new();
        }
    }
    /// Drops every byte.
    pub fn clear(&mut self) {
        self.acked += u64::from(self.len());
        self.content = Content::Unset;
    }
    /// Removes the first `n` bytes, which the peer has acknowledged.
    ///
    /// # Panics
    /// When fewer are held.
    #[inline]
    pub fn ack(&mut self, n: Bytes) {
        assert!(n <= self.len(), "{n} bytes acknowledged, {} held", self.len());
        match &mut self.content {
            Content::Unset => {}
            Content::Bytes(bytes) => {
                bytes.drain(..n as usize);
                if bytes.is_empty() && bytes.capacity() > KEPT {
                    **bytes = VecDeque::new();
                }
            }
            Content::Pattern(len) => *len -= n,
        }
        self.acked += u64::from(n);
    }
    /// Returns the `len` bytes that begin `offset` bytes after the oldest one held.
    ///
    /// # Panics
    /// When they are not all held.
    #[inline]
    pub fn slice(&self, offset: Bytes, len: Bytes) -> SendSlice<'_> {
        let end = u64::from(offset) + u64::from(len);
        assert!(end <= u64::from(self.len()), "bytes {offset}..{end} of {} held", self.len());
        match &self.content {
            Content::Unset => SendSlice::Contiguous(&[]),
            Content::Bytes(bytes) => slice_of(bytes, offset as usize, len as usize),
            Content::Pattern(_) => SendSlice::Pattern { offset: self.start_offset() + u64::from(offset), len },
        }
    }
}

fn slice_of(bytes: &VecDeque<u8>, offset: usize, len: usize) -> SendSlice<'_> {
    let (front, back) = bytes.as_slices();
    if offset >= front.len() {
        SendSlice::Contiguous(&back[offset - front.len()..][..len])
    } else if offset + len <= front.len() {
        SendSlice::Contiguous(&front[offset..][..len])
    } else {
        let first = &front[offset..];
        SendSlice::Wrapped(first, &back[..len - first.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(slice: SendSlice<'_>) -> Vec<u8> {
        match slice {
            SendSlice::Contiguous(all) => all.to_vec(),
            SendSlice::Wrapped(first, second) => {
                assert!(!first.is_empty() && !second.is_empty());
                [first, second].concat()
            }
            SendSlice::Pattern { offset, len } => {
                let mut out = vec![0; len as usize];
                crate::pattern::fill_pattern(offset, &mut out);
                out
            }
        }
    }

    #[test]
    fn a_full_buffer_takes_nothing_until_something_is_acknowledged() {
        let mut buffer = SendBuffer::new(10);
        assert_eq!(buffer.write(&[1; 8]), 8);
        assert_eq!(buffer.write(&[2; 8]), 2);
        assert_eq!((buffer.write(&[3]), buffer.free()), (0, 0));
        buffer.ack(4);
        assert_eq!((buffer.write(&[3; 8]), buffer.len(), buffer.start_offset()), (4, 10, 4));
    }

    #[test]
    fn a_buffer_that_was_made_smaller_keeps_what_it_holds() {
        let mut buffer = SendBuffer::new(10);
        buffer.write(&[1; 8]);
        buffer.set_capacity(4);
        assert_eq!((buffer.write(&[2]), buffer.len(), buffer.free()), (0, 8, 0));
        buffer.ack(6);
        assert_eq!(buffer.write(&[2; 8]), 2);
    }

    #[test]
    fn what_was_acknowledged_in_full_leaves_no_large_room_behind() {
        let mut buffer = SendBuffer::new(1 << 20);
        let room = |buffer: &SendBuffer| match &buffer.content {
            Content::Bytes(bytes) => bytes.capacity(),
            _ => 0,
        };
        buffer.write(&[1; 1 << 20]);
        buffer.ack((1 << 20) - 1);
        assert!(room(&buffer) >= 1 << 20, "not while something is held");
        buffer.ack(1);
        assert_eq!(room(&buffer), 0);
        buffer.write(&[1; 100]);
        let small = room(&buffer);
        buffer.ack(100);
        assert_eq!(room(&buffer), small, "a little may stay for the next exchange");
    }

    #[test]
    fn a_pattern_is_counted_and_keeps_its_position() {
        let mut buffer = SendBuffer::new(1_000);
        assert_eq!(buffer.write_pattern(u64::MAX), 1_000);
        buffer.ack(300);
        assert_eq!(buffer.write_pattern(200), 200);
        assert_eq!(buffer.slice(100, 50), SendSlice::Pattern { offset: 400, len: 50 });
        assert_eq!(buffer.len(), 900);
    }

    #[test]
    #[should_panic(expected = "carries bytes")]
    fn a_pattern_does_not_follow_bytes() {
        let mut buffer = SendBuffer::new(10);
        buffer.write(b"a");
        buffer.write_pattern(1);
    }

    #[test]
    #[should_panic(expected = "carries the pattern")]
    fn bytes_do_not_follow_a_pattern() {
        let mut buffer = SendBuffer::new(10);
        buffer.write_pattern(1);
        buffer.write(b"a");
    }

    #[test]
    #[should_panic(expected = "3 bytes acknowledged, 2 held")]
    fn more_than_was_written_cannot_be_acknowledged() {
        let mut buffer = SendBuffer::new(10);
        buffer.write(b"ab");
        buffer.ack(3);
    }

    proptest! {
        /// Both modes against a plain vector; the written bytes follow the pattern, so that one model serves both.
        #[test]
        fn agrees_with_a_vector(steps in proptest::collection::vec((0u32..80, 0u32..80, 0u32..80, 0u32..80), 1..60)) {
            let (mut bytes, mut pattern) = (SendBuffer::new(100), SendBuffer::new(100));
            let (mut model, mut acked): (Vec<u8>, usize) = (Vec::new(), 0);
            for (write, ack, offset, len) in steps {
                let mut data = vec![0; write as usize];
                crate::pattern::fill_pattern(model.len() as u64, &mut data);
                let taken = bytes.write(&data);
                prop_assert_eq!(pattern.write_pattern(write.into()), taken as u64);
                prop_assert_eq!(taken, data.len().min(100 - (model.len() - acked)));
                model.extend(&data[..taken]);
                let held = (model.len() - acked) as u32;
                let offset = offset.min(held);
                let len = len.min(held - offset);
                let expected = &model[acked + offset as usize..][..len as usize];
                for buffer in [&mut bytes, &mut pattern] {
                    prop_assert_eq!(bytes_of(buffer.slice(offset, len)), expected);
                    buffer.ack(ack.min(held));
                    prop_assert_eq!(buffer.free(), 100 - (held - ack.min(held)));
                }
                acked += ack.min(held) as usize;
                prop_assert_eq!((bytes.start_offset(), pattern.start_offset()), (acked as u64, acked as u64));
            }
        }
    }
}
