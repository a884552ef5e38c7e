//! Where the memory of received frames counts ([`crate::recv::Memory`]): which frames are taken, what they leave of the window,
//! and when a reader has made room.

use super::{Endpoint, Segment};
use crate::config::{FrameMemory, ReceiveAccounting};
use crate::recv::{Arrival, Memory};
use base::{Bytes, SeqNum};

/// Octets of an IP header of each version, and of a TCP header without options.
const IPV4_HEADER: Bytes = 20;
const IPV6_HEADER: Bytes = 40;
const TCP_HEADER: Bytes = 20;
/// Those of the timestamps option with its padding.
const TIMESTAMPS: Bytes = 12;
/// Segments that count as a reader's first round trip (RFC 6928).
const FIRST_SEGMENTS: Bytes = 10;

/// What becomes of a segment's octets behind the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// What lies behind this edge is cut off.
    Cut(SeqNum),
    /// The segment is not taken.
    Refused,
}

impl Endpoint {
    fn frames(&self) -> Option<FrameMemory> {
        match self.cfg.receive.accounting {
            ReceiveAccounting::Octets => None,
            ReceiveAccounting::Frames(frames) => Some(frames),
        }
    }

    pub(super) fn memory(&self) -> Option<&Memory> {
        self.extras.as_ref()?.memory.as_deref()
    }

    fn memory_mut(&mut self) -> Option<&mut Memory> {
        self.extras.as_mut()?.memory.as_deref_mut()
    }

    /// Options are agreed on, and the window opened: `peers` is what the peer announced of the size of segments.
    pub(super) fn begin_memory(&mut self, announced: Bytes, peers: Bytes) {
        if let Some(frames) = self.frames() {
            let (from, window) = (self.rcv.assembler.rcv_nxt(), self.rcv.window.limit());
            self.extras_mut().memory = Some(Box::new(Memory::new(&frames, from, window, announced, peers)));
        }
    }

    /// How far the octets of a segment from `start` to `end` are taken.
    pub(super) fn behind_window(&mut self, start: SeqNum, end: SeqNum) -> Behind {
        let (edge, rcv_nxt) = (self.rcv.window.right_edge(), self.rcv.assembler.rcv_nxt());
        let nothing_waits = self.rcv.buffer.readable() == 0;
        let Some(memory) = self.memory_mut() else { return Behind::Cut(edge) };
        let edge = edge.max(memory.edge());
        let full = !memory.has_room();
        if start == end {
            // A FIN takes no room; its ACK says that there is none.
            memory.refused |= full;
            self.rcv.due_ack_if(full);
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
            self.rcv.due_ack();
        }
        Behind::Cut(edge.max(end))
    }

    /// A segment was stored: as `kind` says, in order or not.
    pub(super) fn hold_frame(&mut self, seg: &Segment<'_>, kind: Arrival) {
        let Some(frames) = self.frames() else { return };
        let payload = seg.payload.len();
        if payload == 0 || kind == Arrival::Duplicate {
            return;
        }
        let ip = if self.tuple.local.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
        let len = ip + TCP_HEADER + if self.neg.timestamps { TIMESTAMPS } else { 0 } + payload;
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        let end = seg.repr.seq + payload;
        let beyond = if end.after(rcv_nxt) { end.distance_from(rcv_nxt) } else { 0 };
        let end_offset = self.rcv.buffer.received() + u64::from(beyond);
        self.rcv.window.reach(end);
        let space = self.rcv.autotune.space().max(FIRST_SEGMENTS * self.rcv.rmss);
        let Some(memory) = self.memory_mut() else { return };
        memory.hold(&frames, len, payload, end_offset);
        if beyond > 0 {
            // The reader is behind by what is missing, and will take the rest at once.
            memory.grow(&frames, space.saturating_mul(2).saturating_add(beyond));
        }
    }

    /// The application took octets; `buffer` is what its pace asks for, if that is more than before.
    pub(super) fn release_frames(&mut self, buffer: Option<Bytes>) {
        let Some(frames) = self.frames() else { return };
        let consumed = self.rcv.buffer.consumed();
        if let Some(memory) = self.memory_mut() {
            memory.release(consumed);
            if let Some(buffer) = buffer {
                memory.grow(&frames, buffer);
            }
        }
    }

    /// What has arrived from `ahead` octets behind the next one on was discarded, and its frames with it.
    pub(super) fn discard_frames_behind(&mut self, ahead: Bytes) {
        let end = self.rcv.buffer.received() + u64::from(ahead);
        if let Some(memory) = self.memory_mut() {
            memory.discard_beyond(end);
        }
    }

    /// The buffer may have another size.
    pub(super) fn follow_receive_config(&mut self, before: &ReceiveAccounting) {
        let Some(frames) = self.frames() else { return };
        let same = matches!(before, ReceiveAccounting::Frames(before) if before.buffer == frames.buffer);
        if !same && let Some(memory) = self.memory_mut() {
            memory.resize(frames.buffer);
        }
    }

    /// The window field of the segment that leaves now.
    pub(super) fn advertise(&mut self) -> u16 {
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        let (unread, rmss) = (self.unread(), self.rcv.rmss);
        let (shift, most) = (self.neg.rcv_shift, self.rcv.window.max());
        match self.memory_mut() {
            None => self.rcv.window.advertise(rcv_nxt, unread, rmss),
            Some(memory) => {
                let window = memory.offer(rcv_nxt, shift, most);
                self.rcv.window.offer(rcv_nxt, window)
            }
        }
    }

    /// Whether the application's reading has opened the window so far that the peer should be told.
    pub(super) fn window_update_due(&self) -> bool {
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        match self.memory() {
            None => self.rcv.window.update_due(rcv_nxt, self.unread(), self.rcv.rmss),
            Some(memory) => memory.update_due(rcv_nxt, self.neg.rcv_shift, self.rcv.window.max()),
        }
    }

    /// What is left of the window that was offered last.
    pub(super) fn offered(&self) -> Bytes {
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        self.memory().map_or_else(|| self.rcv.window.offered(rcv_nxt), |memory| memory.offered(rcv_nxt))
    }

    /// The room there is, whatever was offered.
    pub(super) fn receive_room(&self) -> Bytes {
        match self.memory() {
            None => self.rcv.window.limit().saturating_sub(self.unread()),
            Some(memory) => memory.wanted(self.neg.rcv_shift),
        }
    }
}
