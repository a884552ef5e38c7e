//! Which segment smaller than the maximum may leave: Nagle's rule and the sender's silly-window rules
//! (RFC 9293 §3.7.4 and §3.8.6.2.1).

use crate::config::NagleConfig;
use base::Bytes;

/// What is known of a segment smaller than the maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallSegment {
    /// Its payload bytes.
    pub len: Bytes,
    /// It takes all written data, or carries the FIN.
    pub takes_all: Takes,
    /// What is outstanding.
    pub outstanding: Outstanding,
    /// The largest window that the peer has ever offered.
    pub max_wnd: Bytes,
}

/// How much of the buffered data a segment takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// The peer's window cuts it short.
    Part,
    /// Everything that was written; more may follow.
    All,
    /// Everything, and the FIN: nothing can follow.
    AllAndFin,
}

/// What is unacknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outstanding {
    /// Nothing.
    Nothing,
    /// Full-sized segments only.
    Full,
    /// A small segment among others.
    Small,
}

impl SmallSegment {
    //= specs/rfc9293.md#sending
    //# A small part of a window is not used.
    //= specs/rfc9293.md#sending
    //# Small segments wait while something is unacknowledged.
    //= specs/rfc9293.md#sending
    //# An application may turn the Nagle algorithm off for its connection.
    /// Returns whether the segment may leave now.
    pub fn may_leave(&self, nagle: NagleConfig) -> bool {
        match self.takes_all {
            Takes::AllAndFin => true,
            Takes::All => match (nagle, self.outstanding) {
                (NagleConfig::Off, _) | (_, Outstanding::Nothing) => true,
                (NagleConfig::Minshall, outstanding) => outstanding != Outstanding::Small,
                (NagleConfig::Rfc896, _) => false,
            },
            // Truncated by the window: only if that is at least half of the largest window the peer offers.
            Takes::Part => self.len > 0 && self.len >= self.max_wnd / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(NagleConfig::Rfc896, Takes::All, Outstanding::Nothing => true; "idle connection")]
    #[test_case(NagleConfig::Rfc896, Takes::All, Outstanding::Full => false; "anything outstanding holds it")]
    #[test_case(NagleConfig::Minshall, Takes::All, Outstanding::Full => true; "full segments do not hold it")]
    #[test_case(NagleConfig::Minshall, Takes::All, Outstanding::Small => false; "a small one does")]
    #[test_case(NagleConfig::Off, Takes::All, Outstanding::Small => true; "switched off")]
    #[test_case(NagleConfig::Rfc896, Takes::AllAndFin, Outstanding::Small => true; "the last one leaves")]
    #[test_case(NagleConfig::Off, Takes::Part, Outstanding::Nothing => false; "a silly window holds it")]
    fn leaves(nagle: NagleConfig, takes_all: Takes, outstanding: Outstanding) -> bool {
        SmallSegment { len: 10, takes_all, outstanding, max_wnd: 1000 }.may_leave(nagle)
    }

    #[test]
    fn half_of_the_largest_window_is_not_silly() {
        let cut = |len| SmallSegment { len, takes_all: Takes::Part, outstanding: Outstanding::Full, max_wnd: 1000 };
        assert!(cut(500).may_leave(NagleConfig::Rfc896));
        assert!(!cut(499).may_leave(NagleConfig::Rfc896));
    }
}
