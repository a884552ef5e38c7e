//! Arriving segments, in the order RFC 9293 §3.10.7.4 prescribes, with the checks of RFC 5961 and RFC 7323.

use super::challenge::Allowance;
use super::receiver::{Around, Received, Receiver};
use super::refused::Outlet;
use super::{Endpoint, News, Origin, Segment, State};
use crate::config::{AckTimer, EcnResponse, MissingTimestamps, TimeWaitReset, UnsentAck};
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason};
use crate::options;
use crate::recv::Arrival;
use crate::timers::TimerKind;
use base::{Bytes, Instant, SeqNum, SeqRange};
use recovery::Episode;
use trace::{Event, Observer};
use wire::{Ecn, Flags, TcpRepr};

/// Bytes of an IP header of each version.
const IPV4_HEADER: Bytes = 20;
const IPV6_HEADER: Bytes = 40;

impl Endpoint {
    /// The world hands us a segment that arrived at `cx.now`.
    pub fn handle_segment<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        self.tally.on_arrival(cx.now, seg.payload.len());
        if self.outlet != Outlet::Open {
            self.retry_refused();
        }
        cx.emit(|| Event::SegmentReceived {
            seq: seg.repr.seq,
            len: seg.payload.len(),
            flags: seg.repr.flag_letters(),
            ack: seg.repr.ack,
            window: u32::from(seg.repr.window) << self.neg.snd_shift,
            blocks: seg.repr.options.sack.as_slice().len() as u8,
        });
        let disposition = match self.life.state() {
            State::Closed => Disposition::Dropped(DropReason::Closed),
            State::SynSent => self.in_syn_sent(cx, seg),
            _ => self.in_synchronized(cx, seg),
        };
        let urgent = self.is_urgent();
        self.snd.look_again(&self.cfg.send, urgent);
        self.snd.buffer.on_heard();
        if let Disposition::Challenge(reason) | Disposition::Dropped(reason) = disposition {
            let count = &mut self.tally.rare_mut().dropped[reason as usize];
            *count = count.saturating_add(1);
            cx.emit(|| Event::Dropped { reason: reason.name(), seq: seg.repr.seq, len: seg.payload.len() });
            if matches!(disposition, Disposition::Challenge(_)) && self.may_answer(cx, seg, reason) {
                self.rcv.due_ack();
            }
        }
        disposition
    }

    fn in_synchronized<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        if let Some(refusal) = self.check_segment(cx, seg) {
            return refusal;
        }
        let repr = &seg.repr;
        let Some(ack) = repr.ack else {
            return Disposition::Dropped(DropReason::NoAck);
        };
        if self.life.state() == State::SynReceived && self.is_deferred(cx.now, seg) {
            return Disposition::Accepted;
        }
        if self.life.state() == State::SynReceived && !self.in_syn_received(cx, repr) {
            return Disposition::Dropped(DropReason::BadAck);
        }
        if let Some(refusal) = self.check_ack(ack) {
            return refusal;
        }
        if let Some(ts) = repr.options.timestamps.filter(|_| self.neg.timestamps) {
            // Only now is it known that the segment belongs: a forged one would make the peer's own look old.
            self.ts.on_segment(ts.tsval, repr.seq, cx.now);
        }
        self.process_ack(cx, seg, ack);
        match (self.life.state(), self.life.closed()) {
            // No application waits for the peer to close: the segment meets no connection any more, and is answered so.
            (State::Closed, Some(CloseReason::Aborted)) => return Disposition::Dropped(DropReason::Closed),
            (State::Closed, _) => return Disposition::Accepted,
            _ => {}
        }
        self.take_urgent(seg);
        self.take_data(cx, seg)
    }

    //= specs/rfc9293.md#acceptance
    //# While the receive window is closed, acknowledgements, urgent pointers and resets still count.
    //= specs/rfc9293.md#acceptance
    //# A segment without a number in the receive window is dropped, and answered with an ACK unless it is a reset.
    //= specs/rfc2883.md#receiver
    //# A duplicate that the timestamp check refuses is reported too.
    //= specs/rfc7323.md#timestamps
    //# Once timestamps are in use, a segment without them is dropped, unless it is a reset.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# A segment whose timestamp is older than the one kept is dropped and answered with an ACK.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# A reset is not judged by its timestamp.
    //= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
    //# The timestamp is judged before the sequence number.
    /// Timestamp, sequence number, RST and SYN: the checks that come before the acknowledgement.
    fn check_segment<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Option<Disposition> {
        let repr = &seg.repr;
        let is_rst = repr.flags.contains(Flags::RST);
        let range = SeqRange::new(repr.seq, repr.seq + seg.seq_len());
        if self.neg.timestamps && !is_rst {
            match repr.options.timestamps {
                // RFC 7323 §5.3: PAWS comes before the window, and a duplicate is still reported.
                Some(ts) if self.ts.is_old(ts.tsval, cx.now) => {
                    self.note_duplicate(repr, range);
                    return Some(Disposition::Challenge(DropReason::OldTimestamp));
                }
                Some(_) => {}
                None if self.needs_timestamps(repr) => return Some(Disposition::Dropped(DropReason::OldTimestamp)),
                None => {}
            }
        }
        let rcv_nxt = self.rcv.rcv_nxt();
        if is_rst {
            return Some(self.on_reset(cx, repr.seq));
        }
        let is_syn = repr.flags.contains(Flags::SYN);
        if is_syn && self.life.state() == State::SynReceived && repr.seq == self.rcv.irs() {
            return match (repr.ack, self.life.origin()) {
                (None, _) => Some(self.repeat_syn_ack(cx)),
                // The SYN-ACK of a simultaneous open: its SYN is known already, its ACK is what counts (§3.5, figure 7).
                (Some(_), Origin::Active) => None,
                // The peer has seen our SYN-ACK, which only an ACK without SYN ends the handshake for.
                (Some(_), Origin::Passive) => Some(Disposition::Challenge(DropReason::OutOfWindow)),
            };
        }
        // MUST-66: a closed window takes no bytes, but what the header of the next segment says counts.
        let header_only = self.rcv.right_edge() == rcv_nxt && repr.seq == rcv_nxt && !is_syn;
        let judged = if header_only { SeqRange::new(rcv_nxt, rcv_nxt) } else { range };
        if !self.rcv.accepts(judged) {
            if self.life.state() == State::TimeWait && repr.flags.contains(Flags::FIN) {
                self.restart_time_wait(cx);
            }
            self.note_duplicate(repr, range);
            return Some(Disposition::Challenge(DropReason::OutOfWindow));
        }
        is_syn.then(|| self.on_syn(cx))
    }

    /// RFC 7323 §3.2: a segment that lost its option on the way is not trusted. But a peer that has restarted knows nothing
    /// of what was agreed, and needs an answer to its SYN.
    fn needs_timestamps(&self, repr: &TcpRepr) -> bool {
        self.cfg.options.timestamps_missing == MissingTimestamps::Dropped
            && self.life.state() != State::SynReceived
            && !repr.flags.contains(Flags::SYN)
    }

    //= specs/rfc5961.md#syns
    //# A SYN in a synchronized state is answered with a challenge ACK, whatever its sequence number.
    //= specs/rfc5961.md#syns
    //# After the challenge ACK the SYN is dropped and has no other effect.
    /// A SYN inside the window.
    fn on_syn<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> Disposition {
        if self.life.state() == State::SynReceived && self.life.origin() == Origin::Passive {
            // RFC 9293 §3.10.7.4, fourth: the peer began anew, and so does the listener when the SYN comes again.
            self.finish(cx, CloseReason::Reset);
            return Disposition::Accepted;
        }
        // RFC 5961 §4.2: whatever its sequence number, a SYN only asks for proof.
        Disposition::Challenge(DropReason::UnexpectedSyn)
    }

    /// The peer's SYN came again: our SYN-ACK was lost, or is slow.
    fn repeat_syn_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> Disposition {
        if self.allow_answer(cx) {
            self.life.require_syn();
            // It is unknown which copy will be acknowledged, so no RTT sample is taken (Karn). This does not count as a retry: no
            // timer has expired, and a doubled SYN must not shorten the wait for the peer.
            self.extras_mut().syn_ack_repeated = true;
        }
        Disposition::Dropped(DropReason::OutOfWindow)
    }

    //= specs/rfc5961.md#acknowledgements
    //# An acknowledgement is acceptable from the largest window ever seen below SND.UNA up to SND.NXT.
    //= specs/rfc5961.md#acknowledgements
    //# A segment with any other acknowledgement is dropped and answered with an ACK.
    /// An acknowledgement far behind or ahead of what is in flight (RFC 5961 §5.2).
    #[inline]
    fn check_ack(&self, ack: SeqNum) -> Option<Disposition> {
        if ack.before(self.snd.space.una() - self.snd.space.max_wnd().min(1 << 30)) {
            return Some(Disposition::Challenge(DropReason::BadAck));
        }
        if !ack.after(self.snd.space.nxt()) {
            return None;
        }
        let unanswered =
            self.cfg.challenge.unsent_ack == UnsentAck::IgnoredInEstablished && self.life.state() == State::Established;
        let refused = if unanswered { Disposition::Dropped } else { Disposition::Challenge };
        Some(refused(DropReason::BadAck))
    }

    //= specs/rfc9293.md#opening
    //# A reset in SYN-RECEIVED returns a passive open to LISTEN, and refuses an active one.
    //= specs/rfc5961.md#resets
    //# A reset outside the receive window is dropped without an answer.
    //= specs/rfc5961.md#resets
    //# A reset whose sequence number is RCV.NXT ends the connection.
    //= specs/rfc5961.md#resets
    //# A reset inside the window but not at RCV.NXT is answered with a challenge ACK and has no other effect.
    //= specs/rfc1337.md#time-wait
    //# A reset does not end TIME-WAIT.
    /// A reset (RFC 5961 §3.2). Bytes that it may carry (RFC 9293 SHLD-2) are not looked at.
    fn on_reset<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seq: SeqNum) -> Disposition {
        let rcv_nxt = self.rcv.rcv_nxt();
        if !SeqRange::new(rcv_nxt, self.rcv.right_edge()).contains(seq) && seq != rcv_nxt {
            return Disposition::Dropped(DropReason::OutOfWindow);
        }
        if seq != rcv_nxt {
            return Disposition::Challenge(DropReason::InexactReset);
        }
        match self.life.state() {
            State::TimeWait if self.cfg.timers.time_wait_reset == TimeWaitReset::Ignored => {
                return Disposition::Dropped(DropReason::Closed);
            }
            State::SynReceived if self.life.origin() == Origin::Active => self.finish(cx, CloseReason::Refused),
            _ => self.finish(cx, CloseReason::Reset),
        }
        Disposition::Accepted
    }

    /// Remembers a duplicate for the next ACK (RFC 2883 §4), if it lies below what has been received.
    fn note_duplicate(&mut self, repr: &TcpRepr, range: SeqRange) {
        if repr.flags.contains(Flags::SYN) {
            // The challenge ACK asks a peer that has begun anew for a reset. Of its stream nothing came twice, and whoever
            // forges SYNs shall not learn what has arrived.
            return;
        }
        // Where ACKs adapt, the answer to a repeated FIN says only that the FIN has arrived.
        let over = self.life.state() == State::TimeWait && self.cfg.ack.timer == AckTimer::Adaptive;
        let reported = !over && options::reports_duplicates(&self.cfg, &self.neg);
        self.rcv.on_refused(&self.cfg, range, reported);
    }

    /// Seventh and eighth: takes the bytes and the FIN of an acceptable segment.
    pub(super) fn take_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        let repr = &seg.repr;
        let has_fin = repr.flags.contains(Flags::FIN);
        if seg.payload.is_empty() && !has_fin {
            return Disposition::Accepted;
        }
        if !self.life.state().may_receive() {
            // A repetition is acknowledged again, anything else ignored.
            self.rcv.due_ack();
            if self.life.state() == State::TimeWait && has_fin {
                self.restart_time_wait(cx);
            }
            return Disposition::Accepted;
        }
        let start = if repr.flags.contains(Flags::SYN) { repr.seq + 1 } else { repr.seq };
        if !seg.payload.is_empty() && self.is_lost_on_us(cx, start + seg.payload.len()) {
            return Disposition::Dropped(DropReason::Closed);
        }
        let (rcv, around) = self.receiver_and_around(cx.now, repr);
        match rcv.on_data(&around, seg) {
            Err(reason) => Disposition::Dropped(reason),
            Ok(received) => {
                if self.neg.ecn && !seg.payload.is_empty() {
                    self.rcv.due_ack_if(self.ecn.on_data(repr.flags.contains(Flags::CWR), seg.ecn));
                    if seg.ecn != Ecn::NotEct {
                        self.tally.rare_mut().on_capable(seg.ecn);
                    }
                }
                self.apply_received(cx, &received);
                Disposition::Accepted
            }
        }
    }

    /// The receiver, and what it has to know of the rest to judge data that comes with `repr`.
    #[inline]
    pub(super) fn receiver_and_around(&mut self, now: Instant, repr: &TcpRepr) -> (&mut Receiver, Around<'_>) {
        let echoed = repr.options.timestamps.filter(|_| self.neg.timestamps);
        let around = Around {
            cfg: &self.cfg,
            neg: &self.neg,
            now,
            state: self.life.state(),
            mtu: self.mtu,
            ip_header: if self.tuple.local.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER },
            echo: echoed.and_then(|ts| self.ts.echo_age(ts.tsecr, now)),
            rto: &self.snd.rec.rto,
            rtt: &self.snd.rec.rtt,
            timers: &self.timers,
        };
        (&mut self.rcv, around)
    }

    //= specs/rfc9293.md#closing
    //# Two FINs that cross end the connection on both sides.
    //= specs/rfc9293.md#closing
    //# A FIN ahead of missing data waits for it.
    /// What the receiver says of a segment goes to those whom it concerns.
    #[inline]
    pub(super) fn apply_received<O: Observer>(&mut self, cx: &mut Cx<'_, O>, received: &Received) {
        if received.kind == Arrival::OutOfOrder {
            self.tally.rare_mut().out_of_order_segments += 1;
        }
        if received.readable {
            self.pending.add(News::Readable);
        }
        Self::emit_window_growth(cx, received.grown);
        match self.life.state() {
            _ if !received.fin => {}
            State::Established => self.set_state(cx, State::CloseWait),
            // Our FIN is not acknowledged yet, else step 9 of the ACK had moved us on.
            State::FinWait1 => self.set_state(cx, State::Closing),
            State::FinWait2 => self.enter_time_wait(cx),
            _ => {}
        }
        if let Some(at) = received.ack_at {
            self.arm(cx, TimerKind::DelayedAck, at);
        }
    }

    /// RFC 9293 §3.10.7.4, sixth: the mark moves only forward, and not to where the application has been.
    #[inline]
    fn take_urgent(&mut self, seg: &Segment<'_>) {
        if seg.repr.flags.contains(Flags::URG) && self.life.state().may_receive() {
            let news = self.rcv.on_urgent(&self.cfg.receive, seg.repr.seq, seg.repr.urgent);
            if news {
                self.pending.add(News::Urgent);
            }
        }
    }

    //= specs/rfc5961.md#resets
    //# A challenge ACK stands at SND.NXT and acknowledges RCV.NXT.
    /// Whether an ACK may answer a segment that was refused for `reason`.
    #[cold]
    fn may_answer<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, reason: DropReason) -> bool {
        let repeats = matches!(reason, DropReason::OutOfWindow | DropReason::OldTimestamp);
        let carries_data = seg.seq_len() > 0 && !seg.repr.flags.contains(Flags::SYN);
        (repeats && carries_data) || self.allow_answer(cx)
    }

    /// Takes one of the answers that challenges may have, if any is left.
    fn allow_answer<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> bool {
        let cfg = self.cfg.challenge;
        Allowance::take(&mut self.extras_mut().answers, &cfg, cx.now, cx.rng)
    }

    /// Whether the segment's acknowledgement echoes a mark. What a SYN carries in its place is another question.
    #[inline]
    pub(super) fn echoes_mark(&self, seg: &Segment<'_>) -> bool {
        self.neg.ecn && seg.repr.flags.contains(Flags::ECE) && !seg.repr.flags.contains(Flags::SYN)
    }

    /// Until when new data has to wait because marks came at a window of one segment, if it has to.
    #[inline]
    pub(super) fn held_by_marks(&self, now: Instant) -> Option<Instant> {
        self.extras.as_ref()?.held_by_marks.filter(|&until| now < until)
    }

    //= specs/rfc3168.md#sender
    //# An echo at a window of one segment holds new data back until the retransmission timer would expire.
    //= specs/rfc9438.md#multiplicative-decrease
    //# With a window of one segment, further ECN echoes slow the sender down by other means.
    /// Step 7, after the losses: an acknowledgement that echoes a mark and delivered `segments`.
    pub(super) fn answer_mark<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        segments: usize,
        sacked_before: Bytes,
        newly_acked: Bytes,
    ) {
        let rare = self.tally.rare_mut();
        rare.delivered_ce = rare.delivered_ce.saturating_add(segments as u32);
        let Some(prior_cwnd) = self.snd.on_mark(&self.cfg, cx.now, sacked_before, newly_acked) else { return };
        rare.mark_reductions += 1;
        self.ecn.owe_cwr(self.neg.ecn);
        if self.cfg.ecn.response == EcnResponse::AtOnce && prior_cwnd <= self.snd.space.smss() {
            let until = cx.now + self.snd.rec.rto.current().duration();
            self.extras_mut().held_by_marks = Some(until);
        }
        self.set_episode(cx, Episode::Cwr { point: self.snd.space.nxt() }, "ecn");
    }
}
