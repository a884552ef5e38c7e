//! Writing (RFC 9293 §3.9.1.2): bytes or the position-coded pattern, how much is taken, and when a writer is woken.
//!
//! A segmenter that keeps chunks looks at them when something happened that may let them go: a write, a segment from the peer, a
//! change of settings, the pacer. What is let go is a burst, and leaves as soon as its turn comes.

use super::path::ProbeNow;
use super::refused::Outlet;
use super::sender::{ChunkCx, HeldBy};
use super::{Endpoint, News, SendSide};
use crate::config::{CorkConfig, NagleConfig, SendConfig};
use crate::cx::Cx;
use crate::event::WriteError;
use crate::send::SendBuffer;
use crate::send::burst::{Hold, Scope, SmallRule, Verdict};
use crate::send::chunks::Push;
use base::{Bytes, Instant};
use recovery::Episode;
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

/// Segments that are sent again together, as one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Train {
    /// There is none, or it goes on.
    No,
    /// The segment is the last one.
    Ends,
}

impl Endpoint {
    /// The device takes several segments at once.
    pub(crate) fn send_bursts(&mut self, now: Instant) {
        self.snd.send_bursts(&self.cfg, now);
    }

    /// Takes as much of `data` as the send buffer has room for. A short count means that `Writable` will follow.
    ///
    /// # Errors
    /// After `shutdown`, or when the connection is over.
    pub fn write<O: Observer>(&mut self, cx: &mut Cx<'_, O>, data: &[u8]) -> Result<usize, WriteError> {
        self.write_with(cx, data, Boundary::None)
    }

    /// Like [`Self::write`], and says what is at the end of `data`.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_with<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        data: &[u8],
        boundary: Boundary,
    ) -> Result<usize, WriteError> {
        self.may_write()?;
        let len = data.len() as u64;
        if self.snd.chunks_config(&self.cfg).is_some() {
            let put = |buffer: &mut SendBuffer, at: u64, bytes: Bytes| {
                buffer.append(&data[at as usize..][..bytes as usize]);
            };
            return Ok(self.write_in_chunks(cx, len, boundary, put) as usize);
        }
        let taken = self.snd.buffer.write(&data[..self.snd.below_lowat(&self.cfg, len) as usize]);
        self.snd.on_write(taken < data.len());
        Ok(taken)
    }

    /// Like [`Self::write`], for `len` bytes of the pattern that continues where the last call ended.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_pattern<O: Observer>(&mut self, cx: &mut Cx<'_, O>, len: u64) -> Result<u64, WriteError> {
        self.write_pattern_with(cx, len, Boundary::None)
    }

    /// Like [`Self::write_pattern`], and says what is at the end of it.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_pattern_with<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        len: u64,
        boundary: Boundary,
    ) -> Result<u64, WriteError> {
        self.may_write()?;
        if self.snd.chunks_config(&self.cfg).is_some() {
            let put = |buffer: &mut SendBuffer, _: u64, bytes: Bytes| buffer.append_pattern(bytes);
            return Ok(self.write_in_chunks(cx, len, boundary, put));
        }
        let taken = self.snd.buffer.write_pattern(self.snd.below_lowat(&self.cfg, len));
        self.snd.on_write(taken < len);
        Ok(taken)
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

    /// Takes up to `len` bytes: `put` appends as many as it is asked for, from a position on. Chunks that become full
    /// may leave before the rest is taken, and what is left of them is filled up again.
    fn write_in_chunks<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        len: u64,
        boundary: Boundary,
        put: impl Fn(&mut SendBuffer, u64, Bytes),
    ) -> u64 {
        let Some(&cfg) = self.snd.chunks_config(&self.cfg) else { return 0 };
        let mut taken = 0;
        while taken < len {
            let goal = self.snd.chunk_goal(&cfg, self.segment_size());
            let room = match self.snd.buffer.chunks().and_then(|chunks| chunks.room(goal)) {
                Some(room) => room,
                None if !self.snd.has_room(&self.cfg) => break,
                None => {
                    self.snd.buffer.chunks_mut().begin();
                    goal
                }
            };
            let part = Bytes::try_from(len - taken).unwrap_or(Bytes::MAX).min(room);
            put(&mut self.snd.buffer, taken, part);
            let filled = self.snd.buffer.chunks_mut().fill(part, taken);
            taken += u64::from(part);
            if taken < len && filled >= goal {
                self.on_full_chunk(cx);
            }
        }
        self.snd.on_write(taken < len);
        if taken > 0 {
            self.end_write(cx, boundary);
        }
        self.snd.on_write(taken < len);
        taken
    }

    /// A chunk became full and more is to be written: it may leave.
    fn on_full_chunk<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let half = self.snd.space.max_wnd() / 2;
        let chunks = self.snd.buffer.chunks_mut();
        if chunks.push_overdue(half) {
            chunks.mark_push();
            self.look_now(cx, SmallRule::Leave, Scope::All);
        } else if chunks.unsent() == 1 {
            self.look_now(cx, SmallRule::Leave, Scope::One);
        }
    }

    fn end_write<O: Observer>(&mut self, cx: &mut Cx<'_, O>, boundary: Boundary) {
        let (half, blocked) = (self.snd.space.max_wnd() / 2, self.snd.is_write_blocked());
        let chunks = self.snd.buffer.chunks_mut();
        if boundary == Boundary::Record && !blocked {
            chunks.end_record();
        }
        if boundary != Boundary::More || blocked || chunks.push_overdue(half) {
            chunks.mark_push();
        }
        let rule = match boundary {
            _ if blocked => SmallRule::Leave,
            Boundary::More => SmallRule::Hold,
            Boundary::None | Boundary::Record => self.snd.small_rule(&self.cfg.send, self.is_urgent()),
        };
        self.look_now(cx, rule, Scope::All);
    }

    /// Releases chunks, as many as `scope` and the rules allow. Returns what holds the next one back, if the rules do.
    pub(super) fn release_chunks<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        rule: SmallRule,
        scope: Scope,
    ) -> Option<HeldBy> {
        let chunks = *self.snd.chunks_config(&self.cfg)?;
        if self.snd.rec.board.is_empty() && self.snd.planned() == 0 {
            self.snd.restart_if_idle(&self.cfg, cx.now, self.tally.since_data_sent(cx.now));
        }
        loop {
            let about =
                ChunkCx { cfg: &self.cfg, chunks: &chunks, size: self.segment_size(), now: cx.now, rule, scope };
            let view = self.snd.view(&about)?;
            if !matches!(self.mtu_probe_now(), ProbeNow::No) {
                // What follows is the probe's, and chunks are looked at again behind it.
                self.snd.look_at_chunks(rule);
                return None;
            }
            match view.decide(&chunks) {
                Verdict::Send(bytes) => {
                    let push = if bytes > view.size { Push::First } else { Push::No };
                    self.snd.commit(bytes, push, view.size);
                    // A writer may have been waiting for that.
                    let woken = self.snd.is_write_blocked() && self.snd.make_room(&self.cfg, cx.now);
                    self.note_writable(woken);
                    if scope == Scope::One {
                        return None;
                    }
                }
                Verdict::Hold(hold) => {
                    if self.snd.planned() == 0 && matches!(hold, Hold::PeerWindow | Hold::Small) {
                        self.wait_for_window(cx);
                    }
                    return Some(self.snd.on_hold(&self.cfg.send, hold));
                }
            }
        }
    }

    /// Looks at the chunks at once, if nothing else has to leave before them.
    fn look_now<O: Observer>(&mut self, cx: &mut Cx<'_, O>, rule: SmallRule, scope: Scope) {
        let free = self.may_send() && self.snd.rec.episode() == Episode::Open && self.snd.rec.board.lost_bytes() == 0;
        if free && !self.snd.rec.tail.is_due() && self.snd.cc.pacing().is_none() {
            self.release_chunks(cx, rule, scope);
        } else {
            self.snd.look_at_chunks(rule);
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
        if let Some(chunks) = self.snd.buffer.chunks_if_any() {
            chunks.urged = true;
        }
        self.snd.look_at_chunks(SmallRule::Leave);
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
            self.snd.look_by_settings(&self.cfg.send, urgent);
        }
        let woken = self.snd.is_write_blocked() && self.snd.wake_writer(&self.cfg);
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
            self.snd.look_by_settings(&self.cfg.send, true);
        }
        Ok(taken)
    }

    /// Urgent data was written and is not acknowledged.
    #[inline]
    pub(super) fn is_urgent(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.urgent.is_set())
    }
}
