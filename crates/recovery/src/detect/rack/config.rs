//! RACK as data.

use crate::detect::dup_thresh::DUP_THRESH;

/// RFC 8985 detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// Whether duplicate reports widen the reordering window.
    pub dsack: DsackAdaptation,
    /// SACKed segments that close the reordering window while no reordering was seen.
    pub dup_thresh: u32,
    /// When the answer to a retransmission is taken for an answer to the original.
    pub early_answer: EarlyAnswer,
    /// Of several segments that an ACK delivers, the one whose age becomes the detector's RTT.
    pub rtt_of: RttOf,
    /// How far the reordering window follows the lateness of what was given up for nothing, in smoothed RTTs: 0 for not at
    /// all.
    pub lateness_max_srtts: u8,
}

/// Which delivered segment's age is the detector's RTT (RFC 8985 §6.2, step 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttOf {
    /// That of the segment sent last.
    #[default]
    Newest,
    /// That of the segment with the highest number, which may be an older one behind a retransmission. What was sent at the
    /// same moment as it, but has a higher number, is not overdue yet.
    LastInSequence,
    /// That of the segment sent last, which lowers the RTT only if it did not overtake others: those are on their way still,
    /// and none of them is any later for it.
    NewestInTurn,
}

/// When an answer came too early to be a retransmission's (RFC 8985 §6.2, step 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyAnswer {
    /// In less than the least RTT: the RFC's rule. A retransmission that found a slightly emptier path than any segment
    /// before is passed over with it, which matters on young connections and for probes.
    #[default]
    MinRtt,
    /// In more than a millisecond less than the least RTT: what hosts and clocks make of equal paths differs by that much.
    MinRttLessTick,
    /// In less than half the least RTT.
    HalfMinRtt,
}

/// What duplicate reports do to the reordering window (RFC 8985 §6.2, step 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DsackAdaptation {
    /// Nothing.
    Off,
    /// Each round with one widens it.
    #[default]
    On,
}

impl Default for RackConfig {
    fn default() -> Self {
        Self {
            dsack: DsackAdaptation::On,
            dup_thresh: DUP_THRESH,
            early_answer: EarlyAnswer::MinRtt,
            rtt_of: RttOf::Newest,
            lateness_max_srtts: 0,
        }
    }
}
