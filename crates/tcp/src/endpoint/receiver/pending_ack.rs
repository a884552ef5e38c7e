//! The next ACK: whether one must leave at the next opportunity, and the duplicate range that it reports (RFC 2883).
//!
//! Owns both. No other code writes them, so every cause of an ACK is among the callers of [`PendingAck`].

use base::SeqRange;

/// The causes of the next ACK.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingAck {
    due: bool,
    duplicate: Option<SeqRange>,
}

impl PendingAck {
    /// Returns whether an ACK must leave at the next opportunity.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Makes an ACK due if `owed`; an ACK that was due stays due.
    #[inline]
    pub fn require_if(&mut self, owed: bool) {
        self.due |= owed;
    }

    /// Notes that a segment with an ACK left. If it lacked room for all blocks, another one follows.
    #[inline]
    pub fn on_sent(&mut self, reported_all: bool) {
        self.due &= !reported_all;
    }

    /// Cancels the ACK: the connection has ended, or nothing can leave.
    pub fn cancel(&mut self) {
        self.due = false;
    }

    /// Makes the next ACK report `range` as a duplicate; a later range replaces an earlier one.
    #[inline]
    pub fn report_duplicate(&mut self, range: SeqRange) {
        self.duplicate = Some(range);
    }

    /// Returns whether a duplicate range waits to be reported.
    #[inline]
    pub fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Returns the range to report in the segment that leaves now, and in no later one.
    #[inline]
    pub fn take_duplicate(&mut self) -> Option<SeqRange> {
        self.duplicate.take()
    }

    /// Drops the duplicate range, which is no longer worth a report.
    pub fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SeqNum;

    #[test]
    fn an_ack_stays_due_until_a_segment_reported_everything() {
        let mut pending = PendingAck::default();
        pending.require_if(true);
        pending.require_if(false);
        pending.on_sent(false);
        assert!(pending.is_due());
        pending.on_sent(true);
        assert!(!pending.is_due());
    }

    #[test]
    fn a_duplicate_is_reported_once_and_the_latest_wins() {
        let range = |start| SeqRange::new(SeqNum(start), SeqNum(start + 10));
        let mut pending = PendingAck::default();
        pending.report_duplicate(range(1));
        pending.report_duplicate(range(50));
        assert_eq!((pending.take_duplicate(), pending.take_duplicate()), (Some(range(50)), None));
    }
}
