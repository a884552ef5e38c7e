//! Loss episodes (step 7 of ACK processing): how a loss affects the controller, how recovery begins and ends, and how an episode
//! is proved spurious.
//!
//! `recovery::undo` detects a spurious episode and the controller restores its saved state; this file connects the two. Segments
//! that the episode marked lost and did not retransmit are in flight again; the detector judges them with what it has learned.

use super::Sender;
use crate::config::{Config, EcnResponse, MarkBeta};
use crate::endpoint::state::SendSide;
use base::{Bytes, Duration, Instant, SeqRange};
use cc::{CongestionEvent, LossSample};
use recovery::frto::{AckAfterTimeout, Advanced, Frto, FrtoVerdict, OriginalDelivered};
use recovery::undo::{FrtoDetection, Proof, UndoConfig};
use recovery::{Delivered, DetectCx, Episode, EpisodeEntry, Mark, RecoveryAck, Undo, Verdict, build_reduction};

/// The input for the reaction to segments that were marked lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses<'a> {
    pub cfg: &'a Config,
    pub now: Instant,
    /// Whether the connection uses SACK.
    pub sack: bool,
    /// Bytes beyond SND.UNA known to have arrived before the ACK, and the bytes that the ACK acknowledges.
    pub sacked_before: Bytes,
    pub newly_acked: Bytes,
    /// Minimum round trip of a SACKed segment.
    pub prompt_rtt: Option<Duration>,
}

/// The sender's reaction to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// None: the losses belong to an earlier signal, to which the controller has already reacted.
    None,
    /// The controller has reacted, inside an episode.
    Answered,
    /// The controller has reacted, and recovery begins.
    Recovers,
    /// Recovery begins with the window that the reaction to a congestion mark left.
    RecoversAfterMark,
}

impl Sender {
    /// Applies the detector's verdict: passes every segment that it marked lost to sampler and controller. Returns their bytes.
    /// `sack` tells whether the connection uses SACK.
    pub fn take_verdict(&mut self, now: Instant, sack: bool, verdict: Verdict) -> Bytes {
        self.rec.set_recheck(verdict.recheck_at);
        if verdict.newly_lost == 0 {
            return 0;
        }
        for (segment, stamp) in self.rec.board.lost_log() {
            let bytes = segment.xmit.end.distance_from(segment.start);
            self.rec.sampler.on_lost(bytes);
            self.cc.on_lost(&LossSample {
                now,
                bytes,
                pipe_at_send: stamp.pipe,
                delivered_at_send: stamp.delivered,
                total_delivered: self.rec.sampler.total_delivered(),
                lost_since_sent: self.rec.sampler.lost_since(stamp),
                app_limited: stamp.app_limited,
                range: segment.range(),
                selective: sack,
            });
        }
        verdict.newly_lost
    }

    /// Splits segments in flight that are larger than the segment size is now, and marks up to `most` bytes of them lost. Returns
    /// how many bytes were marked.
    pub fn recut(&mut self, most: Bytes) -> Bytes {
        let fin = u32::from(self.space.side() == SendSide::FinSent);
        self.rec.board.recut(self.space.smss(), fin, most)
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
    /// Step 7, entry: reacts to losses. A loss of a segment sent after the last reaction is a new congestion signal: outside an
    /// episode it begins one; inside it is a lost retransmission (RFC 8985 §9.3), to which the controller reacts again unless the
    /// reduction does.
    pub fn on_losses(&mut self, losses: &Losses<'_>) -> Reaction {
        let &Losses { cfg, now, sacked_before, newly_acked, .. } = losses;
        let answered_at = self.rec.answered_at;
        let unanswered = self.rec.board.lost_log().iter().filter(|(s, _)| s.xmit.at >= answered_at).count();
        self.rec.board.clear_lost_log();
        let again = match self.rec.episode() {
            Episode::Loss { .. } => return Reaction::None,
            Episode::Recovery { .. } => {
                // RFC 6582 §3.2: without SACK a partial ACK triggers the next retransmission at once.
                if !losses.sack {
                    self.rec.force(true);
                }
                let absorbs = self.rec.reduction.as_ref().is_some_and(|rule| rule.answers_lost_retransmissions());
                if absorbs || unanswered == 0 {
                    return Reaction::None;
                }
                true
            }
            Episode::Open => false,
            Episode::Cwr { .. } if unanswered > 0 => false,
            // RFC 3168 §6.1.2: the controller has already reacted to the mark of the same window of data.
            Episode::Cwr { .. } => {
                self.repair_after_mark(cfg);
                return Reaction::RecoversAfterMark;
            }
        };
        let prior_cwnd = self.cc.window().cwnd();
        let flight_size = self.space.flight_size();
        self.cc.on_congestion(&CongestionEvent::Loss { flight_size }, now);
        self.rec.answered_at = now;
        // RFC 6675 §5 (4.3): the first retransmission after a reaction leaves whatever `pipe` says; RFC 9937 §6.2: it leaves
        // however little was delivered, which is nothing if a timer detected the loss.
        self.rec.force(true);
        if again {
            return Reaction::Answered;
        }
        let (ssthresh, smss) = (self.cc.window().ssthresh(), self.space.smss());
        let entry = EpisodeEntry { ssthresh, prior_cwnd, flight_size, sacked_before, newly_acked, smss };
        self.begin_reduction(cfg, &entry);
        self.rec.undo = Self::new_undo(&cfg.recovery.undo, Frto::Idle, losses.prompt_rtt);
        self.forget_older_recovery();
        Reaction::Recovers
    }

    /// Clears the state of older recoveries when fast recovery begins.
    fn forget_older_recovery(&mut self) {
        self.rec.board.begin_episode();
        self.rec.tail.reset();
    }

    /// Makes a reduction control sending from now on, unless the controller's window does.
    fn begin_reduction(&mut self, cfg: &Config, entry: &EpisodeEntry) {
        if self.cc.governs_recovery() {
            return;
        }
        let mut reduction = build_reduction(&cfg.recovery.reduction);
        reduction.on_enter(entry);
        self.rec.reduction = Some(reduction);
    }

    //= specs/rfc3168.md#sender
    //# A loss and a mark in one window of data reduce the window once.
    /// Repairs losses among the segments sent before a reaction to a mark, with the window that this reaction left. Starts a
    /// reduction unless one is active.
    fn repair_after_mark(&mut self, cfg: &Config) {
        if self.rec.reduction.is_none() {
            let (window, flight_size, smss) = (self.cc.window(), self.space.flight_size(), self.space.smss());
            let (ssthresh, prior_cwnd) = (window.ssthresh(), window.cwnd());
            self.begin_reduction(
                cfg,
                &EpisodeEntry { ssthresh, prior_cwnd, flight_size, sacked_before: 0, newly_acked: 0, smss },
            );
        }
        self.rec.force(true);
        self.forget_older_recovery();
    }

    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# An ACK beyond a repeated segment's probe is answered by one reduction of the window, as a fast recovery is.
    /// Step 7: reacts to a probe that repaired the loss of a flight's last segment outside an episode (RFC 8985 §7.4.2).
    pub fn answer_repaired_tail(&mut self, now: Instant, newly_acked: Bytes) {
        // Segments outstanding at the time of the answer count, including those it acknowledges.
        let flight_size = self.space.flight_size() + newly_acked;
        self.cc.on_congestion(&CongestionEvent::Loss { flight_size }, now);
        self.cc.on_recovery_exit(now);
        self.rec.answered_at = now;
        self.rec.undo = None;
    }

    //= specs/rfc3168.md#sender
    //# An echo reduces the window as the loss of a segment would.
    //= specs/rfc3168.md#sender
    //# The window is reduced no more than once for the marks of one window of data.
    //= specs/rfc3168.md#sender
    //# A loss and a mark in one window of data reduce the window once.
    /// Step 7, after the losses: reacts to an acknowledgement that echoes a mark. Returns the window before the reduction; `None`
    /// inside an episode, where the window has already been reduced for the same data.
    pub fn on_mark(&mut self, cfg: &Config, now: Instant, sacked_before: Bytes, newly_acked: Bytes) -> Option<Bytes> {
        // The saved state precedes the mark.
        self.rec.undo = None;
        if self.rec.episode() != Episode::Open {
            return None;
        }
        let flight_size = self.space.flight_size();
        let prior_cwnd = self.cc.window().cwnd();
        let beta = match cfg.ecn.mark_beta {
            // RFC 8511 leaves slow start unchanged.
            MarkBeta::Own { beta } if !self.cc.window().in_slow_start() => Some(beta),
            MarkBeta::Own { .. } | MarkBeta::AsLoss => None,
        };
        let least_segments = match cfg.ecn.response {
            EcnResponse::AtOnce => 1,
            EcnResponse::ByReduction => 2,
        };
        let outstanding = flight_size + newly_acked;
        self.cc.on_congestion(&CongestionEvent::Ecn { flight_size: outstanding, beta, least_segments }, now);
        self.rec.answered_at = now;
        self.rec.tail.reset();
        if cfg.ecn.response == EcnResponse::ByReduction {
            let (ssthresh, smss) = (self.cc.window().ssthresh(), self.space.smss());
            let entry = EpisodeEntry { ssthresh, prior_cwnd, flight_size, sacked_before, newly_acked, smss };
            self.begin_reduction(cfg, &entry);
        }
        Some(prior_cwnd)
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# At the end of an episode the window is `ssthresh`.
    /// Step 7, exit: leaves an episode because everything outstanding at entry has been acknowledged, or because it was undone.
    pub fn leave_episode(&mut self, now: Instant) {
        if self.rec.episode().repairs() {
            self.rec.detector.on_recovery_exit();
        }
        self.cc.on_recovery_exit(now);
        self.rec.force(false);
        if let Some(undo) = &mut self.rec.undo {
            undo.on_exit(self.space.nxt());
        }
    }

    //= specs/rfc9937.md#each-ack
    //# The ACK that begins an episode and each later one inside it are processed, but not the one that ends it.
    /// Step 8 for the reduction: passes the ACK to it, if one is active.
    #[inline]
    pub fn inform_reduction(&mut self, delivered: Bytes, acked: Bytes, newly_lost: Bytes) {
        let Some(reduction) = &mut self.rec.reduction else { return };
        reduction.on_ack(&RecoveryAck {
            delivered,
            pipe: self.rec.board.pipe(),
            cwnd: self.cc.window().cwnd(),
            acked,
            newly_lost,
        });
    }

    /// Reacts to the retransmission timer: passes `event` to the controller and clears state of earlier episodes and probes.
    /// `prompt_rtt` is the minimum round trip of a SACKed segment.
    pub fn on_timeout(&mut self, cfg: &Config, now: Instant, event: &CongestionEvent, prompt_rtt: Option<Duration>) {
        self.rec.board.clear_lost_log();
        self.cc.on_congestion(event, now);
        self.rec.answered_at = now;
        self.rec.tail.reset();
        self.open_undo_of_timeout(&cfg.recovery.undo, prompt_rtt);
    }

    //= specs/rfc2018.md#sender
    //# A timeout that finds the first segment SACKed takes all SACK marks back.
    /// Discards all SACK marks if the first segment is still marked as SACKed after a timeout. RFC 2018 §8: a receiver may
    /// discard data that it only selectively acknowledged, and this shows that it did; otherwise the marks are kept (RFC 6675
    /// §5.1).
    pub fn forget_reneged(&mut self) {
        if self.rec.board.first().is_some_and(|first| first.mark == Mark::Sacked) {
            self.rec.board.clear_sacked();
        }
    }

    /// Returns the undo record of an episode that begins. `prompt_rtt` is the minimum round trip of a SACKed segment.
    fn new_undo(cfg: &UndoConfig, frto: Frto, prompt_rtt: Option<Duration>) -> Option<Box<Undo>> {
        (!cfg.is_off()).then(|| Box::new(Undo::new(frto, prompt_rtt)))
    }

    //= specs/rfc5682.md#basic-algorithm
    //# A timeout inside an earlier timeout's recovery is answered conventionally.
    /// Opens the undo record of a timeout that begins or continues recovery by retransmission. F-RTO examines a timeout outside
    /// episodes only (RFC 5682 §2.1 step 1); inside, the saved state belongs to another signal and is not to be restored.
    fn open_undo_of_timeout(&mut self, cfg: &UndoConfig, prompt_rtt: Option<Duration>) {
        self.rec.undo = match self.rec.episode() {
            Episode::Open | Episode::Cwr { .. } => {
                let frto = match cfg.frto {
                    FrtoDetection::On => Frto::on_timeout(),
                    FrtoDetection::Off => Frto::Idle,
                };
                Self::new_undo(cfg, frto, prompt_rtt)
            }
            Episode::Recovery { .. } => None,
            Episode::Loss { .. } => self.rec.undo.take().map(|mut undo| {
                undo.frto.give_up();
                undo
            }),
        };
    }

    //= specs/rfc5682.md#with-sack
    //# With SACK, the delivery of a segment not retransmitted since the timeout shows that the timeout was spurious.
    //= specs/rfc9438.md#spurious-congestion-events
    //# Spurious timeouts are detected.
    //= specs/rfc9438.md#spurious-congestion-events
    //# Spurious fast retransmits are detected.
    /// Returns the proof that the current or last episode was spurious, if there is one.
    #[inline]
    pub fn proof_of_spurious(
        &mut self,
        cfg: &UndoConfig,
        dsack: Option<SeqRange>,
        acked: Bytes,
        d: &Delivered,
        dcx: &DetectCx,
    ) -> Option<Proof> {
        let episode = self.rec.episode();
        let undo = self.rec.undo.as_mut()?;
        if undo.is_stale(self.space.una()) {
            self.rec.undo = None;
            return None;
        }
        let mut proof = undo.on_ack(cfg, dsack, &d.batch, dcx);
        if let Episode::Loss { point } = episode {
            let original = d.batch.iter().any(|s| s.retransmits == 0 && s.start.before(point));
            let answer = AckAfterTimeout {
                advanced: if acked > 0 { Advanced::Yes } else { Advanced::No },
                snd_una: self.space.una(),
                point,
                original: if original { OriginalDelivered::Yes } else { OriginalDelivered::No },
            };
            if undo.frto.on_ack(&answer) == FrtoVerdict::Spurious {
                proof = Some(Proof::Frto);
            }
        }
        proof
    }

    /// Undoes a spurious episode. Returns whether the controller had a state to restore; if so, segments marked lost are in
    /// flight again.
    pub fn undo(&mut self) -> bool {
        self.rec.undo = None;
        let restored = self.cc.undo();
        if restored {
            self.rec.board.unmark_lost();
            self.rec.detector.on_spurious();
        }
        restored
    }
}
