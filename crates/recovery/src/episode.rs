//! One recovery from entry to exit, or one reaction to a congestion mark, as a sum type instead of boolean flags.

use base::SeqNum;

/// The connection's state of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Episode {
    /// No episode.
    #[default]
    Open,
    /// The sender has reacted to a congestion mark (RFC 3168 §6.1.2), until data beyond `point` is cumulatively acknowledged.
    /// Nothing is known to be missing.
    Cwr {
        /// `SND.NXT` at the reaction to the mark.
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
    /// Returns whether losses are being repaired.
    pub const fn repairs(self) -> bool {
        matches!(self, Self::Recovery { .. } | Self::Loss { .. })
    }
    /// Returns the same for a loss detector, to which a mark means nothing.
    pub const fn of_losses(self) -> Self {
        if self.repairs() { self } else { Self::Open }
    }
    //= specs/rfc3168.md#sender
    //# The window is reduced no more than once for the marks of one window of data.
    //= specs/rfc6675.md#recovery
    //# Recovery lasts until everything outstanding at its beginning is cumulatively acknowledged.
    /// Returns whether this cumulative acknowledgement ends the episode. An ACK of the last byte before the reaction to a mark
    /// may still echo that mark: CWR reaches the receiver with the byte behind it.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const POINT: SeqNum = SeqNum(u32::MAX - 1);

    #[test_case(Episode::Open, [false; 3]; "nothing ends where no episode is")]
    #[test_case(Episode::Cwr { point: POINT }, [false, false, true]; "a mark may be echoed up to its point")]
    #[test_case(Episode::Recovery { point: POINT }, [false, true, true]; "fast recovery lasts up to its point")]
    #[test_case(Episode::Loss { point: POINT }, [false, true, true]; "and so does the repair after a timeout")]
    fn an_episode_ends_at_its_point(episode: Episode, ends: [bool; 3]) {
        assert_eq!([POINT - 1, POINT, POINT + 1].map(|snd_una| episode.is_over(snd_una)), ends);
        assert_eq!(episode.point(), (episode != Episode::Open).then_some(POINT));
    }

    #[test]
    fn a_congestion_mark_means_nothing_to_a_detector() {
        let all = [
            Episode::Open,
            Episode::Cwr { point: POINT },
            Episode::Recovery { point: POINT },
            Episode::Loss { point: POINT },
        ];
        assert_eq!(all.map(Episode::repairs), [false, false, true, true]);
        assert_eq!(all.map(Episode::of_losses), [Episode::Open, Episode::Open, all[2], all[3]]);
    }
}
