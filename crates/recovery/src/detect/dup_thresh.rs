//! RFC 6675 loss detection: a hole is lost when enough SACKed data lies above it (§4, IsLost; §5, the duplicate count).
//!
//! Owns: the duplicate count and a cursor below which every hole has been judged. Judges each hole once, so a lost retransmission
//! stays undetected until the timer expires: the known limit of this algorithm.
//! Without SACK from the peer it counts duplicate ACKs (RFC 5681 §3.2) and treats a partial ACK as the sign of the next loss (RFC
//! 6582 §3.2); instead of inflating the window it reports to the board how much has left the network.

use super::{DetectCx, DetectorKind, LossDetector, Verdict};
use crate::episode::Episode;
use crate::scoreboard::{Mark, Scoreboard, SentSegment};
use base::{Bytes, SeqNum};

/// RFC 6675 detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DupThreshConfig {
    /// SACKed ranges (or duplicate ACKs) above a hole that make it a loss.
    pub dup_thresh: u32,
}

/// RFC 6675 §2 and RFC 8985 §6.2.
pub(crate) const DUP_THRESH: u32 = 3;

impl Default for DupThreshConfig {
    fn default() -> Self {
        Self { dup_thresh: DUP_THRESH }
    }
}

/// What the peer's ACKs report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    Sack,
    DuplicateAcks(Reno),
}

/// The substitute for SACK marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reno {
    /// Bytes that, according to duplicate ACKs, have left the network.
    departed: Bytes,
    /// The last episode's point: duplicates of ACKs up to it may result from needless retransmissions (RFC 6582 §3.2,
    /// `recover`).
    recover: Option<SeqNum>,
    /// The current ACK advanced inside an episode without ending it.
    partial: bool,
}

/// Loss detection by duplicate threshold.
#[derive(Clone, Debug)]
pub struct DupThresh {
    dup_thresh: u32,
    dup_acks: u32,
    snd_una: Option<SeqNum>,
    /// Every hole below has been judged.
    judged: Option<SeqNum>,
    feedback: Feedback,
}

impl DupThresh {
    /// For a peer that uses SACK.
    pub fn new(config: &DupThreshConfig) -> Self {
        Self::build(config, Feedback::Sack)
    }

    /// For a peer that does not.
    pub fn without_sack(config: &DupThreshConfig) -> Self {
        Self::build(config, Feedback::DuplicateAcks(Reno::default()))
    }

    fn build(config: &DupThreshConfig, feedback: Feedback) -> Self {
        Self { dup_thresh: config.dup_thresh, dup_acks: 0, snd_una: None, judged: None, feedback }
    }

    //= specs/rfc6675.md#scoreboard
    //# A hole is lost when three separate SACKed ranges lie above it.
    //= specs/rfc6675.md#scoreboard
    //# A hole is lost when more than two SMSS of SACKed bytes lie above it.
    /// The number below which every hole satisfies IsLost: the start of the highest range with enough above it, itself
    /// included.
    fn lost_below(&self, board: &Scoreboard, smss: Bytes) -> Option<SeqNum> {
        let bytes_enough = self.dup_thresh.saturating_sub(1).saturating_mul(smss);
        let mut bytes: Bytes = 0;
        for (count, range) in (1..).zip(board.sacked_ranges().rev()) {
            bytes = bytes.saturating_add(range.len());
            if count >= self.dup_thresh || bytes > bytes_enough {
                return Some(range.start);
            }
        }
        None
    }

    //= specs/rfc6675.md#recovery
    //# Recovery begins with the third duplicate ACK, or when the first hole is lost.
    fn detect_with_sack(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Bytes {
        let mut newly_lost = 0;
        if let Some(end) = self.lost_below(board, cx.smss) {
            let mut from = self.judged.map_or(cx.snd_una, |judged| judged.max(cx.snd_una));
            while let Some(hole) = board.next_unsacked(from, end) {
                newly_lost += mark_original(board, &hole);
                from = hole.xmit.end;
            }
            self.judged = Some(from.max(end));
        }
        if self.dup_acks >= self.dup_thresh && cx.episode == Episode::Open {
            newly_lost += mark_first(board);
        }
        newly_lost
    }

    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# The third duplicate ACK brings the first unacknowledged segment back.
    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# The first two duplicate ACKs each let one new segment leave.
    fn detect_without_sack(&mut self, reno: Reno, board: &mut Scoreboard, cx: &DetectCx) -> Bytes {
        board.set_departed(reno.departed);
        match cx.episode {
            Episode::Open if self.dup_acks >= self.dup_thresh && reno.recover.is_none() => mark_first(board),
            Episode::Recovery { .. } if reno.partial => mark_first(board),
            _ => 0,
        }
    }
}

//= specs/rfc6675.md#timeout
//# A retransmission that is lost is repaired by a timeout.
/// Marks a segment unless it was retransmitted before.
fn mark_original(board: &mut Scoreboard, segment: &SentSegment) -> Bytes {
    if segment.mark == Mark::Outstanding && segment.retransmits == 0 { board.mark_lost(segment.id) } else { 0 }
}

fn mark_first(board: &mut Scoreboard) -> Bytes {
    board.first().map_or(0, |first| mark_original(board, &first))
}

impl Reno {
    //= specs/rfc9937.md#each-ack
    //# Without SACK, a duplicate ACK delivers one SMSS, and a later advance is less by what duplicates announced.
    /// Accounts for an advance of the cumulative ACK by `acked` bytes: one segment of them was the hole, duplicates had announced
    /// the others. Outside an episode there was no hole, and the duplicates announced nothing that remains.
    fn on_advance(&mut self, acked: Bytes, cx: &DetectCx) {
        self.departed = match cx.episode {
            Episode::Open => 0,
            _ => self.departed.saturating_sub(acked.saturating_sub(cx.smss)),
        };
        self.partial = cx.episode.point().is_some_and(|point| cx.snd_una.before(point));
        self.recover = self.recover.filter(|recover| cx.snd_una.at_or_before(*recover));
    }
}

impl LossDetector for DupThresh {
    fn kind(&self) -> DetectorKind {
        DetectorKind::DupThresh
    }

    //= specs/rfc9937.md#each-ack
    //# Without SACK, a duplicate ACK delivers one SMSS, and a later advance is less by what duplicates announced.
    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# Each further duplicate ACK stands for a segment that left the network.
    fn on_duplicate_ack(&mut self, cx: &DetectCx) {
        self.dup_acks = self.dup_acks.saturating_add(1);
        if let Feedback::DuplicateAcks(reno) = &mut self.feedback {
            reno.departed = reno.departed.saturating_add(cx.smss);
        }
    }

    //= specs/rfc6675.md#scoreboard
    //# An ACK is a duplicate if it SACKs bytes that were neither acknowledged nor SACKed before.
    fn on_delivered(&mut self, batch: &[SentSegment], cx: &DetectCx) {
        let before = self.snd_una.replace(cx.snd_una).unwrap_or(cx.snd_una);
        let advanced = cx.snd_una.after(before);
        if advanced {
            self.dup_acks = 0;
            self.judged = self.judged.filter(|judged| judged.after(cx.snd_una));
        }
        match &mut self.feedback {
            // RFC 6675 §2: any ACK that newly reports data above the cumulative ACK counts as a duplicate.
            Feedback::Sack => {
                let counts = batch.last().is_some_and(|last| last.start.at_or_after(cx.snd_una));
                self.dup_acks = self.dup_acks.saturating_add(u32::from(counts));
            }
            Feedback::DuplicateAcks(reno) => {
                reno.partial = false;
                reno.recover = cx.episode.point().or(reno.recover);
                if advanced {
                    reno.on_advance(cx.snd_una.distance_from(before), cx);
                }
            }
        }
    }

    fn on_recovery_exit(&mut self) {
        self.dup_acks = 0;
        if let Feedback::DuplicateAcks(reno) = &mut self.feedback {
            (reno.departed, reno.partial) = (0, false);
        }
    }

    //= specs/rfc6675.md#timeout
    //# A timeout keeps what the scoreboard knows of SACKed segments.
    /// Go-back-N: everything not SACKed is sent again.
    fn on_timeout(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        self.dup_acks = 0;
        if let Feedback::DuplicateAcks(reno) = &mut self.feedback {
            *reno = Reno { recover: Some(cx.snd_nxt), ..Reno::default() };
            board.set_departed(0);
        }
        let mut newly_lost = 0;
        while let Some(oldest) = board.oldest_sent() {
            newly_lost += board.mark_lost(oldest.id);
        }
        Verdict { newly_lost, recheck_at: None }
    }

    //= specs/rfc6675.md#timeout
    //# After a timeout, no recovery begins before everything outstanding at the timeout is acknowledged.
    /// After a timeout, judges nothing until everything outstanding at that time is acknowledged (RFC 6675 §5.1).
    fn detect(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        if let Episode::Loss { .. } = cx.episode {
            return Verdict::default();
        }
        let newly_lost = match self.feedback {
            Feedback::Sack => self.detect_with_sack(board, cx),
            Feedback::DuplicateAcks(reno) => self.detect_without_sack(reno, board, cx),
        };
        Verdict { newly_lost, recheck_at: None }
    }

    fn fills_unmarked_holes(&self) -> bool {
        self.feedback == Feedback::Sack
    }
    fn clone_box(&self) -> Box<dyn LossDetector> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests;
