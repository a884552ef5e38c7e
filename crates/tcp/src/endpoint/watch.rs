//! What only traces want to know: why a segment leaves, what SACK blocks were taken for, what limits the sender. Nothing here is
//! computed unless an observer watches.

use super::ack::Blocks;
use super::sender::Progress;
use super::tally::{Held, TimeAccounts};
use super::{Endpoint, SendSide};
use crate::cx::Cx;
use base::{Bytes, Instant, RateSample, SeqNum, SeqRange};
use cc::Pacing;
use recovery::Episode;
use trace::{Event, Observer};

/// Why a segment leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendCause {
    /// New data.
    New,
    /// New data beyond what cumulative acknowledgements make room for (RFC 3042).
    LimitedTransmit,
    /// A retransmission of a recovery that leaves whatever the window says, as the first does.
    FastRetransmit,
    /// Any other one.
    SackRetransmit,
    /// What nothing marks lost (RFC 6675 §4, NextSeg rules 3 and 4).
    Additional,
    /// Retransmissions after a timeout.
    Timeout,
    TailProbe,
    /// New data instead of retransmissions, while a timeout is examined.
    Frto,
    WindowProbe,
    MtuProbe,
    KeepAlive,
    Syn,
    Ack,
    Reset,
}

impl SendCause {
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::LimitedTransmit => "limited_transmit",
            Self::FastRetransmit => "fast_retransmit",
            Self::SackRetransmit => "sack_retransmit",
            Self::Additional => "additional",
            Self::Timeout => "timeout",
            Self::TailProbe => "tail_probe",
            Self::Frto => "frto",
            Self::WindowProbe => "window_probe",
            Self::MtuProbe => "mtu_probe",
            Self::KeepAlive => "keep_alive",
            Self::Syn => "syn",
            Self::Ack => "ack",
            Self::Reset => "reset",
        }
    }
}

/// What an event reports about a segment beside its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub cause: SendCause,
    pub retransmits: u8,
    /// The duplicate range it reports.
    pub dsack: Option<SeqRange>,
}

impl Told {
    pub const fn of(cause: SendCause) -> Self {
        Self { cause, retransmits: 0, dsack: None }
    }
}

/// What keeps the next segment from leaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit {
    /// None of the others: the connection is not open, or a small segment waits for company.
    #[default]
    Nothing,
    /// There is nothing to send.
    Application,
    /// The send buffer is full of what is in flight, and the application would write more.
    Buffer,
    /// The congestion window.
    Cwnd,
    /// The peer's window.
    Rwnd,
    /// What recovery lets leave.
    Recovery,
    /// The pacer.
    Pacing,
}

impl Limit {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Application => "application",
            Self::Buffer => "buffer",
            Self::Cwnd => "cwnd",
            Self::Rwnd => "rwnd",
            Self::Recovery => "recovery",
            Self::Pacing => "pacing",
        }
    }
}

impl Endpoint {
    /// Why a segment that was marked lost is sent again.
    pub(super) fn cause_of_retransmission(&self, forced: bool) -> SendCause {
        match self.snd.rec.episode() {
            Episode::Loss { .. } => SendCause::Timeout,
            _ if self.snd.rec.probing() != super::Probing::Idle => SendCause::WindowProbe,
            _ if forced => SendCause::FastRetransmit,
            _ => SendCause::SackRetransmit,
        }
    }

    /// Why `len` bytes of new data leave when it is their turn.
    #[inline]
    pub(super) fn cause_of_new<O: Observer>(&self, len: Bytes) -> SendCause {
        let by_sack = || {
            self.snd.rec.episode() == Episode::Open && self.snd.space.flight_size() + len > self.snd.cc.window().cwnd()
        };
        if O::ENABLED && by_sack() { SendCause::LimitedTransmit } else { SendCause::New }
    }

    /// Nothing more can leave for now.
    #[inline]
    pub(super) fn emit_limit<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if !O::ENABLED {
            return;
        }
        let limit = self.limit(cx.now);
        if limit != self.tally.limit {
            self.tally.limit = limit;
            cx.emit(|| Event::Limited { by: limit.name() });
        }
    }

    fn limit(&self, now: Instant) -> Limit {
        if !self.may_send() {
            return Limit::Nothing;
        }
        let repairs = self.snd.rec.episode().repairs();
        // Behind the FIN there is nothing.
        let all_sent = self.snd.space.side() == SendSide::FinSent;
        let unsent = if all_sent { 0 } else { self.snd.data_end().distance_from(self.snd.space.nxt()) };
        let window = if repairs { Limit::Recovery } else { Limit::Cwnd };
        let again = self.snd.rec.board.lost_bytes();
        let want = if again > 0 { again } else { unsent }.min(self.segment_size());
        if want == 0 {
            let waits = self.snd.space.side() == SendSide::Open && self.snd.is_write_blocked();
            return if repairs && self.snd.space.flight_size() > 0 {
                Limit::Recovery
            } else if waits {
                Limit::Buffer
            } else {
                Limit::Application
            };
        }
        if again == 0 && self.snd.space.usable() < want {
            return Limit::Rwnd;
        }
        if self.snd.allowance(&self.cfg) < want {
            return window;
        }
        if self.snd.pacer.as_ref().is_some_and(|pacer| pacer.is_waiting(now)) {
            return Limit::Pacing;
        }
        if repairs { Limit::Recovery } else { Limit::Nothing }
    }

    /// An ACK with SACK blocks is done with.
    #[inline]
    pub(super) fn emit_sack<O: Observer>(&self, cx: &mut Cx<'_, O>, ack: SeqNum, blocks: &Blocks, p: &Progress) {
        if blocks.total == 0 {
            return;
        }
        cx.emit(|| Event::SackReceived {
            ack,
            snd_una: self.snd.space.una(),
            snd_nxt: self.snd.space.nxt(),
            blocks: blocks.total,
            dsacks: blocks.dsacks,
            news: p.sacked > 0 || blocks.dsacks > 0,
            sacked: self.snd.rec.board.sacked_bytes(),
            newly_sacked: p.sacked,
            lost: p.newly_lost,
            in_recovery: self.snd.rec.episode().repairs(),
            point: self.snd.rec.episode().point(),
        });
    }

    pub(super) fn emit_rate<O: Observer>(cx: &mut Cx<'_, O>, sample: Option<RateSample>) {
        let Some(sample) = sample else { return };
        cx.emit(|| Event::RateSampled {
            delivered: sample.delivered,
            interval: sample.interval,
            rate: sample.rate().map_or(0, base::Rate::bits_per_sec),
            app_limited: sample.app_limited,
        });
    }

    pub(super) fn emit_reordering<O: Observer>(&mut self, cx: &mut Cx<'_, O>, dsack: bool) {
        let Some(state) = self.snd.rec.detector.reordering() else { return };
        cx.emit(|| Event::ReorderingWindow {
            reo_wnd: state.reo_wnd,
            multiplier: state.multiplier,
            persist: state.persist,
            seen: state.seen,
            dsack,
            in_recovery: self.snd.rec.episode().repairs(),
            round: state.round,
        });
    }

    pub(super) fn emit_snapshot<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if !O::ENABLED {
            return;
        }
        let snapshot = self.snd.cc.snapshot();
        let numbers = (snapshot.cwnd, snapshot.ssthresh, self.snd.space.wnd());
        let last = &mut self.extras_mut().last_snapshot;
        if numbers != *last {
            *last = numbers;
            let (pipe, snd_wnd) = (self.snd.rec.board.pipe(), self.snd.space.wnd());
            let pacing = match self.snd.cc.pacing() {
                Some(Pacing::Rate { rate, .. }) => Some(rate.bits_per_sec()),
                Some(Pacing::Departure(_)) | None => None,
            };
            cx.emit(|| Event::CcSnapshot {
                phase: snapshot.phase,
                cwnd: snapshot.cwnd,
                ssthresh: snapshot.ssthresh,
                pipe,
                snd_wnd,
                pacing,
            });
        }
    }

    /// Nothing more can leave for now: who is to blame for the time until something does?
    #[inline]
    pub(super) fn note_held(&mut self, now: Instant) {
        let works = self.snd.has_work() && self.may_send();
        let held = if works { self.snd.held(self.segment_size()) } else { Held::Nothing };
        if held != self.tally.held() {
            self.book_time(now, held);
        }
    }

    /// Books the time since the last change, and goes on with `held`.
    #[cold]
    fn book_time(&mut self, now: Instant, held: Held) {
        let TimeAccounts { busy, window, buffer } = self.time_accounts(now);
        if matches!(self.tally.held(), Held::Window | Held::Buffer) {
            self.rare_mut().set_limited(window, buffer);
        }
        self.tally.set_held(now, held, busy);
    }

    /// The accounts of time up to now.
    pub(super) fn time_accounts(&self, now: Instant) -> TimeAccounts {
        self.tally.time_accounts(self.extras.as_deref().map(|extras| &extras.rare), now)
    }
}
