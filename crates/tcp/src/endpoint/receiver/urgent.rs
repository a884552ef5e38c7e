//! The urgent mark in the received stream (RFC 9293 §3.8.5, RFC 6093).
//!
//! Owns the mark; the bytes themselves belong to the stream. A read never crosses it, so that the application can see its
//! position. RFC 6093 §6 wants all bytes in the stream; the last urgent one may instead stay outside it, for the application to
//! fetch, as programs written for that expect.

use super::{Mark, Receiver};
use crate::config::{ReceiveConfig, UrgentDelivery, UrgentPointer};
use crate::event::UrgentError;
use base::SeqNum;

impl Receiver {
    //= specs/rfc9293.md#urgent-data
    //# The application is notified when urgent data is announced.
    /// RFC 9293 §3.10.7.4, sixth: processes the urgent pointer of a segment at `seq`. The mark moves only forward, and never to
    /// bytes that the application has read. Returns whether it has moved: the application should learn of it even before the
    /// bytes arrive.
    #[cold]
    pub fn on_urgent(&mut self, config: &ReceiveConfig, seq: SeqNum, pointer: u16) -> bool {
        let pointer = match config.urgent_pointer {
            UrgentPointer::Following => pointer.saturating_sub(1),
            UrgentPointer::Last => pointer,
        };
        let last = seq + u32::from(pointer);
        let rcv_nxt = self.rcv_nxt();
        let offset = if last.before(rcv_nxt) {
            self.buffer.received().checked_sub(u64::from(rcv_nxt.distance_from(last)))
        } else {
            Some(self.buffer.received() + u64::from(last.distance_from(rcv_nxt)))
        };
        let read = self.buffer.consumed();
        let known = self.mark().map(|mark| mark.offset);
        let offset = offset.filter(|offset| *offset >= read && known.is_none_or(|known| *offset > known));
        if let Some(offset) = offset {
            self.rare_mut().mark = Some(Mark { offset, fetched: false });
        }
        offset.is_some()
    }

    fn mark(&self) -> Option<Mark> {
        self.rare.as_deref()?.mark
    }

    //= specs/rfc9293.md#urgent-data
    //# The application can learn how much urgent data remains.
    /// Returns the bytes to read before the last urgent one: zero at the mark, `None` when no mark lies ahead.
    pub fn urgent_ahead(&self) -> Option<u64> {
        self.mark().map(|mark| mark.offset - self.buffer.consumed())
    }

    /// Returns the last urgent byte, which is outside the stream, without removing it.
    ///
    /// # Errors
    /// If there is none, because no mark lies ahead, the byte was already fetched, or all bytes are in the stream; or if it has
    /// not arrived.
    pub fn urgent_byte(&self, config: &ReceiveConfig) -> Result<u8, UrgentError> {
        let mark = self.mark().filter(|mark| !mark.fetched).ok_or(UrgentError::NoneAhead)?;
        if config.urgent == UrgentDelivery::InStream {
            return Err(UrgentError::NoneAhead);
        }
        let mut byte = [0];
        let there = self.buffer.peek_behind(mark.offset - self.buffer.consumed(), &mut byte);
        if there == 0 { Err(UrgentError::NotYet) } else { Ok(byte[0]) }
    }

    /// Removes and returns the last urgent byte, which is outside the stream.
    ///
    /// # Errors
    /// As for [`Self::urgent_byte`].
    pub fn take_urgent_byte(&mut self, config: &ReceiveConfig) -> Result<u8, UrgentError> {
        let byte = self.urgent_byte(config)?;
        if let Some(mark) = &mut self.rare_mut().mark {
            mark.fetched = true;
        }
        Ok(byte)
    }

    /// Returns how many bytes the application may read in one step. Skips an urgent byte that is next and out of band.
    #[inline]
    pub(super) fn readable_in_one(&mut self, config: &ReceiveConfig) -> u64 {
        match self.urgent_ahead() {
            None => u64::MAX,
            Some(0) => self.pass_mark(config),
            Some(ahead) => ahead,
        }
    }

    /// Handles a mark at the next byte. Returns how many bytes to read in the stream.
    #[cold]
    fn pass_mark(&mut self, config: &ReceiveConfig) -> u64 {
        if self.buffer.readable() > 0 {
            if config.urgent == UrgentDelivery::OutOfBand {
                self.buffer.skip(1);
            }
            self.rare_mut().mark = None;
        }
        u64::MAX
    }

    /// Returns how many bytes precede those that a peek may see, and how many it may see in one step: an out-of-band urgent byte
    /// precedes them.
    pub(super) fn visible(&self, config: &ReceiveConfig) -> (u64, u64) {
        match self.urgent_ahead() {
            None => (0, u64::MAX),
            Some(0) if config.urgent == UrgentDelivery::OutOfBand => (1, u64::MAX),
            Some(0) => (0, u64::MAX),
            Some(ahead) => (0, ahead),
        }
    }
}
