//! One recovery from entry to exit, as a sum type: no boolean pair says "in recovery".

use base::SeqNum;

/// Where the connection stands in loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Episode {
    /// No episode.
    #[default]
    Open,
    /// Fast recovery (RFC 6675 §5, RFC 8985 §9.3) until `point` is cumulatively acknowledged.
    Recovery {
        /// `SND.NXT` when the episode began.
        point: SeqNum,
    },
    /// After a retransmission timeout, until `point` is cumulatively acknowledged.
    Loss {
        /// `SND.NXT` at the latest timeout.
        point: SeqNum,
    },
}

impl Episode {
    /// The recovery point, if inside an episode.
    pub const fn point(self) -> Option<SeqNum> {
        match self {
            Self::Open => None,
            Self::Recovery { point } | Self::Loss { point } => Some(point),
        }
    }
    /// Name for traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Recovery { .. } => "recovery",
            Self::Loss { .. } => "loss",
        }
    }
}
