//! The loss-detector seam: which segments to mark lost, and when to check again.

pub mod dup_thresh;
mod kind;
pub mod rack;

pub use dup_thresh::DupThresh;
pub use kind::DetectorKind;
pub use rack::Rack;

use crate::episode::Episode;
use crate::scoreboard::{Arrival, Scoreboard, SentSegment};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use core::fmt::Debug;

/// The inputs of a detector.
#[derive(Clone, Copy, Debug)]
pub struct DetectCx {
    /// Ingress time of the ACK, or the deadline being served.
    pub now: Instant,
    /// Sender's maximum segment size.
    pub smss: Bytes,
    /// First byte not cumulatively acknowledged.
    pub snd_una: SeqNum,
    /// One past the highest byte sent.
    pub snd_nxt: SeqNum,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Windowed minimum RTT.
    pub min_rtt: Option<Duration>,
    /// The echoed timestamp of the ACK being processed, when the option is in use.
    pub tsecr: Option<u32>,
    /// How the segment sent last among those just delivered arrived.
    pub arrival: Arrival,
    /// The connection's state before the transition that this ACK causes.
    pub episode: Episode,
}

/// What a detector found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Bytes newly marked lost by this call.
    pub newly_lost: Bytes,
    /// The earliest moment at which another segment becomes overdue unless an ACK comes first. RFC 8985 §6.2 step 5 arms the
    /// latest; the earliest makes each firing O(newly lost) and marks no segment later.
    pub recheck_at: Option<Instant>,
}

/// The reordering window of a time-based detector, for traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderingWindow {
    /// Its present length.
    pub reo_wnd: Duration,
    /// Its multiplier.
    pub multiplier: u32,
    /// Recoveries without a duplicate report until the multiplier returns to one.
    pub persist: u8,
    /// Whether reordering has been seen.
    pub seen: bool,
    /// End of the round trip in which further duplicate reports do not widen it.
    pub round: Option<SeqNum>,
}

/// Decides which segments are lost, and marks them on the board; does not decide about sending.
///
/// Order within one ACK: `on_dsack` (if reported), `on_delivered` (once, all newly delivered segments), `detect`;
/// `on_recovery_exit` before `detect`, if that ACK ended an episode.
pub trait LossDetector: Debug + Send {
    /// Which one it is, for traces.
    fn kind(&self) -> DetectorKind;
    /// Handles a (re)transmission. Detectors without variants read the board instead.
    fn on_sent(&mut self, _segment: &SentSegment) {}
    /// Handles the segments that one ACK newly acknowledged or SACKed, in sequence order. The detector iterates in the orders its
    /// rules need (RFC 8985 §6.2: by send time, then by sequence).
    fn on_delivered(&mut self, batch: &[SentSegment], cx: &DetectCx);
    /// The receiver reported a duplicate (RFC 2883).
    fn on_dsack(&mut self, _range: SeqRange, _cx: &DetectCx) {}
    /// A duplicate acknowledgement in the sense of RFC 5681 §2, from a peer that does not use SACK. Comes before
    /// `on_delivered`.
    fn on_duplicate_ack(&mut self, _cx: &DetectCx) {}
    /// An episode ended.
    fn on_recovery_exit(&mut self) {}
    /// Handles an episode that proved spurious: the segments marked lost were late.
    fn on_spurious(&mut self) {}
    /// Handles the retransmission timer: marks what is to be sent again.
    fn on_timeout(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict;
    /// Finds losses after an ACK's deliveries were reported, or when `recheck_at` has come.
    fn detect(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict;
    /// Returns whether recovery may also retransmit segments not marked lost (RFC 6675 §4, NextSeg rules 3 and 4). Time-based
    /// detectors find every loss themselves and leave holes alone.
    fn fills_unmarked_holes(&self) -> bool {
        false
    }
    /// The reordering window; `None` for detectors without one.
    fn reordering(&self) -> Option<ReorderingWindow> {
        None
    }
    /// A copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn LossDetector>;
    /// Bytes behind the box, for the memory budget of an idle connection.
    fn state_size(&self) -> usize;
}

impl Clone for Box<dyn LossDetector> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
