//! Opening a connection (RFC 9293 §3.5): constructors, SYN-SENT and SYN-RECEIVED.

use super::life::{Copies, Settles, may_defer};
use super::outlet::Outlet;
use super::path::Path;
use super::receiver::FirstSizes;
use super::{
    EcnState, Endpoint, FastOpenAnswer, FourTuple, Life, Numbering, Origin, PendingEvents, Readiness, Receiver,
    Segment, SendSide, Sender, State, Statistics,
};
use crate::config::{DeferAccept, SynAckAnswer, SynAckEcho, SynData, ValidConfig, WrongAck};
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason};
use crate::options::{self, Negotiated, TIMESTAMP_BYTES};
use crate::timers::{TimerKind, TimerTable};
use crate::timestamps::TimestampState;
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use recovery::rtt::SynEcho;
use trace::Observer;
use wire::{Ecn, FastOpen, Flags, IpRepr, TcpRepr};

/// What a stack knows about an arriving SYN when it creates an endpoint for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynInfo {
    pub tuple: FourTuple,
    pub numbering: Numbering,
    pub mtu: u16,
    pub repr: TcpRepr,
    /// The ECN codepoint of its packet.
    pub ecn: Ecn,
}

/// Returns the segment size that our limit and the peer's SYN allow, options deducted.
fn agreed_smss(ours: u16, tuple: &FourTuple, syn: &TcpRepr, timestamps: bool) -> u32 {
    let peers = syn.options.mss.unwrap_or_else(|| options::default_mss(tuple.local));
    let overhead = if timestamps { TIMESTAMP_BYTES } else { 0 };
    // A peer may announce an unusably small size; 48 bytes leave room for the options and some data.
    u32::from(peers.min(ours)).max(48 + overhead) - overhead
}

/// Delay before a SYN that met an earlier connection is sent again.
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
        // A SYN flood must not make us build a controller twice per SYN.
        let timestamps = syn.repr.options.timestamps.is_some() && options::wants_timestamps(cfg, Some(true));
        let smss = agreed_smss(options::own_mss(cfg, syn.mtu, syn.tuple.local), &syn.tuple, &syn.repr, timestamps);
        let mut endpoint = Self::new(cfg, syn.tuple, syn.numbering, syn.mtu, Origin::Passive, smss, cx);
        endpoint.life.enter(State::SynReceived);
        endpoint.take_peer_syn(&syn.repr, smss, cx.now);
        endpoint.neg.ecn = EcnState::agrees(&cfg.ecn, Origin::Passive, &syn.repr, syn.ecn);
        endpoint.life.require_syn();
        endpoint
    }

    /// Returns the SYN-ACK that an endpoint would send for this SYN, and its packet (RFC 4987 §3.6). The endpoint is discarded.
    pub(crate) fn syn_ack_for<O: Observer>(cfg: &ValidConfig, syn: &SynInfo, cx: &mut Cx<'_, O>) -> (IpRepr, TcpRepr) {
        let endpoint = Self::accept(cfg, syn, cx);
        (endpoint.ip_header(Ecn::NotEct), endpoint.syn_repr(cx.now))
    }

    /// Restores the endpoint that sent a SYN-ACK for this SYN some time ago; it waits for the ACK that has just arrived.
    pub(crate) fn rebuild<O: Observer>(cfg: &ValidConfig, syn: &SynInfo, cx: &mut Cx<'_, O>) -> Self {
        let mut endpoint = Self::accept(cfg, syn, cx);
        endpoint.life.take_syn();
        endpoint.snd.space.on_syn_sent(0);
        endpoint.extras.get_or_insert_default().opening.on_rebuilt();
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
        let Numbering { iss, ts_offset, recent } = numbering;
        let mss = options::own_mss(cfg, mtu, tuple.local);
        let mut ts = TimestampState::new(ts_offset);
        if let Some(recent) = recent {
            ts.on_syn(recent, cx.now);
        }
        Self {
            tuple,
            mtu,
            life: Life::new(origin),
            timers: TimerTable::new(),
            neg: Negotiated::default(),
            ts,
            snd: Sender::new(cfg, iss, mss, smss, cx.now),
            rcv: Receiver::new(cfg, mss),
            ecn: EcnState::default(),
            outlet: Outlet::Open,
            pending: PendingEvents::default(),
            stats: Statistics::new(cx.now),
            extras: None,
            cfg: cfg.clone(),
        }
    }

    //= specs/rfc7323.md#window-scale
    //# The window of a SYN or SYN-ACK is not scaled.
    //= specs/rfc7323.md#timestamps
    //# The bytes of the option are taken from the segment, not from the announced segment size.
    /// Applies everything that a SYN or SYN-ACK says. The controller was built for segments of `built_for` bytes.
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
        let at = self.path_cx();
        if self.extras.is_some() || Path::begins_to_search(&at) {
            // The SYNs have agreed on a segment size; the path may carry less.
            let path = &mut self.extras.get_or_insert_default().path;
            path.begin(&at, now);
            self.snd.space.set_smss(path.smss(&at));
        }
        let known = match self.life.origin() {
            // The SYN left before options were agreed on.
            Origin::Active => u32::from(ours),
            Origin::Passive => rmss,
        };
        let sizes = FirstSizes { announced: ours.into(), known, smss: self.snd.space.smss() };
        self.rcv.open_window(&self.cfg, self.neg.rcv_shift, sizes);
        if self.snd.space.smss() != built_for {
            self.snd.cc = cc::build(&self.cfg.cc, self.snd.space.smss(), self.snd.space.iss());
        }
        if !self.neg.sack {
            // RFC 8985 §4 needs SACK; without it, only duplicate ACKs indicate loss.
            self.snd.rec.detector = recovery::build_detector_without_sack(&self.cfg.recovery.detector);
        }
    }

    //= specs/rfc9293.md#resets
    //# In SYN-SENT an acknowledgement of what was not sent is answered with a reset.
    //= specs/rfc9293.md#opening
    //# Two SYNs that cross make one connection.
    //= specs/rfc9293.md#opening
    //# The SYN-ACK is acknowledged, by itself or with data.
    //= specs/rfc7413.md#client
    //# Data in the SYN-ACK is taken.
    /// Handles a segment in SYN-SENT (RFC 9293 §3.10.7.3).
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
            if self.cfg.handshake.syn_data != SynData::Ignored {
                self.rcv.keep_syn_data(seg);
            }
            return Disposition::Accepted;
        };
        self.establish(cx, repr, ack);
        if self.cfg.handshake.syn_ack_answer == SynAckAnswer::AtOnce || !self.expects_to_send() {
            self.rcv.due_ack();
        } else {
            let at = self.rcv.delay_answer_of_syn_ack(&self.cfg, cx.now);
            self.arm(cx, TimerKind::DelayedAck, at);
        }
        self.take_data(cx, seg)
    }

    /// Returns whether data is about to leave that carries the acknowledgement of the SYN-ACK.
    fn expects_to_send(&self) -> bool {
        let writer = self.extras.as_ref().is_some_and(|extras| extras.opening.has_writer());
        // Data that the SYN carried in vain leaves again at once, and delays nothing.
        let buffered = self.snd.data_end() != self.snd.space.nxt();
        writer || buffered || self.rcv.expects_reply() || self.cfg.handshake.defer_accept != DeferAccept::Off
    }

    /// Returns whether a passive open waits for data that has not come.
    pub(super) fn may_defer(&self, now: Instant) -> bool {
        self.life.state() == State::SynReceived
            && self.life.origin() == Origin::Passive
            && may_defer(self.cfg.handshake.defer_accept, self.snd.rec.rto_base(), now)
            && !self.is_early()
            && !self.rcv.keeps_syn_data()
    }

    /// Returns whether to ignore a segment that only ends the handshake, because the application waits for data.
    pub(super) fn is_deferred(&self, now: Instant, seg: &Segment<'_>) -> bool {
        let bare = seg.payload.is_empty() && !seg.repr.flags.contains(Flags::FIN);
        let ends_handshake = seg.repr.ack == Some(self.snd.space.iss() + 1);
        bare && ends_handshake && self.may_defer(now)
    }

    //= specs/rfc7413.md#server
    //# The SYN-ACK acknowledges the data that was taken.
    /// Determines how a passive open that was just created answers its SYN. Data of the SYN is accepted at once if the connection
    /// may transfer data before its handshake ends; otherwise it waits for that end.
    pub(crate) fn answer_syn<O: Observer>(&mut self, cx: &mut Cx<'_, O>, syn: &Segment<'_>, answer: FastOpenAnswer) {
        let (option, goes_ahead) = match answer {
            FastOpenAnswer::Nothing => (None, false),
            FastOpenAnswer::Cookie(option) => (Some(option), false),
            FastOpenAnswer::Believe(option) => (option, true),
        };
        let mut taken = SeqRange::new(self.rcv.rcv_nxt(), self.rcv.rcv_nxt());
        if goes_ahead {
            // From here on, sequence numbers treat the SYN as acknowledged; the state still says that it is not.
            self.snd.space.on_syn_acked();
            self.pending.add(Readiness::Connected);
            taken = self.rcv.take_early(&self.cfg, syn);
        } else if self.cfg.handshake.syn_data != SynData::Ignored {
            self.rcv.keep_syn_data(syn);
        }
        if !taken.is_empty() {
            self.pending.add(Readiness::Readable);
            self.ts.on_ack_sent(taken.end);
        }
        if answer != FastOpenAnswer::Nothing {
            self.extras.get_or_insert_default().fast_open.answer(option, taken.len(), goes_ahead.then_some(cx.now));
        }
    }

    /// Puts `option` and the first bytes of `data` into the SYN, which has not left yet: as many as `room` allows. Returns their
    /// number; `None` when the SYN has left.
    pub(crate) fn open_fast(&mut self, option: Option<FastOpen>, data: &[u8], room: Bytes) -> Option<usize> {
        let waits = self.life.state() == State::SynSent && self.life.syn_due() && self.snd.rec.retries() == 0;
        if !waits || self.snd.buffer.len() > 0 || !self.fast_open().is_unused() {
            return None;
        }
        let bytes = self.snd.buffer.write(&data[..data.len().min(room as usize)]);
        self.extras.get_or_insert_default().fast_open.offer(option, bytes as Bytes);
        Some(bytes)
    }

    /// Handles the acknowledgement of our SYN by `ack`, perhaps with some of its data, and the options in `repr`. `syn` is the
    /// number of times our SYN had left.
    fn settle_fast_open<O: Observer>(&mut self, cx: &mut Cx<'_, O>, repr: &TcpRepr, ack: SeqNum, syn: Copies) {
        let Some(extras) = self.extras.as_deref_mut() else { return };
        match extras.fast_open.settle() {
            Settles::Nothing => {}
            Settles::WentAhead => {
                self.snd.rec.restart_rto(cx.now);
                self.arm_loss_timer(cx);
            }
            Settles::SynData(bytes) => {
                let all = self.snd.settle_syn_data(cx.now, self.ts.tsval(cx.now), bytes, ack);
                extras.fast_open.on_syn_ack(repr, options::default_mss(self.tuple.local), syn, all);
            }
        }
    }

    /// Returns whether the echo in a SYN-ACK is believable: the clock's reading when one of our SYNs left.
    fn echo_is_ours(&self, now: Instant, repr: &TcpRepr) -> bool {
        let asked =
            self.cfg.options.syn_ack_echo == SynAckEcho::OfOurSyns && options::wants_timestamps(&self.cfg, None);
        let Some(stamps) = repr.options.timestamps.filter(|ts| asked && repr.ack.is_some() && ts.tsecr != 0) else {
            return true;
        };
        let oldest = now.since(self.snd.rec.rto_base()) + Duration::from_millis(1);
        self.ts.echo_age(stamps.tsecr, now).is_some_and(|age| age <= oldest)
    }

    /// Returns the round trip of the handshake. By Karn's algorithm, a SYN that was sent several or an unknown number of times
    /// gives a sample only if a timestamp says which one was answered, and the profile uses it.
    fn handshake_rtt(&self, now: Instant, repr: &TcpRepr) -> Option<Duration> {
        match self.cfg.rtt.syn_echo {
            _ if !self.syn_left_again() && !self.extras.as_ref().is_some_and(|extras| extras.opening.is_rebuilt()) => {
                // Data that left before the end of the handshake has restarted the timer.
                let sent_at = self.fast_open().early_since().unwrap_or(self.snd.rec.rto_base());
                Some(now.since(sent_at))
            }
            SynEcho::Ignored => None,
            SynEcho::Sampled => {
                let stamps = repr.options.timestamps.filter(|stamps| self.neg.timestamps && stamps.tsecr != 0)?;
                self.ts.echo_age(stamps.tsecr, now)
            }
        }
    }

    //= specs/rfc5681.md#initial-window
    //# Neither the SYN-ACK nor its acknowledgement opens the window.
    //= specs/rfc5681.md#initial-window
    //# After more than one lost SYN the initial window is one segment.
    /// Establishes the connection: the peer acknowledged our SYN.
    pub(super) fn establish<O: Observer>(&mut self, cx: &mut Cx<'_, O>, repr: &TcpRepr, ack: SeqNum) {
        self.snd.space.on_syn_acked();
        self.timers.stop(TimerKind::Retransmit);
        self.stats.on_established(cx.now);
        let sample = self.handshake_rtt(cx.now, repr).filter(|sample| self.is_measurable(*sample));
        if let Some(rtt) = sample {
            let flight = SeqRange::new(self.snd.space.una(), self.snd.space.nxt());
            self.snd.rec.rtt.on_handshake(&self.cfg.rtt, cx.now, rtt, flight);
            self.snd.rec.rto.on_rtt(&self.cfg.rto, &self.snd.rec.rtt);
            self.rcv.on_handshake(&self.cfg, cx.now, rtt);
        }
        if self.snd.rec.retries() > 1 {
            // RFC 6928 §2: more than one lost SYN indicates a congested path.
            self.snd.cc.on_congestion(&cc::CongestionEvent::Timeout { flight_size: 0, first: true }, cx.now);
        }
        if self.snd.rec.retries() > 0 && sample.is_none() {
            self.snd.rec.rto.on_syn_lost(&self.cfg.rto);
        }
        if self.snd.rec.retries() > 0 {
            self.stats.rare_mut().on_timeout_over(cx.now);
        }
        let copies = if self.syn_left_again() { Copies::Several } else { Copies::One };
        self.snd.rec.forget_retries();
        if self.life.state() == State::SynReceived || self.life.origin() == Origin::Passive {
            let shift = if repr.flags.contains(Flags::SYN) { 0 } else { self.neg.snd_shift };
            // The unscaled window of the SYN does not show what the peer will offer.
            self.snd.space.forget_max_wnd();
            self.snd.space.on_window(u32::from(repr.window) << shift);
        }
        // An application that started early has been notified already.
        if !self.is_early() {
            self.pending.add(Readiness::Connected);
        }
        self.set_state(cx, State::Established);
        self.settle_fast_open(cx, repr, ack, copies);
        if self.snd.space.side() != SendSide::Open {
            self.set_state(cx, State::FinWait1);
        }
        if self.rcv.keeps_syn_data() {
            // The connection is established: data that waited counts as arrived now.
            let _ = self.arrive(cx, repr, None);
        }
        self.arm_keepalive(cx);
    }
}
