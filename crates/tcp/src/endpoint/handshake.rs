//! Opening a connection (RFC 9293 §3.5): constructors, SYN-SENT and SYN-RECEIVED.

use super::fastopen::Copies;
use super::receiver::FirstSizes;
use super::refused::Outlet;
use super::{
    EcnState, Endpoint, FourTuple, Life, News, Numbering, Origin, PendingEvents, Receiver, Segment, SendSide, Sender,
    State, Tally,
};
use crate::config::{SynAckEcho, ValidConfig, WrongAck};
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason};
use crate::options::{self, Negotiated, TIMESTAMP_BYTES};
use crate::timers::{TimerKind, TimerTable};
use crate::timestamps::TimestampState;
use base::{Duration, Instant, SeqNum, SeqRange};
use recovery::rtt::SynEcho;
use trace::Observer;
use wire::{Ecn, Flags, TcpRepr};

/// What a stack knows about an arriving SYN when it makes an endpoint for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynInfo {
    pub tuple: FourTuple,
    pub numbering: Numbering,
    pub mtu: u16,
    pub repr: TcpRepr,
    /// The mark of the packet it came in.
    pub ecn: Ecn,
}

/// The size of segments that our own size and the peer's SYN allow, options deducted.
fn agreed_smss(ours: u16, tuple: &FourTuple, syn: &TcpRepr, timestamps: bool) -> u32 {
    let peers = syn.options.mss.unwrap_or_else(|| options::default_mss(tuple.local));
    let overhead = if timestamps { TIMESTAMP_BYTES } else { 0 };
    // A peer may announce a size below any usable one; 48 bytes keep the options and some data apart.
    u32::from(peers.min(ours)).max(48 + overhead) - overhead
}

/// A SYN that met a connection of an earlier life leaves again after this time.
const SOON: Duration = Duration::from_millis(2);

impl Endpoint {
    /// Opens a connection actively; the SYN leaves with the next `poll_transmit`.
    pub(crate) fn connect<O: Observer>(
        cfg: &ValidConfig,
        tuple: FourTuple,
        numbering: Numbering,
        mtu: u16,
        cx: &mut Cx<'_, O>,
    ) -> Self {
        let smss = u32::from(options::own_mss(cfg, mtu, tuple.local));
        let mut endpoint = Self::new(cfg, tuple, numbering, mtu, Origin::Active, smss, cx);
        endpoint.life.require_syn();
        endpoint
    }

    /// Answers a SYN; the SYN-ACK leaves with the next `poll_transmit`.
    pub(crate) fn accept<O: Observer>(cfg: &ValidConfig, syn: &SynInfo, cx: &mut Cx<'_, O>) -> Self {
        // Who floods us with SYNs shall not have us make a controller twice.
        let timestamps = syn.repr.options.timestamps.is_some() && options::wants_timestamps(cfg, Some(true));
        let smss = agreed_smss(options::own_mss(cfg, syn.mtu, syn.tuple.local), &syn.tuple, &syn.repr, timestamps);
        let mut endpoint = Self::new(cfg, syn.tuple, syn.numbering, syn.mtu, Origin::Passive, smss, cx);
        endpoint.life.enter(State::SynReceived);
        endpoint.take_peer_syn(&syn.repr, smss, cx.now);
        endpoint.neg.ecn = EcnState::agrees(&cfg.ecn, Origin::Passive, &syn.repr, syn.ecn);
        endpoint.life.require_syn();
        endpoint
    }

    fn new<O: Observer>(
        cfg: &ValidConfig,
        tuple: FourTuple,
        numbering: Numbering,
        mtu: u16,
        origin: Origin,
        smss: u32,
        cx: &mut Cx<'_, O>,
    ) -> Self {
        let Numbering { iss, ts_offset } = numbering;
        let mss = options::own_mss(cfg, mtu, tuple.local);
        Self {
            tuple,
            mtu,
            life: Life::new(origin),
            timers: TimerTable::new(),
            neg: Negotiated::default(),
            ts: TimestampState::new(ts_offset),
            snd: Sender::new(cfg, iss, mss, smss, cx.now),
            rcv: Receiver::new(cfg, mss),
            ecn: EcnState::default(),
            outlet: Outlet::Open,
            pending: PendingEvents::default(),
            tally: Tally::new(cx.now),
            extras: None,
            cfg: cfg.clone(),
        }
    }

    //= specs/rfc7323.md#window-scale
    //# The window of a SYN or SYN-ACK is not scaled.
    //= specs/rfc7323.md#timestamps
    //# The bytes of the option are taken from the segment, not from the announced segment size.
    /// Takes over everything a SYN or SYN-ACK says. The controller was made for segments of `built_for` bytes.
    fn take_peer_syn(&mut self, syn: &TcpRepr, built_for: u32, now: Instant) {
        let offered = syn.options.timestamps;
        let asked = match self.life.origin() {
            Origin::Active => options::wants_timestamps(&self.cfg, None),
            Origin::Passive => options::wants_timestamps(&self.cfg, Some(offered.is_some())),
        };
        self.neg = options::agree(&self.cfg, &syn.options, self.life.origin(), asked);
        if let Some(timestamps) = offered.filter(|_| self.neg.timestamps) {
            self.ts.on_syn(timestamps.tsval, now);
        }
        let rcv_nxt = syn.seq + 1;
        self.ts.on_ack_sent(rcv_nxt);
        // RFC 7323 §2.2: the window of a SYN is never scaled.
        self.snd.space.on_peer_syn(syn.seq, u32::from(syn.window));
        let ours = options::own_mss(&self.cfg, self.mtu, self.tuple.local);
        let overhead = if self.neg.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.snd.space.set_smss(agreed_smss(ours, &self.tuple, syn, self.neg.timestamps));
        let rmss = u32::from(ours).saturating_sub(overhead).max(1);
        self.rcv.on_peer_syn(syn.seq, rmss);
        self.begin_path(now);
        let known = match self.life.origin() {
            // The SYN has left before options were agreed on.
            Origin::Active => u32::from(ours),
            Origin::Passive => rmss,
        };
        let sizes = FirstSizes { announced: ours.into(), known, smss: self.snd.space.smss() };
        self.rcv.open_window(&self.cfg, self.neg.rcv_shift, sizes);
        if self.snd.space.smss() != built_for {
            self.snd.cc = cc::build(&self.cfg.cc, self.snd.space.smss(), self.snd.space.iss());
        }
        if !self.neg.sack {
            // RFC 8985 §4 needs SACK; without it, duplicate ACKs are all there is.
            self.snd.rec.detector = recovery::build_detector_without_sack(&self.cfg.recovery.detector);
        }
    }

    //= specs/rfc9293.md#resets
    //# In SYN-SENT an acknowledgement of what was not sent is answered with a reset.
    //= specs/rfc9293.md#opening
    //# Two SYNs that cross make one connection.
    //= specs/rfc7413.md#client
    //# Data in the SYN-ACK is taken.
    /// SYN-SENT (RFC 9293 §3.10.7.3).
    pub(super) fn in_syn_sent<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>) -> Disposition {
        let repr = &seg.repr;
        let acks_our_syn =
            repr.ack.map(|ack| ack.after(self.snd.space.iss()) && ack.at_or_before(self.snd.space.nxt()));
        if acks_our_syn == Some(false) || !self.echo_is_ours(cx.now, repr) {
            // The stack answers an unacceptable ACK with a reset.
            let again = self.cfg.handshake.wrong_ack == WrongAck::Retries && self.snd.rec.retries() == 0;
            if again && acks_our_syn == Some(false) {
                self.arm(cx, TimerKind::Retransmit, cx.now + SOON);
            }
            return Disposition::Dropped(DropReason::BadAck);
        }
        if repr.flags.contains(Flags::RST) {
            if acks_our_syn.is_none() {
                return Disposition::Dropped(DropReason::NoAck);
            }
            self.finish(cx, CloseReason::Refused);
            return Disposition::Accepted;
        }
        if !repr.flags.contains(Flags::SYN) {
            return Disposition::Dropped(DropReason::NoAck);
        }
        self.take_peer_syn(repr, u32::from(options::own_mss(&self.cfg, self.mtu, self.tuple.local)), cx.now);
        self.neg.ecn = EcnState::agrees(&self.cfg.ecn, self.life.origin(), repr, seg.ecn);
        let Some(ack) = repr.ack else {
            // Both sides opened at once (§3.5, figure 7).
            self.set_state(cx, State::SynReceived);
            self.life.require_syn();
            self.timers.stop(TimerKind::Retransmit);
            self.queue_syn_data(seg);
            return Disposition::Accepted;
        };
        self.establish(cx, repr, ack);
        self.answer_syn_ack(cx);
        self.take_data(cx, seg)
    }

    /// Whether what a SYN-ACK echoes may be believed: the clock's reading when one of our SYNs left.
    fn echo_is_ours(&self, now: Instant, repr: &TcpRepr) -> bool {
        let asked =
            self.cfg.options.syn_ack_echo == SynAckEcho::OfOurSyns && options::wants_timestamps(&self.cfg, None);
        let Some(stamps) = repr.options.timestamps.filter(|ts| asked && repr.ack.is_some() && ts.tsecr != 0) else {
            return true;
        };
        let oldest = now.since(self.snd.rec.rto_base()) + Duration::from_millis(1);
        self.ts.echo_age(stamps.tsecr, now).is_some_and(|age| age <= oldest)
    }

    /// The round trip of the handshake. Karn: a SYN that was sent several times, or an unknown number of times, gives a
    /// sample only if a timestamp says which of them was answered, and the profile listens.
    fn handshake_rtt(&self, now: Instant, repr: &TcpRepr) -> Option<Duration> {
        match self.cfg.rtt.syn_echo {
            _ if !self.syn_left_again() && !self.is_rebuilt() => Some(now.since(self.syn_sent_at())),
            SynEcho::Ignored => None,
            SynEcho::Sampled => {
                let stamps = repr.options.timestamps.filter(|stamps| self.neg.timestamps && stamps.tsecr != 0)?;
                self.ts.echo_age(stamps.tsecr, now)
            }
        }
    }

    /// Whether our SYN or SYN-ACK left several times: because a timer expired, or because the peer repeated its SYN.
    pub(super) fn syn_left_again(&self) -> bool {
        self.snd.rec.retries() > 0 || self.extras.as_ref().is_some_and(|extras| extras.syn_ack_repeated)
    }

    //= specs/rfc5681.md#initial-window
    //# Neither the SYN-ACK nor its acknowledgement opens the window.
    //= specs/rfc5681.md#initial-window
    //# After more than one lost SYN the initial window is one segment.
    /// The peer acknowledged our SYN.
    pub(super) fn establish<O: Observer>(&mut self, cx: &mut Cx<'_, O>, repr: &TcpRepr, ack: SeqNum) {
        self.snd.space.on_syn_acked();
        self.timers.stop(TimerKind::Retransmit);
        self.tally.on_established(cx.now);
        let sample = self.handshake_rtt(cx.now, repr).filter(|sample| self.is_measurable(*sample));
        if let Some(rtt) = sample {
            let flight = SeqRange::new(self.snd.space.una(), self.snd.space.nxt());
            self.snd.rec.rtt.on_handshake(&self.cfg.rtt, cx.now, rtt, flight);
            self.snd.rec.rto.on_rtt(&self.cfg.rto, &self.snd.rec.rtt);
            self.rcv.on_handshake(&self.cfg, cx.now, rtt);
        }
        if self.snd.rec.retries() > 1 {
            // RFC 6928 §2: more than one lost SYN speaks of a congested path.
            self.snd.cc.on_congestion(&cc::CongestionEvent::Timeout { flight_size: 0, first: true }, cx.now);
        }
        if self.snd.rec.retries() > 0 && sample.is_none() {
            self.snd.rec.rto.on_syn_lost(&self.cfg.rto);
        }
        if self.snd.rec.retries() > 0 {
            self.tally.rare_mut().on_timeout_over(cx.now);
        }
        let copies = if self.syn_left_again() { Copies::Several } else { Copies::One };
        self.snd.rec.forget_retries();
        if self.life.state() == State::SynReceived || self.life.origin() == Origin::Passive {
            let shift = if repr.flags.contains(Flags::SYN) { 0 } else { self.neg.snd_shift };
            // The unscaled window of the SYN says nothing of what the peer will offer.
            self.snd.space.forget_max_wnd();
            self.snd.space.on_window(u32::from(repr.window) << shift);
        }
        // An application that went ahead has been notified already.
        if !self.is_early() {
            self.pending.add(News::Connected);
        }
        self.set_state(cx, State::Established);
        self.settle_fast_open(cx, repr, ack, copies);
        if self.snd.space.side() != SendSide::Open {
            self.set_state(cx, State::FinWait1);
        }
        self.take_syn_data_queued(cx, repr);
        self.arm_keepalive(cx);
    }

    //= specs/rfc9293.md#opening
    //# A SYN-ACK in SYN-RECEIVED is answered with an ACK.
    /// SYN-RECEIVED, from the ACK check on (RFC 9293 §3.10.7.4, fifth).
    ///
    /// Returns whether processing goes on as in ESTABLISHED.
    pub(super) fn in_syn_received<O: Observer>(&mut self, cx: &mut Cx<'_, O>, repr: &TcpRepr) -> bool {
        match repr.ack {
            Some(ack)
                if ack == self.snd.space.iss() + 1
                    || (ack.after(self.snd.space.una()) && ack.at_or_before(self.snd.space.nxt())) =>
            {
                self.establish(cx, repr, ack);
                // A SYN-ACK leaves again until it is acknowledged, and our own, which would do, may have been lost.
                self.rcv.due_ack_if(repr.flags.contains(Flags::SYN));
                true
            }
            _ => false,
        }
    }

    //= specs/rfc9293.md#segment-size
    //# A maximum segment size is sent, and one that is received is respected.
    /// The header fields and options of our SYN or SYN-ACK.
    pub(super) fn syn_repr(&self, now: Instant) -> TcpRepr {
        let mss = self.announced_mss();
        let mut opts = options::offer(&self.cfg, mss);
        let answering = self.life.state() == State::SynReceived;
        let timestamps = if answering { self.neg.timestamps } else { options::wants_timestamps(&self.cfg, None) };
        if answering {
            // An option is answered only if the peer offered it.
            opts.sack_permitted = self.neg.sack;
            opts.window_scale = if self.neg.scaling { Some(self.neg.rcv_shift) } else { None };
        }
        if timestamps {
            opts.timestamps = Some(wire::Timestamps { tsval: self.ts.tsval(now), tsecr: self.ts.tsecr() });
        }
        TcpRepr {
            src_port: self.tuple.local_port,
            dst_port: self.tuple.remote_port,
            seq: self.snd.space.iss(),
            ack: answering.then(|| self.rcv.rcv_nxt()),
            flags: Flags::SYN.with(match answering {
                true => EcnState::of_syn_ack(self.neg.ecn),
                false => EcnState::of_syn(&self.cfg.ecn, self.snd.rec.retries() > 0),
            }),
            window: self.rcv.syn_window(),
            urgent: 0,
            options: opts,
        }
    }
}
