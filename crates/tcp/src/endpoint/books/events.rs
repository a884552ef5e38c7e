//! Information that only traces need: why a segment leaves, how SACK blocks were classified, what limits the sender. Computed
//! only while an observer is attached.

use super::counters::{AckReport, Statistics};
use super::labels;
use crate::config::Config;
use crate::cx::Cx;
use crate::endpoint::sender::{Overtaken, Progress, Sender};
use crate::endpoint::state::{Probing, SendSide};
use base::{Bytes, Instant, RateSample, SeqNum, SeqRange};
use cc::Pacing;
use recovery::Episode;
use recovery::tlp::ProbeOutcome;
use trace::{Event, Limit, Observer, SendCause};

/// What an event reports about a segment beyond its header.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct SegmentReport {
    pub cause: SendCause,
    pub retransmits: u8,
    /// The duplicate range it reports.
    pub dsack: Option<SeqRange>,
}

impl SegmentReport {
    pub const fn of(cause: SendCause) -> Self {
        Self { cause, retransmits: 0, dsack: None }
    }
}

impl Statistics {
    /// Reports what limits the sender when nothing more can leave for now.
    #[inline]
    pub fn emit_limit<O: Observer>(&mut self, cx: &mut Cx<'_, O>, limit: Limit) {
        if self.turn_to(limit) {
            cx.emit(|| Event::Limited { by: limit });
        }
    }

    /// Counts what an acceptable ACK reported, and reports reordering that it showed.
    #[inline]
    pub fn on_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>, ack: &AckReport<'_>) {
        let max_extent = self.book_ack(cx.now, ack);
        if let (Some(late), Some(max_extent)) = (ack.overtaken, max_extent) {
            let Overtaken { extent, fack, end } = late;
            cx.emit(|| Event::ReorderingSeen { extent, max_extent, fack, end });
        }
    }

    /// Counts and reports the segments just marked lost; `newly_lost` is their bytes, perhaps zero.
    pub fn on_lost<O: Observer>(&mut self, cx: &mut Cx<'_, O>, snd: &Sender, newly_lost: Bytes) {
        if newly_lost == 0 {
            return;
        }
        let rare = self.rare_mut();
        for (segment, _) in snd.rec.board.lost_log() {
            rare.bytes_lost += u64::from(segment.xmit.end.distance_from(segment.start));
            rare.lost_retransmissions += u32::from(segment.retransmits > 0);
            cx.emit(|| Event::SegmentLost {
                range: SeqRange::new(segment.start, segment.xmit.end),
                sent_at: segment.xmit.at,
                retransmits: segment.retransmits,
                by: labels::detector(snd.rec.detector.kind()),
            });
        }
    }

    /// Reports the congestion window, the threshold and the peer's window if any of them has changed.
    pub fn emit_snapshot<O: Observer>(&mut self, cx: &mut Cx<'_, O>, snd: &Sender) {
        if !cx.is_observed() {
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
                phase: labels::phase(snapshot.phase),
                cwnd: snapshot.cwnd,
                ssthresh: snapshot.ssthresh,
                pipe,
                snd_wnd,
                pacing,
            });
        }
    }
}

/// Returns why a segment marked lost is retransmitted.
pub(in crate::endpoint) fn cause_of_retransmission(snd: &Sender, forced: bool) -> SendCause {
    match snd.rec.episode() {
        Episode::Loss { .. } => SendCause::Timeout,
        _ if snd.rec.probing() != Probing::Idle => SendCause::WindowProbe,
        _ if forced => SendCause::FastRetransmit,
        _ => SendCause::SackRetransmit,
    }
}

/// Returns why `len` bytes of new data leave now.
#[inline]
pub(in crate::endpoint) fn cause_of_new<O: Observer>(snd: &Sender, len: Bytes) -> SendCause {
    let by_sack = || snd.rec.episode() == Episode::Open && snd.space.flight_size() + len > snd.cc.window().cwnd();
    if O::ENABLED && by_sack() { SendCause::LimitedTransmit } else { SendCause::New }
}

/// Returns what keeps the next segment of `size` bytes from leaving, in a state in which data may leave.
pub(in crate::endpoint) fn limit(cfg: &Config, snd: &Sender, now: Instant, size: Bytes) -> Limit {
    let repairs = snd.rec.episode().repairs();
    // No data follows the FIN.
    let all_sent = snd.space.side() == SendSide::FinSent;
    let unsent = if all_sent { 0 } else { snd.data_end().distance_from(snd.space.nxt()) };
    let window = if repairs { Limit::Recovery } else { Limit::Cwnd };
    let again = snd.rec.board.lost_bytes();
    let want = if again > 0 { again } else { unsent }.min(size);
    if want == 0 {
        let waits = snd.space.side() == SendSide::Open && snd.buffer.writer_waits();
        return if repairs && snd.space.flight_size() > 0 {
            Limit::Recovery
        } else if waits {
            Limit::Buffer
        } else {
            Limit::Application
        };
    }
    if again == 0 && snd.space.usable() < want {
        return Limit::Rwnd;
    }
    if snd.allowance(cfg) < want {
        return window;
    }
    if snd.pacer.as_ref().is_some_and(|pacer| pacer.is_waiting(now)) {
        return Limit::Pacing;
    }
    if repairs { Limit::Recovery } else { Limit::Nothing }
}

/// Reports what an ACK with SACK blocks changed; of its `blocks`, `dsacks` report duplicates.
#[inline]
pub(in crate::endpoint) fn emit_sack<O: Observer>(
    cx: &mut Cx<'_, O>,
    snd: &Sender,
    ack: SeqNum,
    (blocks, dsacks): (u8, u8),
    p: &Progress,
) {
    if blocks == 0 {
        return;
    }
    cx.emit(|| Event::SackReceived {
        ack,
        snd_una: snd.space.una(),
        snd_nxt: snd.space.nxt(),
        blocks,
        dsacks,
        news: p.sacked > 0 || dsacks > 0,
        sacked: snd.rec.board.sacked_bytes(),
        newly_sacked: p.sacked,
        lost: p.newly_lost,
        in_recovery: snd.rec.episode().repairs(),
        point: snd.rec.episode().point(),
    });
}

/// Step 5: reports what an acknowledgement revealed about the tail loss probe.
#[inline]
pub(in crate::endpoint) fn emit_probe_answer<O: Observer>(cx: &mut Cx<'_, O>, outcome: ProbeOutcome) {
    match outcome {
        ProbeOutcome::Pending => {}
        ProbeOutcome::Done => cx.emit(|| Event::ProbeAnswered { repaired: false }),
        ProbeOutcome::Repaired => cx.emit(|| Event::ProbeAnswered { repaired: true }),
    }
}

pub(in crate::endpoint) fn emit_rate<O: Observer>(cx: &mut Cx<'_, O>, sample: Option<RateSample>) {
    let Some(sample) = sample else { return };
    cx.emit(|| Event::RateSampled {
        delivered: sample.delivered,
        interval: sample.interval,
        rate: sample.rate().map_or(0, base::Rate::bits_per_sec),
        app_limited: sample.app_limited,
    });
}

pub(in crate::endpoint) fn emit_reordering<O: Observer>(cx: &mut Cx<'_, O>, snd: &Sender, dsack: bool) {
    let Some(state) = snd.rec.detector.reordering() else { return };
    cx.emit(|| Event::ReorderingWindow {
        reo_wnd: state.reo_wnd,
        multiplier: state.multiplier,
        persist: state.persist,
        seen: state.seen,
        dsack,
        in_recovery: snd.rec.episode().repairs(),
        round: state.round,
    });
}
