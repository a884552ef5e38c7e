//! Writing (RFC 9293 §3.9.1.2): bytes or the position-coded pattern, how much is taken, and when a writer is woken.
//!
//! Whether more may leave is looked at when something happened that may let it: a write, a segment from the peer, a change of
//! settings, the pacer.

use super::network::probe_view;
use super::path::{Path, ProbeNow};
use super::refused::Outlet;
use super::sender::{HeldBy, Released, Sender, TurnCx};
use super::{Endpoint, News, SendSide};
use crate::config::{CorkConfig, NagleConfig, SendConfig};
use crate::cx::Cx;
use crate::event::WriteError;
use crate::send::SendBuffer;
use base::{Bytes, Instant};
use trace::Observer;

/// What is at the end of a write. Segmenters that keep no chunks make no difference between these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing special: what was written is pushed.
    #[default]
    None,
    /// More is to come at once: a small segment at the end waits for it, with nothing in flight no longer than one RTO.
    More,
    /// The end of a record: no segment carries bytes from both sides of it.
    Record,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many bytes of the pattern that continues where the last write ended ([`crate::pattern`]).
    Pattern(u64),
}

impl Source<'_> {
    /// Bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(data) => data.len() as u64,
            Self::Pattern(len) => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `len` bytes that begin at `from`.
    pub(super) fn append_to(&self, buffer: &mut SendBuffer, from: u64, len: Bytes) {
        match self {
            Self::Bytes(data) => buffer.append(&data[from as usize..][..len as usize]),
            Self::Pattern(_) => buffer.append_pattern(len),
        }
    }
}

impl Endpoint {
    /// The device takes several segments at once.
    pub(crate) fn send_bursts(&mut self) {
        self.snd.send_bursts(&self.cfg);
    }

    /// Takes as much of `data` as the send buffer has room for. A short count means that `Writable` will follow.
    ///
    /// # Errors
    /// After `shutdown`, or when the connection is over.
    pub fn write<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data: &[u8]) -> Result<usize, WriteError> {
        self.write_with(cx, Source::Bytes(data), Boundary::None).map(|taken| taken as usize)
    }

    /// Like [`Self::write`], for bytes or the pattern, and says what is at the end of it.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_with<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        source: Source<'_>,
        boundary: Boundary,
    ) -> Result<u64, WriteError> {
        self.may_write()?;
        let (taken, released) = self.on_turn(cx.now, |snd, turn| snd.write(turn, source, boundary));
        self.take_released(cx, released);
        Ok(taken)
    }

    /// Lends the sender what the turn of new data depends on, and returns what came of it.
    #[inline]
    pub(super) fn on_turn<T>(&mut self, now: Instant, act: impl FnOnce(&mut Sender, &TurnCx<'_>) -> T) -> T {
        let (size, idle) = (self.segment_size(), self.tally.since_data_sent(now));
        let (open, urgent, at) = (self.may_send(), self.is_urgent(), self.path_cx());
        let path = self.extras.as_ref().map_or(&Path::UNKNOWN, |extras| &extras.path);
        let probes_path = |snd: &Sender| path.searches() && path.probe_now(&at, &probe_view(snd, size)) != ProbeNow::No;
        let turn = TurnCx { cfg: &self.cfg, size, now, idle, open, urgent, probes_path: &probes_path };
        act(&mut self.snd, &turn)
    }

    /// Applies what came of a write or of the turn of new data. Returns what holds the next part back.
    pub(super) fn take_released<O: Observer>(&mut self, cx: &mut Cx<'_, O>, released: Released) -> Option<HeldBy> {
        self.note_writable(released.woken);
        if released.waits_for_window {
            self.wait_for_window(cx);
        }
        released.held
    }

    fn may_write(&mut self) -> Result<(), WriteError> {
        if self.outlet == Outlet::Reopened {
            self.retry_refused();
        }
        match self.life.closed() {
            Some(reason) => Err(WriteError::Closed(reason)),
            None if self.snd.space.side() != SendSide::Open => Err(WriteError::Shutdown),
            None => Ok(()),
        }
    }

    /// Whether it is worth while to write: there is a good part of the buffer free, and not too much waits to be sent.
    pub fn is_writable(&self) -> bool {
        self.snd.is_writable(&self.cfg)
    }

    /// Whether it is worth while to write; if not, `Writable` follows when it is.
    pub fn poll_writable(&mut self) -> bool {
        self.snd.poll_writable(&self.cfg)
    }

    /// A writer that waited may go on, if it is `woken`.
    #[inline]
    pub(super) fn note_writable(&mut self, woken: bool) {
        if woken {
            self.pending.add(News::Writable);
        }
    }

    /// Chunks that wait for more to be written leave now: the application wants no delay.
    pub fn push_pending(&mut self) {
        self.snd.push_pending();
    }

    /// Settings of the send side have changed.
    pub(super) fn follow_send_config(&mut self, before: &SendConfig) {
        let send = self.cfg.send;
        if (send.buffer, send.growth) != (before.buffer, before.growth) {
            self.snd.buffer.set_capacity(send.buffer);
        }
        let no_delay = send.nagle == NagleConfig::Off;
        let uncorked = before.cork == CorkConfig::On && send.cork == CorkConfig::Off;
        if no_delay && (uncorked || before.nagle != NagleConfig::Off) {
            self.push_pending();
        } else if uncorked {
            let urgent = self.is_urgent();
            self.snd.look_again(&self.cfg.send, urgent);
        }
        let woken = self.snd.buffer.writer_waits() && self.snd.wake_writer(&self.cfg);
        self.note_writable(woken);
    }

    //= specs/rfc9293.md#urgent-data
    //# Urgent data may have any length.
    /// Like [`Self::write`]; the last byte taken is the last urgent one. Earlier urgent data that is still on its way becomes
    /// part of it.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_urgent<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data: &[u8]) -> Result<usize, WriteError> {
        let taken = self.write(cx, data)?;
        if taken > 0 {
            let end = self.snd.data_end();
            self.extras_mut().urgent.set(end);
            self.snd.look_again(&self.cfg.send, true);
        }
        Ok(taken)
    }

    /// Urgent data was written and is not acknowledged.
    #[inline]
    pub(super) fn is_urgent(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.urgent.is_set())
    }
}
