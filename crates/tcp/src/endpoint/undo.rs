//! Undo of spurious episodes (part of step 7 of ACK processing): when the proof is there, everything is as before.
//!
//! `recovery::undo` says when an episode was for nothing and the controller restores what it saved; here the two meet. What
//! the episode gave up for lost and did not send again is in flight again, for the detector to judge with what it learnt.

use super::Endpoint;
use crate::cx::Cx;
use base::{Bytes, SeqRange};
use recovery::frto::{AckAfterTimeout, Advanced, Frto, FrtoVerdict, OriginalDelivered};
use recovery::undo::{FrtoDetection, Proof};
use recovery::{Delivered, DetectCx, Episode, Undo};
use trace::{Event, Observer};

impl Endpoint {
    /// The record of an episode that begins.
    pub(super) fn new_undo(&self, frto: Frto) -> Option<Box<Undo>> {
        (!self.cfg.recovery.undo.is_off()).then(|| {
            let prompt_rtt = self.extras.as_ref().and_then(|extras| extras.prompt_rtt);
            Box::new(Undo::new(frto, prompt_rtt))
        })
    }

    /// The record of the last episode, if one that begins now goes on with it: the controller then brings back what it had
    /// before both.
    pub(super) fn resume_undo(&mut self) -> Option<Box<Undo>> {
        let mut undo = self.snd.rec.undo.take()?;
        if !undo.goes_on(&self.cfg.recovery.undo) {
            return None;
        }
        self.snd.cc.on_recovery_resumed();
        Some(undo)
    }

    //= specs/rfc5682.md#basic-algorithm
    //# A timeout inside an earlier timeout's recovery is answered conventionally.
    /// A timeout begins or goes on with recovery by retransmission. It is examined when it comes out of the open
    /// (RFC 5682 §2.1 step 1); inside an episode, what was saved belongs to another signal and is not to be restored.
    pub(super) fn open_undo_of_timeout(&mut self) {
        self.snd.rec.undo = match self.snd.rec.episode {
            Episode::Open | Episode::Cwr { .. } => self.new_undo(match self.cfg.recovery.undo.frto {
                FrtoDetection::On => Frto::on_timeout(),
                FrtoDetection::Off => Frto::Idle,
            }),
            Episode::Recovery { .. } => None,
            Episode::Loss { .. } => self.snd.rec.undo.take().map(|mut undo| {
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
    /// Looks for the proof that the episode, the present one or the last, was for nothing.
    #[inline]
    pub(super) fn undo_if_spurious<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        dsack: Option<SeqRange>,
        acked: Bytes,
        d: &Delivered,
        dcx: &DetectCx,
    ) {
        let Some(undo) = &mut self.snd.rec.undo else { return };
        if undo.is_stale(self.snd.space.una(), self.snd.space.nxt()) {
            self.snd.rec.undo = None;
            return;
        }
        let mut proof = undo.on_ack(&self.cfg.recovery.undo, dsack, &d.batch, dcx);
        if let Episode::Loss { point } = self.snd.rec.episode {
            let original = d.batch.iter().any(|s| s.retransmits == 0 && s.start.before(point));
            let news = AckAfterTimeout {
                advanced: if acked > 0 { Advanced::Yes } else { Advanced::No },
                snd_una: self.snd.space.una(),
                point,
                original: if original { OriginalDelivered::Yes } else { OriginalDelivered::No },
            };
            if undo.frto.on_ack(&news) == FrtoVerdict::Spurious {
                proof = Some(Proof::Frto);
            }
        }
        if let Some(proof) = proof {
            self.undo_episode(cx, proof);
        }
    }

    //= specs/rfc5682.md#response
    //# A timeout that proves spurious is answered by a response that the IETF has specified, such as Eifel's.
    fn undo_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, proof: Proof) {
        self.snd.rec.undo = None;
        if !self.snd.cc.undo() {
            return;
        }
        self.withdraw_cwr();
        let rare = self.rare_mut();
        rare.undone = rare.undone.saturating_add(1);
        self.snd.rec.board.unmark_lost();
        self.snd.rec.detector.on_spurious();
        if self.snd.rec.episode.repairs() {
            self.leave_episode(cx, proof.name());
        }
        cx.emit(|| {
            let window = self.snd.cc.window();
            Event::Undone { proof: proof.name(), cwnd: window.cwnd(), ssthresh: window.ssthresh() }
        });
    }
}
