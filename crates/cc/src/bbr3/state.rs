//! What the sender is doing.

use crate::control::CcPhase;
use base::{Bytes, Instant};

/// More than any window: a bound that is not known.
pub(super) const UNBOUNDED: Bytes = Bytes::MAX;

/// What the sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Doubles the rate each round until the pipe is full.
    Startup,
    /// Removes the queue that Startup left; `since` is the number of the round in which it began.
    Drain { since: u64 },
    /// ProbeBW: sends a little less than the bandwidth.
    Down,
    /// ProbeBW: sends the bandwidth, with room for others.
    Cruise,
    /// ProbeBW: sends the bandwidth, with all that may be in flight.
    Refill,
    /// ProbeBW: sends more than the bandwidth.
    Up,
    /// Sends little, to see the round trip without a queue.
    ProbeRtt,
}

impl State {
    /// Whether this is one of ProbeBW's four.
    pub const fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether the sender sends more than it knows to be safe, so that loss says nothing about the short term.
    pub const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    pub const fn phase(self) -> CcPhase {
        match self {
            Self::Startup => CcPhase::Startup,
            Self::Drain { .. } => CcPhase::Drain,
            Self::Down => CcPhase::ProbeDown,
            Self::Cruise => CcPhase::ProbeCruise,
            Self::Refill => CcPhase::ProbeRefill,
            Self::Up => CcPhase::ProbeUp,
            Self::ProbeRtt => CcPhase::ProbeRtt,
        }
    }
}

/// The progress of a ProbeRTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProbeRtt {
    /// Too much is still in flight.
    #[default]
    Draining,
    /// Little is in flight, until this moment at least and for a round.
    Holding { until: Instant, round_over: bool },
}
