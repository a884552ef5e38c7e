//! Loss episodes (step 7 of ACK processing), as the rest of the connection sees them: counters, events and the congestion mark
//! that the peer is to hear of. The sender decides ([`super::sender`]).

use super::Endpoint;
use super::sender::{Losses, Reaction};
use crate::cx::Cx;
use base::{Bytes, Duration, SeqRange};
use cc::LossSample;
use recovery::undo::Proof;
use recovery::{Episode, Verdict};
use trace::{Event, Observer};

impl Endpoint {
    /// Reports every segment marked lost to controller, sampler and trace; returns the bytes.
    pub(super) fn take_verdict<O: Observer>(&mut self, cx: &mut Cx<'_, O>, verdict: Verdict) -> Bytes {
        self.snd.rec.set_recheck(verdict.recheck_at);
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
            let rare = self.tally.rare_mut();
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

    /// Step 7, entry: `newly_lost` bytes were marked lost, perhaps none.
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
        let (cfg, sack, prompt_rtt) = (&self.cfg, self.neg.sack, self.prompt_rtt());
        let losses = Losses { cfg, now: cx.now, sack, sacked_before, newly_acked, prompt_rtt };
        let reaction = self.snd.on_losses(&losses);
        if matches!(reaction, Reaction::Answered | Reaction::Recovers) {
            self.ecn.owe_cwr(self.neg.ecn);
        }
        if matches!(reaction, Reaction::Recovers | Reaction::RecoversAfterMark) {
            let rare = self.tally.rare_mut();
            rare.episodes += 1;
            rare.fast_retransmits += 1;
            self.set_episode(cx, Episode::Recovery { point: self.snd.space.nxt() }, self.snd.rec.detector.name());
        }
    }

    /// Least round trip of a segment that was SACKed.
    pub(super) fn prompt_rtt(&self) -> Option<Duration> {
        self.extras.as_ref().and_then(|extras| extras.prompt_rtt)
    }

    /// Step 7, exit.
    pub(super) fn leave_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, cause: &'static str) {
        if matches!(self.snd.rec.episode(), Episode::Recovery { .. }) {
            self.tally.rare_mut().episodes_without_timeout += 1;
        }
        self.tally.rare_mut().on_timeout_over(cx.now);
        self.snd.leave_episode(&self.cfg, cx.now);
        self.set_episode(cx, Episode::Open, cause);
    }

    //= specs/rfc5682.md#response
    //# A timeout that proves spurious is answered by a response that the IETF has specified, such as Eifel's.
    /// The episode was for nothing.
    pub(super) fn undo_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, proof: Proof) {
        if !self.snd.undo() {
            return;
        }
        self.ecn.withdraw_cwr();
        let rare = self.tally.rare_mut();
        rare.undone = rare.undone.saturating_add(1);
        if self.snd.rec.episode().repairs() {
            self.leave_episode(cx, proof.name());
        }
        cx.emit(|| {
            let window = self.snd.cc.window();
            Event::Undone { proof: proof.name(), cwnd: window.cwnd(), ssthresh: window.ssthresh() }
        });
    }
}
