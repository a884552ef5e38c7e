//! The ten steps of ACK processing. This is the only place that knows their order; the numbers stand in traces and docs.
//!
//! 1 window · 2 classify blocks · 3 scoreboard · 4 RTT · 5 probe · 6 detector · 7 episode · 8 controller and
//! reduction · 9 timers · 10 event.

use super::books::{emit_rate, emit_reordering, emit_sack};
use super::sender::{Progress, RttCx};
use super::{Endpoint, Probing, Segment, SendSide};
use crate::cx::Cx;
use base::{Bytes, Duration, Instant, RateSample, SeqNum, SeqRange};
use cc::CcNote;
use recovery::rtt::Trust;
use recovery::sack::{BlockClass, BlockCx};
use recovery::tlp::{ProbeAck, ProbeOutcome, Repeated};
use recovery::{Arrival, Delivered, DetectCx, Episode};
use trace::{Event, Observer};
use wire::tcp::MAX_SACK_BLOCKS;

/// An ACK's SACK blocks, classified.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    genuine: [SeqRange; MAX_SACK_BLOCKS],
    count: usize,
    dsack: Option<SeqRange>,
    /// Blocks in the option, and those of them that report duplicates.
    pub total: u8,
    pub dsacks: u8,
}

impl Endpoint {
    //= specs/rfc6675.md#scoreboard
    //# An ACK's SACK blocks update the scoreboard before anything else is decided.
    /// Processes the acknowledgement of an acceptable segment.
    pub(super) fn process_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, ack: SeqNum) {
        // 1
        let wnd_before = self.snd.space.wnd();
        self.snd.update_window(&self.cfg.send, &seg.repr, ack, u32::from(seg.repr.window) << self.neg.snd_shift);
        // 2
        let blocks = self.classify(cx, seg, ack);
        let duplicate = !self.neg.sack && self.snd.is_duplicate_ack(seg, ack, wnd_before);
        if ack == self.snd.space.una()
            && blocks.count == 0
            && blocks.dsack.is_none()
            && !duplicate
            && !self.echoes_mark(seg)
        {
            // Neither progress nor news about the flight: a window update, data the other way, or the answer to a probe
            // that was not needed, from a peer that does not report duplicates.
            if seg.seq_len() == 0 && self.snd.space.wnd() == wnd_before && seg.repr.options.sack.as_slice().is_empty() {
                self.answer_probe(cx, &ProbeAck { ack, dsack: None, repeated: Repeated::Yes });
            }
            self.take_answer(cx, wnd_before);
            self.note_ack(cx.now, ack, None, None);
            self.note_sack(seg, false);
            #[cfg(not(longhaul_unwatched))]
            emit_sack(cx, &self.snd, ack, (blocks.total, blocks.dsacks), &Progress::default());
            return;
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
        self.note_sack(seg, progress.acked + progress.sacked > 0 || progress.dsack.is_some());
        // 4
        progress.arrival = self.snd.rec.board.arrival_of_newest(&delivered);
        progress.rtt = self.sample_rtt(cx, seg, &delivered, progress.arrival, progress.prior_pipe);
        progress.rate = self.snd.rec.sampler.on_ack(cx.now, &delivered, self.snd.rec.rtt.min_rtt());
        #[cfg(not(longhaul_unwatched))]
        emit_rate(cx, progress.rate);
        self.note_ack(cx.now, ack, Some(&delivered), progress.rate.as_ref());
        self.note_reordering(cx, &delivered, fack);
        // 5
        let probe = self.answer_probe(cx, &ProbeAck { ack, dsack: blocks.dsack, repeated: Repeated::No });
        // 6 and 7
        self.detect_on_ack(cx, seg, duplicate, probe, &delivered, &mut progress);
        self.snd.rec.delivered = Some(delivered).filter(|_| !self.snd.rec.board.is_empty());
        // 8
        let extent = self.tally.reordering_extent();
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
        self.tally.emit_snapshot(cx, &self.snd);
        self.after_ack(cx);
    }

    /// Step 10.
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

    //= specs/rfc2883.md#sender
    //# A duplicate report marks nothing on the scoreboard.
    /// Step 2: separates SACK, D-SACK and invalid blocks.
    #[inline]
    fn classify<O: Observer>(&mut self, cx: &mut Cx<'_, O>, seg: &Segment<'_>, ack: SeqNum) -> Blocks {
        let mut out = Blocks::default();
        let wire_blocks = seg.repr.options.sack.as_slice();
        if wire_blocks.is_empty() || !self.neg.sack {
            return out;
        }
        let classify = self.cfg.classify();
        out.total = wire_blocks.len() as u8;
        for (position, &block) in wire_blocks.iter().enumerate() {
            let about = BlockCx {
                seg_ack: ack,
                snd_una: self.snd.space.una(),
                snd_nxt: self.snd.space.nxt(),
                max_window: self.snd.space.max_wnd(),
                position,
                second: if position == 0 { wire_blocks.get(1).copied() } else { None },
            };
            let class = classify(block, &about);
            cx.emit(|| Event::BlockReceived { range: block, class: class.name() });
            match class {
                BlockClass::Sack => {
                    out.genuine[out.count] = block;
                    out.count += 1;
                }
                BlockClass::Dsack => {
                    out.dsack = Some(block);
                    out.dsacks += 1;
                    self.tally.rare_mut().dsacks_received += 1;
                }
                BlockClass::Reject(_) => {}
            }
        }
        out
    }

    //= specs/rfc6298.md#managing-the-timer
    //# An ACK of new data starts the timer anew.
    //= specs/rfc2018.md#sender
    //# Data stays in the send buffer until it is cumulatively acknowledged.
    /// Step 3: the scoreboard takes ACK and blocks; acknowledged bytes leave the send buffer.
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
        self.snd.rec.board.apply(una, &blocks.genuine[..blocks.count], d);
        (p.acked, p.sacked, p.delivered) = (d.acked, d.sacked, d.delivered);
        self.snd.space.on_delivered(d.largest);
        if una.after(self.snd.space.una()) {
            self.snd.space.on_acked(una);
            // The FIN occupies a sequence number but no place in the buffer.
            let bytes = p.acked.min(self.snd.buffer.len());
            self.snd.on_bytes_acked(bytes);
            let woken = self.snd.wakes_on_ack(&self.cfg);
            self.note_writable(woken);
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
    /// Steps 6 and 7: losses are marked, episodes end and begin.
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
        let reordering_before = O::ENABLED.then(|| self.snd.rec.detector.reordering());
        if let Some(range) = p.dsack {
            self.snd.rec.detector.on_dsack(range, &dcx);
        }
        if duplicate {
            self.snd.rec.detector.on_duplicate_ack(&dcx);
        }
        self.snd.rec.detector.on_delivered(&d.batch, &dcx);
        p.cwnd_limited =
            self.snd.usage.on_ack(cx.now, self.snd.space.una(), self.snd.space.nxt(), self.snd.cc.window());
        // A duplicate that a probe made says nothing about an episode's retransmissions.
        let dsack = p.dsack.filter(|_| probe == ProbeOutcome::Pending);
        if let Some(proof) = self.snd.proof_of_spurious(&self.cfg.recovery.undo, dsack, p.acked, d, &dcx) {
            self.undo_episode(cx, proof);
        }
        if self.snd.rec.episode().is_over(self.snd.space.una()) {
            self.leave_episode(cx, "acknowledged");
        }
        let dcx = self.snd.detect_cx(cx.now, tsecr);
        let verdict = self.snd.rec.detector.detect(&mut self.snd.rec.board, &dcx);
        p.newly_lost = self.take_verdict(cx, verdict);
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
                CcNote::SlowStartExited(cause) => Event::SlowStartExited { cause: cause.name(), cwnd },
                CcNote::ReturnedToSlowStart => Event::SlowStartPhase { phase: "slow_start", cwnd },
                CcNote::PhaseChanged(phase) => Event::SlowStartPhase { phase, cwnd },
            }
        });
    }

    /// States that wait for the acknowledgement of our FIN (RFC 9293 §3.10.7.4, fifth).
    fn after_ack<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.buffer.len() == 0 {
            self.tally.note_held(cx.now, self.held());
        }
        if self.snd.space.side() != SendSide::FinSent || self.snd.space.una() != self.snd.space.nxt() {
            return;
        }
        if let Some(next) = self.life.state().after_fin_acknowledged() {
            self.set_state(cx, next);
        }
    }

    /// What an acceptable ACK brought, if anything. One from before `SND.UNA` does not show that the peer lives: it left
    /// before another, or is that of a peer that lacks what was acknowledged in its name and will never go on.
    #[inline]
    fn note_ack(&mut self, now: Instant, ack: SeqNum, delivered: Option<&Delivered>, rate: Option<&RateSample>) {
        if !ack.before(self.snd.space.una()) {
            self.tally.on_answer(now);
            if let Some(extras) = self.extras.as_deref_mut() {
                extras.silence.on_answer();
            }
        }
        let segments = delivered.map_or(0, |d| d.batch.len() as u32);
        self.tally.on_ack(segments, rate);
    }

    /// An ACK came; one with SACK blocks should say something new: bytes acknowledged either way, or a duplicate.
    #[inline]
    fn note_sack(&mut self, seg: &Segment<'_>, news: bool) {
        if self.neg.sack && !seg.repr.options.sack.as_slice().is_empty() {
            self.tally.rare_mut().on_sack(news);
        }
    }

    /// Something never sent again was delivered after something behind it: the path reorders (RFC 4737). `fack` is the
    /// highest number that was selectively acknowledged before this ACK.
    #[inline]
    fn note_reordering<O: Observer>(&mut self, cx: &mut Cx<'_, O>, d: &Delivered, fack: Option<SeqNum>) {
        let Some(fack) = fack else { return };
        // The batch is in sequence order, so the first one is what was overtaken by most.
        let Some(late) = d.batch.iter().find(|s| s.retransmits == 0).filter(|s| s.start.before(fack)) else { return };
        let (fack, end) = (self.snd.rec.board.highest_sacked().unwrap_or(fack).max(fack), late.xmit.end);
        let extent = fack.distance_from(late.start);
        let max_extent = self.tally.rare_mut().on_reordering(extent);
        cx.emit(|| Event::ReorderingSeen { extent, max_extent, fack, end });
    }

    /// Step 4: what the ACK tells of the round-trip time, if the estimator trusts it.
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
            let prompt = &mut self.extras_mut().prompt_rtt;
            *prompt = Some(prompt.unwrap_or(sample).min(sample));
        }
        let (rtt, rto) = (&self.snd.rec.rtt, self.snd.rec.rto.current().duration());
        cx.emit(|| Event::RttUpdated {
            sample,
            srtt: rtt.srtt().unwrap_or_default(),
            rttvar: rtt.rttvar().unwrap_or_default(),
            rto,
            // Until two samples agree the shorter of them may be wrong; what is known is the mean.
            min_rtt: rtt.min_rtt().or(rtt.srtt()).unwrap_or_default(),
        });
        // Controllers follow the least samples of a round trip: what does not lower the minimum would mislead them.
        (trust == Trust::Taken).then_some(sample)
    }

    /// What the driver's clock can tell apart; zero for one that counts nanoseconds.
    #[inline]
    fn clock_resolution(&self) -> Duration {
        self.extras.as_ref().map_or(Duration::ZERO, |extras| extras.clock_resolution)
    }

    /// Whether the clock can distinguish a round trip from zero.
    #[inline]
    pub(super) fn is_measurable(&self, sample: Duration) -> bool {
        !sample.is_zero() && sample >= self.clock_resolution()
    }

    /// Sets the resolution of this host's clock. Time is counted in nanoseconds, so only a coarser clock needs room.
    pub(crate) fn set_clock_resolution(&mut self, resolution: Duration) {
        if resolution > Duration::from_nanos(1) {
            self.extras_mut().clock_resolution = resolution;
        }
    }
}
