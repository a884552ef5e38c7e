//! Does: keeps send times of blocks of original data in a small ring, hurries the first detection, forgets retransmissions.
//! RFC: 8985 §6.1 keeps the time of every transmission of every segment, which finds lost retransmissions too.
//! Believed because: published accounts of its authors' platform report a circular array for about one window; sizes inferred.
//! Used by: profiles that name `rack_ring`.
//! Shown by: `parity_without_a_limit_the_ring_judges_as_the_rules_over_the_board`, `bite_a_small_ring_judges_differently`.
//!
//! RFC 6675 detection always runs beside it; the ring acts outside episodes only, with a fixed window of a quarter of the minimum
//! RTT, and never on retransmitted data. A block is closed when it holds the larger of one segment and a share of the flight
//! (which replaces the window), and carries the time of its last segment. Blocks that the ring has overwritten are not judged;
//! skipping their holes costs at most what RFC 6675 marks with the next few SACKs.

use crate::detect::dup_thresh::{DUP_THRESH, DupThreshConfig};
use crate::detect::rack::rules::{self, Newest};
use crate::detect::{DetectCx, DetectorKind, DupThresh, LossDetector, Verdict};
use crate::episode::Episode;
use crate::scoreboard::{Scoreboard, SentSegment, Xmit};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use std::collections::VecDeque;

/// Settings of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackRingConfig {
    /// Blocks remembered; `None` for one per segment without limit.
    pub capacity: Option<u32>,
    /// As in [`DupThreshConfig`].
    pub dup_thresh: u32,
}

impl Default for RackRingConfig {
    fn default() -> Self {
        Self { capacity: Some(64), dup_thresh: DUP_THRESH }
    }
}

/// A block of consecutive original data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    range: SeqRange,
    at: Instant,
}

/// RACK over a ring of blocks, beside RFC 6675.
#[derive(Clone, Debug)]
pub struct RackRing {
    beside: DupThresh,
    capacity: Option<u32>,
    /// Bytes after which a block is closed.
    block: Bytes,
    slots: VecDeque<Slot>,
    newest: Newest,
}

impl RackRing {
    /// An empty ring.
    pub fn new(config: &RackRingConfig) -> Self {
        Self {
            beside: DupThresh::new(&DupThreshConfig { dup_thresh: config.dup_thresh }),
            capacity: config.capacity,
            block: 1,
            slots: VecDeque::new(),
            newest: Newest::default(),
        }
    }

    /// Returns the transmission as the ring records it: the block's time, the segment's own end.
    fn recorded(&self, segment: &SentSegment) -> Option<Xmit> {
        let end = segment.xmit.end;
        let index = self.slots.partition_point(|slot| slot.range.end.before(end));
        let slot = self.slots.get(index).filter(|slot| slot.range.start.before(end))?;
        Some(Xmit { at: slot.at, end })
    }

    fn forget_acked(&mut self, snd_una: SeqNum) {
        while self.slots.front().is_some_and(|slot| slot.range.end.at_or_before(snd_una)) {
            self.slots.pop_front();
        }
    }

    fn detect_by_ring(&self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        let mut verdict = Verdict::default();
        let Some(newest) = self.newest.xmit.filter(|_| cx.episode == Episode::Open) else { return verdict };
        let reo_wnd = cx.min_rtt.map_or(Duration::ZERO, |min_rtt| min_rtt / 4);
        let mut next = board.oldest_sent();
        while let Some(segment) = next {
            next = board.next_sent(segment.id);
            let original = segment.retransmits == 0;
            if original && segment.xmit.end.at_or_after(newest.end) {
                // Original data is sent in sequence order: nothing from here on is older than the delivered data.
                break;
            }
            let Some(xmit) = self.recorded(&segment).filter(|_| original) else { continue };
            let deadline = rules::deadline(xmit.at, self.newest.rtt, reo_wnd);
            if deadline > cx.now {
                verdict.recheck_at = Some(deadline);
                break;
            }
            verdict.newly_lost += board.mark_lost(segment.id);
        }
        verdict
    }
}

impl LossDetector for RackRing {
    fn kind(&self) -> DetectorKind {
        DetectorKind::RackRing
    }

    fn on_sent(&mut self, segment: &SentSegment) {
        if segment.retransmits > 0 {
            return;
        }
        let (range, at) = (segment.range(), segment.xmit.at);
        if let Some(open) = self.slots.back_mut().filter(|slot| slot.range.len() < self.block) {
            (open.range.end, open.at) = (range.end, at);
            return;
        }
        if self.capacity.is_some_and(|capacity| self.slots.len() >= capacity as usize) {
            self.slots.pop_front();
        }
        self.slots.push_back(Slot { range, at });
    }

    fn on_delivered(&mut self, batch: &[SentSegment], cx: &DetectCx) {
        self.beside.on_delivered(batch, cx);
        let newest = batch.iter().rev().filter(|segment| segment.retransmits == 0).find_map(|s| self.recorded(s));
        if let Some(xmit) = newest {
            self.newest.take(xmit, cx.now);
        }
        self.forget_acked(cx.snd_una);
        let flight = cx.snd_nxt.distance_from(cx.snd_una);
        self.block = self.capacity.map_or(1, |capacity| cx.smss.max(flight / capacity));
    }

    fn on_recovery_exit(&mut self) {
        self.beside.on_recovery_exit();
    }
    fn on_timeout(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        self.beside.on_timeout(board, cx)
    }

    fn detect(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        let by_count = self.beside.detect(board, cx);
        let by_time = self.detect_by_ring(board, cx);
        Verdict { newly_lost: by_count.newly_lost + by_time.newly_lost, recheck_at: by_time.recheck_at }
    }

    fn fills_unmarked_holes(&self) -> bool {
        self.beside.fills_unmarked_holes()
    }
    fn clone_box(&self) -> Box<dyn LossDetector> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>() + self.slots.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests;
