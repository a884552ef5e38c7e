//! RFC 8985 loss detection: a segment is lost when one sent sufficiently later was delivered.
//!
//! Owns: the newest delivered transmission, the highest delivered number and the reordering window. The same rule finds lost
//! retransmissions and lost originals. Tail probes are not part of this file.
//! Deviations: the deadline returned is the earliest instead of the latest of §6.2 step 5: the iteration stops at the first
//! segment that is not overdue, which makes a firing O(newly lost) and marks no segment later. Peers without SACK (§4) do not use
//! this detector: they get [`DupThresh`](super::DupThresh).

pub mod config;
mod lateness;
mod reo_wnd;
pub mod rules;
#[cfg(test)]
mod tests;

use super::{DetectCx, DetectorKind, LossDetector, ReorderingWindow, Verdict};
use crate::scoreboard::{Mark, Scoreboard, SentSegment};
use base::{Duration, SeqNum, SeqRange};
use config::{EarlyAnswer, RackConfig, RttOf};
use reo_wnd::{AckSignals, ReoWnd};
use rules::Newest;

/// Loss detection by time.
#[derive(Clone, Debug)]
pub struct Rack {
    newest: Newest,
    /// Highest number delivered (`RACK.fack`).
    fack: Option<SeqNum>,
    reo_wnd: ReoWnd,
    early_answer: EarlyAnswer,
    rtt_of: RttOf,
    /// Where the segment that sets the RTT ends, if that is the last one in sequence.
    rtt_end: SeqNum,
    /// What the current ACK brings to the reordering window.
    signals: AckSignals,
}

impl Rack {
    /// Nothing delivered yet.
    pub fn new(config: &RackConfig) -> Self {
        Self {
            newest: Newest::default(),
            fack: None,
            reo_wnd: ReoWnd::new(config),
            early_answer: config.early_answer,
            rtt_of: config.rtt_of,
            rtt_end: SeqNum(0),
            signals: AckSignals::default(),
        }
    }

    //= specs/rfc8985.md#reordering
    //# A never retransmitted segment that is delivered below the highest delivered number proves reordering.
    //= specs/rfc8985.md#reordering
    //# A retransmitted segment that is delivered below the highest delivered number proves nothing.
    /// Step 3: an original delivered below earlier delivered data proves reordering.
    fn see_reordering(&mut self, batch: &[SentSegment]) {
        for segment in batch {
            let end = segment.xmit.end;
            match self.fack {
                Some(fack) if end.before(fack) => {
                    if segment.retransmits == 0 {
                        self.reo_wnd.on_reordering();
                    }
                }
                _ => self.fack = Some(end),
            }
        }
    }

    /// Notes segments that were marked lost and are answered nevertheless, before a copy could be.
    fn see_late_arrivals(&mut self, batch: &[SentSegment], cx: &DetectCx) {
        if !self.reo_wnd.awaits_late_arrivals() {
            return;
        }
        let rtt = self.rtt_of_others(cx);
        for (index, segment) in batch.iter().enumerate() {
            let unsent = segment.retransmits == 0 && segment.mark == Mark::Lost;
            if unsent || rules::is_ambiguous(segment, rules::echo_of(index, segment, cx), self.early_answer, cx) {
                self.reo_wnd.on_arrival(segment.range(), rtt, cx);
            }
        }
    }

    /// Returns the round trip of segments that are not late.
    fn rtt_of_others(&self, cx: &DetectCx) -> Duration {
        cx.srtt.map_or(self.newest.rtt, |srtt| srtt.min(self.newest.rtt))
    }

    //= specs/rfc8985.md#loss-detection
    //# A segment is lost when one sent after it was delivered and its age is at least the RTT plus the window.
    //= specs/rfc8985.md#loss-detection
    //# While a segment waits for the window to pass, a timer is armed that marks it lost without another ACK.
    /// Marks overdue segments that `doubtful` admits, oldest first.
    fn mark_overdue(
        &mut self,
        board: &mut Scoreboard,
        cx: &DetectCx,
        reo_wnd: Duration,
        doubtful: impl Fn(&SentSegment) -> bool,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        while let Some(segment) = board.oldest_sent().filter(&doubtful) {
            let mut deadline = rules::deadline(segment.xmit.at, self.newest.rtt, reo_wnd);
            if deadline == cx.now && self.rtt_of == RttOf::LastInSequence && segment.xmit.end.after(self.rtt_end) {
                deadline += rules::TICK;
            }
            if deadline > cx.now {
                verdict.recheck_at = Some(deadline);
                break;
            }
            self.reo_wnd.on_given_up(&segment);
            verdict.newly_lost += board.mark_lost(segment.id);
        }
        verdict
    }
}

impl LossDetector for Rack {
    fn kind(&self) -> DetectorKind {
        DetectorKind::Rack
    }

    fn on_delivered(&mut self, batch: &[SentSegment], cx: &DetectCx) {
        self.see_late_arrivals(batch, cx);
        if let Some(end) = self.newest.advance(batch, self.early_answer, self.rtt_of, cx) {
            self.rtt_end = end;
        }
        self.see_reordering(batch);
    }

    fn on_dsack(&mut self, range: SeqRange, cx: &DetectCx) {
        self.signals.dsack = true;
        self.reo_wnd.on_arrival(range, self.rtt_of_others(cx), cx);
    }

    fn on_recovery_exit(&mut self) {
        self.signals.exit = true;
    }

    /// A deviation from RFC 8985 §6.2 step 3, which accepts only segments never retransmitted as proof: an original that arrived
    /// after it was marked lost proves the same lateness, and the next one would be marked lost the same way.
    fn on_spurious(&mut self) {
        self.reo_wnd.on_reordering();
    }

    //= specs/rfc8985.md#retransmission-timeout
    //# A timeout marks the first outstanding segment lost.
    //= specs/rfc8985.md#retransmission-timeout
    //# A timeout marks any other segment lost only if its age is at least the RTT plus the window.
    /// RFC 8985 §6.3: marks the first segment and overdue ones; recently sent segments may still arrive.
    fn on_timeout(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        let reo_wnd = self.reo_wnd.get(board.sacked_segments(), cx);
        let first = board.first().map_or(0, |first| board.mark_lost(first.id));
        let overdue = self.mark_overdue(board, cx, reo_wnd, |_| true);
        Verdict { newly_lost: first + overdue.newly_lost, recheck_at: None }
    }

    //= specs/rfc8985.md#loss-detection
    //# A retransmission is given up for lost by the same rule as an original.
    fn detect(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        // Taken out, so that a timer that follows does not count the same signals twice.
        let signals = core::mem::take(&mut self.signals);
        let reo_wnd = self.reo_wnd.update(signals, board.sacked_segments(), cx);
        let Some(newest) = self.newest.xmit else { return Verdict::default() };
        self.mark_overdue(board, cx, reo_wnd, |segment| rules::sent_after(newest, segment.xmit))
    }

    fn reordering(&self) -> Option<ReorderingWindow> {
        Some(self.reo_wnd.report())
    }
    fn clone_box(&self) -> Box<dyn LossDetector> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>() + self.reo_wnd.heap_size()
    }
}
