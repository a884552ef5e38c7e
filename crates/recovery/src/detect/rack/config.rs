//! RACK as data.

use crate::detect::dup_thresh::DUP_THRESH;

/// RFC 8985 detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// Whether duplicate reports widen the reordering window.
    pub dsack: DsackAdaptation,
    /// SACKed segments that close the reordering window while no reordering was seen.
    pub dup_thresh: u32,
    /// When an answer to a retransmission counts as an answer to the original.
    pub early_answer: EarlyAnswer,
    /// Which of several segments that an ACK delivers sets the detector's RTT by its age.
    pub rtt_of: RttOf,
    /// How far the reordering window follows the lateness of what was given up for nothing, in smoothed RTTs: 0 for not at
    /// all.
    pub lateness_max_srtts: u8,
}

/// Which delivered segment's age is the detector's RTT (RFC 8985 §6.2, step 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttOf {
    /// The segment sent last.
    #[default]
    Newest,
    /// The segment with the highest number, which may be older than a retransmission. Segments sent at the same moment with a
    /// higher number are not overdue yet.
    LastInSequence,
    /// The segment sent last, which lowers the RTT only if it did not overtake others: those are still in flight, and its arrival
    /// does not make them late. Neither is it a sample of the round trip: it came by a shorter route than all others.
    NewestInTurn,
}

/// When an answer came too early to belong to a retransmission (RFC 8985 §6.2, step 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyAnswer {
    /// If it took less than the minimum RTT: the RFC's rule. It also rejects a retransmission that found a slightly emptier path
    /// than any segment before, which matters on young connections and for probes.
    #[default]
    MinRtt,
    /// If it took more than a millisecond less than the minimum RTT: hosts and clocks make equal paths differ by that much.
    MinRttLessTick,
    /// If it took less than half the minimum RTT.
    HalfMinRtt,
}

/// What duplicate reports do to the reordering window (RFC 8985 §6.2, step 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DsackAdaptation {
    /// Nothing.
    Off,
    /// Each round that brings one widens the window.
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
