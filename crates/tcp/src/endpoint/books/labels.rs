//! Translates types of `recovery` and `cc` into labels of events: neither crate sees `trace`.

use cc::CcPhase;
use recovery::sack::RejectReason;
use recovery::undo;
use recovery::{DetectorKind, sack};
use trace::{BlockClass, Detector, Episode, ExitCause, Phase, Proof};

pub(in crate::endpoint) const fn block_class(class: sack::BlockClass) -> BlockClass {
    match class {
        sack::BlockClass::Sack => BlockClass::Sack,
        sack::BlockClass::Dsack => BlockClass::Dsack,
        sack::BlockClass::Reject(RejectReason::Empty) => BlockClass::Empty,
        sack::BlockClass::Reject(RejectReason::BeyondSent) => BlockClass::BeyondSent,
        sack::BlockClass::Reject(RejectReason::BelowAck) => BlockClass::BelowAck,
        sack::BlockClass::Reject(RejectReason::Stale) => BlockClass::Stale,
        sack::BlockClass::Reject(RejectReason::TooOld) => BlockClass::TooOld,
    }
}

pub(in crate::endpoint) const fn detector(kind: DetectorKind) -> Detector {
    match kind {
        DetectorKind::DupThresh => Detector::DupThresh,
        DetectorKind::Rack => Detector::Rack,
        DetectorKind::RackRing => Detector::RackRing, // variant: rack_ring
    }
}

pub(in crate::endpoint) const fn episode(episode: recovery::Episode) -> Episode {
    match episode {
        recovery::Episode::Open => Episode::Open,
        recovery::Episode::Cwr { .. } => Episode::Cwr,
        recovery::Episode::Recovery { .. } => Episode::Recovery,
        recovery::Episode::Loss { .. } => Episode::Loss,
    }
}

pub(in crate::endpoint) const fn proof(proof: undo::Proof) -> Proof {
    match proof {
        undo::Proof::Dsack => Proof::Dsack,
        undo::Proof::Eifel => Proof::Eifel,
        undo::Proof::Frto => Proof::Frto,
    }
}

pub(in crate::endpoint) const fn phase(phase: CcPhase) -> Phase {
    match phase {
        CcPhase::SlowStart => Phase::SlowStart,
        CcPhase::Css => Phase::Css,
        CcPhase::Lss => Phase::Lss,
        CcPhase::Jump => Phase::Jump,
        CcPhase::Draining => Phase::Draining,
        CcPhase::Reno => Phase::Reno,
        CcPhase::Cubic => Phase::Cubic,
        CcPhase::Compound => Phase::Compound,
        CcPhase::Outside => Phase::Outside,
        CcPhase::Startup => Phase::Startup,
        CcPhase::Drain => Phase::Drain,
        CcPhase::ProbeDown => Phase::ProbeDown,
        CcPhase::ProbeCruise => Phase::ProbeCruise,
        CcPhase::ProbeRefill => Phase::ProbeRefill,
        CcPhase::ProbeUp => Phase::ProbeUp,
        CcPhase::ProbeRtt => Phase::ProbeRtt,
    }
}

pub(in crate::endpoint) const fn exit_cause(cause: cc::ExitCause) -> ExitCause {
    match cause {
        cc::ExitCause::Threshold => ExitCause::Threshold,
        cc::ExitCause::Congestion => ExitCause::Congestion,
        cc::ExitCause::DelayIncrease => ExitCause::DelayIncrease,
        cc::ExitCause::AckTrain => ExitCause::AckTrain,
        cc::ExitCause::CssRounds => ExitCause::CssRounds,
        cc::ExitCause::Shortfall => ExitCause::Shortfall,
        cc::ExitCause::Plateau => ExitCause::Plateau,
        cc::ExitCause::Chirps => ExitCause::Chirps,
    }
}
