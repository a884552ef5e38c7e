//! The bounds that a stack sets for its endpoints ([`crate::config::GuardConfig`]), and the memory that counts against them.

use super::Endpoint;
use crate::config::GuardConfig;
use crate::recv::BLOCK_BYTES;
use base::Bytes;
use recovery::Scoreboard;

impl Endpoint {
    /// Takes over what bounds a single connection.
    pub(crate) fn guard(&mut self, guards: &GuardConfig) {
        self.rcv.blocks_max = guards.blocks_max;
    }

    /// Offers no window beyond this many bytes from now on. What was promised before stands.
    #[inline]
    pub(crate) fn set_window_max(&mut self, bytes: Bytes) {
        self.rcv.window.set_max(bytes);
    }

    /// Says whether the host has no memory for the data of the segment that comes next.
    #[inline]
    pub(crate) fn set_memory_full(&mut self, full: bool) {
        self.rcv.memory_full = full;
    }

    /// Returns the memory of received data, in bytes: unread octets, pages out of order and the records of their blocks.
    #[inline]
    pub(crate) fn received_memory(&self) -> usize {
        self.rcv.buffer.memory() + self.rcv.assembler.block_count() * BLOCK_BYTES
    }

    /// Returns the memory of data that is to be sent or acknowledged, in bytes.
    pub(crate) fn send_memory(&self) -> usize {
        self.snd_buf.memory() + self.rec.board.heap_size()
    }

    /// Bytes that were written and are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> Bytes {
        self.snd_buf.len()
    }

    /// Whether the peer should hear of a window that the host held back.
    pub(crate) fn reopen(&mut self) -> bool {
        let due = self.state.may_receive() && self.window_update_due();
        self.rcv.due_ack_if(due);
        due
    }

    /// Whether data waits out of order.
    pub(crate) fn has_out_of_order(&self) -> bool {
        self.rcv.assembler.block_count() > 0
    }

    /// Forgets the last block that has arrived out of order, as RFC 2018 §8 allows: the peer sends it again after a timeout. One
    /// block at a time, so that no packet has to pay for all that many others have piled up.
    pub(crate) fn discard_last_block(&mut self) {
        let left = self.rcv.assembler.discard_last();
        let ahead = left.distance_from(self.rcv.assembler.rcv_nxt());
        self.rcv.buffer.release_pages_behind(ahead);
        self.rcv.dsack = None;
        if !self.fin_received() {
            self.rcv.fin = self.rcv.fin.filter(|fin| fin.before(left));
        }
        self.discard_frames_behind(ahead);
    }

    /// Frees every buffer of a connection that neither sends nor delivers any more data.
    pub(crate) fn compact(&mut self) {
        self.rcv.assembler.discard_blocks();
        self.rcv.buffer.clear();
        self.snd_buf.clear();
        self.rec.board = Scoreboard::new(self.snd.nxt());
        self.rec.delivered = None;
        self.rec.undo = None;
    }
}
