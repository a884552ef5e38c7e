//! The receive buffer: unread bytes in order, and out-of-order bytes at their position behind them (RFC 9293
//! §3.9.1.3).
//!
//! Owns the bytes and the position of the reader. The assembler knows which out-of-order bytes are valid: the caller
//! places only missing bytes, so the first copy of a byte stays, and reports with [`ReceiveBuffer::commit`] what became
//! readable.
//!
//! Bytes lie in pages of the stream ([`super::pages`]); a buffer without bytes has none.
//!
//! A direction carries bytes or the position-coded pattern ([`crate::pattern`]); the reader or the first payload decides,
//! whichever comes first, and the other kind is then compared or generated as needed, so that each kind of sender works with each
//! kind of reader. Memory grows with arriving data, and the window limits it.

use super::pages::{PAGE, PagePool, Pages};
use crate::pattern::{Payload, fill_pattern, pattern_mismatches};
use base::Bytes;

/// Received bytes, or in pattern mode their count.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    content: Content,
    /// Unread bytes in order.
    readable: Bytes,
    /// Stream offset of the next byte to be read.
    consumed: u64,
    mismatches: u32,
}

#[derive(Clone, Debug)]
enum Content {
    /// Nothing has arrived or been read yet.
    Unset,
    /// Bytes, of which none are held.
    Empty,
    /// Boxed because most connections are idle, and many never carry bytes.
    Bytes(Box<Pages>),
    /// Every byte is checked on arrival and dropped.
    Pattern,
}

impl ReceiveBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self { content: Content::Unset, readable: 0, consumed: 0, mismatches: 0 }
    }
    /// Bytes the application can read.
    #[inline]
    pub fn readable(&self) -> u64 {
        u64::from(self.readable)
    }
    /// Returns the stream offset of the next byte to be read: the number of bytes taken so far.
    #[inline]
    pub fn consumed(&self) -> u64 {
        self.consumed
    }
    /// Bytes that have arrived in order since the stream began, read or not.
    #[inline]
    pub fn received(&self) -> u64 {
        self.consumed + self.readable()
    }
    /// Returns the bytes in order that count against the window.
    #[inline]
    pub fn used(&self) -> Bytes {
        self.readable
    }
    /// Bytes that were not what the pattern has at their place, up to 2^32 - 1. Counted when the reader or the stream is in
    /// pattern mode.
    #[inline]
    pub fn mismatches(&self) -> u64 {
        self.mismatches.into()
    }

    /// Puts `payload` at its position: `ahead` bytes behind the last readable one, which is `stream_offset` bytes from the start
    /// of the stream. No part of it may have been placed before.
    #[inline]
    pub fn place(&mut self, ahead: Bytes, stream_offset: u64, payload: Payload<'_>) {
        debug_assert_eq!(stream_offset, self.consumed + self.readable() + u64::from(ahead), "offset of the payload");
        match (&self.content, payload) {
            (Content::Pattern, Payload::Pattern { offset, len }) => {
                self.mismatches = self.mismatches.saturating_add(if offset == stream_offset { 0 } else { len });
            }
            _ => self.place_bytes(ahead, stream_offset, payload),
        }
    }

    /// The same, if bytes are or may be involved.
    fn place_bytes(&mut self, ahead: Bytes, stream_offset: u64, payload: Payload<'_>) {
        match (&mut self.content, payload) {
            (_, payload) if payload.is_empty() => {}
            (Content::Pattern, Payload::Pattern { .. }) => self.place(ahead, stream_offset, payload),
            (Content::Pattern, Payload::Bytes(bytes)) => {
                self.mismatches = self.mismatches.saturating_add(pattern_mismatches(stream_offset, bytes));
            }
            (Content::Bytes(bytes), payload) => {
                if ahead == 0 {
                    bytes.make_ready(self.consumed, stream_offset + u64::from(payload.len()));
                }
                bytes.write(self.consumed, stream_offset, payload);
            }
            (Content::Unset, Payload::Pattern { .. }) => {
                self.content = Content::Pattern;
                self.place(ahead, stream_offset, payload);
            }
            (Content::Unset | Content::Empty, _) => {
                self.content = Content::Bytes(Box::default());
                self.place(ahead, stream_offset, payload);
            }
        }
    }

    /// Makes the next `n` bytes behind the readable ones readable; all of them must be in place.
    ///
    /// # Panics
    /// When fewer were placed.
    #[inline]
    pub fn commit(&mut self, n: Bytes) {
        if n == 0 {
            // A FIN alone: there may be no page to look into.
            return;
        }
        self.readable += n;
        if let Content::Bytes(bytes) = &mut self.content {
            bytes.fetch(self.consumed, self.consumed + u64::from(self.readable));
        }
    }

    /// Releases the pages of out-of-order bytes, because none are left.
    pub fn release_pages(&mut self) {
        if let Content::Bytes(bytes) = &mut self.content {
            bytes.clear_aside();
        }
    }

    /// Releases the pages from `ahead` bytes behind the last readable one on, because no out-of-order bytes are left there.
    pub fn release_pages_behind(&mut self, ahead: Bytes) {
        let end = self.consumed + self.readable() + u64::from(ahead);
        if let Content::Bytes(bytes) = &mut self.content {
            bytes.clear_behind(end);
        }
    }

    /// Releases the last page of an idle connection: everything was read and no out-of-order bytes wait.
    pub fn release_if_empty(&mut self) {
        if self.readable == 0
            && let Content::Bytes(bytes) = &mut self.content
        {
            bytes.clear();
        }
    }

    /// Drops every byte, read or not.
    pub fn clear(&mut self) {
        self.consumed += self.readable();
        self.readable = 0;
        if let Content::Empty | Content::Bytes(_) = self.content {
            self.content = Content::Unset;
        }
    }

    /// Lends the pages of `pool` to a buffer of bytes, until [`Self::take_back`]; they hold the `arriving` bytes, too.
    #[inline]
    pub fn lend(&mut self, pool: &mut PagePool, arriving: bool) {
        if let Content::Unset | Content::Empty = self.content
            && arriving
        {
            self.content = Content::Bytes(pool.take());
        }
        if let Content::Bytes(bytes) = &mut self.content {
            bytes.lend(pool);
        }
    }

    /// Takes lent pages back, with those that became free. A buffer that holds none then holds nothing.
    #[inline]
    pub fn take_back(&mut self, pool: &mut PagePool) {
        if let Content::Bytes(bytes) = &mut self.content
            && bytes.take_back(pool)
            && let Content::Bytes(empty) = core::mem::replace(&mut self.content, Content::Empty)
        {
            pool.put(empty);
        }
    }

    /// Returns the memory of the bytes, in bytes.
    #[inline]
    pub fn memory(&self) -> usize {
        match &self.content {
            Content::Bytes(bytes) => bytes.count() * PAGE,
            Content::Unset | Content::Empty | Content::Pattern => 0,
        }
    }

    /// Moves readable bytes to the front of `out` and returns how many.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let taken = self.peek(out);
        match &mut self.content {
            Content::Unset => self.content = Content::Empty,
            Content::Bytes(bytes) => bytes.take(self.consumed, taken as u64),
            Content::Empty | Content::Pattern => {}
        }
        self.consume(taken as Bytes);
        taken
    }

    /// Copies readable bytes to the front of `out`, leaves them where they are, and returns how many.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        self.peek_behind(0, out)
    }

    /// Like [`Self::peek`], for the bytes `behind` the first readable ones.
    pub fn peek_behind(&self, behind: u64, out: &mut [u8]) -> usize {
        let len = out.len().min(usize::try_from(self.readable().saturating_sub(behind)).unwrap_or(usize::MAX));
        let (from, out) = (self.consumed + behind, &mut out[..len]);
        match &self.content {
            Content::Unset | Content::Empty => {}
            Content::Bytes(bytes) => {
                let mut left = out;
                for part in bytes.parts(self.consumed, from, len) {
                    let (to, behind) = left.split_at_mut(part.len());
                    to.copy_from_slice(part);
                    left = behind;
                }
            }
            Content::Pattern => fill_pattern(from, out),
        }
        len
    }

    /// Drops `n` readable bytes that are not for the reader of the stream.
    ///
    /// # Panics
    /// When fewer are readable.
    pub fn skip(&mut self, n: Bytes) {
        assert!(n <= self.readable, "{n} bytes to skip, {} readable", self.readable);
        if let Content::Bytes(bytes) = &mut self.content {
            bytes.take(self.consumed, u64::from(n));
        }
        self.consume(n);
    }

    /// Drops up to `max` readable bytes, which count as checked against the pattern, and returns how many.
    pub fn read_pattern(&mut self, max: u64) -> u64 {
        let taken = Bytes::try_from(max).unwrap_or(Bytes::MAX).min(self.readable);
        match &mut self.content {
            Content::Unset => self.content = Content::Pattern,
            Content::Bytes(bytes) => {
                let mut at = self.consumed;
                for part in bytes.parts(self.consumed, self.consumed, taken as usize) {
                    self.mismatches = self.mismatches.saturating_add(pattern_mismatches(at, part));
                    at += part.len() as u64;
                }
                bytes.take(self.consumed, u64::from(taken));
            }
            Content::Empty | Content::Pattern => {}
        }
        self.consume(taken);
        u64::from(taken)
    }

    fn consume(&mut self, taken: Bytes) {
        self.readable -= taken;
        self.consumed += u64::from(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        fill_pattern(offset, &mut bytes);
        bytes
    }

    #[test]
    fn a_buffer_that_was_read_holds_no_page_and_takes_more() {
        let mut buffer = ReceiveBuffer::new();
        let mut out = [0; 200];
        for begin in [0, 200] {
            buffer.place(0, begin, Payload::Bytes(&stream(begin, 200)));
            buffer.commit(200);
            assert_eq!(buffer.memory(), PAGE);
            assert_eq!(buffer.read(&mut out), 200);
            assert_eq!(out.as_slice(), stream(begin, 200));
            buffer.release_if_empty();
            assert_eq!(buffer.memory(), 0);
            buffer.commit(0);
        }
    }

    #[test]
    fn bytes_out_of_order_become_readable_when_the_gap_is_filled() {
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
        let mut out = vec![0; 1 << 20];
        buffer.place(0, 0, Payload::Bytes(&out));
        buffer.commit(1 << 20);
        buffer.read(&mut out[1..]);
        assert_eq!(buffer.memory(), PAGE, "one byte is left");
        buffer.read(&mut out);
        assert_eq!(buffer.memory(), 0);
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
    fn bytes_are_checked_when_the_reader_wants_the_pattern() {
        let mut wrong = stream(0, 100);
        wrong[70] ^= 1;
        // The reader came first, so bytes are checked on arrival.
        let mut buffer = ReceiveBuffer::new();
        assert_eq!(buffer.read_pattern(10), 0);
        buffer.place(0, 0, Payload::Bytes(&wrong));
        assert_eq!(buffer.mismatches(), 1);
        // The bytes came first, so they are checked when read.
        let mut buffer = ReceiveBuffer::new();
        buffer.place(0, 0, Payload::Bytes(&wrong));
        buffer.commit(100);
        assert_eq!((buffer.read_pattern(70), buffer.mismatches()), (70, 0));
        assert_eq!((buffer.read_pattern(u64::MAX), buffer.mismatches()), (30, 1));
    }

    #[test]
    fn a_described_stream_can_be_read_as_bytes() {
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
    #[should_panic(expected = "page 1 is readable but was never placed")]
    fn what_was_not_placed_cannot_become_readable() {
        let mut buffer = ReceiveBuffer::new();
        buffer.place(0, 0, Payload::Bytes(b"abc"));
        buffer.commit(PAGE as Bytes + 1);
    }

    /// One byte at the beginning of each page, starting at the far edge of a window of 16 MiB.
    #[test]
    fn a_byte_out_of_order_costs_one_page_wherever_it_is() {
        let mut buffer = ReceiveBuffer::new();
        for (bytes, ahead) in [16 << 20, 9 << 20, 1 << 20, 3, 2, 1].into_iter().enumerate() {
            buffer.place(ahead, u64::from(ahead), Payload::Bytes(b"x"));
            assert_eq!(buffer.memory(), PAGE * (bytes + 1).min(4), "{ahead} bytes ahead");
        }
    }

    #[test]
    fn pages_of_bytes_that_have_come_into_order_are_not_copied() {
        let mut buffer = ReceiveBuffer::new();
        let data = stream(0, 3 * PAGE);
        buffer.place(PAGE as Bytes, PAGE as u64, Payload::Bytes(&data[PAGE..]));
        let Content::Bytes(bytes) = &buffer.content else { panic!("bytes were placed") };
        let before = core::ptr::from_ref(&bytes.page(2)[0]);
        buffer.place(0, 0, Payload::Bytes(&data[..PAGE]));
        buffer.commit(3 * PAGE as Bytes);
        let Content::Bytes(bytes) = &buffer.content else { panic!("bytes were placed") };
        assert!(core::ptr::eq(before, &bytes.page(2)[0]) && bytes.count() == 3);
        let mut out = vec![0; 3 * PAGE];
        assert_eq!((buffer.peek_behind(5, &mut out[..PAGE]), &out[..PAGE]), (PAGE, &data[5..5 + PAGE]));
        assert_eq!((buffer.read(&mut out), out), (3 * PAGE, data));
    }

    proptest! {
        /// Segments of the stream in any order and overlap, as bytes and as descriptions, against a vector.
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
                let bytes = stream(at as u64, len);
                let payload = if described { Payload::Pattern { offset: at as u64, len: len as u32 } } else { Payload::Bytes(&bytes) };
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
