//! Loss episodes (step 7 of ACK processing): what a loss means for the controller, how recovery begins and ends.

use super::Endpoint;
use crate::cx::Cx;
use base::{Bytes, Instant, SeqRange};
use cc::{CongestionEvent, LossSample};
use recovery::frto::Frto;
use recovery::{Episode, EpisodeEntry, LostRetransmission, RecoveryAck, Verdict, build_reduction};
use trace::{Event, Observer};

impl Endpoint {
    /// Tells controller, sampler and trace of every segment marked lost; returns the octets.
    pub(super) fn take_verdict<O: Observer>(&mut self, cx: &mut Cx<'_, O>, verdict: Verdict) -> Bytes {
        self.snd.rec.recheck_at = verdict.recheck_at.unwrap_or(Instant::MAX);
        if verdict.newly_lost == 0 {
            return 0;
        }
        for (segment, stamp) in self.snd.rec.board.lost_log() {
            let bytes = segment.xmit.end.distance_from(segment.start);
            self.snd.cc.on_lost(&LossSample {
                now: cx.now,
                bytes,
                pipe_at_send: stamp.pipe,
                delivered_at_send: stamp.delivered,
            });
            self.snd.rec.sampler.on_lost(bytes);
            let rare = &mut self.extras.get_or_insert_default().rare;
            rare.bytes_lost += u64::from(bytes);
            rare.lost_retransmissions += u32::from(segment.retransmits > 0);
            cx.emit(|| Event::SegmentLost {
                range: SeqRange::new(segment.start, segment.xmit.end),
                sent_at: segment.xmit.at,
                retransmits: segment.retransmits,
                by: self.snd.rec.detector.name(),
            });
        }
        verdict.newly_lost
    }

    //= specs/rfc5682.md#basic-algorithm
    //# While the test lasts, duplicate ACKs do not start fast recovery.
    //= specs/rfc9937.md#beginning-of-an-episode
    //# `ssthresh` is the congestion control's, and nothing counts as delivered or sent yet.
    //= specs/rfc9937.md#each-ack
    //# While nothing was sent in the episode, at least one SMSS may be sent.
    //= specs/rfc8985.md#scheduling-a-probe
    //# What is known of a probe is forgotten when a connection, a fast recovery or a timeout recovery begins.
    //= specs/rfc8985.md#other-algorithms
    //# Without proportional rate reduction, a lost retransmission brings another reduction of the window.
    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# The loss of a retransmission is a second sign of congestion, and reduces the window again.
    //= specs/rfc6675.md#recovery
    //# The first retransmission of recovery leaves whatever is in flight.
    /// Step 7, entry. A loss of something sent after the last reaction is a new congestion signal: outside an episode it
    /// begins one, inside it is a lost retransmission (RFC 8985 §9.3), answered once more unless the reduction does.
    pub(super) fn enter_recovery_if_lost<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        newly_lost: Bytes,
        sacked_before: Bytes,
        newly_acked: Bytes,
    ) {
        if self.judge_probe_by_loss(cx, newly_lost) == 0 {
            return;
        }
        let answered_at = self.snd.rec.answered_at;
        let unanswered = self.snd.rec.board.lost_log().iter().filter(|(s, _)| s.xmit.at >= answered_at).count();
        self.snd.rec.board.clear_lost_log();
        let again = match self.snd.rec.episode {
            Episode::Loss { .. } => return,
            Episode::Recovery { .. } => {
                // RFC 6582 §3.2: without SACK a partial ACK brings the next segment back at once.
                self.snd.rec.forced |= !self.neg.sack;
                if !self.is_controllers(unanswered) {
                    return;
                }
                true
            }
            Episode::Open => false,
            Episode::Cwr { .. } if unanswered > 0 => false,
            // RFC 3168 §6.1.2: the mark of the same window of data was answered.
            Episode::Cwr { .. } => return self.repair_after_mark(cx),
        };
        let prior_cwnd = self.snd.cc.window().cwnd();
        let flight_size = self.snd.space.flight_size();
        let resumed = if again { None } else { self.resume_undo() };
        self.snd.cc.on_congestion(&CongestionEvent::Loss { flight_size }, cx.now);
        (self.snd.rec.answered_at, self.snd.rec.lost_again) = (cx.now, 0);
        // RFC 6675 §5 (4.3): the first retransmission after a reaction leaves whatever `pipe` says; RFC 9937 §6.2: whatever
        // was delivered, which is nothing when a timer found the loss.
        self.snd.rec.forced = true;
        self.owe_cwr();
        if again {
            return;
        }
        let (ssthresh, smss) = (self.snd.cc.window().ssthresh(), self.snd.space.smss());
        self.begin_reduction(&EpisodeEntry { ssthresh, prior_cwnd, flight_size, sacked_before, newly_acked, smss });
        self.snd.rec.undo = resumed.or_else(|| self.new_undo(Frto::Idle));
        self.begin_recovery(cx);
    }

    /// Sending follows the reduction from here on.
    pub(super) fn begin_reduction(&mut self, entry: &EpisodeEntry) {
        let mut reduction = build_reduction(&self.cfg.recovery.reduction);
        reduction.on_enter(entry);
        self.snd.rec.reduction = Some(reduction);
    }

    fn begin_recovery<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        let rare = self.rare_mut();
        rare.episodes += 1;
        rare.fast_retransmits += 1;
        self.snd.rec.board.begin_episode();
        self.snd.rec.tail.reset();
        self.set_episode(cx, Episode::Recovery { point: self.snd.space.nxt() }, self.snd.rec.detector.name());
    }

    //= specs/rfc3168.md#sender
    //# A loss and a mark in one window of data reduce the window once.
    /// Losses among what was sent before a mark was answered: they are repaired with the window that the answer left, and by
    /// the reduction that is under way, if one is.
    fn repair_after_mark<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        if self.snd.rec.reduction.is_none() {
            let (window, flight_size, smss) =
                (self.snd.cc.window(), self.snd.space.flight_size(), self.snd.space.smss());
            let (ssthresh, prior_cwnd) = (window.ssthresh(), window.cwnd());
            self.begin_reduction(&EpisodeEntry {
                ssthresh,
                prior_cwnd,
                flight_size,
                sacked_before: 0,
                newly_acked: 0,
                smss,
            });
        }
        self.snd.rec.forced = true;
        self.begin_recovery(cx);
    }

    /// Whether these lost retransmissions are for the controller to answer, and not for the reduction alone.
    fn is_controllers(&mut self, unanswered: usize) -> bool {
        let total = usize::from(self.snd.rec.lost_again).saturating_add(unanswered);
        self.snd.rec.lost_again = u16::try_from(total).unwrap_or(u16::MAX);
        let absorbs = self.snd.rec.reduction.as_ref().is_some_and(|rule| rule.answers_lost_retransmissions());
        match self.cfg.recovery.lost_retransmission {
            _ if !absorbs => unanswered > 0,
            LostRetransmission::ByReduction => false,
            LostRetransmission::ByController { beyond_segments } => {
                unanswered > 0 && self.snd.rec.lost_again > beyond_segments
            }
        }
    }

    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# An ACK beyond a repeated segment's probe is answered by one reduction of the window, as a fast recovery is.
    /// Step 7: a probe repaired the loss of a flight's last segment, which no episode has answered (RFC 8985 §7.4.2).
    pub(super) fn answer_repaired_tail<O: Observer>(&mut self, cx: &mut Cx<'_, O>, newly_acked: Bytes) {
        // What was outstanding when the answer came: what it acknowledges belongs to it.
        let flight_size = self.snd.space.flight_size() + newly_acked;
        self.snd.cc.on_congestion(&CongestionEvent::Loss { flight_size }, cx.now);
        self.snd.cc.on_recovery_exit(cx.now);
        self.snd.rec.answered_at = cx.now;
        self.snd.rec.undo = None;
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# At the end of an episode the window is `ssthresh`.
    /// Step 7, exit: everything outstanding at entry has been acknowledged, or the episode is undone.
    pub(super) fn leave_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cause: &'static str) {
        if matches!(self.snd.rec.episode, Episode::Recovery { .. }) {
            self.rare_mut().episodes_without_timeout += 1;
        }
        self.rare_mut().on_timeout_over(cx.now);
        if self.snd.rec.episode.repairs() {
            self.snd.rec.detector.on_recovery_exit();
        }
        self.snd.cc.on_recovery_exit(cx.now);
        self.snd.rec.forced = false;
        if let Some(undo) = &mut self.snd.rec.undo {
            undo.on_exit(&self.cfg.recovery.undo, self.snd.space.nxt());
        }
        self.set_episode(cx, Episode::Open, cause);
    }

    //= specs/rfc9937.md#each-ack
    //# The ACK that begins an episode and each later one inside it are processed, but not the one that ends it.
    /// Step 8, for the reduction, if fast recovery is under way.
    #[inline]
    pub(super) fn inform_reduction(&mut self, delivered: Bytes, acked: Bytes, newly_lost: Bytes) {
        let Some(reduction) = &mut self.snd.rec.reduction else { return };
        reduction.on_ack(&RecoveryAck {
            delivered,
            pipe: self.snd.rec.board.pipe(),
            cwnd: self.snd.cc.window().cwnd(),
            acked,
            newly_lost,
        });
    }
}
