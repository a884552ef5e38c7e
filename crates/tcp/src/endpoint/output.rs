//! What leaves, in order of need: reset, handshake, retransmission, tail probe, new data, unmarked holes, window probe,
//! bare ACK.

use super::mtu_search::ProbeNow;
use super::refused::Outlet;
use super::watch::{SendCause, Told};
use super::write::Train;
use super::{Endpoint, Probing, SendSide, State};
use crate::cx::Cx;
use crate::pattern::Payload;
use crate::send::SendSlice;
use crate::timers::TimerKind;
use base::{Bytes, SeqRange};
use recovery::SentSegment;
use trace::Observer;
use wire::{Flags, MAX_HEADER};

/// Where `poll_transmit` writes a header. One per stack.
#[derive(Clone, Debug)]
pub struct TxBuf {
    /// The header's bytes; the first `Transmit::header_len` count.
    pub header: [u8; MAX_HEADER],
    /// Most payload bytes of one frame when the device cuts super-segments; zero when it does not.
    pub tso_max_bytes: u32,
}

impl TxBuf {
    /// An empty buffer for a device that takes frames of up to `tso_max_bytes` payload bytes (zero: one segment).
    pub fn new(tso_max_bytes: u32) -> Self {
        Self { header: [0; MAX_HEADER], tso_max_bytes }
    }
}

/// A frame that is to leave.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Bytes of header in the [`TxBuf`]; its TCP checksum is not filled.
    pub header_len: usize,
    /// Offset of the payload from the front of the send buffer.
    pub(super) offset: Bytes,
    /// Payload bytes.
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
    /// Returns the next frame; call until `None`. Fetch its payload with [`Self::payload`] before calling again.
    pub fn poll_transmit<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if self.outlet == Outlet::Refuses {
            self.poll_refused(cx, out);
            return None;
        }
        if self.life.take_reset() {
            return Some(self.send_reset(cx, out));
        }
        if self.life.take_syn() {
            return Some(self.send_syn(cx, out));
        }
        if self.may_send() {
            if let Some(sent) = self.send_data(cx, out) {
                return Some(sent);
            }
            if matches!(self.snd.rec.probing(), Probing::Due(_)) {
                return self.send_probe(cx, out);
            }
        }
        let woken = self.snd.on_held(&self.cfg, cx.now);
        self.note_writable(woken);
        self.note_held(cx.now);
        #[cfg(not(longhaul_unwatched))]
        self.emit_limit(cx);
        if self.snd.take_bare_probe() {
            return Some(self.send_bare_probe(cx, out));
        }
        if self.rcv.owes_ack() && self.life.state() != State::SynSent {
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
            SendSlice::Contiguous(bytes) => Payload::Bytes(bytes),
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
        let waiting = self.snd.space.side() == SendSide::FinQueued || self.snd.data_end() != self.snd.space.nxt();
        self.life.rst_due()
            || self.life.syn_due()
            || self.rcv.owes_ack()
            || self.snd.owes_bare_probe()
            || (self.may_send() && (waiting || self.snd.rec.tail.is_due()))
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# Pacing spreads the burst that the end of an episode may allow.
    //= specs/rfc6675.md#next-segment
    //# When no lost hole is left, new data is sent, if the peer's window takes it.
    pub(super) fn send_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if self.snd.rec.tail.is_due() {
            return self.send_tail_probe(cx, out);
        }
        if let Some(left) = self.frto_segments().filter(|_| !self.snd.rec.forced()) {
            return self.send_in_place_of_retransmissions(cx, out, left);
        }
        let retransmission = self.snd.rec.board.next_lost();
        if retransmission.is_none() && self.snd.space.side() == SendSide::FinSent && !self.snd.has_unmarked() {
            return None;
        }
        if retransmission.is_none()
            && self.snd.data_end() == self.snd.space.nxt()
            && self.snd.space.side() == SendSide::Open
        {
            self.snd.rec.sampler.on_app_limited(self.snd.rec.board.pipe());
            if !self.snd.has_unmarked() {
                return None;
            }
        }
        if let Some(until) = self.snd.paced_until(&self.cfg, cx.now) {
            // The timer looks again. Traces know of it by `Limited`.
            if self.timers.deadline(TimerKind::Pace) != Some(until) {
                self.timers.arm(TimerKind::Pace, until, self.cfg.timers.granularity);
            }
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
        if !self.snd.rec.forced() && len > self.snd.allowance(&self.cfg) {
            self.snd.usage.on_blocked(self.snd.space.nxt());
            return None;
        }
        let cause = self.cause_of_retransmission(self.snd.rec.forced());
        self.snd.rec.force(false);
        Some(self.resend(cx, out, segment, cause))
    }

    /// A segment leaves again.
    pub(super) fn resend<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        segment: &SentSegment,
        cause: SendCause,
    ) -> Transmit {
        let range = segment.range();
        self.snd.on_sent_again(cx.now, self.ts.tsval(cx.now), segment);
        let train = self.snd.train_at(&self.cfg, cx.now, segment);
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
            ProbeNow::Send(len) if self.snd.planned() == 0 => return Some(self.send_mtu_probe(cx, out, len)),
            ProbeNow::Wait if self.snd.planned() == 0 => {
                self.snd.usage.on_blocked(self.snd.space.nxt());
                return None;
            }
            _ => {}
        }
        let size = self.segment_size();
        let unsent = self.snd.data_end().distance_from(self.snd.space.nxt());
        let fin_waits = self.snd.space.side() == SendSide::FinQueued;
        if unsent == 0 {
            if fin_waits && self.snd.fin_has_to_wait(&self.cfg.send) {
                self.wait_for_window(cx, true);
                return None;
            }
            return if fin_waits { Some(self.emit_new(cx, out, 0, true, SendCause::New)) } else { None };
        }
        if self.snd.chunks_config(&self.cfg).is_some() {
            let len = self.next_of_burst(cx, out)?;
            return Some(self.emit_new(cx, out, len, fin_waits && len == unsent, self.cause_of_new::<O>(len)));
        }
        let usable = self.snd.space.usable();
        if self.snd.rec.board.is_empty() && usable > 0 {
            self.snd.restart_if_idle(&self.cfg, cx.now, self.tally.since_data_sent(cx.now));
        }
        let mut len = unsent.min(usable).min(self.burst(out));
        if len > size {
            // Whole segments only; what remains is judged by itself next time.
            len -= len % size;
        }
        let allowance = self.snd.allowance(&self.cfg);
        if len > allowance {
            len = if allowance >= size { allowance - allowance % size } else { len };
            if len > allowance {
                self.snd.usage.on_blocked(self.snd.space.nxt());
                return None;
            }
        }
        if len < size && !self.snd.small_may_leave(&self.cfg.send, self.is_urgent(), len, unsent) {
            self.wait_for_window(cx, usable < unsent.min(size));
            return None;
        }
        Some(self.emit_new(cx, out, len, fin_waits && len == unsent, self.cause_of_new::<O>(len)))
    }

    /// Most bytes of one frame.
    fn burst(&self, out: &TxBuf) -> Bytes {
        // A device that cuts a frame would repeat its urgent pointer.
        if self.ecn.owes_cwr() || self.is_urgent() {
            self.segment_size()
        } else {
            let allowed = self.snd.pacer.as_ref().map_or(Bytes::MAX, |pacer| pacer.allowed());
            out.tso_max_bytes.min(allowed).max(self.segment_size())
        }
    }

    /// Nothing is in flight that could bring news of the window: the persist timer has to.
    pub(super) fn wait_for_window<O: Observer>(&mut self, cx: &mut Cx<'_, O>, by_window: bool) {
        if by_window && self.snd.rec.board.is_empty() && self.snd.rec.probing() == Probing::Idle && !self.is_early() {
            self.snd.rec.set_probing(Probing::Waiting(0));
            self.arm_loss_timer(cx);
        }
    }

    /// `len` bytes of new data leave, and the FIN behind them if `fin`.
    pub(super) fn emit_new<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        len: Bytes,
        fin: bool,
        cause: SendCause,
    ) -> Transmit {
        let (size, tsval) = (self.segment_size(), self.ts.tsval(cx.now));
        let range = self.snd.on_new_data(cx.now, tsval, len, fin, size);
        self.emit_data(cx, out, Outgoing { range, retransmits: 0, train: Train::No, cause })
    }

    //= specs/rfc6675.md#next-segment
    //# When there is no new data either, the holes below the highest SACKed byte are sent, each once.
    fn retransmit_unmarked<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Option<Transmit> {
        if !self.snd.has_unmarked() || self.snd.allowance(&self.cfg) < self.snd.space.smss() {
            return None;
        }
        let segment = self.snd.rec.board.next_unmarked_hole().or_else(|| self.snd.rec.board.take_rescue())?;
        Some(self.resend(cx, out, &segment, SendCause::Additional))
    }
}
