//! Every deadline of an endpoint: what arms it, and how the endpoint handles its expiry.

use super::life::{Unanswered, gives_up_opening};
use super::sender::TimerCx;
use super::{Endpoint, Probing, Readiness, State};
use crate::config::{Farewell, KeepAliveConfig};
use crate::cx::Cx;
use crate::event::CloseReason;
use crate::timers::TimerKind;
use cc::CongestionEvent;
use recovery::Episode;
use trace::{EpisodeCause, Event, Observer};

impl Endpoint {
    /// Handles expired deadlines, perhaps none: spurious calls are harmless.
    pub fn handle_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        while let Some(kind) = self.timers.take_due(cx.now) {
            if kind == TimerKind::TailProbe && self.snd.tail_probe_at(&self.cfg, &self.neg).is_none_or(|at| at > cx.now)
            {
                // New data has left since: moving the timer for each of its segments would cost more.
                self.arm_loss_timer(cx);
                continue;
            }
            cx.emit(|| Event::TimerFired { kind });
            self.outlet.on_timer(kind);
            match kind {
                TimerKind::Retransmit if !self.life.state().is_synchronized() => self.on_syn_timeout(cx),
                TimerKind::Retransmit => self.on_retransmission_timeout(cx),
                TimerKind::Reorder => self.on_reorder_timeout(cx),
                TimerKind::TailProbe => self.on_tail_probe_timeout(cx),
                TimerKind::Persist => self.on_persist_timeout(cx),
                TimerKind::DelayedAck => self.rcv.on_ack_timer(&self.cfg.ack, self.snd.rec.rto.current().duration()),
                TimerKind::KeepAlive => self.on_keepalive_timeout(cx),
                TimerKind::FinWait2 | TimerKind::TimeWait => self.finish(cx, CloseReason::Normal),
                // The pacer's release time has come; `poll_transmit` continues.
                TimerKind::Pace => {
                    if let Some(pacer) = &mut self.snd.pacer {
                        pacer.on_timer(cx.now);
                    }
                    let urgent = self.is_urgent();
                    self.snd.look_again(&self.cfg.send, urgent);
                }
            }
        }
    }

    //= specs/rfc6298.md#managing-the-timer
    //# The timer is stopped when all outstanding data is acknowledged.
    /// Step 9: arms the one slot of all timers that cover the flight (RFC 8985 §8).
    pub(super) fn arm_loss_timer<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let user_timeout = self.user_timeout();
        match self.snd.loss_timer(&TimerCx { cfg: &self.cfg, neg: &self.neg, now: cx.now, user_timeout }) {
            None => self.timers.stop(TimerKind::Retransmit),
            Some((kind, at)) if self.timers.deadline(kind) != Some(at) => self.arm(cx, kind, at),
            Some(_) => {}
        }
    }

    /// Returns whether a transmission changes the slot: only if no timer ran, if the first segment was itself retransmitted, or
    /// if the first segments of a flight shorten the wait for its probe. More new data delays a probe; its timer notices that
    /// when it fires.
    #[inline]
    pub(super) fn send_moves_loss_timer(&self) -> bool {
        let probing = self.timers.deadline(TimerKind::TailProbe).is_some();
        let runs_for_flight = probing
            || self.timers.deadline(TimerKind::Retransmit).is_some()
            || self.timers.deadline(TimerKind::Reorder).is_some()
            || self.timers.deadline(TimerKind::Persist).is_some();
        let second = probing && self.snd.space.flight_size() <= 2 * self.snd.space.smss();
        !runs_for_flight || second || self.snd.rec.episode().repairs()
    }

    /// Stops a timer that should run: a planted defect.
    pub(crate) fn lose_timer(&mut self, kind: TimerKind) {
        if self.timers.deadline(kind).is_some() {
            self.timers.stop(kind);
        }
    }

    //= specs/rfc7413.md#server
    //# Nothing but the SYN-ACK is sent again before the handshake is over.
    /// Handles an unanswered SYN or SYN-ACK (RFC 6298 §5, RFC 9293 MUST-23).
    fn on_syn_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.may_defer(cx.now) && self.extras.as_ref().is_some_and(|extras| extras.opening.is_deferred()) {
            // The SYN-ACK has arrived, and the connection only waits for data.
            self.snd.rec.rto.back_off(&self.cfg.rto);
            return self.arm(cx, TimerKind::Retransmit, cx.now + self.snd.rec.rto.current().duration());
        }
        self.snd.rec.count_retry();
        let (active, began) = (self.life.state() == State::SynSent, self.snd.rec.rto_base());
        let further = self.snd.rec.retries();
        if gives_up_opening(&self.cfg, active, cx.now, began, further) {
            return self.give_up(cx);
        }
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.fast_open.on_timeout(cx.now, further, false);
        }
        self.stats.rare_mut().on_timeout(cx.now, further);
        let doubles = further > self.cfg.retries.syn_linear || self.life.state() != State::SynSent;
        if doubles && self.refused_for().is_none() {
            self.snd.rec.rto.back_off(&self.cfg.rto);
        }
        self.life.require_syn();
    }

    //= specs/rfc9293.md#retransmission
    //# Congestion control follows RFC 5681.
    //= specs/rfc9293.md#retransmission
    //# The timeout is that of RFC 6298, with its back-off and without samples of retransmissions.
    //= specs/rfc5682.md#basic-algorithm
    //# A timeout sends the first unacknowledged segment again, and nothing is yet known of its cause.
    //= specs/rfc8985.md#scheduling-a-probe
    //# What is known of a probe is forgotten when a connection, a fast recovery or a timeout recovery begins.
    //= specs/rfc6298.md#managing-the-timer
    //# When the timer expires, the earliest unacknowledged segment is sent again.
    //= specs/rfc6298.md#managing-the-timer
    //# After an expiry the timer is started again, with the doubled RTO.
    //= specs/rfc2018.md#sender
    //# A timeout retransmits the first outstanding segment even if it was SACKed.
    /// Handles oldest data that was not acknowledged in time (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1).
    fn on_retransmission_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.rec.board.is_empty() {
            return;
        }
        let orphaned = self.life.is_orphaned();
        let shut = self.snd.space.wnd() == 0 && !orphaned;
        if !shut {
            self.snd.rec.count_retry();
        }
        let about = Unanswered {
            now: cx.now,
            began: self.snd.rec.rto_base(),
            retries: self.snd.rec.retries(),
            orphaned,
            window_shut: shut.then(|| self.stats.since_ack_received(cx.now)),
        };
        if !shut && about.retries == self.cfg.retries.notify {
            self.pending.add(Readiness::Unresponsive);
        }
        let extras = self.extras.get_or_insert_default();
        if extras.silence.on_data_timeout(&self.cfg, &about) {
            return self.give_up(cx);
        }
        extras.fast_open.on_timeout(cx.now, about.retries, false);
        let (opens, further) = (!self.snd.rec.episode().repairs(), self.snd.rec.retries());
        let rare = self.stats.rare_mut();
        rare.timeouts += 1;
        rare.episodes += u32::from(opens);
        rare.on_timeout(cx.now, further);
        self.judge_path_by_timeout(cx.now);
        let event =
            CongestionEvent::Timeout { flight_size: self.snd.space.flight_size(), first: self.snd.rec.retries() == 1 };
        let dcx = self.snd.detect_cx(cx.now, None);
        let verdict = self.snd.rec.detector.on_timeout(&mut self.snd.rec.board, &dcx);
        let newly_lost = self.snd.take_verdict(cx.now, self.neg.sack, verdict);
        self.stats.on_lost(cx, &self.snd, newly_lost);
        let prompt_rtt = self.prompt_rtt();
        self.snd.on_timeout(&self.cfg, cx.now, &event, prompt_rtt);
        self.ecn.owe_cwr(self.neg.ecn);
        self.set_episode(cx, Episode::Loss { point: self.snd.space.nxt() }, EpisodeCause::Timeout);
        let refused_for = self.refused_for();
        if refused_for.is_none() {
            self.snd.rec.rto.back_off(&self.cfg.rto);
        }
        self.snd.rec.restart_rto(cx.now);
        // The oldest segment leaves again even if the remaining flight fills the window of one segment.
        self.snd.rec.force(true);
        match refused_for {
            Some(wait) => self.arm(cx, TimerKind::Retransmit, cx.now + wait),
            None => self.arm_loss_timer(cx),
        }
        #[cfg(not(longhaul_unwatched))]
        self.stats.emit_snapshot(cx, &self.snd);
    }

    //= specs/rfc8985.md#sending-a-probe
    //# Once the probe timer has expired, the retransmission timer is armed if anything is in flight.
    /// Handles about two round trips of silence (RFC 8985 §7.3).
    fn on_tail_probe_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.extras.as_mut().is_some_and(|extras| extras.path.give_up_probe()) {
            // A probe of the path at the end of the flight may be the cause: it is repaired instead of being repeated.
            self.cut_to_path(cx, base::Bytes::MAX);
            return;
        }
        self.snd.rec.tail.on_timeout();
        if self.cfg.retries.user_timeout.is_some() {
            let silence = &mut self.extras.get_or_insert_default().silence;
            silence.on_probe(&self.cfg.retries, cx.now, self.snd.rec.rto_base());
        }
        self.snd.rec.restart_rto(cx.now);
        self.arm_loss_timer(cx);
    }

    //= specs/rfc8985.md#loss-detection
    //# While a segment waits for the window to pass, a timer is armed that marks it lost without another ACK.
    /// Handles a segment that became overdue (RFC 8985 §6.2, step 5).
    fn on_reorder_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let dcx = self.snd.detect_cx(cx.now, None);
        let verdict = self.snd.rec.detector.detect(&mut self.snd.rec.board, &dcx);
        let newly_lost = self.snd.take_verdict(cx.now, self.neg.sack, verdict);
        self.stats.on_lost(cx, &self.snd, newly_lost);
        let sacked = self.snd.rec.board.sacked_bytes();
        self.enter_recovery_if_lost(cx, newly_lost, sacked, 0);
        self.snd.inform_reduction(0, 0, newly_lost);
        self.arm_loss_timer(cx);
        #[cfg(not(longhaul_unwatched))]
        self.stats.emit_snapshot(cx, &self.snd);
    }

    //= specs/rfc9293.md#windows
    //# A closed window is probed.
    /// Handles a window that stayed closed (RFC 9293 §3.8.6.1): probes again, at growing intervals, as long as necessary.
    fn on_persist_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let Probing::Waiting(probes) = self.snd.rec.probing() else {
            // The window opened meanwhile: the timer covers the flight as usual.
            return self.arm_loss_timer(cx);
        };
        let intervals = (self.snd.persist_interval(&self.cfg, 0), self.snd.persist_interval(&self.cfg, probes));
        let silence = &mut self.extras.get_or_insert_default().silence;
        if silence.on_persist_timeout(&self.cfg, cx.now, intervals, self.life.is_orphaned()) {
            return self.give_up(cx);
        }
        // Segments in flight when the window closed have arrived by now or never will: the answer is current, even if a segment
        // ahead of the stream, or a forged one, brought the last window.
        self.snd.space.believe_from(self.rcv.rcv_nxt());
        match self.snd.rec.board.oldest_sent() {
            // The last probe was not accepted: the same byte leaves again.
            Some(probe) => {
                self.snd.rec.board.mark_lost(probe.id);
                self.snd.rec.board.clear_lost_log();
                self.snd.rec.force(true);
                self.snd.rec.set_probing(Probing::Waiting(probes.saturating_add(1)));
                self.arm_loss_timer(cx);
            }
            None => self.snd.rec.set_probing(Probing::Due(probes)),
        }
    }

    /// Ends the connection because the peer does not answer.
    fn give_up<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if let Some(extras) = self.extras.as_deref_mut() {
            extras.fast_open.on_timeout(cx.now, self.snd.rec.retries(), true);
        }
        if self.life.state().is_synchronized() && self.cfg.retries.farewell == Farewell::Reset {
            self.life.require_reset();
        }
        self.finish(cx, CloseReason::TimedOut);
    }

    //= specs/rfc9293.md#keep-alive
    //# The time before the first probe can be set, and is two hours at least when it is not.
    //= specs/rfc9293.md#keep-alive
    //# Keep-alive can be turned on and off for each connection, and is off unless asked for.
    /// Starts, moves or stops the keep-alive timer, because a connection is established or its settings have changed. Earlier
    /// silence counts.
    pub(super) fn arm_keepalive<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let running = self.timers.deadline(TimerKind::KeepAlive).is_some();
        match self.cfg.keepalive {
            KeepAliveConfig::On { idle, .. } if self.life.keeps_alive() => {
                let left = idle.saturating_sub(self.idle_for(cx.now));
                self.arm(cx, TimerKind::KeepAlive, cx.now + left);
            }
            _ if running => self.timers.stop(TimerKind::KeepAlive),
            _ => {}
        }
    }

    //= specs/rfc9293.md#keep-alive
    //# A probe leaves only after nothing was heard for a while, with nothing unacknowledged.
    /// Handles the keep-alive timer: the peer may have been silent for long (RFC 9293 §3.8.4). Unacknowledged data, and data that
    /// waits for a window, has timers of its own.
    fn on_keepalive_timeout<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let KeepAliveConfig::On { idle, interval, count } = self.cfg.keepalive else { return };
        if self.snd.space.flight_size() > 0 || self.snd.data_end() != self.snd.space.nxt() {
            return self.arm(cx, TimerKind::KeepAlive, cx.now + idle);
        }
        let quiet = self.idle_for(cx.now);
        if quiet < idle {
            return self.arm(cx, TimerKind::KeepAlive, cx.now + idle.saturating_sub(quiet));
        }
        let user_timeout = self.cfg.retries.user_timeout;
        if self.extras.get_or_insert_default().silence.on_keepalive_timeout(count, user_timeout, quiet) {
            self.life.require_reset();
            return self.finish(cx, CloseReason::TimedOut);
        }
        self.snd.rec.set_bare_probe(true);
        self.arm(cx, TimerKind::KeepAlive, cx.now + interval);
    }
}
