//! The transmit path, in three steps: `prepare` applies what time or a call has changed,
//! [`Sender::next`](super::sender::Sender::next) decides what leaves and changes nothing, `apply` records it, arms timers and
//! builds the frame.

use super::books::{SegmentReport, cause_of_new, cause_of_retransmission, limit};
use super::outlet::Outlet;
use super::path::ProbeNow;
use super::sender::{Ask, Departure, HeldBy, NewData, TailProbe, Train, View};
use super::{Endpoint, Probing, Readiness, State};
use crate::cx::Cx;
use crate::pattern::Payload;
use crate::send::SendSlice;
use crate::timers::TimerKind;
use base::{Bytes, SeqRange};
use recovery::SegmentId;
use recovery::tlp::ProbeKind;
use trace::{Limit, Observer, SendCause};
use wire::{Flags, MAX_HEADER};

/// Where `poll_transmit` writes a header. One per stack.
#[derive(Clone, Debug)]
pub struct TxBuf {
    /// The header's bytes; only the first `Transmit::header_len` are valid.
    pub header: [u8; MAX_HEADER],
    /// Maximum payload bytes of one frame if the device segments super-segments; zero if it does not.
    pub tso_max_bytes: u32,
}

impl TxBuf {
    /// Creates an empty buffer for a device that takes frames of up to `tso_max_bytes` payload bytes (zero: one segment).
    pub fn new(tso_max_bytes: u32) -> Self {
        Self { header: [0; MAX_HEADER], tso_max_bytes }
    }
}

/// A frame to send.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Bytes of header in the [`TxBuf`]; its TCP checksum is not filled in.
    pub header_len: usize,
    /// Offset of the payload from the front of the send buffer.
    pub(super) offset: Bytes,
    /// Payload bytes.
    pub len: Bytes,
    /// Segment size, when `len` is more than one segment.
    pub gso_size: Option<u16>,
    /// What to do after the frame left.
    pub(crate) then: Then,
}

/// What to do after a frame left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Poll again: another frame may follow.
    Poll,
    /// Nothing until a call or a timer changes something: the frame left because no data could.
    Rest,
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
        let mut view = View::without_data(self.life.rst_due(), self.life.syn_due());
        self.prepare(cx, out, &mut view);
        let departure = match self.snd.next(&self.cfg, &view) {
            Departure::Held(by) => self.rest(cx, view.open, Some(by)),
            Departure::Nothing => self.rest(cx, view.open, None),
            leaves => leaves,
        };
        self.apply(cx, out, departure)
    }

    /// Returns the payload of a frame that was just polled.
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

    /// Returns whether to call `poll_transmit`: something is due, or data waits (perhaps for a window).
    #[inline]
    pub(crate) fn wants_to_send(&self) -> bool {
        self.life.rst_due()
            || self.life.syn_due()
            || self.rcv.owes_ack()
            || self.snd.rec.owes_bare_probe()
            || (self.may_send() && (self.snd.new_waits() || self.snd.rec.tail.is_due()))
    }

    /// Applies what time or a call has changed since the last departure, for the parts whose turn it is.
    // Inlined together with the decision, so that the values stay in registers between the two.
    #[inline(always)]
    fn prepare<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &TxBuf, view: &mut View) {
        if view.reset_due || view.syn_due || !self.may_send() {
            return;
        }
        view.open = true;
        view.lost = self.snd.lost();
        view.new = self.snd.new_waits().then(|| self.snd.unsent());
        if self.snd.rec.tail.is_due() || self.snd.rec.undo.is_some() {
            view.size = self.segment_size();
            self.snd.end_examination_without_data(view.size);
            if self.snd.rec.tail.is_due() || self.snd.examining().is_some() {
                return;
            }
        }
        if view.lost.is_none() && view.new.is_none() {
            self.snd.on_all_sent();
            if !self.snd.has_unmarked() {
                return;
            }
        }
        view.size = self.segment_size();
        if self.snd.rec.board.is_empty() {
            self.snd.before_flight(cx.now);
        }
        view.paced_until = self.snd.paced_until(&self.cfg, cx.now);
        if view.paced_until.is_none() && view.lost.is_none() && view.new.is_some() {
            (view.tso_max_bytes, view.urgent, view.owes_cwr) =
                (out.tso_max_bytes, self.is_urgent(), self.ecn.owes_cwr());
            self.prepare_new(cx, view);
        }
    }

    /// Prepares the turn of new data: the path's MTU, the window after a pause, and chunks.
    #[inline(always)]
    fn prepare_new<O: Observer>(&mut self, cx: &mut Cx<'_, O>, view: &mut View) {
        view.marks_until = self.held_by_marks(cx.now);
        if view.marks_until.is_some() {
            return;
        }
        if self.path().ages() {
            let at = self.path_cx();
            if self.extras.get_or_insert_default().path.prepare(&at, cx.now) {
                self.fit_path();
            }
            view.size = self.segment_size();
            view.mtu_probe = self.mtu_probe_now();
            if view.mtu_probe != ProbeNow::No && self.snd.planned() == 0 {
                return;
            }
        }
        if view.new == Some(0) {
            return;
        }
        if self.snd.must_prepare_new() {
            view.chunk_held = self.on_turn(cx, |snd, turn| ((), snd.prepare_new(turn))).1;
        }
    }

    /// Handles a moment at which no data leaves; `by` is the limit that holds waiting data back. Returns what leaves instead.
    fn rest<O: Observer>(&mut self, cx: &mut Cx<'_, O>, open: bool, by: Option<HeldBy>) -> Departure {
        if open {
            self.snd.forget_empty_probes();
        }
        if let Some(HeldBy::Nagle | HeldBy::Cork) = by {
            self.snd.on_rest_waits();
        }
        match by {
            Some(HeldBy::Cwnd | HeldBy::MtuSearch) => self.snd.usage.on_blocked(self.snd.space.nxt()),
            Some(HeldBy::PeerWindow | HeldBy::Nagle | HeldBy::Cork) if self.snd.wait_for_window(self.is_early()) => {
                self.arm_loss_timer(cx);
            }
            // The timer retries. The event `Limited` shows the wait in traces.
            Some(HeldBy::Pacer(until)) if self.timers.deadline(TimerKind::Pace) != Some(until) => {
                self.timers.arm(TimerKind::Pace, until, self.cfg.timers.granularity);
            }
            Some(HeldBy::Ecn(until)) if self.timers.deadline(TimerKind::Pace).is_none() => {
                self.arm(cx, TimerKind::Pace, until);
            }
            _ => {}
        }
        let woken = self.snd.on_held(&self.cfg, cx.now);
        self.pending.add_if(woken, Readiness::Writable);
        self.stats.note_held(cx.now, self.held());
        #[cfg(not(longhaul_unwatched))]
        if cx.is_observed() {
            let size = self.may_send().then(|| self.segment_size());
            let limit = size.map_or(Limit::Nothing, |size| limit(&self.cfg, &self.snd, cx.now, size));
            self.stats.emit_limit(cx, limit);
        }
        self.snd.next_bare(self.rcv.owes_ack() && self.life.state() != State::SynSent)
    }

    /// Records the departure, arms timers and builds the frame.
    #[inline]
    fn apply<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf, departure: Departure) -> Option<Transmit> {
        Some(match departure {
            Departure::Reset => {
                self.life.take_reset();
                self.send_reset(cx, out)
            }
            Departure::Syn => {
                self.life.take_syn();
                self.send_syn(cx, out)
            }
            Departure::Retransmit { id, forced } => {
                let cause = cause_of_retransmission(&self.snd, forced);
                self.snd.rec.force(false);
                self.send_again(cx, out, id, cause)?
            }
            Departure::TailProbe(probe) => self.send_tail_probe(cx, out, probe)?,
            Departure::Frto(new) => {
                self.snd.on_examined();
                self.send_new(cx, out, new, SendCause::Frto)
            }
            Departure::New(new) => self.send_new(cx, out, new, cause_of_new::<O>(&self.snd, new.len)),
            Departure::UnmarkedHole(id) => self.send_again(cx, out, id, SendCause::Additional)?,
            Departure::Rescue(id) => {
                self.snd.rec.board.spend_rescue(id);
                self.send_again(cx, out, id, SendCause::Additional)?
            }
            Departure::WindowProbe(ask) => self.send_window_probe(cx, out, ask),
            Departure::MtuProbe { len } => {
                let (at, tsval) = (self.path_cx(), self.ts.tsval(cx.now));
                let range = self.snd.on_mtu_probe(cx.now, tsval, len);
                self.extras.get_or_insert_default().path.on_probe_sent(&at, range);
                let cause = SendCause::MtuProbe;
                self.emit_data(cx, out, Outgoing { range, retransmits: 0, train: Train::No, cause })
            }
            Departure::BareProbe => {
                self.snd.rec.set_bare_probe(false);
                let (range, report) = self.bare_probe();
                self.send_segment(cx, out, range, Flags::NONE, report)
            }
            Departure::Ack => {
                let nxt = self.snd.space.nxt();
                let report = SegmentReport::of(SendCause::Ack);
                let ack = self.send_segment(cx, out, SeqRange::new(nxt, nxt), Flags::NONE, report);
                Transmit { then: if self.rcv.owes_ack() { Then::Poll } else { Then::Rest }, ..ack }
            }
            Departure::Held(_) | Departure::Nothing => return None,
        })
    }

    /// Sends new data, with the FIN behind it if `new` says so.
    #[inline]
    fn send_new<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        new: NewData,
        cause: SendCause,
    ) -> Transmit {
        let (size, tsval) = (self.segment_size(), self.ts.tsval(cx.now));
        let range = self.snd.on_new_data(cx.now, tsval, new, size);
        self.emit_data(cx, out, Outgoing { range, retransmits: 0, train: Train::No, cause })
    }

    /// Retransmits a segment.
    fn send_again<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        id: SegmentId,
        cause: SendCause,
    ) -> Option<Transmit> {
        let segment = self.snd.rec.board.get(id)?;
        let range = segment.range();
        self.snd.on_sent_again(cx.now, self.ts.tsval(cx.now), &segment);
        let train = self.snd.train_at(&self.cfg, cx.now, &segment);
        let retransmits = segment.retransmits.saturating_add(1);
        Some(self.emit_data(cx, out, Outgoing { range, retransmits, train, cause }))
    }

    /// Sends a tail loss probe, counts it, and restarts the retransmission timeout to wait for its answer (RFC 8985 §7.3).
    fn send_tail_probe<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        probe: TailProbe,
    ) -> Option<Transmit> {
        self.snd.rec.tail.reset();
        let (kind, transmit) = match probe {
            TailProbe::New(new) => (ProbeKind::New, self.send_new(cx, out, new, SendCause::TailProbe)),
            TailProbe::Again(id) => (ProbeKind::Retransmission, self.send_again(cx, out, id, SendCause::TailProbe)?),
        };
        let rare = self.stats.rare_mut();
        rare.probes = rare.probes.saturating_add(1);
        self.snd.rec.tail.on_sent(kind, self.snd.space.nxt());
        // The retransmission timeout covers the answer; no second probe follows.
        self.snd.rec.restart_rto(cx.now);
        self.arm_loss_timer(cx);
        Some(transmit)
    }

    fn send_window_probe<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf, ask: Ask) -> Transmit {
        self.snd.on_window_probe(ask);
        let transmit = match ask {
            Ask::Empty => {
                self.arm_loss_timer(cx);
                let (range, report) = self.bare_probe();
                return self.send_segment(cx, out, range, Flags::NONE, report);
            }
            Ask::New(new) => {
                self.snd.on_probe(new.len, self.segment_size());
                self.send_new(cx, out, new, SendCause::WindowProbe)
            }
        };
        self.arm_loss_timer(cx);
        transmit
    }

    /// Returns the range and report of a segment without data, one number below what the peer expects: the peer has to answer it
    /// (RFC 9293 §3.8.4; §3.10.7.4, first).
    fn bare_probe(&self) -> (SeqRange, SegmentReport) {
        let seq = self.snd.space.una() - 1;
        let cause = if self.snd.rec.probing() == Probing::Idle { SendCause::KeepAlive } else { SendCause::WindowProbe };
        (SeqRange::new(seq, seq), SegmentReport::of(cause))
    }
}
