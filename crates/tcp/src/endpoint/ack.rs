//! The ten steps of ACK processing. Only this file determines their order; traces and docs refer to the numbers.
//!
//! 1 window · 2 classify blocks · 3 scoreboard · 4 RTT · 5 probe · 6 detector · 7 episode · 8 controller and
//! reduction · 9 timers · 10 event.

use super::books::{AckReport, emit_probe_answer, emit_rate, emit_reordering, emit_sack, labels};
use super::path::ProbeLoss;
use super::sender::{Blocks, Losses, Progress, Reaction, RttCx};
use super::{Endpoint, Probing, Readiness, Segment, SendSide};
use crate::cx::Cx;
use base::{Bytes, Duration, Instant, SeqNum};
use cc::CcNote;
use recovery::rtt::Trust;
use recovery::tlp::{ProbeAck, ProbeOutcome, Repeated};
use recovery::undo::Proof;
use recovery::{Arrival, Delivered, DetectCx, Episode};
use trace::{EpisodeCause, Event, Observer, Phase};

impl Endpoint {
    //= specs/rfc6675.md#scoreboard
    //# An ACK's SACK blocks update the scoreboard before anything else is decided.
    /// Processes the acknowledgement of an acceptable segment.
    pub(super) fn process_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, ack: SeqNum) {
        // 1
        let wnd_before = self.snd.space.wnd();
        self.snd.update_window(&self.cfg.send, &seg.repr, ack, u32::from(seg.repr.window) << self.neg.snd_shift);
        // 2
        let blocks = self.snd.classify(&self.cfg, self.neg.sack, seg, ack, |range, class| {
            cx.emit(|| Event::BlockReceived { range, class: labels::block_class(class) });
        });
        let duplicate = !self.neg.sack && self.snd.is_duplicate_ack(seg, ack, wnd_before);
        if ack == self.snd.space.una()
            && blocks.genuine().is_empty()
            && blocks.dsack.is_none()
            && !duplicate
            && !self.echoes_mark(seg)
        {
            return self.on_bare_ack(cx, seg, ack, wnd_before, &blocks);
        }
        let fack = self.snd.rec.board.highest_sacked();
        let departed_before = self.snd.rec.board.departed_bytes();
        let mut progress = Progress {
            prior_pipe: self.snd.rec.board.pipe(),
            sacked_before: self.snd.rec.board.sacked_bytes() + departed_before,
            departed_before,
            dsack: blocks.dsack,
            ..Progress::default()
        };
        let mut delivered = self.snd.rec.delivered.take().unwrap_or_default();
        // 3
        self.advance(cx, ack, &blocks, &mut delivered, &mut progress);
        // 4
        progress.arrival = self.snd.rec.board.arrival_of_newest(&delivered);
        progress.rtt = self.sample_rtt(cx, seg, &delivered, progress.arrival, progress.prior_pipe);
        progress.rate = self.snd.rec.sampler.on_ack(cx.now, &delivered, self.snd.rec.rtt.min_rtt());
        #[cfg(not(longhaul_unwatched))]
        emit_rate(cx, progress.rate);
        let news = progress.acked + progress.sacked > 0 || progress.dsack.is_some();
        let report = AckReport {
            is_current: ack == self.snd.space.una(),
            dsacks: blocks.dsacks,
            sack_news: (blocks.total > 0).then_some(news),
            delivered: Some(&delivered),
            rate: progress.rate.as_ref(),
            overtaken: self.snd.overtaken(&delivered, fack),
        };
        self.stats.on_ack(cx, &report);
        // 5
        let probe = self.snd.rec.tail.on_ack(&ProbeAck { ack, dsack: blocks.dsack, repeated: Repeated::No });
        emit_probe_answer(cx, probe);
        // 6 and 7
        self.detect_on_ack(cx, seg, duplicate, probe, &delivered, &mut progress);
        self.snd.keep_delivered(delivered, progress.acked > 0);
        // 8
        let extent = self.stats.reordering_extent();
        if let Some(note) = self.snd.inform_controller(&self.cfg, cx.now, extent, &progress) {
            self.emit_note(cx, note);
        }
        self.stop_probing_if_opened(cx.now, wnd_before);
        // 9
        self.arm_loss_timer(cx);
        // 10
        #[cfg(not(longhaul_unwatched))]
        emit_sack(cx, &self.snd, ack, (blocks.total, blocks.dsacks), &progress);
        self.emit_processed(cx, ack, &progress);
        #[cfg(not(longhaul_unwatched))]
        self.stats.emit_snapshot(cx, &self.snd);
        self.after_ack(cx);
    }

    /// Handles an ACK with neither progress nor a report about the flight: a window update, data in the other direction, or the
    /// answer to a needless probe from a peer that does not report duplicates.
    fn on_bare_ack<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        seg: &Segment<'_>,
        ack: SeqNum,
        wnd_before: Bytes,
        blocks: &Blocks,
    ) {
        if seg.seq_len() == 0 && self.snd.space.wnd() == wnd_before && seg.repr.options.sack.as_slice().is_empty() {
            let outcome = self.snd.rec.tail.on_ack(&ProbeAck { ack, dsack: None, repeated: Repeated::Yes });
            emit_probe_answer(cx, outcome);
        }
        // If the window is as closed as before, the next empty probe waits from now on.
        let waits = self.snd.waits_with_empty_probe();
        if self.stop_probing_if_opened(cx.now, wnd_before) || waits {
            self.arm_loss_timer(cx);
        }
        let sack_news = (blocks.total > 0).then_some(false);
        self.stats.on_ack(cx, &AckReport { is_current: true, sack_news, ..AckReport::default() });
        #[cfg(not(longhaul_unwatched))]
        emit_sack(cx, &self.snd, ack, (blocks.total, blocks.dsacks), &Progress::default());
    }

    /// Stops probing if the peer's window has opened while the persist timer ran. Returns whether it has.
    #[inline]
    fn stop_probing_if_opened(&mut self, now: Instant, wnd_before: Bytes) -> bool {
        if self.snd.rec.probing() == Probing::Idle {
            return false;
        }
        let size = self.segment_size();
        let opened = self.snd.stop_probing_if_opened(now, wnd_before, size);
        if opened && let Some(extras) = self.extras.as_deref_mut() {
            extras.silence.on_progress();
        }
        opened
    }

    /// Step 10: reports the processed ACK to an observer.
    #[inline]
    fn emit_processed<O: Observer>(&self, cx: &mut Cx<'_, O>, ack: SeqNum, progress: &Progress) {
        cx.emit(|| Event::AckProcessed {
            ack,
            acked: progress.acked,
            sacked: progress.sacked,
            lost: progress.newly_lost,
            dsack: progress.dsack,
            rtt: progress.rtt,
            pipe: self.snd.rec.board.pipe(),
            cwnd: self.snd.cc.window().cwnd(),
        });
    }

    //= specs/rfc6298.md#managing-the-timer
    //# An ACK of new data starts the timer anew.
    //= specs/rfc2018.md#sender
    //# Data stays in the send buffer until it is cumulatively acknowledged.
    /// Step 3: gives ACK and blocks to the scoreboard; removes acknowledged bytes from the send buffer.
    #[inline]
    fn advance<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        ack: SeqNum,
        blocks: &Blocks,
        d: &mut Delivered,
        p: &mut Progress,
    ) {
        let una = ack.max(self.snd.space.una());
        self.snd.rec.board.apply(una, blocks.genuine(), d);
        (p.acked, p.sacked, p.delivered) = (d.acked, d.sacked, d.delivered);
        self.snd.space.on_delivered(d.largest);
        if una.after(self.snd.space.una()) {
            self.snd.space.on_acked(una);
            // The FIN occupies a sequence number but no place in the buffer.
            let bytes = p.acked.min(self.snd.buffer.len());
            self.snd.on_bytes_acked(bytes);
            let woken = self.snd.wakes_on_ack(&self.cfg);
            self.pending.add_if(woken, Readiness::Writable);
            self.snd.rec.forget_retries();
            // A back-off lasts until a valid sample comes (RFC 6298 §5, closing note; Karn's second rule).
            self.snd.rec.restart_rto(cx.now);
            if self.snd.space.wnd() > 0 {
                self.snd.rec.set_probing(Probing::Idle);
            }
            if let Some(extras) = &mut self.extras {
                extras.silence.on_progress();
                extras.urgent.on_acked(una);
                if extras.path.on_acked(una) {
                    self.fit_path();
                }
            }
        }
    }

    //= specs/rfc9937.md#each-ack
    //# What an ACK delivered is the advance of SND.UNA plus the change of what is SACKed.
    /// Steps 6 and 7: marks losses, ends and begins episodes.
    fn detect_on_ack<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        seg: &Segment<'_>,
        duplicate: bool,
        probe: ProbeOutcome,
        d: &Delivered,
        p: &mut Progress,
    ) {
        let tsecr = seg.repr.options.timestamps.filter(|_| self.neg.timestamps).map(|ts| ts.tsecr);
        let dcx = DetectCx { arrival: p.arrival, ..self.snd.detect_cx(cx.now, tsecr) };
        #[cfg(not(longhaul_unwatched))]
        let reordering_before = cx.is_observed().then(|| self.snd.rec.detector.reordering());
        if let Some(range) = p.dsack {
            self.snd.rec.detector.on_dsack(range, &dcx);
        }
        if duplicate {
            self.snd.rec.detector.on_duplicate_ack(&dcx);
        }
        self.snd.rec.detector.on_delivered(&d.batch, &dcx);
        p.cwnd_limited =
            self.snd.usage.on_ack(cx.now, self.snd.space.una(), self.snd.space.nxt(), self.snd.cc.window());
        // A duplicate caused by a probe says nothing about an episode's retransmissions.
        let dsack = p.dsack.filter(|_| probe == ProbeOutcome::Pending);
        if let Some(proof) = self.snd.proof_of_spurious(&self.cfg.recovery.undo, dsack, p.acked, d, &dcx) {
            self.undo_episode(cx, proof);
        }
        if self.snd.rec.episode().is_over(self.snd.space.una()) {
            self.leave_episode(cx, EpisodeCause::Acknowledged);
        }
        let dcx = self.snd.detect_cx(cx.now, tsecr);
        let verdict = self.snd.rec.detector.detect(&mut self.snd.rec.board, &dcx);
        p.newly_lost = self.snd.take_verdict(cx.now, self.neg.sack, verdict);
        self.stats.on_lost(cx, &self.snd, p.newly_lost);
        #[cfg(not(longhaul_unwatched))]
        if reordering_before.is_some_and(|before| p.dsack.is_some() || before != self.snd.rec.detector.reordering()) {
            emit_reordering(cx, &self.snd, p.dsack.is_some());
        }
        self.enter_recovery_if_lost(cx, p.newly_lost, p.sacked_before, p.acked);
        if probe == ProbeOutcome::Repaired && self.snd.rec.episode() == Episode::Open {
            self.snd.answer_repaired_tail(cx.now, p.acked);
        }
        p.echo = self.echoes_mark(seg);
        if p.echo {
            self.answer_mark(cx, d.batch.len(), p.sacked_before, p.acked);
        }
        self.snd.inform_reduction(self.snd.delivered_by(p), p.acked, p.newly_lost);
    }

    fn emit_note<O: Observer>(&self, cx: &mut Cx<'_, O>, note: CcNote) {
        cx.emit(|| {
            let cwnd = self.snd.cc.window().cwnd();
            match note {
                CcNote::SlowStartExited(cause) => Event::SlowStartExited { cause: labels::exit_cause(cause), cwnd },
                CcNote::ReturnedToSlowStart => Event::SlowStartPhase { phase: Phase::SlowStart, cwnd },
                CcNote::PhaseChanged(phase) => Event::SlowStartPhase { phase: labels::phase(phase), cwnd },
            }
        });
    }

    /// Leaves the states that wait for the acknowledgement of our FIN (RFC 9293 §3.10.7.4, fifth).
    fn after_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.buffer.len() == 0 {
            self.stats.note_held(cx.now, self.held());
        }
        if self.snd.space.side() != SendSide::FinSent || self.snd.space.una() != self.snd.space.nxt() {
            return;
        }
        if let Some(next) = self.life.state().after_fin_acknowledged() {
            self.pending.add(Readiness::FinAcknowledged);
            self.set_state(cx, next);
        }
    }

    /// Step 4: takes the ACK's round-trip sample if the estimator trusts it.
    #[inline]
    fn sample_rtt<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        seg: &Segment<'_>,
        d: &Delivered,
        arrival: Arrival,
        prior_pipe: Bytes,
    ) -> Option<Duration> {
        let tsecr = seg.repr.options.timestamps.filter(|_| self.neg.timestamps).map(|ts| ts.tsecr);
        let (cfg, clock, resolution) = (&self.cfg, &self.ts, self.clock_resolution());
        let about = RttCx { cfg, now: cx.now, clock, tsecr, resolution, arrival, prior_pipe };
        let (sample, trust) = self.snd.sample_rtt(&about, d)?;
        if d.sacked > 0 {
            let prompt = &mut self.extras.get_or_insert_default().prompt_rtt;
            *prompt = Some(prompt.unwrap_or(sample).min(sample));
        }
        let (rtt, rto) = (&self.snd.rec.rtt, self.snd.rec.rto.current().duration());
        cx.emit(|| Event::RttUpdated {
            sample,
            srtt: rtt.srtt().unwrap_or_default(),
            rttvar: rtt.rttvar().unwrap_or_default(),
            rto,
            // Until two samples agree the shorter one may be wrong; only their mean is known.
            min_rtt: rtt.min_rtt().or(rtt.srtt()).unwrap_or_default(),
        });
        // Controllers follow the minimum of the samples in a round trip; a sample that does not lower it would mislead them.
        (trust == Trust::Taken).then_some(sample)
    }

    /// Returns the resolution of the driver's clock; zero for a clock that counts nanoseconds.
    #[inline]
    fn clock_resolution(&self) -> Duration {
        self.extras.as_ref().map_or(Duration::ZERO, |extras| extras.clock_resolution)
    }

    /// Returns whether the clock can distinguish a round trip of this length from zero.
    #[inline]
    pub(super) fn is_measurable(&self, sample: Duration) -> bool {
        !sample.is_zero() && sample >= self.clock_resolution()
    }

    /// Step 7, entry: reacts to segments that were marked lost; `newly_lost` is their bytes, perhaps zero.
    pub(super) fn enter_recovery_if_lost<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        newly_lost: Bytes,
        sacked_before: Bytes,
        newly_acked: Bytes,
    ) {
        // If only a probe of the path was lost, it is split and repaired, and no loss remains to react to; if other segments were
        // lost as well, the loss says nothing about the probe's size.
        if let Some(extras) = &mut self.extras {
            let open = self.snd.rec.episode() == Episode::Open;
            let lost = self.snd.rec.board.lost_log().iter().map(|(segment, _)| segment.range());
            match extras.path.on_lost(lost, open) {
                ProbeLoss::None => {}
                ProbeLoss::AmongOthers => {
                    self.snd.recut(Bytes::MAX);
                }
                ProbeLoss::Alone => {
                    self.snd.rec.board.clear_lost_log();
                    self.cut_to_path(cx, Bytes::MAX);
                    return;
                }
            }
        }
        if newly_lost == 0 {
            return;
        }
        let (cfg, sack, prompt_rtt) = (&self.cfg, self.neg.sack, self.prompt_rtt());
        let losses = Losses { cfg, now: cx.now, sack, sacked_before, newly_acked, prompt_rtt };
        let reaction = self.snd.on_losses(&losses);
        if matches!(reaction, Reaction::Answered | Reaction::Recovers) {
            self.ecn.owe_cwr(self.neg.ecn);
        }
        if matches!(reaction, Reaction::Recovers | Reaction::RecoversAfterMark) {
            let rare = self.stats.rare_mut();
            rare.episodes += 1;
            rare.fast_retransmits += 1;
            let detector = labels::detector(self.snd.rec.detector.kind());
            self.set_episode(cx, Episode::Recovery { point: self.snd.space.nxt() }, detector.into());
        }
    }

    /// Returns the minimum round trip of a SACKed segment.
    pub(super) fn prompt_rtt(&self) -> Option<Duration> {
        self.extras.as_ref().and_then(|extras| extras.prompt_rtt)
    }

    /// Step 7, exit: leaves the episode for `cause`.
    pub(super) fn leave_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cause: EpisodeCause) {
        if matches!(self.snd.rec.episode(), Episode::Recovery { .. }) {
            self.stats.rare_mut().episodes_without_timeout += 1;
        }
        self.stats.rare_mut().on_timeout_over(cx.now);
        self.snd.leave_episode(cx.now);
        self.set_episode(cx, Episode::Open, cause);
    }

    //= specs/rfc5682.md#response
    //# A timeout that proves spurious is answered by a response that the IETF has specified, such as Eifel's.
    /// Undoes an episode that proved spurious.
    pub(super) fn undo_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, proof: Proof) {
        if !self.snd.undo() {
            return;
        }
        let proof = labels::proof(proof);
        self.ecn.withdraw_cwr();
        let rare = self.stats.rare_mut();
        rare.undone = rare.undone.saturating_add(1);
        if self.snd.rec.episode().repairs() {
            self.leave_episode(cx, proof.into());
        }
        cx.emit(|| {
            let window = self.snd.cc.window();
            Event::Undone { proof, cwnd: window.cwnd(), ssthresh: window.ssthresh() }
        });
    }
}
