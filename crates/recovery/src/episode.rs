//! One recovery from entry to exit, or one answer to a congestion mark, as a sum type: no boolean pair says "in recovery".

use base::SeqNum;

/// Where the connection stands in loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Episode {
    /// No episode.
    #[default]
    Open,
    /// A congestion mark was answered (RFC 3168 §6.1.2), until something beyond `point` is cumulatively acknowledged. Nothing
    /// is known to be missing.
    Cwr {
        /// `SND.NXT` when the mark was answered.
        point: SeqNum,
    },
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
    /// Whether losses are being repaired.
    pub const fn repairs(self) -> bool {
        matches!(self, Self::Recovery { .. } | Self::Loss { .. })
    }
    /// The same, as a loss detector sees it: a mark means nothing to it.
    pub const fn of_losses(self) -> Self {
        if self.repairs() { self } else { Self::Open }
    }
    //= specs/rfc3168.md#sender
    //# The window is reduced no more than once for the marks of one window of data.
    //= specs/rfc6675.md#recovery
    //# Recovery lasts until everything outstanding at its beginning is cumulatively acknowledged.
    /// Whether this cumulative acknowledgement ends the episode. What acknowledges the last byte of before a mark's answer
    /// may still echo that mark: the answer has reached the receiver with the byte behind it.
    pub fn is_over(self, snd_una: SeqNum) -> bool {
        match self {
            Self::Open => false,
            Self::Cwr { point } => snd_una.after(point),
            Self::Recovery { point } | Self::Loss { point } => snd_una.at_or_after(point),
        }
    }
    /// The recovery point, if inside an episode.
    pub const fn point(self) -> Option<SeqNum> {
        match self {
            Self::Open => None,
            Self::Cwr { point } | Self::Recovery { point } | Self::Loss { point } => Some(point),
        }
    }
    /// Name for traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Cwr { .. } => "cwr",
            Self::Recovery { .. } => "recovery",
            Self::Loss { .. } => "loss",
        }
    }
}
