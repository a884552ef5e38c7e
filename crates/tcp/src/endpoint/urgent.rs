//! Urgent data (RFC 9293 §3.8.5, RFC 6093): a mark in the stream of each direction.
//!
//! Owns the send urgent pointer and the mark of what was received; the octets themselves are the stream's. The application is
//! told of a mark as soon as it is known, before the octets may have arrived, and a read never goes across it, so that the
//! application can see where it is. RFC 6093 §6 wants all octets in the stream; the last urgent one may be kept out of it
//! instead, for the application to fetch, as programs written for that expect. New programs should not use any of this
//! (SHLD-13).

use super::{Endpoint, Segment};
use crate::config::{UrgentDelivery, UrgentPointer};
use crate::cx::Cx;
use crate::event::{UrgentError, WriteError};
use base::SeqNum;
use trace::Observer;
use wire::Flags;

/// Marks of a connection that has seen urgent data.
#[derive(Clone, Debug, Default)]
pub(super) struct Urgent {
    /// One past the last urgent octet written, until it is acknowledged.
    snd_up: Option<SeqNum>,
    /// The last urgent octet to be received, until it is passed.
    mark: Option<Mark>,
    /// The application has not been told of it.
    pub news: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Octets of the stream before it.
    offset: u64,
    /// The application has fetched it out of band.
    fetched: bool,
}

impl Endpoint {
    //= specs/rfc9293.md#urgent-data
    //# Urgent data may have any length.
    /// Like [`Self::write`]; the last octet taken is the last urgent one. Earlier urgent data that is still on its way becomes
    /// part of it.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_urgent<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data: &[u8]) -> Result<usize, WriteError> {
        let taken = self.write(cx, data)?;
        if taken > 0 {
            let end = self.data_end();
            self.extras_mut().urgent.snd_up = Some(end);
            self.look_at_chunks(self.small_rule());
        }
        Ok(taken)
    }

    /// Urgent data was written and is not acknowledged.
    #[inline]
    pub(super) fn is_urgent(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.urgent.snd_up.is_some())
    }

    /// SND.UNA has advanced, perhaps over the last urgent octet.
    pub(super) fn forget_sent_mark(&mut self) {
        let una = self.snd.una();
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.urgent.snd_up = extras.urgent.snd_up.filter(|up| up.after(una));
        }
    }

    //= specs/rfc9293.md#urgent-data
    //# The pointer that is sent names the octet behind the last urgent one.
    //= specs/rfc9293.md#urgent-data
    //# Urgent data is supported in both directions.
    /// The urgent pointer of a segment that begins at `seq`, if it is to carry one: every segment does that begins before
    /// the end of the urgent data, whether it has data or not. What is further away than the field can say is said to be as
    /// far as it can, and more exactly by later segments.
    #[inline]
    pub(super) fn urgent_pointer(&self, seq: SeqNum) -> Option<u16> {
        let up = self.extras.as_deref()?.urgent.snd_up.filter(|up| up.after(seq))?;
        let distance = match self.cfg.receive.urgent_pointer {
            UrgentPointer::Following => up.distance_from(seq),
            UrgentPointer::Last => up.distance_from(seq) - 1,
        };
        Some(u16::try_from(distance).unwrap_or(u16::MAX))
    }

    /// RFC 9293 §3.10.7.4, sixth: the mark moves only forward, and not to where the application has been.
    #[inline]
    pub(super) fn take_urgent(&mut self, seg: &Segment<'_>) {
        if seg.repr.flags.contains(Flags::URG) && self.state.may_receive() {
            self.on_urgent(seg);
        }
    }

    //= specs/rfc9293.md#urgent-data
    //# The application is told when urgent data is announced.
    #[cold]
    fn on_urgent(&mut self, seg: &Segment<'_>) {
        let pointer = match self.cfg.receive.urgent_pointer {
            UrgentPointer::Following => seg.repr.urgent.saturating_sub(1),
            UrgentPointer::Last => seg.repr.urgent,
        };
        let last = seg.repr.seq + u32::from(pointer);
        let rcv_nxt = self.rcv.assembler.rcv_nxt();
        let offset = if last.before(rcv_nxt) {
            self.rcv.buffer.received().checked_sub(u64::from(rcv_nxt.distance_from(last)))
        } else {
            Some(self.rcv.buffer.received() + u64::from(last.distance_from(rcv_nxt)))
        };
        let read = self.octets_read();
        let urgent = &mut self.extras_mut().urgent;
        let known = urgent.mark.map(|mark| mark.offset);
        if let Some(offset) = offset.filter(|offset| *offset >= read && known.is_none_or(|known| *offset > known)) {
            urgent.mark = Some(Mark { offset, fetched: false });
            urgent.news = true;
        }
    }

    fn octets_read(&self) -> u64 {
        self.rcv.buffer.consumed()
    }

    fn mark(&self) -> Option<Mark> {
        self.extras.as_deref()?.urgent.mark
    }

    //= specs/rfc9293.md#urgent-data
    //# The application can learn how much urgent data remains.
    /// Octets to be read before the last urgent one; zero at the mark, none when no mark lies ahead.
    pub fn urgent_ahead(&self) -> Option<u64> {
        self.mark().map(|mark| mark.offset - self.octets_read())
    }

    /// The last urgent octet, kept out of the stream; it stays to be fetched.
    ///
    /// # Errors
    /// When there is none, because no mark lies ahead, the octet was fetched, or all octets are in the stream; or when it
    /// has not arrived.
    pub fn urgent_octet(&self) -> Result<u8, UrgentError> {
        let mark = self.mark().filter(|mark| !mark.fetched).ok_or(UrgentError::NoneAhead)?;
        if self.cfg.receive.urgent == UrgentDelivery::InStream {
            return Err(UrgentError::NoneAhead);
        }
        let mut octet = [0];
        let there = self.rcv.buffer.peek_behind(mark.offset - self.octets_read(), &mut octet);
        if there == 0 { Err(UrgentError::NotYet) } else { Ok(octet[0]) }
    }

    /// Fetches the last urgent octet, which was kept out of the stream.
    ///
    /// # Errors
    /// As for [`Self::urgent_octet`].
    pub fn take_urgent_octet(&mut self) -> Result<u8, UrgentError> {
        let octet = self.urgent_octet()?;
        if let Some(mark) = &mut self.extras_mut().urgent.mark {
            mark.fetched = true;
        }
        Ok(octet)
    }

    /// The application is about to read: how far it may go in one step. An urgent octet that is out of band, and next, is
    /// passed over.
    #[inline]
    pub(super) fn readable_in_one(&mut self) -> u64 {
        match self.urgent_ahead() {
            None => u64::MAX,
            Some(0) => self.pass_mark(),
            Some(ahead) => ahead,
        }
    }

    /// The mark is next. Returns how far to read in the stream.
    #[cold]
    fn pass_mark(&mut self) -> u64 {
        if self.rcv.buffer.readable() > 0 {
            if self.cfg.receive.urgent == UrgentDelivery::OutOfBand {
                self.rcv.buffer.skip(1);
            }
            self.extras_mut().urgent.mark = None;
        }
        u64::MAX
    }

    /// Octets that may be looked at in one step, and how many lie before them: an urgent octet out of band does.
    pub(super) fn visible(&self) -> (u64, u64) {
        match self.urgent_ahead() {
            None => (0, u64::MAX),
            Some(0) if self.cfg.receive.urgent == UrgentDelivery::OutOfBand => (1, u64::MAX),
            Some(0) => (0, u64::MAX),
            Some(ahead) => (0, ahead),
        }
    }
}
