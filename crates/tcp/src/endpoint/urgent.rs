//! Urgent data (RFC 9293 §3.8.5, RFC 6093): a mark in the stream of each direction.
//!
//! Owns the send urgent pointer; the mark of what was received is the receiver's. New programs should not use any of this
//! (SHLD-13).

use super::{Endpoint, News, Segment};
use crate::config::UrgentPointer;
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
            let end = self.snd.data_end();
            self.extras_mut().urgent.snd_up = Some(end);
            self.snd.look_by_settings(&self.cfg.send, true);
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
        let una = self.snd.space.una();
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
        if seg.repr.flags.contains(Flags::URG) && self.life.state().may_receive() {
            let news = self.rcv.on_urgent(&self.cfg.receive, seg.repr.seq, seg.repr.urgent);
            if news {
                self.pending.add(News::Urgent);
            }
        }
    }

    /// Octets to be read before the last urgent one; zero at the mark, none when no mark lies ahead.
    pub fn urgent_ahead(&self) -> Option<u64> {
        self.rcv.urgent_ahead()
    }

    /// The last urgent octet, kept out of the stream; it stays to be fetched.
    ///
    /// # Errors
    /// When there is none, because no mark lies ahead, the octet was fetched, or all octets are in the stream; or when it
    /// has not arrived.
    pub fn urgent_octet(&self) -> Result<u8, UrgentError> {
        self.rcv.urgent_octet(&self.cfg.receive)
    }

    /// Fetches the last urgent octet, which was kept out of the stream.
    ///
    /// # Errors
    /// As for [`Self::urgent_octet`].
    pub fn take_urgent_octet(&mut self) -> Result<u8, UrgentError> {
        self.rcv.take_urgent_octet(&self.cfg.receive)
    }
}
