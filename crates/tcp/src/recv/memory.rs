//! The memory of received segments, for receive buffers that bound memory instead of bytes, and the window that follows from it
//! (RFC 9293 §3.8.6.2.2 leaves open what a buffer's size means).
//!
//! A frame is held in a block for its headers and the first bytes and in pages for the rest, beside a record. How much of that
//! is payload is learned from the segments that arrive (the *share*); the window offered is the share of what is free, but no
//! more than what arriving segments have opened it to. An offer is never taken back. A frame that fits the buffer is taken
//! although it ends behind the window, if nothing waits to be read: a sender that counts otherwise than its receiver would never
//! get through.
//!
//! Deviation from kernels that count memory: frames are not merged to save memory.

use crate::config::{FrameGrowth, FrameMemory};
use crate::info::ReceiveMemory;
use base::{Bytes, SeqNum, SeqRange};
use std::collections::VecDeque;

/// The unit of the share.
const WHOLE: u64 = 256;
/// The segment size assumed before one has arrived (RFC 9293 §3.7.1).
const DEFAULT_MSS: Bytes = 536;
/// A window below this fraction of the whole is closed rather than offered.
const CLOSED_PART: u32 = 4;

/// Memory of a frame's record.
const RECORD: Bytes = 256;
/// Overhead beside the bytes in a frame's first block.
const HEADROOM: Bytes = 384;
/// The smallest block; others are powers of two, up to a page.
const LEAST: Bytes = 576;
/// A page, which holds the bytes that do not fit the block.
const PAGE: Bytes = 4_096;
/// A segment with less payload than this does not open the window.
const SMALL: Bytes = 128;

/// A frame that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    /// One past its last byte in the stream.
    end: u64,
    memory: Bytes,
}

/// The frames of one connection, and what it may offer.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Size of the buffer, memory.
    buffer: Bytes,
    used: Bytes,
    held: VecDeque<Held>,
    /// The payload's fraction of a frame's memory, in 256ths.
    share: u32,
    /// The size to which the window has been opened.
    opened: Bytes,
    /// The largest possible window.
    clamp: Bytes,
    /// The size of arriving segments.
    mss: Bytes,
    /// The segment size that our SYN announced.
    announced: Bytes,
    /// The peer's SYN's.
    peers: Bytes,
    /// The last offer and its start. A segment's field may have shown less.
    last: Bytes,
    from: SeqNum,
    /// A frame was rejected since the last ACK.
    pub refused: bool,
}

/// Returns the memory of a frame of `len` bytes, headers included.
fn memory_of(len: Bytes) -> Bytes {
    if len + HEADROOM <= PAGE {
        return RECORD + (len + HEADROOM).next_power_of_two().max(LEAST);
    }
    RECORD + PAGE + (len + HEADROOM - PAGE).next_multiple_of(PAGE)
}

impl Memory {
    /// Creates the state of a connection whose SYN offers `window` from `from` on, for the segment sizes in the SYNs.
    pub fn new(config: &FrameMemory, from: SeqNum, window: Bytes, announced: Bytes, peers: Bytes) -> Self {
        let share = WHOLE as u32 / 2;
        let whole = part(config.buffer, share);
        // Keeps room for one segment.
        let kept = if whole > 2 * announced { whole.saturating_sub(announced).max(2 * announced) } else { whole };
        Self {
            buffer: config.buffer,
            used: 0,
            held: VecDeque::new(),
            share,
            opened: window.min(kept),
            clamp: kept,
            mss: DEFAULT_MSS.min(announced).min((window / 2).max(1)),
            announced,
            peers,
            last: window,
            from,
            refused: false,
        }
    }

    /// Returns the state to report.
    pub fn report(&self) -> ReceiveMemory {
        ReceiveMemory { buffer: self.buffer, used: self.used, mss: self.mss, opened: self.opened }
    }

    /// Returns whether another frame may be held: the last one may exceed the buffer.
    pub fn has_room(&self) -> bool {
        self.used <= self.buffer
    }

    /// Returns the end of the last offer.
    pub fn edge(&self) -> SeqNum {
        self.from + self.last
    }

    /// Returns the remainder of the last offer.
    pub fn offered(&self, rcv_nxt: SeqNum) -> Bytes {
        SeqRange::new(rcv_nxt, self.edge()).len()
    }

    /// Returns whether less than half of the memory that could be free is free.
    pub fn is_scarce(&self) -> bool {
        self.free() < self.clamp.min(part(self.buffer, self.share)) / 2
    }

    /// Holds a frame of `len` bytes, `payload` of them payload, until the stream is read up to `end`.
    pub fn hold(&mut self, config: &FrameMemory, len: Bytes, payload: Bytes, end: u64) {
        let memory = memory_of(len);
        let at = self.held.partition_point(|held| held.end <= end);
        self.held.insert(at, Held { end, memory });
        self.used = self.used.saturating_add(memory);
        self.measure(payload, memory);
        self.open(payload, memory, config);
    }

    /// Releases frames after the stream was read up to `consumed`.
    pub fn release(&mut self, consumed: u64) {
        while let Some(first) = self.held.pop_front_if(|first| first.end <= consumed) {
            self.used -= first.memory;
        }
    }

    /// Discards frames that end beyond this offset of the stream.
    pub fn discard_beyond(&mut self, end: u64) {
        while let Some(last) = self.held.pop_back_if(|last| last.end > end) {
            self.used -= last.memory;
        }
    }

    /// Updates the segment size and the share from a segment. Segments longer than we announced were merged from several, each as
    /// large as the peer itself accepts.
    fn measure(&mut self, payload: Bytes, memory: Bytes) {
        let size = if payload > self.announced { self.announced.min(self.peers) } else { payload };
        if size < self.mss {
            return;
        }
        if size != self.mss {
            let share = (u64::from(payload) * WHOLE / u64::from(memory)) as u32;
            if share.max(1) != self.share {
                self.share = share.max(1);
                self.set_clamp(part(self.buffer, self.share));
            }
        }
        self.mss = size;
    }

    fn set_clamp(&mut self, clamp: Bytes) {
        self.opened = match clamp < self.clamp {
            true => self.opened.min(clamp),
            false => self.opened.max(self.last.min(clamp)),
        };
        self.clamp = clamp;
    }

    /// Opens the window by twice a segment's size or two full segments, if it is well filled.
    fn open(&mut self, payload: Bytes, memory: Bytes, config: &FrameMemory) {
        let room = self.clamp.min(self.free()).saturating_sub(self.opened);
        let step = match part(memory, self.share) <= payload {
            true => 2 * self.announced,
            false => self.small_step(payload, memory, config),
        };
        if step > 0 && room > 0 && payload >= SMALL {
            self.opened += room.min(step.max(payload.saturating_mul(2)));
        }
    }

    /// While the window is still small, less filled segments open it too.
    fn small_step(&self, payload: Bytes, memory: Bytes, config: &FrameMemory) -> Bytes {
        let (mut memory, mut window) = (part(memory, self.share) / 2, part(config.buffer_max, self.share) / 2);
        while self.opened <= window && window > 0 {
            if memory <= payload {
                return 2 * self.mss;
            }
            (memory, window) = (memory / 2, window / 2);
        }
        0
    }

    /// Adopts another buffer size.
    pub fn resize(&mut self, buffer: Bytes) {
        self.buffer = buffer;
    }

    /// Grows the buffer for a window of `window`; never shrinks it.
    pub fn grow(&mut self, config: &FrameMemory, window: Bytes) {
        if config.growth == FrameGrowth::Fixed {
            return;
        }
        let wanted = u64::from(window) * WHOLE / u64::from(self.share);
        let buffer = Bytes::try_from(wanted).unwrap_or(Bytes::MAX).min(config.buffer_max);
        if buffer > self.buffer {
            self.buffer = buffer;
            self.set_clamp(part(buffer, self.share));
        }
    }

    /// Returns the payload bytes that are expected to fit.
    fn free(&self) -> Bytes {
        part(self.buffer.saturating_sub(self.used), self.share)
    }

    /// The window to offer from `rcv_nxt` on, in units of `shift`, at most `most`. Never less than what is left of the last one, unless a frame
    /// was refused.
    pub fn offer(&mut self, rcv_nxt: SeqNum, shift: u8, most: Bytes) -> Bytes {
        let offered = self.offered(rcv_nxt);
        let wanted = if core::mem::take(&mut self.refused) { None } else { Some(self.wanted(shift).min(most)) };
        self.last = match wanted {
            None => 0,
            Some(window) if window < offered => offered.next_multiple_of(1 << shift),
            Some(window) => window,
        };
        self.from = rcv_nxt;
        self.last
    }

    /// Returns the window that the memory allows, whatever was offered before.
    pub fn wanted(&self, shift: u8) -> Bytes {
        let whole = part(self.buffer, self.share);
        let full = self.clamp.min(whole);
        let mss = self.mss.min(full);
        let mut free = self.free();
        if free < full / 2 {
            free = free >> shift << shift;
            if free < whole >> CLOSED_PART || free < mss {
                return 0;
            }
        }
        let free = free.min(self.opened);
        if shift > 0 {
            return free.next_multiple_of(1 << shift);
        }
        let last = self.last;
        if last.saturating_add(mss) <= free || last > free { free / mss.max(1) * mss } else { last }
    }

    /// Returns whether a reader has made enough room to notify the peer at once; at most `most` of it can be offered.
    pub fn update_due(&self, rcv_nxt: SeqNum, shift: u8, most: Bytes) -> bool {
        let offered = self.offered(rcv_nxt);
        let wanted = if offered.saturating_mul(2) <= self.clamp { self.wanted(shift).min(most) } else { 0 };
        wanted > 0 && wanted >= offered.saturating_mul(2)
    }
}

/// The share of `memory`.
fn part(memory: Bytes, share: u32) -> Bytes {
    (u64::from(memory) * u64::from(share) / WHOLE) as Bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const CONFIG: FrameMemory = FrameMemory { buffer: 200_000, buffer_max: 200_000, growth: FrameGrowth::Fixed };

    // As a kernel of version 6.18 counted packets from a TUN device.
    #[test_case(41 => 832; "one byte")]
    #[test_case(540 => 1_280)]
    #[test_case(640 => 1_280; "to the last byte of a block")]
    #[test_case(740 => 2_304)]
    #[test_case(1_500 => 2_304)]
    #[test_case(2_040 => 4_352)]
    #[test_case(4_040 => 8_448; "a page beside the block")]
    #[test_case(8_040 => 12_544)]
    #[test_case(20_040 => 20_736)]
    fn memory_of_a_frame(len: Bytes) -> Bytes {
        memory_of(len)
    }

    // The same kernel, segment by segment, from the window in the SYN: payload, then the open window.
    #[test]
    fn the_window_follows_what_segments_waste() {
        let mut memory = Memory::new(&CONFIG, SeqNum(1), 99_280, 1_460, 1_000);
        assert_eq!(memory.opened, 98_540);
        let mut end: Bytes = 0;
        let mut opened = Vec::new();
        for payload in [600, 700, 1_000] {
            end += payload;
            memory.hold(&CONFIG, payload + 40, payload, u64::from(end));
            memory.offer(SeqNum(1) + end, 1, Bytes::MAX);
            opened.push((memory.mss, memory.opened));
        }
        assert_eq!(opened, [(600, 93_750), (700, 60_156), (1_000, 86_718)]);
    }

    #[test]
    fn a_frame_larger_than_what_is_free_closes_the_window_and_the_next_one_has_no_room() {
        let config = FrameMemory { buffer: 40_000, buffer_max: 40_000, growth: FrameGrowth::Fixed };
        let mut memory = Memory::new(&config, SeqNum(1), 18_980, 1_460, 1_000);
        memory.hold(&config, 20_040, 20_000, 20_000);
        assert_eq!((memory.used, memory.offer(SeqNum(20_001), 0, Bytes::MAX)), (20_736, 18_000));
        memory.hold(&config, 60_040, 60_000, 80_000);
        assert_eq!((memory.has_room(), memory.offer(SeqNum(80_001), 0, Bytes::MAX)), (false, 0));
        memory.release(79_999);
        assert_eq!(memory.used, 61_696);
        memory.release(80_000);
        assert_eq!((memory.used, memory.has_room()), (0, true));
    }

    #[test]
    fn an_offer_stands_until_a_frame_is_refused() {
        let mut memory = Memory::new(&CONFIG, SeqNum(1), 99_280, 1_460, 1_460);
        // A third of such a frame's memory is payload.
        memory.hold(&CONFIG, 740, 700, 700);
        let (at, offered): (SeqNum, Bytes) = (SeqNum(701), 98_580);
        assert_eq!((memory.offered(at), memory.offer(at, 3, Bytes::MAX)), (offered, offered.next_multiple_of(8)));
        assert!(memory.wanted(3) < offered);
        memory.refused = true;
        assert_eq!((memory.offer(at, 3, Bytes::MAX), memory.offer(at, 3, Bytes::MAX) > 0), (0, true));
    }

    #[test]
    fn a_reader_under_a_capped_window_owes_one_update_and_not_one_for_each_read() {
        let mut memory = Memory::new(&CONFIG, SeqNum(1), 99_280, 1_460, 1_460);
        let (at, most) = (SeqNum(1) + 99_280, 4_096);
        assert_eq!((memory.offered(at), memory.update_due(at, 0, 0)), (0, false), "nothing can be offered");
        assert!(memory.update_due(at, 0, most));
        memory.offer(at, 0, most);
        assert!(!memory.update_due(at, 0, most), "the peer knows of all that it may have");
        assert!(memory.update_due(at, 0, Bytes::MAX), "the cap is gone");
    }

    #[test]
    fn a_buffer_grows_for_a_window_up_to_its_maximum() {
        let config = FrameMemory { buffer: 20_000, buffer_max: 50_000, growth: FrameGrowth::Grows };
        let mut memory = Memory::new(&config, SeqNum(1), 8_760, 1_460, 1_460);
        memory.grow(&config, 20_000);
        assert_eq!(memory.buffer, 40_000);
        memory.grow(&config, 90_000);
        assert_eq!(memory.buffer, 50_000);
        memory.grow(&config, 100);
        assert_eq!(memory.buffer, 50_000);
    }
}
