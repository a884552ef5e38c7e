//! The bounds that a stack sets for its endpoints ([`crate::config::GuardConfig`]), and the memory that counts against them.

use super::Endpoint;
use crate::config::GuardConfig;
use base::Bytes;
use recovery::Scoreboard;

impl Endpoint {
    /// Takes over what bounds a single connection.
    pub(crate) fn guard(&mut self, guards: &GuardConfig) {
        self.rcv.guard(guards);
    }

    /// Offers no window beyond this many bytes from now on. What was promised before stands.
    #[inline]
    pub(crate) fn set_window_max(&mut self, bytes: Bytes) {
        self.rcv.set_window_max(bytes);
    }

    /// Says whether the host has no memory for the data of the segment that comes next.
    #[inline]
    pub(crate) fn set_memory_full(&mut self, full: bool) {
        self.rcv.set_memory_full(full);
    }

    /// Returns the memory of received data, in bytes: unread bytes, pages out of order and the records of their blocks.
    #[inline]
    pub(crate) fn received_memory(&self) -> usize {
        self.rcv.data_memory()
    }

    /// Returns the memory of data that is to be sent or acknowledged, in bytes.
    pub(crate) fn send_memory(&self) -> usize {
        self.snd.buffer.memory() + self.snd.rec.board.heap_size()
    }

    /// Bytes that were written and are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> Bytes {
        self.snd.buffer.len()
    }

    /// Whether the peer should hear of a window that the host held back.
    pub(crate) fn reopen(&mut self) -> bool {
        let due = self.life.state().may_receive() && self.rcv.window_update_due(&self.cfg.receive);
        self.rcv.due_ack_if(due);
        due
    }

    /// Whether data waits out of order.
    pub(crate) fn has_out_of_order(&self) -> bool {
        self.rcv.has_out_of_order()
    }

    /// Forgets the last block that has arrived out of order.
    pub(crate) fn discard_last_block(&mut self) {
        self.rcv.discard_last_block();
    }

    /// Frees every buffer of a connection that neither sends nor delivers any more data.
    pub(crate) fn compact(&mut self) {
        self.rcv.compact();
        self.snd.drop_bytes();
        self.snd.rec.board = Scoreboard::new(self.snd.space.nxt());
        self.snd.rec.delivered = None;
        self.snd.rec.undo = None;
    }
}
