//! What leaves, in order of need: reset, handshake, retransmission, tail probe, new data, unmarked holes, window probe,
//! bare ACK.

use super::mtu_search::ProbeNow;
use super::refused::Outlet;
use super::watch::{SendCause, Told};
use super::write::Train;
use super::{Endpoint, Probing, SendSide, State};
use crate::config::{NagleConfig, WindowProbe};
use crate::cx::Cx;
use crate::pattern::Payload;
use crate::send::SendSlice;
use crate::send::nagle::{SmallSegment, Takes};
use crate::timers::TimerKind;
use base::{Bytes, Instant, SeqNum, SeqRange};
use recovery::{Episode, LimitedTransmit, SentSegment};
use trace::Observer;
use wire::{Flags, MAX_HEADER};

/// Where `poll_transmit` writes a header. One per stack.
#[derive(Clone, Debug)]
pub struct TxBuf {
    /// The header's octets; the first `Transmit::header_len` count.
    pub header: [u8; MAX_HEADER],
    /// Most payload octets of one frame when the device cuts super-segments; zero when it does not.
    pub tso_max_bytes: u32,
}

impl TxBuf {
    /// An empty buffer for a device that takes frames of up to `tso_max_bytes` payload octets (zero: one segment).
    pub fn new(tso_max_bytes: u32) -> Self {
        Self { header: [0; MAX_HEADER], tso_max_bytes }
    }
}

/// A frame that is to leave.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Octets of header in the [`TxBuf`]; its TCP checksum is not filled.
    pub header_len: usize,
    /// Offset of the payload from the front of the send buffer.
    pub(super) offset: Bytes,
    /// Payload octets.
    pub len: Bytes,
    /// Segment size, when `len` is more than one segment.
    pub gso_size: Option<u16>,
}

/// A data segment about to be built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub range: SeqRange,
    pub retransmits: u8,
    pub train: Train,
    pub cause: SendCause,
}

impl Endpoint {
    //= specs/rfc5681.md#acknowledging
    //# An arriving segment causes no more than one ACK.
    /// The next frame; call until `None`. Its payload is had from [`Self::payload`] before the next call.
    pub fn poll_transmit<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if self.outlet == Outlet::Refuses {
            self.poll_refused(cx, out);
            return None;
        }
        if self.rst_due {
            self.rst_due = false;
            return Some(self.send_reset(cx, out));
        }
        if self.syn_due {
            self.syn_due = false;
            return Some(self.send_syn(cx, out));
        }
        if self.may_send() {
            if let Some(sent) = self.send_data(cx, out) {
                return Some(sent);
            }
            if matches!(self.snd.rec.probe, Probing::Due(_)) {
                return self.send_probe(cx, out);
            }
        }
        self.after_run(cx.now);
        self.note_held(cx.now);
        #[cfg(not(longhaul_unwatched))]
        self.emit_limit(cx);
        if self.snd.bare_probe_due {
            self.snd.bare_probe_due = false;
            return Some(self.send_bare_probe(cx, out));
        }
        if self.rcv.owes_ack() && self.state != State::SynSent {
            let nxt = self.snd.space.nxt();
            return Some(self.send_segment(cx, out, SeqRange::new(nxt, nxt), Flags::NONE, Told::of(SendCause::Ack)));
        }
        None
    }

    /// The payload of a frame that was just polled.
    pub fn payload<'a>(&'a self, transmit: &Transmit, scratch: &'a mut Vec<u8>) -> Payload<'a> {
        if transmit.len == 0 {
            return Payload::Bytes(&[]);
        }
        match self.snd.buffer.slice(transmit.offset, transmit.len) {
            SendSlice::Contiguous(octets) => Payload::Bytes(octets),
            SendSlice::Pattern { offset, len } => Payload::Pattern { offset, len },
            SendSlice::Wrapped(front, back) => {
                scratch.clear();
                scratch.extend_from_slice(front);
                scratch.extend_from_slice(back);
                Payload::Bytes(scratch)
            }
        }
    }

    /// Whether `poll_transmit` is worth calling: something is due, or data waits (perhaps for a window).
    #[inline]
    pub(crate) fn wants_to_send(&self) -> bool {
        let waiting = self.snd.space.side() == SendSide::FinQueued || self.data_end() != self.snd.space.nxt();
        self.rst_due
            || self.syn_due
            || self.rcv.owes_ack()
            || self.snd.bare_probe_due
            || (self.may_send() && (waiting || self.snd.rec.tail.is_due()))
    }

    /// One past the last octet the application has written.
    #[inline]
    pub(super) fn data_end(&self) -> SeqNum {
        self.snd.space.una() + self.snd.buffer.len()
    }

    //= specs/rfc9937.md#each-ack
    //# The window is what is in flight plus what may be sent.
    //= specs/rfc9937.md#relations
    //# Outside episodes nothing changes.
    //= specs/rfc8985.md#other-algorithms
    //# Proportional rate reduction decides what is sent after losses that RACK detects.
    //= specs/rfc6675.md#recovery
    //# Before recovery, a duplicate ACK lets new data leave if the window has room for a segment.
    /// Octets that may leave now as far as congestion control goes. An empty pipe always admits one segment, a FIN behind
    /// it included: nothing else would bring the next acknowledgement.
    #[inline]
    pub(super) fn allowance(&self) -> Bytes {
        let (window, pipe) = (self.snd.cc.window().cwnd(), self.snd.rec.board.pipe());
        let room = match (&self.snd.rec.reduction, self.cfg.recovery.limited_transmit) {
            (Some(reduction), _) => reduction.quota(),
            (None, LimitedTransmit::Off) if !self.snd.rec.episode.repairs() => {
                window.saturating_sub(self.flight_size())
            }
            (None, _) => window.saturating_sub(pipe),
        };
        if pipe == 0 { room.max(self.snd.space.smss() + 1) } else { room }
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# Pacing spreads the burst that the end of an episode may allow.
    //= specs/rfc6675.md#next-segment
    //# When no lost hole is left, new data is sent, if the peer's window takes it.
    pub(super) fn send_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if self.snd.rec.tail.is_due() {
            return self.send_tail_probe(cx, out);
        }
        if let Some(left) = self.frto_segments().filter(|_| !self.snd.rec.forced) {
            return self.send_in_place_of_retransmissions(cx, out, left);
        }
        let retransmission = self.snd.rec.board.next_lost();
        if retransmission.is_none() && self.snd.space.side() == SendSide::FinSent && !self.has_unmarked() {
            return None;
        }
        if retransmission.is_none()
            && self.data_end() == self.snd.space.nxt()
            && self.snd.space.side() == SendSide::Open
        {
            self.snd.rec.sampler.on_app_limited(self.snd.rec.board.pipe());
            if !self.has_unmarked() {
                return None;
            }
        }
        if self.is_paced(cx.now) {
            return None;
        }
        if let Some(segment) = retransmission {
            return self.retransmit(cx, out, &segment);
        }
        if let Some(sent) = self.send_new(cx, out) {
            return Some(sent);
        }
        self.retransmit_unmarked(cx, out)
    }

    /// Whether the pacer holds everything back; if so, a timer looks again.
    #[inline]
    fn is_paced(&mut self, now: Instant) -> bool {
        // A connection whose controller does not pace has no pacer. The pacer is taken out while it decides, since what is
        // ready is asked of the whole endpoint.
        let mut pacer = match self.snd.pacer.take() {
            Some(pacer) => pacer,
            None if self.snd.cc.pacing().is_none() => return false,
            None => Box::default(),
        };
        let ready = || {
            // A FIN that was sent has a number behind the data.
            let unsent = self.data_end().distance_from(self.snd.space.nxt().min(self.data_end()));
            (self.snd.rec.board.lost_bytes() + unsent).min(self.allowance())
        };
        let until = pacer.blocked_until(now, self.snd.space.smss(), || self.snd.cc.pacing(), ready);
        self.snd.pacer = Some(pacer);
        let Some(until) = until else { return false };
        if self.timers.deadline(TimerKind::Pace) != Some(until) {
            self.timers.arm(TimerKind::Pace, until, self.cfg.timers.granularity);
        }
        true
    }

    //= specs/rfc9937.md#each-ack
    //# While nothing was sent in the episode, at least one SMSS may be sent.
    //= specs/rfc8985.md#other-algorithms
    //# A segment marked lost is not retransmitted before congestion control lets it.
    /// Sends a lost segment again, if the allowance permits or a forced one is due.
    fn retransmit<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        segment: &SentSegment,
    ) -> Option<Transmit> {
        // A FIN behind a full segment occupies a number, but the window counts data.
        let len = segment.xmit.end.distance_from(segment.start).min(self.snd.space.smss());
        if !self.snd.rec.forced && len > self.allowance() {
            self.snd.usage.on_blocked(self.snd.space.nxt());
            return None;
        }
        let cause = self.cause_of_retransmission(self.snd.rec.forced);
        self.snd.rec.forced = false;
        Some(self.resend(cx, out, segment, cause))
    }

    //= specs/rfc8985.md#sending-a-probe
    //# A probe is recorded like any other transmission.
    pub(super) fn resend<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        segment: &SentSegment,
        cause: SendCause,
    ) -> Transmit {
        let range = segment.range();
        let stamp = self.snd.rec.sampler.stamp(cx.now, self.snd.rec.board.pipe());
        let tsval = self.ts.tsval(cx.now);
        self.snd.rec.board.on_retransmitted(segment.id, tsval, stamp, cx.now);
        if let Some(undo) = self.snd.rec.undo.as_mut().filter(|_| self.snd.rec.episode.repairs()) {
            undo.on_retransmitted(range);
        }
        if let Some(sent) = self.snd.rec.board.get(segment.id) {
            self.snd.rec.detector.on_sent(&sent);
        }
        let train = self.train_at(cx.now, segment);
        self.emit_data(cx, out, Outgoing { range, retransmits: segment.retransmits.saturating_add(1), train, cause })
    }

    //= specs/rfc9293.md#windows
    //# No new data leaves beyond the right edge of the peer's window.
    //= specs/rfc7323.md#window-scale
    //# No new data, other than a probe of a closed window, is sent beyond the window last received.
    /// New data, or the FIN behind it.
    fn send_new<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if self.snd.space.side() == SendSide::FinSent || self.held_by_marks(cx) {
            return None;
        }
        self.renew_path(cx.now);
        match self.mtu_probe_now(cx.now) {
            ProbeNow::Send(len) if self.planned() == 0 => return Some(self.send_mtu_probe(cx, out, len)),
            ProbeNow::Wait if self.planned() == 0 => {
                self.snd.usage.on_blocked(self.snd.space.nxt());
                return None;
            }
            _ => {}
        }
        let size = self.segment_size();
        let unsent = self.data_end().distance_from(self.snd.space.nxt());
        let fin_waits = self.snd.space.side() == SendSide::FinQueued;
        if unsent == 0 {
            if fin_waits && self.fin_has_to_wait() {
                self.wait_for_window(cx, true);
                return None;
            }
            return if fin_waits { Some(self.emit_new(cx, out, 0, true, SendCause::New)) } else { None };
        }
        if self.chunks_config().is_some() {
            let len = self.next_of_burst(cx, out)?;
            return Some(self.emit_new(cx, out, len, fin_waits && len == unsent, self.cause_of_new::<O>(len)));
        }
        let usable = self.snd.space.usable();
        if self.snd.rec.board.is_empty() && usable > 0 {
            self.restart_if_idle(cx.now);
        }
        let mut len = unsent.min(usable).min(self.burst(out));
        if len > size {
            // Whole segments only; what remains is judged by itself next time.
            len -= len % size;
        }
        let allowance = self.allowance();
        if len > allowance {
            len = if allowance >= size { allowance - allowance % size } else { len };
            if len > allowance {
                self.snd.usage.on_blocked(self.snd.space.nxt());
                return None;
            }
        }
        if len < size && !self.small_may_leave(len, unsent, fin_waits) {
            self.wait_for_window(cx, usable < unsent.min(size));
            return None;
        }
        Some(self.emit_new(cx, out, len, fin_waits && len == unsent, self.cause_of_new::<O>(len)))
    }

    /// Most octets of one frame.
    fn burst(&self, out: &TxBuf) -> Bytes {
        // A device that cuts a frame would repeat its urgent pointer.
        if self.owes_cwr() || self.is_urgent() {
            self.segment_size()
        } else {
            let allowed = self.snd.pacer.as_ref().map_or(Bytes::MAX, |pacer| pacer.allowed());
            out.tso_max_bytes.min(allowed).max(self.segment_size())
        }
    }

    fn small_may_leave(&self, len: Bytes, unsent: Bytes, fin_waits: bool) -> bool {
        let takes_all = match (len == unsent, fin_waits) {
            (true, true) => Takes::AllAndFin,
            (true, false) => Takes::All,
            (false, _) => Takes::Part,
        };
        let outstanding = self.snd.space.outstanding(self.snd.space.nxt());
        let nagle = if self.is_urgent() { NagleConfig::Off } else { self.cfg.send.nagle };
        SmallSegment { len, takes_all, outstanding, max_wnd: self.snd.space.max_wnd() }.may_leave(nagle)
    }

    /// A FIN has a number, which a closed window does not take. Where probes carry octets it is as good a probe as any.
    fn fin_has_to_wait(&self) -> bool {
        self.snd.space.usable() == 0 && self.cfg.send.window_probe == WindowProbe::Empty
    }

    /// Nothing is in flight that could bring news of the window: the persist timer has to.
    pub(super) fn wait_for_window<O: Observer>(&mut self, cx: &mut Cx<'_, O>, by_window: bool) {
        if by_window && self.snd.rec.board.is_empty() && self.snd.rec.probe == Probing::Idle && !self.is_early() {
            self.snd.rec.probe = Probing::Waiting(0);
            self.arm_loss_timer(cx);
        }
    }

    //= specs/rfc8985.md#sending-a-probe
    //# A probe is recorded like any other transmission.
    //= specs/rfc6298.md#managing-the-timer
    //# A transmission of data starts the timer if it does not run.
    pub(super) fn emit_new<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        len: Bytes,
        fin: bool,
        cause: SendCause,
    ) -> Transmit {
        let (start, size) = (self.snd.space.nxt(), self.segment_size());
        let range = SeqRange::new(start, start + len + u32::from(fin));
        if self.snd.rec.board.is_empty() {
            let idle = cx.now.since(self.snd.rec.rto_base());
            if idle > self.snd.rec.rto.current().duration() {
                self.snd.cc.on_idle_restart(idle);
            }
            self.snd.rec.restart_rto(cx.now);
        }
        self.snd.space.on_sent(range.end);
        self.cover_chunks(start + len);
        if fin {
            self.snd.space.on_fin_sent();
        }
        if len < size {
            self.snd.space.on_small_segment(range.end);
        }
        let tsval = self.ts.tsval(cx.now);
        let mut at = start;
        // One record per segment, also inside a super-segment.
        loop {
            let rest = range.end.distance_from(at);
            let part = if rest > size + u32::from(fin) { size } else { rest };
            let stamp = self.snd.rec.sampler.stamp(cx.now, self.snd.rec.board.pipe());
            let id = self.snd.rec.board.on_sent(SeqRange::new(at, at + part), tsval, stamp, cx.now);
            if let Some(segment) = self.snd.rec.board.get(id) {
                self.snd.rec.detector.on_sent(&segment);
            }
            at += part;
            if at == range.end {
                break;
            }
        }
        self.emit_data(cx, out, Outgoing { range, retransmits: 0, train: Train::No, cause })
    }

    /// RFC 6675 NextSeg rules 3 and 4, for detectors that ask for them: holes not known to be lost.
    fn has_unmarked(&self) -> bool {
        matches!(self.snd.rec.episode, Episode::Recovery { .. }) && self.snd.rec.detector.fills_unmarked_holes()
    }

    //= specs/rfc6675.md#next-segment
    //# When there is no new data either, the holes below the highest SACKed octet are sent, each once.
    fn retransmit_unmarked<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if !self.has_unmarked() || self.allowance() < self.snd.space.smss() {
            return None;
        }
        let segment = self.snd.rec.board.next_unmarked_hole().or_else(|| self.snd.rec.board.take_rescue())?;
        Some(self.resend(cx, out, &segment, SendCause::Additional))
    }

    //= specs/rfc6298.md#managing-the-timer
    //# No segment is retransmitted by the timer earlier than one RTO after it was last sent.
    /// When the oldest outstanding segment was last sent, or the timer restarted, whichever is later.
    pub(super) fn rto_origin(&self) -> Instant {
        match self.snd.rec.board.first() {
            Some(first) if first.retransmits > 0 => self.snd.rec.rto_base().max(first.xmit.at),
            _ => self.snd.rec.rto_base(),
        }
    }
}
