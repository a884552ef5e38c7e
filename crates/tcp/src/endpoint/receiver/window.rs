//! The window that the receiver offers and, where the memory of received frames counts ([`Memory`]), which frames are accepted,
//! how they reduce the window, and when a reader has made room.

use super::Receiver;
use crate::config::{FrameMemory, ReceiveAccounting, ReceiveConfig};
use crate::endpoint::State;
use crate::info::ReceiveMemory;
use crate::recv::{Arrival, Memory};
use base::{Bytes, SeqNum};

/// Bytes of a TCP header without options.
const TCP_HEADER: Bytes = 20;
/// Bytes of the timestamps option with its padding.
const TIMESTAMPS: Bytes = 12;
/// Segments assumed for a reader's first round trip (RFC 6928).
const FIRST_SEGMENTS: Bytes = 10;

/// How to treat a segment's bytes beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Bytes beyond this edge are cut off.
    Cut(SeqNum),
    /// The segment is rejected.
    Refused,
}

/// A frame whose payload was stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Bytes of its IP header.
    pub ip_header: Bytes,
    pub has_timestamps: bool,
    /// One past the last byte of its payload.
    pub end: SeqNum,
    pub payload: Bytes,
    pub kind: Arrival,
}

fn frames(config: &ReceiveConfig) -> Option<&FrameMemory> {
    match &config.accounting {
        ReceiveAccounting::Bytes => None,
        ReceiveAccounting::Frames(frames) => Some(frames),
    }
}

impl Receiver {
    #[inline]
    pub(super) fn memory(&self) -> Option<&Memory> {
        self.rare.as_deref()?.memory.as_ref()
    }

    #[inline]
    fn memory_mut(&mut self) -> Option<&mut Memory> {
        self.rare.as_deref_mut()?.memory.as_mut()
    }

    /// Returns the memory of received frames for monitoring programs, where it counts.
    pub fn frame_memory(&self) -> Option<ReceiveMemory> {
        self.memory().map(Memory::report)
    }

    /// Starts counting the memory of frames, if the configuration counts it. The window has been opened; our SYN announced
    /// segments of `announced` bytes, and the peer's SYN segments of `peers` bytes.
    pub(super) fn begin_memory(&mut self, config: &ReceiveConfig, announced: Bytes, peers: Bytes) {
        if let Some(frames) = frames(config) {
            let (from, window) = (self.rcv_nxt(), self.window.limit());
            self.rare_mut().memory = Some(Memory::new(frames, from, window, announced, peers));
        }
    }

    /// Returns how far the bytes of a segment from `start` to `end` are accepted.
    #[inline]
    pub(super) fn behind_window(&mut self, start: SeqNum, end: SeqNum) -> Behind {
        let edge = self.window.right_edge();
        if self.memory().is_none() { Behind::Cut(edge) } else { self.behind_memory(start, end, edge) }
    }

    /// Does the same where the memory of frames counts; the offered window ends at `edge`.
    fn behind_memory(&mut self, start: SeqNum, end: SeqNum, edge: SeqNum) -> Behind {
        let rcv_nxt = self.rcv_nxt();
        let nothing_waits = self.buffer.readable() == 0;
        let Some(memory) = self.memory_mut() else { return Behind::Cut(edge) };
        let edge = edge.max(memory.edge());
        let full = !memory.has_room();
        if start == end {
            // A FIN takes no room; its ACK reports that none is left.
            memory.refused |= full;
            self.due_ack_if(full);
            return Behind::Cut(edge);
        }
        if end.after(edge) && !(nothing_waits && start.before(edge)) {
            return Behind::Refused;
        }
        if full {
            memory.refused = true;
            if !nothing_waits || start.after(rcv_nxt) {
                return Behind::Refused;
            }
            self.due_ack();
        }
        Behind::Cut(edge.max(end))
    }

    /// Accounts for a stored segment.
    #[inline]
    pub(super) fn hold_frame(&mut self, config: &ReceiveConfig, frame: &Frame) {
        if let Some(frames) = frames(config).filter(|_| frame.payload > 0 && frame.kind != Arrival::Duplicate) {
            self.hold_in_memory(frames, frame);
        }
    }

    fn hold_in_memory(&mut self, frames: &FrameMemory, frame: &Frame) {
        let len = frame.ip_header + TCP_HEADER + if frame.has_timestamps { TIMESTAMPS } else { 0 } + frame.payload;
        let rcv_nxt = self.rcv_nxt();
        let beyond = if frame.end.after(rcv_nxt) { frame.end.distance_from(rcv_nxt) } else { 0 };
        let end_offset = self.buffer.received() + u64::from(beyond);
        self.window.reach(frame.end);
        let space = self.autotune.space().max(FIRST_SEGMENTS * self.rmss);
        let Some(memory) = self.memory_mut() else { return };
        memory.hold(frames, len, frame.payload, end_offset);
        if beyond > 0 {
            // The reader lags by the missing bytes, and will take the rest at once.
            memory.grow(frames, space.saturating_mul(2).saturating_add(beyond));
        }
    }

    /// Releases the bytes that the application has read; `buffer` is the size that its pace needs, if larger than before.
    pub(super) fn release_frames(&mut self, config: &ReceiveConfig, buffer: Option<Bytes>) {
        let Some(frames) = frames(config) else { return };
        let consumed = self.buffer.consumed();
        if let Some(memory) = self.memory_mut() {
            memory.release(consumed);
            if let Some(buffer) = buffer {
                memory.grow(frames, buffer);
            }
        }
    }

    /// Releases the frames of discarded data, which begins `ahead` bytes beyond RCV.NXT.
    pub(super) fn discard_frames_behind(&mut self, ahead: Bytes) {
        let end = self.buffer.received() + u64::from(ahead);
        if let Some(memory) = self.memory_mut() {
            memory.discard_beyond(end);
        }
    }

    /// Adopts a buffer size that may differ from `before`.
    pub fn reconfigure(&mut self, before: &ReceiveAccounting, config: &ReceiveConfig) {
        let Some(frames) = frames(config) else { return };
        let same = matches!(before, ReceiveAccounting::Frames(before) if before.buffer == frames.buffer);
        if !same && let Some(memory) = self.memory_mut() {
            memory.resize(frames.buffer);
        }
    }

    /// Offers no window beyond this many bytes from now on. Earlier offers remain valid.
    #[inline]
    pub fn set_window_max(&mut self, bytes: Bytes) {
        self.window.set_max(bytes);
    }

    /// Returns the window field of the segment that leaves now; moves the edge if the gain is large enough.
    #[inline]
    pub fn announce_window(&mut self, config: &ReceiveConfig) -> u16 {
        let rcv_nxt = self.rcv_nxt();
        let (shift, most) = (self.window.shift(), self.window.max());
        match self.memory_mut() {
            None => {
                let unread = self.unread(config);
                self.window.advertise(rcv_nxt, unread, self.rmss)
            }
            Some(memory) => {
                let window = memory.offer(rcv_nxt, shift, most);
                self.window.offer(rcv_nxt, window)
            }
        }
    }

    /// Returns whether the application's reading has opened the window enough for an update to the peer.
    pub fn window_update_due(&self, config: &ReceiveConfig) -> bool {
        let rcv_nxt = self.rcv_nxt();
        match self.memory() {
            None => self.window.update_due(rcv_nxt, self.unread(config), self.rmss),
            Some(memory) => memory.update_due(rcv_nxt, self.window.shift(), self.window.max()),
        }
    }

    /// Makes an ACK due if the peer should learn of a window that the host had withheld. Returns whether it should.
    pub fn reopen(&mut self, config: &ReceiveConfig, state: State) -> bool {
        let due = state.may_receive() && self.window_update_due(config);
        self.due_ack_if(due);
        due
    }

    /// Returns the remainder of the window offered last.
    pub(super) fn offered(&self) -> Bytes {
        self.memory().map_or_else(|| self.shown_window(), |memory| memory.offered(self.rcv_nxt()))
    }

    /// Returns the remainder of the window as the peer last saw it: a segment's field may show less than was offered.
    #[inline]
    pub fn shown_window(&self) -> Bytes {
        self.window.offered(self.rcv_nxt())
    }

    /// Returns the free room, whatever was offered.
    pub(super) fn room(&self, config: &ReceiveConfig) -> Bytes {
        match self.memory() {
            None => self.window.limit().saturating_sub(self.unread(config)),
            Some(memory) => memory.wanted(self.window.shift()),
        }
    }

    /// Returns the unread bytes that narrow the window.
    #[inline]
    fn unread(&self, config: &ReceiveConfig) -> Bytes {
        let spare = config.spare_segments.saturating_mul(self.rmss);
        self.buffer.used().saturating_sub(spare)
    }
}
