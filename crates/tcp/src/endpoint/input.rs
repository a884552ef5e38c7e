//! Arriving segments, in the order RFC 9293 §3.10.7.4 prescribes, with the checks of RFC 5961 and RFC 7323.

use super::challenge::Allowance;
use super::outlet::Outlet;
use super::receiver::Around;
use super::{Application, Endpoint, Origin, Readiness, Segment, State};
use crate::config::{MissingTimestamps, TimeWaitDuplicates, TimeWaitReset, UnsentAck};
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason};
use crate::options;
use crate::recv::Arrival;
use crate::timers::TimerKind;
use base::{Bytes, Instant, SeqNum, SeqRange};
use trace::{Event, FlagLetters, Observer};
use wire::{Ecn, Flags, TcpRepr};

/// Bytes of an IP header of each version.
const IPV4_HEADER: Bytes = 20;
const IPV6_HEADER: Bytes = 40;

/// Reasons for which the checks before the acknowledgement refuse a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The segment is dropped silently.
    Dropped(DropReason),
    /// A challenge ACK may answer the segment.
    Challenged(DropReason),
    /// The same; the segment's data may have been received before, and is then reported as a duplicate.
    Repeated(DropReason),
    /// The peer repeated its SYN.
    SynAgain,
    /// The segment ends the connection.
    Ends(CloseReason),
}

impl Endpoint {
    /// Processes a segment that arrived at `cx.now`.
    pub fn handle_segment<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        self.stats.on_arrival(cx.now, seg.payload.len());
        if self.outlet != Outlet::Open {
            self.retry_refused();
        }
        cx.emit(|| Event::SegmentReceived {
            seq: seg.repr.seq,
            len: seg.payload.len(),
            flags: FlagLetters::of(seg.repr.control_bits()),
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
        match disposition {
            Disposition::Challenge(reason) => self.on_refused(cx, seg, reason, true),
            Disposition::Dropped(reason) => self.on_refused(cx, seg, reason, false),
            Disposition::Accepted => {}
        }
        disposition
    }

    //= specs/rfc5961.md#resets
    //# A challenge ACK stands at SND.NXT and acknowledges RCV.NXT.
    /// Handles a segment refused for `reason`. An ACK may answer it if it is `challenged`, and always does if it repeats data.
    #[cold]
    fn on_refused<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, reason: DropReason, challenged: bool) {
        self.stats.rare_mut().on_dropped(reason);
        cx.emit(|| Event::Dropped { reason, seq: seg.repr.seq, len: seg.payload.len() });
        if !challenged {
            return;
        }
        let repeats = matches!(reason, DropReason::OutOfWindow | DropReason::OldTimestamp);
        let carries_data = seg.seq_len() > 0 && !seg.repr.flags.contains(Flags::SYN);
        let cfg = self.cfg.challenge;
        let answered = (repeats && carries_data)
            || Allowance::take(&mut self.extras.get_or_insert_default().answers, &cfg, cx.now, cx.rng);
        self.rcv.due_ack_if(answered);
    }

    fn in_synchronized<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        if let Some(refusal) = self.check_segment(cx.now, seg) {
            return self.refuse(cx, seg, refusal);
        }
        let repr = &seg.repr;
        let Some(ack) = repr.ack else {
            return Disposition::Dropped(DropReason::NoAck);
        };
        if self.life.state() == State::SynReceived {
            if self.is_deferred(cx.now, seg) {
                self.extras.get_or_insert_default().opening.on_deferred();
                return Disposition::Accepted;
            }
            if !self.ends_handshake(ack) {
                return Disposition::Dropped(DropReason::BadAck);
            }
            self.establish(cx, repr, ack);
            // The peer repeats its SYN-ACK until it is acknowledged; our own SYN-ACK would serve, but may have been lost.
            self.rcv.due_ack_if(repr.flags.contains(Flags::SYN));
        }
        if let Some(refusal) = self.check_ack(ack) {
            return refusal;
        }
        if let Some(ts) = repr.options.timestamps.filter(|_| self.neg.timestamps) {
            // Only now is the segment known to be acceptable: a forged one would make the peer's own timestamps look old.
            self.ts.on_segment(ts.tsval, repr.seq, cx.now);
        }
        // An ACK from before `SND.UNA` does not show that the peer is alive ([`super::books::AckReport`]).
        if !ack.before(self.snd.space.una())
            && let Some(extras) = self.extras.as_deref_mut()
        {
            extras.silence.on_answer();
        }
        self.process_ack(cx, seg, ack);
        match (self.life.state(), self.life.closed()) {
            // No application waits for the peer to close: the segment no longer meets a connection, and a reset answers it.
            (State::Closed, Some(CloseReason::Aborted)) => return Disposition::Dropped(DropReason::Closed),
            (State::Closed, _) => return Disposition::Accepted,
            _ => {}
        }
        // RFC 9293 §3.10.7.4, sixth: the mark moves only forward, and never to bytes that the application has read.
        if repr.flags.contains(Flags::URG)
            && self.life.state().may_receive()
            && self.rcv.on_urgent(&self.cfg.receive, repr.seq, repr.urgent)
        {
            self.pending.add(Readiness::Urgent);
        }
        self.take_data(cx, seg)
    }

    //= specs/rfc9293.md#opening
    //# A SYN-ACK in SYN-RECEIVED is answered with an ACK.
    /// Returns whether an acknowledgement ends SYN-RECEIVED (RFC 9293 §3.10.7.4, fifth).
    fn ends_handshake(&self, ack: SeqNum) -> bool {
        let (una, nxt) = (self.snd.space.una(), self.snd.space.nxt());
        ack == self.snd.space.iss() + 1 || (ack.after(una) && ack.at_or_before(nxt))
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
    /// Checks timestamp, sequence number, RST and SYN, which come before the acknowledgement.
    fn check_segment(&self, now: Instant, seg: &Segment<'_>) -> Option<Refusal> {
        let repr = &seg.repr;
        let is_rst = repr.flags.contains(Flags::RST);
        let range = SeqRange::new(repr.seq, repr.seq + seg.seq_len());
        if self.neg.timestamps && !is_rst {
            match repr.options.timestamps {
                // RFC 7323 §5.3: PAWS comes before the window, and a duplicate is still reported.
                Some(ts) if self.ts.is_old(ts.tsval, now) => return Some(Refusal::Repeated(DropReason::OldTimestamp)),
                Some(_) => {}
                None if self.needs_timestamps(repr) => return Some(Refusal::Dropped(DropReason::OldTimestamp)),
                None => {}
            }
        }
        let rcv_nxt = self.rcv.rcv_nxt();
        if is_rst {
            return Some(self.check_reset(repr.seq));
        }
        let is_syn = repr.flags.contains(Flags::SYN);
        if is_syn && self.life.state() == State::SynReceived && repr.seq == self.rcv.irs() {
            return match (repr.ack, self.life.origin()) {
                (None, _) => Some(Refusal::SynAgain),
                // The SYN-ACK of a simultaneous open: its SYN is already known, only its ACK counts (§3.5, figure 7).
                (Some(_), Origin::Active) => None,
                // The peer has seen our SYN-ACK; only an ACK without SYN ends the handshake.
                (Some(_), Origin::Passive) => Some(Refusal::Challenged(DropReason::OutOfWindow)),
            };
        }
        // MUST-66: a closed window takes no bytes, but the header of the next segment counts.
        let header_only = self.rcv.right_edge() == rcv_nxt && repr.seq == rcv_nxt && !is_syn;
        let judged = if header_only { SeqRange::new(rcv_nxt, rcv_nxt) } else { range };
        if !self.rcv.accepts(judged) {
            return Some(Refusal::Repeated(DropReason::OutOfWindow));
        }
        is_syn.then(|| self.check_syn())
    }

    /// Returns whether a segment must carry timestamps. RFC 7323 §3.2: one that lost its option on the way is not trusted. But a
    /// restarted peer does not know the agreed options, and needs an answer to its SYN.
    fn needs_timestamps(&self, repr: &TcpRepr) -> bool {
        self.cfg.options.timestamps_missing == MissingTimestamps::Dropped
            && self.life.state() != State::SynReceived
            && !repr.flags.contains(Flags::SYN)
    }

    //= specs/rfc5961.md#syns
    //# A SYN in a synchronized state is answered with a challenge ACK, whatever its sequence number.
    //= specs/rfc5961.md#syns
    //# After the challenge ACK the SYN is dropped and has no other effect.
    /// Handles a SYN inside the window.
    fn check_syn(&self) -> Refusal {
        if self.life.state() == State::SynReceived && self.life.origin() == Origin::Passive {
            // RFC 9293 §3.10.7.4, fourth: the peer started over; the listener does so when the SYN comes again.
            return Refusal::Ends(CloseReason::Reset);
        }
        // RFC 5961 §4.2: a SYN with any sequence number only triggers a challenge ACK.
        Refusal::Challenged(DropReason::UnexpectedSyn)
    }

    /// Reacts to a segment that the checks before the acknowledgement have refused.
    #[cold]
    fn refuse<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, refusal: Refusal) -> Disposition {
        match refusal {
            Refusal::Dropped(reason) => Disposition::Dropped(reason),
            Refusal::Challenged(reason) => Disposition::Challenge(reason),
            Refusal::Repeated(reason) => {
                let fin = seg.repr.flags.contains(Flags::FIN);
                if fin && reason == DropReason::OutOfWindow && self.life.state() == State::TimeWait {
                    self.arm(cx, TimerKind::TimeWait, cx.now + self.cfg.timers.time_wait);
                }
                // The challenge ACK asks a restarted peer for a reset. No part of its new stream is a duplicate, and a forged SYN
                // must not reveal what has arrived.
                if !seg.repr.flags.contains(Flags::SYN) {
                    let range = SeqRange::new(seg.repr.seq, seg.repr.seq + seg.seq_len());
                    self.rcv.on_refused(&self.cfg, range, self.reports_duplicates());
                }
                Disposition::Challenge(reason)
            }
            Refusal::SynAgain => {
                // Our SYN-ACK was lost, or is slow.
                let cfg = self.cfg.challenge;
                if Allowance::take(&mut self.extras.get_or_insert_default().answers, &cfg, cx.now, cx.rng) {
                    self.life.require_syn();
                    self.extras.get_or_insert_default().opening.on_repeated_syn();
                }
                Disposition::Dropped(DropReason::OutOfWindow)
            }
            Refusal::Ends(reason) => {
                self.finish(cx, reason);
                Disposition::Accepted
            }
        }
    }

    /// Returns whether the next ACK reports a duplicate (RFC 2883 §4). In some profiles the answer to a repeated FIN only reports
    /// that the FIN has arrived.
    fn reports_duplicates(&self) -> bool {
        let over = self.life.state() == State::TimeWait
            && self.cfg.timers.time_wait_duplicates == TimeWaitDuplicates::Unreported;
        !over && options::reports_duplicates(&self.cfg, &self.neg)
    }

    //= specs/rfc5961.md#acknowledgements
    //# An acknowledgement is acceptable from the largest window ever seen below SND.UNA up to SND.NXT.
    //= specs/rfc5961.md#acknowledgements
    //# A segment with any other acknowledgement is dropped and answered with an ACK.
    /// Returns whether an acknowledgement lies far behind or ahead of the flight (RFC 5961 §5.2).
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
    /// Handles a reset (RFC 5961 §3.2). Ignores bytes that it may carry (RFC 9293 SHLD-2).
    fn check_reset(&self, seq: SeqNum) -> Refusal {
        let rcv_nxt = self.rcv.rcv_nxt();
        if !SeqRange::new(rcv_nxt, self.rcv.right_edge()).contains(seq) && seq != rcv_nxt {
            return Refusal::Dropped(DropReason::OutOfWindow);
        }
        if seq != rcv_nxt {
            return Refusal::Challenged(DropReason::InexactReset);
        }
        match self.life.state() {
            State::TimeWait if self.cfg.timers.time_wait_reset == TimeWaitReset::Ignored => {
                Refusal::Dropped(DropReason::Closed)
            }
            State::SynReceived if self.life.origin() == Origin::Active => Refusal::Ends(CloseReason::Refused),
            _ => Refusal::Ends(CloseReason::Reset),
        }
    }

    /// Steps seven and eight: takes the bytes and the FIN of an acceptable segment.
    pub(super) fn take_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        let repr = &seg.repr;
        let has_fin = repr.flags.contains(Flags::FIN);
        if seg.payload.is_empty() && !has_fin {
            return Disposition::Accepted;
        }
        if !self.life.state().may_receive() {
            // A duplicate is acknowledged again; anything else is ignored.
            self.rcv.due_ack();
            if self.life.state() == State::TimeWait && has_fin {
                self.arm(cx, TimerKind::TimeWait, cx.now + self.cfg.timers.time_wait);
            }
            return Disposition::Accepted;
        }
        let start = if repr.flags.contains(Flags::SYN) { repr.seq + 1 } else { repr.seq };
        if !seg.payload.is_empty() && self.is_lost_on_us(start + seg.payload.len()) {
            self.finish(cx, CloseReason::Aborted);
            return Disposition::Dropped(DropReason::Closed);
        }
        match self.arrive(cx, repr, Some(seg)) {
            Err(reason) => Disposition::Dropped(reason),
            Ok(()) => Disposition::Accepted,
        }
    }

    /// Returns whether the new bytes before `data_end` come too late, because the application has closed both
    /// directions. The connection then ends, and the stack sends the reset, as for a segment without a connection (RFC
    /// 9293 §3.6.1).
    fn is_lost_on_us(&self, data_end: SeqNum) -> bool {
        let closed = matches!(self.life.state(), State::FinWait1 | State::FinWait2);
        closed && self.life.application() != Application::Reads && data_end.after(self.rcv.rcv_nxt())
    }

    //= specs/rfc9293.md#closing
    //# A FIN ahead of missing data waits for it.
    /// Passes the data and the FIN of a segment to the receiver, or, without a segment, data of the SYN that waited for `repr` to
    /// establish the connection. Applies the effects on the other parts of the connection.
    ///
    /// # Errors
    /// Names the reason why nothing was accepted.
    #[inline]
    pub(super) fn arrive<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        repr: &TcpRepr,
        seg: Option<&Segment<'_>>,
    ) -> Result<(), DropReason> {
        let echoed = repr.options.timestamps.filter(|_| self.neg.timestamps);
        let around = Around {
            cfg: &self.cfg,
            neg: &self.neg,
            now: cx.now,
            state: self.life.state(),
            mtu: self.mtu,
            ip_header: if self.tuple.local.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER },
            echo: echoed.and_then(|ts| self.ts.echo_age(ts.tsecr, cx.now)),
            rto: &self.snd.rec.rto,
            rtt: &self.snd.rec.rtt,
            timers: &self.timers,
        };
        let received = match seg {
            Some(seg) => Some(self.rcv.on_data(&around, seg)?),
            None => self.rcv.take_kept_syn_data(&around, repr),
        };
        let Some(received) = received else { return Ok(()) };
        if let Some(seg) = seg.filter(|seg| self.neg.ecn && !seg.payload.is_empty()) {
            self.rcv.due_ack_if(self.ecn.on_data(repr.flags.contains(Flags::CWR), seg.ecn));
            if seg.ecn != Ecn::NotEct {
                self.stats.rare_mut().on_capable(seg.ecn);
            }
        }
        if received.kind == Arrival::OutOfOrder {
            self.stats.rare_mut().out_of_order_segments += 1;
        }
        if received.readable {
            self.pending.add(Readiness::Readable);
        }
        Self::emit_window_growth(cx, received.grown);
        if received.fin
            && let Some(next) = self.life.state().after_fin()
        {
            self.set_state(cx, next);
        }
        if let Some(at) = received.ack_at {
            self.arm(cx, TimerKind::DelayedAck, at);
        }
        Ok(())
    }
}
