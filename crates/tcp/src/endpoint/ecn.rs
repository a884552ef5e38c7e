//! Explicit congestion notification (RFC 3168 §6.1): what SYNs ask for, which segments may be marked, how a mark is echoed to
//! its sender, and how an echo is answered.
//!
//! Owns the two flags that a mark sets: ours to echo until the peer has reduced (ECE), and ours to say that we have (CWR).
//!
//! Deviations:
//! * A SYN that is itself ECN-capable asks for another protocol than this one and gets no ECN.
//! * A profile may take the window down over a round trip, by the reduction of fast recovery, instead of at once.
//! * CWR leaves in a frame of one segment: a device that cuts a frame into segments would put the flag on each.
//! * A mark is never undone, nor is a loss after which a mark was echoed: the echo may speak of the same queue.

use super::{Endpoint, Origin, Segment};
use crate::config::{EcnNegotiation, EcnResponse, EcnSynAgain};
use crate::cx::Cx;
use crate::info::EcnInfo;
use base::{Bytes, Instant};
use recovery::Episode;
use trace::Observer;
use wire::{Ecn, Flags, TcpRepr};

/// What ECN has to say with the next segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    echo: Echo,
    reduced: Reduced,
}

/// What the peer has yet to hear of its segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Echo {
    #[default]
    Nothing,
    /// One was marked: every acknowledgement says so until the peer says that it has reduced.
    UntilAnswered,
}

/// What the peer has yet to hear of our window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reduced {
    #[default]
    Told,
    /// The next new data says that it was reduced.
    Untold,
}

impl EcnState {
    //= specs/rfc3168.md#marking
    //# New data leaves with ECT(0).
    //= specs/rfc3168.md#marking
    //# Retransmissions, bare acknowledgements, SYNs and probes of a closed window are not ECN-capable.
    //= specs/rfc3168.md#sender
    //# The first new data segment after a reduction carries CWR.
    //= specs/rfc3168.md#receiver
    //# After a mark every acknowledgement carries ECE until a segment with CWR arrives.
    /// The flags and the mark of a segment on a connection that uses ECN; `fresh` says that it carries data for the first time,
    /// and does not probe a closed window.
    #[inline]
    pub fn of_segment(&mut self, fresh: bool) -> (Flags, Ecn) {
        let mut flags = if self.echo == Echo::UntilAnswered { Flags::ECE } else { Flags::NONE };
        if !fresh {
            return (flags, Ecn::NotEct);
        }
        if core::mem::take(&mut self.reduced) == Reduced::Untold {
            flags = flags.with(Flags::CWR);
        }
        (flags, Ecn::Ect0)
    }

    /// Whether the next new data carries a flag that only one segment may have.
    #[inline]
    pub fn owes_cwr(&self) -> bool {
        self.reduced == Reduced::Untold
    }

    /// The window was reduced, for whatever reason: the peer is to stop echoing, if ECN is `in_use`.
    pub fn owe_cwr(&mut self, in_use: bool) {
        if in_use {
            self.reduced = Reduced::Untold;
        }
    }

    /// The reduction was undone before the peer learned of it.
    pub fn withdraw_cwr(&mut self) {
        self.reduced = Reduced::Told;
    }
}

/// What marks leave behind on the connections that meet any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Segments delivered by acknowledgements that echo a mark.
    delivered_ce: u32,
    /// Segments that arrived with a mark.
    received_ce: u32,
    /// Echoes that were answered with a smaller window.
    reductions: u32,
    /// Data segments that arrived and could have been marked.
    received_capable: u32,
    /// The window is one segment and was in question again: no new data before this moment.
    held_until: Option<Instant>,
}

impl Endpoint {
    //= specs/rfc3168.md#negotiation
    //# A SYN asks for ECN with both ECE and CWR, and a SYN-ACK grants it with ECE alone.
    //= specs/rfc3168.md#negotiation
    //# A SYN that is sent again after a timeout may leave without asking.
    /// The ECN flags of our SYN, or of our SYN-ACK when we are `answering`.
    pub(super) fn ecn_of_syn(&self, answering: bool) -> Flags {
        let repeated = self.snd.rec.retries() > 0 && self.cfg.ecn.syn_again == EcnSynAgain::Plain;
        match (answering, self.cfg.ecn.negotiation) {
            (true, _) if self.neg.ecn => Flags::ECE,
            (false, EcnNegotiation::Offer) if !repeated => Flags::ECE.with(Flags::CWR),
            _ => Flags::NONE,
        }
    }

    //= specs/rfc3168.md#negotiation
    //# Nothing is marked as ECN-capable unless both SYNs agreed on it.
    //= specs/rfc3168.md#negotiation
    //# A SYN-ACK with both flags reflects ours and grants nothing.
    /// Whether ECN is in use, now that the peer's SYN or SYN-ACK came in a packet marked `ip`.
    pub(super) fn agree_on_ecn(&mut self, syn: &TcpRepr, ip: Ecn) {
        let (ece, cwr) = (syn.flags.contains(Flags::ECE), syn.flags.contains(Flags::CWR));
        let offered = self.cfg.ecn.negotiation == EcnNegotiation::Offer;
        self.neg.ecn = match (self.life.origin(), syn.ack) {
            (Origin::Active, Some(_)) => offered && ece && !cwr,
            (Origin::Active, None) => offered && ece && cwr,
            (Origin::Passive, _) => self.cfg.ecn.negotiation != EcnNegotiation::Off && ece && cwr && ip == Ecn::NotEct,
        };
    }

    //= specs/rfc3168.md#receiver
    //# A mark is echoed at once.
    //= specs/rfc3168.md#receiver
    //# Marks on segments outside the window are ignored.
    //= specs/rfc3168.md#receiver
    //# A mark that arrives together with CWR, or after it, is echoed anew.
    /// A segment with data was accepted. What changes the echo is acknowledged at once, since a sender that has reduced may
    /// have little else to go by.
    #[inline]
    pub(super) fn take_mark(&mut self, seg: &Segment<'_>) {
        if !self.neg.ecn || seg.payload.is_empty() {
            return;
        }
        if seg.repr.flags.contains(Flags::CWR) {
            self.ecn.echo = Echo::Nothing;
            self.rcv.due_ack();
        }
        if seg.ecn != Ecn::NotEct {
            self.extras_mut().marks.received_capable += 1;
        }
        if seg.ecn == Ecn::Ce {
            self.rcv.due_ack_if(self.ecn.echo == Echo::Nothing);
            self.ecn.echo = Echo::UntilAnswered;
            self.extras_mut().marks.received_ce += 1;
        }
    }

    /// Whether the segment's acknowledgement echoes a mark. What a SYN carries in its place is another question.
    #[inline]
    pub(super) fn echoes_mark(&self, seg: &Segment<'_>) -> bool {
        self.neg.ecn && seg.repr.flags.contains(Flags::ECE) && !seg.repr.flags.contains(Flags::SYN)
    }

    /// Step 7, after the losses: an acknowledgement that echoes a mark and delivered `segments`.
    pub(super) fn answer_mark<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        segments: usize,
        sacked_before: Bytes,
        newly_acked: Bytes,
    ) {
        let marks = &mut self.extras_mut().marks;
        marks.delivered_ce = marks.delivered_ce.saturating_add(segments as u32);
        let Some(prior_cwnd) = self.snd.on_mark(&self.cfg, cx.now, sacked_before, newly_acked) else { return };
        self.extras_mut().marks.reductions += 1;
        self.ecn.owe_cwr(self.neg.ecn);
        if self.cfg.ecn.response == EcnResponse::AtOnce {
            self.hold_if_at_the_floor(cx.now, prior_cwnd);
        }
        self.set_episode(cx, Episode::Cwr { point: self.snd.space.nxt() }, "ecn");
    }

    //= specs/rfc3168.md#sender
    //# An echo at a window of one segment holds new data back until the retransmission timer would expire.
    //= specs/rfc9438.md#multiplicative-decrease
    //# With a window of one segment, further ECN echoes slow the sender down by other means.
    fn hold_if_at_the_floor(&mut self, now: Instant, prior_cwnd: Bytes) {
        if prior_cwnd <= self.snd.space.smss() {
            let until = now + self.snd.rec.rto.current().duration();
            self.extras_mut().marks.held_until = Some(until);
        }
    }

    /// Until when new data has to wait because marks came at a window of one segment, if it has to.
    #[inline]
    pub(super) fn held_by_marks(&self, now: Instant) -> Option<Instant> {
        if !self.neg.ecn {
            return None;
        }
        self.extras.as_ref()?.marks.held_until.filter(|&until| now < until)
    }

    /// Returns the ECN state that the connection reports.
    pub(super) fn ecn_info(&self) -> EcnInfo {
        let marks = self.extras.as_ref().map(|extras| extras.marks).unwrap_or_default();
        EcnInfo {
            negotiated: self.neg.ecn,
            delivered_ce: marks.delivered_ce,
            received_ce: marks.received_ce,
            reductions: marks.reductions,
            received_capable: marks.received_capable,
        }
    }
}
