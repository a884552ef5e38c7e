//! What waits for the end of the handshake: data that came with the peer's SYN (RFC 9293 §3.10.7.2 and §3.10.7.3), an
//! application that wants to be notified only once there is data, and a call that writes as soon as it may.
//!
//! Data in a SYN stands in the receive buffer, but is neither acknowledged nor given out before the connection is established: a
//! SYN may be an old duplicate or a forgery. Fast Open, where it applies, goes ahead instead.
//!
//! A listener may let connections wait for data: the ACK that ends the handshake is ignored until data comes with it, or the
//! time is over. The SYN-ACK is not sent again meanwhile, as it has arrived; when the time is over it is, and the peer's
//! answer counts.
//!
//! A SYN-ACK need not be acknowledged by itself where data is about to follow: [`SynAckAnswer`].

use super::{Endpoint, Origin, Segment, State};
use crate::config::{DeferAccept, SynAckAnswer, SynData};
use crate::cx::Cx;
use crate::timers::TimerKind;
use base::Instant;
use trace::Observer;
use wire::{Flags, TcpRepr};

/// What waits for the end of the handshake.
#[derive(Clone, Debug, Default)]
pub(super) struct Deferred {
    /// An ACK has arrived and was ignored, because it had no data.
    acked: bool,
    /// A call of the application waits for the connection and writes then.
    writer: bool,
}

impl Endpoint {
    /// Keeps what a SYN carries beside itself.
    pub(crate) fn queue_syn_data(&mut self, syn: &Segment<'_>) {
        let carries = !syn.payload.is_empty() || syn.repr.flags.contains(Flags::FIN);
        if carries && self.cfg.handshake.syn_data != SynData::Ignored {
            self.rcv.keep_syn_data(syn);
        }
    }

    /// The connection is established by `repr`: what waited has arrived now.
    pub(super) fn take_syn_data_queued<O: Observer>(&mut self, cx: &mut Cx<'_, O>, repr: &TcpRepr) {
        if !self.rcv.keeps_syn_data() {
            return;
        }
        let (rcv, around) = self.receiver_and_around(cx.now, repr);
        if let Some(received) = rcv.take_kept_syn_data(&around, repr) {
            self.apply_received(cx, &received);
        }
    }

    /// Says whether a call waits for the connection that writes as soon as it is open.
    pub(crate) fn announce_writer(&mut self, waits: bool) {
        if waits || self.extras.is_some() {
            self.extras_mut().deferred.writer = waits;
        }
    }

    //= specs/rfc9293.md#opening
    //# The SYN-ACK is acknowledged, by itself or with data.
    /// The peer's SYN-ACK has established the connection: its acknowledgement leaves at once, or with data that is about to.
    pub(super) fn answer_syn_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.cfg.handshake.syn_ack_answer == SynAckAnswer::AtOnce || !self.expects_to_send() {
            self.rcv.due_ack();
            return;
        }
        let at = self.rcv.delay_answer_of_syn_ack(&self.cfg, cx.now);
        self.arm(cx, TimerKind::DelayedAck, at);
    }

    /// Whether data is about to leave that carries the acknowledgement of the SYN-ACK.
    fn expects_to_send(&self) -> bool {
        let writer = self.extras.as_ref().is_some_and(|extras| extras.deferred.writer);
        // What the SYN carried in vain leaves again at once, and waits for nothing.
        let buffered = self.snd.data_end() != self.snd.space.nxt();
        writer || buffered || self.rcv.expects_reply() || self.cfg.handshake.defer_accept != DeferAccept::Off
    }

    /// Whether a segment that ends the handshake is ignored, because the application waits for data.
    pub(super) fn is_deferred(&mut self, now: Instant, seg: &Segment<'_>) -> bool {
        let bare = seg.payload.is_empty() && !seg.repr.flags.contains(Flags::FIN);
        let ends_handshake = seg.repr.ack == Some(self.snd.space.iss() + 1);
        if !bare || !ends_handshake || !self.may_defer(now) {
            return false;
        }
        self.extras_mut().deferred.acked = true;
        true
    }

    fn may_defer(&self, now: Instant) -> bool {
        let DeferAccept::For(wait) = self.cfg.handshake.defer_accept else { return false };
        let passive =
            self.life.state() == State::SynReceived && self.life.origin() == Origin::Passive && !self.is_early();
        // The timer was started by the first SYN-ACK.
        passive && !self.rcv.keeps_syn_data() && now < self.snd.rec.rto_base() + wait
    }

    /// The SYN-ACK's timer fired: whether it has arrived, so that only data is waited for.
    pub(super) fn waits_for_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> bool {
        let acked = self.extras.as_ref().is_some_and(|extras| extras.deferred.acked);
        if !acked || !self.may_defer(cx.now) {
            return false;
        }
        self.snd.rec.rto.back_off(&self.cfg.rto);
        self.arm(cx, TimerKind::Retransmit, cx.now + self.snd.rec.rto.current().duration());
        true
    }
}
