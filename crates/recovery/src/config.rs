//! Loss recovery as data, and the only place that turns its tags into machines.

pub use crate::detect::dup_thresh::DupThreshConfig;
pub use crate::detect::rack::config::{DsackAdaptation, EarlyAnswer, RackConfig, RttOf};

use crate::detect::{DupThresh, LossDetector, Rack};
use crate::reduction::{Conservative, PipeReduction, Prr, Reduction, SafeAck, SlowStart};
use crate::sack::{ClassifyBlock, rfc2883};
use crate::tlp::TlpConfig;
use crate::undo::UndoConfig;
use crate::variants;

/// The policy points of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// How losses are found.
    pub detector: DetectorConfig,
    /// How SACK blocks are distinguished from duplicate reports and from invalid blocks.
    pub blocks: BlockCheck,
    /// How much is sent during an episode.
    pub reduction: ReductionConfig,
    /// Tail loss probes; `None` for none.
    pub probe: Option<TlpConfig>,
    /// Which evidence undoes a reduction.
    pub undo: UndoConfig,
    /// Whether duplicate acknowledgements let new data leave before anything is marked lost.
    pub limited_transmit: LimitedTransmit,
}

/// Limited transmit (RFC 3042; RFC 6675 §5, step 3): before an episode, each segment reported to have left the network lets a new
/// one leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Only cumulative acknowledgements let new data leave.
    Off,
    /// Selective and duplicate acknowledgements do so too.
    #[default]
    On,
}

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorConfig {
    /// By SACKed data above a hole (RFC 6675).
    DupThresh(DupThreshConfig),
    /// By time (RFC 8985).
    Rack(RackConfig),
    // variant: rack_ring {
    /// By time over a ring of blocks, beside RFC 6675.
    RackRing(variants::RackRingConfig),
    // variant: rack_ring }
}

/// How SACK blocks are classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockCheck {
    /// By RFC 2883 §4.
    #[default]
    Rfc2883,
    /// By a faulty check.
    Variant(BlockCheckVariant),
}

/// Faulty checks of SACK blocks, each a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCheckVariant {
    // variant: dsack_check_rejected {
    /// No block below the cumulative ACK passes.
    DsackCheckRejected,
    // variant: dsack_check_rejected }
    // variant: dsack_check_strict_right {
    /// No block from below the cumulative ACK up to it passes.
    DsackCheckStrictRight,
    // variant: dsack_check_strict_right }
}

/// How much is sent during an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReductionConfig {
    /// `cwnd − pipe` (RFC 6675 §5).
    #[default]
    Pipe,
    /// In proportion to the delivered data.
    Prr(PrrConfig),
}

/// Proportional rate reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrrConfig {
    /// How the flight is filled again once it is below the window.
    pub bound: PrrBound,
}

/// What bounds proportional rate reduction while less is in flight than the window allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrrBound {
    /// As much as is delivered, plus one segment for an ACK that advances without proving a loss (RFC 9937 §6.2).
    #[default]
    SafeAck,
    /// As much as is delivered (RFC 6937 §3, conservative reduction bound).
    Crb,
    /// One segment more than is delivered (RFC 6937 §3, slow-start reduction bound).
    Ssrb,
}

impl Default for DetectorConfig {
    fn default() -> Self {
        Self::Rack(RackConfig::default())
    }
}

impl RecoveryConfig {
    /// Leaves that are out of bounds: their dotted path, and which values are valid.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.detector.dup_thresh() == 0 {
            problems.push(("recovery.detector.dup_thresh", "must be at least 1".to_owned()));
        }
        // variant: rack_ring {
        if let DetectorConfig::RackRing(variants::RackRingConfig { capacity: Some(0), .. }) = self.detector {
            problems.push(("recovery.detector.capacity", "must be at least 1, or absent for no limit".to_owned()));
        }
        // variant: rack_ring }
        problems
    }
}

impl DetectorConfig {
    /// Returns how many SACKed segments, or duplicate ACKs, above a hole mark it lost.
    pub fn dup_thresh(&self) -> u32 {
        match self {
            Self::DupThresh(config) => config.dup_thresh,
            Self::Rack(config) => config.dup_thresh,
            Self::RackRing(config) => config.dup_thresh, // variant: rack_ring
        }
    }

    /// Returns whether a segment that overtook others measures the path, as RFC 6298 §3 has it of each that was sent once.
    pub fn measures_overtaking(&self) -> bool {
        !matches!(self, Self::Rack(RackConfig { rtt_of: RttOf::NewestInTurn, .. }))
    }
}

//= specs/rfc8985.md#other-algorithms
//# The loss detection of RFC 6675 is not used beside RACK.
/// The detector for a connection that uses SACK.
pub fn build_detector(config: &DetectorConfig) -> Box<dyn LossDetector> {
    match config {
        DetectorConfig::DupThresh(config) => Box::new(DupThresh::new(config)),
        DetectorConfig::Rack(config) => Box::new(Rack::new(config)),
        DetectorConfig::RackRing(config) => Box::new(variants::RackRing::new(config)), // variant: rack_ring
    }
}

//= specs/rfc8985.md#prerequisites
//# RACK is used only on a connection that negotiated SACK.
/// Builds the detector for a peer without SACK: duplicate ACKs and RFC 6582's partial ACKs, whatever the configuration, because
/// RFC 8985 §4 requires SACK.
pub fn build_detector_without_sack(config: &DetectorConfig) -> Box<dyn LossDetector> {
    Box::new(DupThresh::without_sack(&DupThreshConfig { dup_thresh: config.dup_thresh() }))
}

/// The check of SACK blocks.
pub fn build_block_check(config: &BlockCheck) -> ClassifyBlock {
    match config {
        BlockCheck::Rfc2883 => rfc2883,
        BlockCheck::Variant(variant) => match variant {
            BlockCheckVariant::DsackCheckRejected => variants::dsack_check_rejected, // variant: dsack_check_rejected
            BlockCheckVariant::DsackCheckStrictRight => variants::dsack_check_strict_right, // variant: dsack_check_strict_right
        },
    }
}

//= specs/rfc8985.md#other-algorithms
//# Proportional rate reduction decides what is sent after losses that RACK detects.
/// Builds the rule for sending during an episode; called when one begins, so that a connection without losses has none.
pub fn build_reduction(config: &ReductionConfig) -> Box<dyn Reduction> {
    match config {
        ReductionConfig::Pipe => Box::new(PipeReduction::default()),
        ReductionConfig::Prr(PrrConfig { bound: PrrBound::SafeAck }) => Box::new(Prr::<SafeAck>::default()),
        ReductionConfig::Prr(PrrConfig { bound: PrrBound::Crb }) => Box::new(Prr::<Conservative>::default()),
        ReductionConfig::Prr(PrrConfig { bound: PrrBound::Ssrb }) => Box::new(Prr::<SlowStart>::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::DetectorKind;
    use crate::sack::{BlockClass, BlockCx, RejectReason, SackBlock};
    use base::SeqNum;
    use test_case::test_case;

    // variant: rack_ring {
    const RING_OF_NONE: variants::RackRingConfig = variants::RackRingConfig { capacity: Some(0), dup_thresh: 3 };
    // variant: rack_ring }
    const BELOW: BlockClass = BlockClass::Reject(RejectReason::BelowAck);

    //= specs/rfc8985.md#prerequisites
    //= type=test
    //# RACK is used only on a connection that negotiated SACK.
    //= specs/rfc8985.md#other-algorithms
    //= type=test
    //# The loss detection of RFC 6675 is not used beside RACK.
    #[test_case(DetectorConfig::DupThresh(DupThreshConfig { dup_thresh: 3 }), DetectorKind::DupThresh)]
    #[test_case(DetectorConfig::default(), DetectorKind::Rack)]
    #[test_case(DetectorConfig::RackRing(Default::default()), DetectorKind::RackRing)] // variant: rack_ring
    fn each_tag_builds_its_detector_and_none_survives_a_peer_without_sack(config: DetectorConfig, kind: DetectorKind) {
        let built = build_detector(&config);
        assert_eq!(built.kind(), kind);
        println!("{kind:?}: {} B", built.state_size());
        assert_eq!(build_detector_without_sack(&config).kind(), DetectorKind::DupThresh);
        assert!(RecoveryConfig { detector: config, ..RecoveryConfig::default() }.problems().is_empty());
    }

    /// Each check is identified by a block on which it differs from the others.
    #[test_case(BlockCheck::Rfc2883, [BlockClass::Dsack, BlockClass::Dsack])]
    #[test_case(BlockCheck::Variant(BlockCheckVariant::DsackCheckRejected), [BELOW, BELOW])] // variant: dsack_check_rejected
    #[test_case(BlockCheck::Variant(BlockCheckVariant::DsackCheckStrictRight), [BELOW, BlockClass::Dsack])] // variant: dsack_check_strict_right
    fn each_tag_builds_its_block_check(config: BlockCheck, classes: [BlockClass; 2]) {
        let cx = BlockCx {
            seg_ack: SeqNum(4),
            snd_una: SeqNum(4),
            snd_nxt: SeqNum(9),
            max_window: 9,
            position: 0,
            second: None,
        };
        let check = build_block_check(&config);
        assert_eq!([4, 3].map(|end| check(SackBlock::new(SeqNum(1), SeqNum(end)), &cx)), classes);
    }

    #[test_case(DetectorConfig::Rack(RackConfig { dup_thresh: 0, ..RackConfig::default() }), "recovery.detector.dup_thresh")]
    #[test_case(DetectorConfig::RackRing(RING_OF_NONE), "recovery.detector.capacity")] // variant: rack_ring
    fn a_number_out_of_bounds_is_named(detector: DetectorConfig, path: &str) {
        let config = RecoveryConfig { detector, ..RecoveryConfig::default() };
        assert_eq!(config.problems().first().map(|(path, _)| *path), Some(path));
    }

    #[test_case(ReductionConfig::Pipe, false; "pipe makes room for it at once")]
    #[test_case(ReductionConfig::Prr(PrrConfig { bound: PrrBound::SafeAck }), true; "a reduction in proportion holds it back")]
    fn a_reduction_tells_whether_it_answers_what_is_lost_again(config: ReductionConfig, answers: bool) {
        let reduction = build_reduction(&config);
        assert_eq!(reduction.answers_lost_retransmissions(), answers);
        assert_eq!(reduction.state_size(), size_of_val(&*reduction));
    }

    #[test]
    fn what_a_detector_takes_at_first_is_its_own_size() {
        let mut all = vec![DetectorConfig::DupThresh(DupThreshConfig::default()), DetectorConfig::default()];
        all.push(DetectorConfig::RackRing(variants::RackRingConfig::default())); // variant: rack_ring
        for config in all {
            for detector in [build_detector(&config), build_detector_without_sack(&config)] {
                assert_eq!(detector.state_size(), size_of_val(&*detector));
            }
        }
    }

    #[test]
    fn what_judges_by_time_leaves_unmarked_holes_alone() {
        assert!(!build_detector(&DetectorConfig::default()).fills_unmarked_holes());
    }
}
