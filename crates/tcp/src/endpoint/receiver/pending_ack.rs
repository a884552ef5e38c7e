//! What the peer is owed: an ACK with the next opportunity, and the report of a range that came twice (RFC 2883).
//!
//! Owns both. Nothing else writes them, so whoever asks why an ACK left finds every cause among the callers of [`PendingAck`].

use base::SeqRange;

/// The next ACK's causes.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingAck {
    due: bool,
    duplicate: Option<SeqRange>,
}

impl PendingAck {
    /// Whether an ACK must leave with the next opportunity.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// An ACK must leave if `owed`; one that was owed before still is.
    #[inline]
    pub fn require_if(&mut self, owed: bool) {
        self.due |= owed;
    }

    /// A segment with an ACK left. One that had no room for everything there is to report is followed by another.
    #[inline]
    pub fn on_sent(&mut self, reported_all: bool) {
        self.due &= !reported_all;
    }

    /// No ACK will leave: the connection is over, or nothing can.
    pub fn cancel(&mut self) {
        self.due = false;
    }

    /// The next ACK reports that `range` came twice; a later range takes the place of an earlier one.
    #[inline]
    pub fn report_duplicate(&mut self, range: SeqRange) {
        self.duplicate = Some(range);
    }

    /// Whether a range that came twice waits to be reported.
    #[inline]
    pub fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Returns the range to report, for the segment that leaves now and no later one.
    #[inline]
    pub fn take_duplicate(&mut self) -> Option<SeqRange> {
        self.duplicate.take()
    }

    /// The range that came twice is no longer worth a report.
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
