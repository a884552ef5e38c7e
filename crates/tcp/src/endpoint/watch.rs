//! What only traces want to know: why a segment leaves, what SACK blocks were taken for, what limits the sender. Nothing here is
//! computed unless an observer watches.

use super::ack::Blocks;
use super::sender::{Progress, Sender};
use super::tally::{Held, Limit, Tally};
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

impl Tally {
    /// Nothing more can leave for now, because of `limit`.
    #[inline]
    pub fn emit_limit<O: Observer>(&mut self, cx: &mut Cx<'_, O>, limit: Limit) {
        if self.turn_to(limit) {
            cx.emit(|| Event::Limited { by: limit.name() });
        }
    }

    /// The congestion window has changed, or the peer's.
    pub fn emit_snapshot<O: Observer>(&mut self, cx: &mut Cx<'_, O>, snd: &Sender) {
        if !O::ENABLED {
            return;
        }
        let snapshot = snd.cc.snapshot();
        let (pipe, snd_wnd) = (snd.rec.board.pipe(), snd.space.wnd());
        if self.rare_mut().is_new_snapshot((snapshot.cwnd, snapshot.ssthresh, snd_wnd)) {
            let pacing = match snd.cc.pacing() {
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

    /// What keeps the next segment from leaving.
    pub(super) fn limit(&self, now: Instant) -> Limit {
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
            let waits = self.snd.space.side() == SendSide::Open && self.snd.buffer.writer_waits();
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

    pub(super) fn emit_reordering<O: Observer>(&self, cx: &mut Cx<'_, O>, dsack: bool) {
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

    /// What the time until something leaves is booked on, when nothing more can leave for now.
    #[inline]
    pub(super) fn held(&self) -> Held {
        let works = self.snd.has_work() && self.may_send();
        if works { self.snd.held(self.segment_size()) } else { Held::Nothing }
    }
}
