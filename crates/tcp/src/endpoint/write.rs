//! Writing (RFC 9293 §3.9.1.2): octets or the position-coded pattern, how much is taken, and when a writer is woken.

use super::refused::Outlet;
use super::{Endpoint, News, SendSide};
use crate::config::{CorkConfig, NagleConfig, PushConfig, SendAccounting, SendConfig, SendGrowth};
use crate::cx::Cx;
use crate::event::WriteError;
use crate::send::SendBuffer;
use crate::send::burst::{Scope, SmallRule};
use base::{Bytes, Instant};
use recovery::{Episode, SegmentId, SentSegment};
use trace::Observer;

/// Free octets of the send buffer for which a writer is woken. Waiting for half of a large buffer would let a flight that
/// nearly fills it run dry.
const WORTH_A_WRITE: Bytes = 128 << 10;

/// What is at the end of a write. Segmenters that keep no chunks make no difference between these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing special: what was written is pushed.
    #[default]
    None,
    /// More is to come at once: a small segment at the end waits for it, with nothing in flight no longer than one RTO.
    More,
    /// The end of a record: no segment carries octets from both sides of it.
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
        if self.chunks_config().is_some() {
            let put = |buffer: &mut SendBuffer, at: u64, octets: Bytes| {
                buffer.append(&data[at as usize..][..octets as usize]);
            };
            return Ok(self.write_in_chunks(cx, len, boundary, put) as usize);
        }
        let taken = self.snd.buffer.write(&data[..self.below_lowat(len) as usize]);
        self.snd.write_blocked = taken < data.len();
        Ok(taken)
    }

    /// Like [`Self::write`], for `len` octets of the pattern that continues where the last call ended.
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
        if self.chunks_config().is_some() {
            let put = |buffer: &mut SendBuffer, _: u64, octets: Bytes| buffer.append_pattern(octets);
            return Ok(self.write_in_chunks(cx, len, boundary, put));
        }
        let taken = self.snd.buffer.write_pattern(self.below_lowat(len));
        self.snd.write_blocked = taken < len;
        Ok(taken)
    }

    fn may_write(&mut self) -> Result<(), WriteError> {
        if self.outlet == Outlet::Reopened {
            self.retry_refused();
        }
        match self.closed {
            Some(reason) => Err(WriteError::Closed(reason)),
            None if self.snd.space.side() != SendSide::Open => Err(WriteError::Shutdown),
            None => Ok(()),
        }
    }

    /// Of `len` octets as many as may wait to be sent.
    fn below_lowat(&self, len: u64) -> u64 {
        self.cfg.send.notsent_lowat.map_or(len, |lowat| len.min(u64::from(lowat.saturating_sub(self.not_let_go()))))
    }

    /// Takes up to `len` octets, of which `put` appends as many as it is told from a position on. Chunks that become full
    /// may leave before the rest is taken, and what is left of them is filled up again.
    fn write_in_chunks<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        len: u64,
        boundary: Boundary,
        put: impl Fn(&mut SendBuffer, u64, Bytes),
    ) -> u64 {
        let Some(&cfg) = self.chunks_config() else { return 0 };
        let mut taken = 0;
        while taken < len {
            let goal = self.chunk_goal(&cfg);
            let room = match self.snd.buffer.chunks().and_then(|chunks| chunks.room(goal)) {
                Some(room) => room,
                None if !self.has_room() => break,
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
        self.snd.write_blocked = taken < len;
        if taken > 0 {
            self.end_write(cx, boundary);
        }
        self.snd.write_blocked = taken < len;
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
        let (half, blocked) = (self.snd.space.max_wnd() / 2, self.snd.write_blocked);
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
            Boundary::None | Boundary::Record => self.small_rule(),
        };
        self.look_now(cx, rule, Scope::All);
    }

    /// Looks at the chunks at once, if nothing else has to leave before them.
    fn look_now<O: Observer>(&mut self, cx: &mut Cx<'_, O>, rule: SmallRule, scope: Scope) {
        let free = self.may_send() && self.snd.rec.episode == Episode::Open && self.snd.rec.board.lost_bytes() == 0;
        if free && !self.snd.rec.tail.is_due() && self.snd.cc.pacing().is_none() {
            self.let_go(cx, rule, scope);
        } else {
            self.look_at_chunks(rule);
        }
    }

    /// Whether a chunk may be begun.
    fn has_room(&self) -> bool {
        let waits = self.cfg.send.notsent_lowat.is_some_and(|lowat| self.not_let_go() >= lowat);
        !waits && self.queued_memory() < self.snd.buffer.capacity()
    }

    /// Whether it is worth while to write: there is a good part of the buffer free, and not too much waits to be sent.
    pub fn is_writable(&self) -> bool {
        let (capacity, memory) = (self.snd.buffer.capacity(), self.queued_memory());
        let room = match (self.cfg.send.accounting, self.chunks_config()) {
            (SendAccounting::Chunks { .. }, Some(_)) => capacity >= memory && capacity - memory >= memory / 2,
            _ => self.snd.buffer.free() >= WORTH_A_WRITE.min(capacity / 2),
        };
        let waits = self.cfg.send.notsent_lowat.is_some_and(|lowat| 2 * u64::from(self.not_let_go()) >= lowat.into());
        room && !waits
    }

    /// Whether it is worth while to write; if not, `Writable` follows when it is.
    pub fn poll_writable(&mut self) -> bool {
        let writable = self.is_writable();
        self.snd.write_blocked |= !writable;
        writable
    }

    /// Wakes a writer that waits, if it is worth while.
    pub(super) fn wake_writer(&mut self) {
        if self.is_writable() {
            self.snd.write_blocked = false;
            self.pending.add(News::Writable);
        }
    }

    /// Chunks that wait for more to be written leave now: the application wants no delay.
    pub fn push_pending(&mut self) {
        if let Some(chunks) = self.snd.buffer.chunks_if_any() {
            chunks.urged = true;
        }
        self.look_at_chunks(SmallRule::Leave);
    }

    /// Segments of one burst that are sent again one after the other are a burst of their own: the last is pushed, this
    /// time. `segment` was just booked as sent again.
    pub(super) fn train_at(&mut self, now: Instant, segment: &SentSegment) -> Train {
        if self.cfg.send.push != PushConfig::Writes || self.chunks_config().is_none() {
            return Train::No;
        }
        let (start, end) = (segment.start, segment.xmit.end);
        let before = segment.id.0.checked_sub(1).and_then(|id| self.snd.rec.board.get(SegmentId(id)));
        let follows = before.filter(|before| {
            before.xmit.at == now && before.retransmits > 0 && self.burst_of(before.start) == self.burst_of(start)
        });
        if follows.is_none() {
            return Train::No;
        }
        // What a reduction allows was not told of this segment yet.
        let spent = if self.snd.rec.reduction.is_some() { end.distance_from(start) } else { 0 };
        let room = self.allowance().saturating_sub(spent);
        let goes_on = self.snd.rec.board.next_lost().is_some_and(|next| {
            next.start == end
                && next.xmit.end.distance_from(next.start) <= room
                && self.burst_of(next.start) == self.burst_of(start)
        });
        if goes_on {
            return Train::No;
        }
        let end = self.offset_of(end);
        self.snd.buffer.chunks_mut().split_at(end);
        Train::Ends
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
            self.look_at_chunks(self.small_rule());
        }
        if self.snd.write_blocked {
            self.wake_writer();
        }
    }

    /// The memory of what is buffered, as it counts against the buffer.
    pub(super) fn queued_memory(&self) -> Bytes {
        let cost = match self.cfg.send.accounting {
            SendAccounting::Octets => 0,
            SendAccounting::Chunks { head, record } => head + record,
        };
        let chunks = self.snd.buffer.chunks().map_or(0, |chunks| chunks.count());
        self.snd.buffer.len().saturating_add(chunks.saturating_mul(cost))
    }

    /// The send buffer grows to twice the memory that the segments of a congestion window take, if it may.
    pub(super) fn grow_send_buffer(&mut self) {
        let SendGrowth::WithWindow { max } = self.cfg.send.growth else { return };
        let (head, record) = match self.cfg.send.accounting {
            SendAccounting::Octets => (0, 0),
            SendAccounting::Chunks { head, record } => (head, record),
        };
        let smss = self.snd.space.smss();
        let window = self.snd.cc.window().cwnd().max(self.cfg.cc.initial_window.octets(smss));
        let segment = (smss + head).next_power_of_two() + record;
        let grown = (window / smss).saturating_mul(2 * segment).min(max);
        self.snd.buffer.set_capacity(self.snd.buffer.capacity().max(grown));
    }

    /// A writer waits: the buffer grows, unless the congestion window is full, and the writer is woken if there is room.
    pub(super) fn make_room(&mut self, now: Instant) {
        if self.segments_in_flight() < self.snd.cc.window().cwnd() / self.snd.space.smss() {
            self.grow_send_buffer();
            self.snd.usage.restart(now);
        }
        self.wake_writer();
    }
}
