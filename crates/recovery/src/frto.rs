//! Detection of spurious retransmission timeouts (RFC 5682).
//!
//! After a timeout only the first segment is sent again. If its acknowledgement advances, up to two segments of *new* data follow
//! instead of further retransmissions; if the next acknowledgement then delivers data sent before the timeout and never again,
//! that data comes from the original flight, which was late and not lost.
//!
//! One state machine serves peers with SACK (§3) and without (§2): the board knows which segments were never retransmitted.
//! A timeout inside an episode is not examined (§2.1 step 1: conventional recovery): its flight was already in doubt.

use base::SeqNum;

/// New segments that may replace retransmissions (RFC 5682 §2.1, step 2b).
const NEW_SEGMENTS: u8 = 2;

//= specs/rfc9438.md#spurious-congestion-events
//# Spurious timeouts are detected.
/// State of the examination of a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// Nothing is examined.
    #[default]
    Idle,
    /// Waiting for the answer to the first retransmission (step 2).
    FirstAck,
    /// Waiting for the next one, while this many new segments may leave (step 3).
    SecondAck(u8),
}

/// What an acknowledgement after a timeout shows.
#[derive(Clone, Copy, Debug)]
pub struct AckAfterTimeout {
    /// Whether the cumulative acknowledgement moved.
    pub advanced: Advanced,
    /// First number not acknowledged.
    pub snd_una: SeqNum,
    /// `SND.NXT` at the timeout (`recover`).
    pub point: SeqNum,
    /// Whether it delivers data that was sent before the timeout and never again.
    pub original: OriginalDelivered,
}

/// Whether the cumulative acknowledgement moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It did.
    Yes,
    /// It is a duplicate.
    No,
}

/// Whether data arrived that was sent before the timeout and never again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginalDelivered {
    /// Something did.
    Yes,
    /// Nothing did.
    No,
}

/// Result of the examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoVerdict {
    /// It continues, or there is none.
    Pending,
    /// The timeout was spurious.
    Spurious,
}

impl Frto {
    //= specs/rfc5682.md#basic-algorithm
    //# A timeout sends the first unacknowledged segment again, and nothing is yet known of its cause.
    /// Starts after the timer expired outside any episode; the first segment leaves again.
    pub const fn on_timeout() -> Self {
        Self::FirstAck
    }

    //= specs/rfc5682.md#basic-algorithm
    //# A duplicate ACK as the first one after the timeout ends the test, and recovery is conventional.
    //= specs/rfc5682.md#basic-algorithm
    //# A first ACK of everything outstanding at the timeout ends the test.
    //= specs/rfc5682.md#basic-algorithm
    //# A first ACK that advances SND.UNA otherwise lets up to two new segments leave, and no retransmission.
    //= specs/rfc5682.md#basic-algorithm
    //# A duplicate ACK as the second one shows that the timeout was genuine.
    //= specs/rfc5682.md#basic-algorithm
    //# A second ACK that advances SND.UNA shows that the timeout was spurious.
    //= specs/rfc5682.md#with-sack
    //# With SACK, an ACK without cumulative progress but with new SACK blocks counts as a duplicate.
    //= specs/rfc5682.md#with-sack
    //# With SACK, the delivery of a segment not retransmitted since the timeout shows that the timeout was spurious.
    /// Handles an acknowledgement during the recovery from that timeout.
    pub fn on_ack(&mut self, ack: &AckAfterTimeout) -> FrtoVerdict {
        let whole_flight = ack.snd_una.at_or_after(ack.point);
        let (next, verdict) = match (*self, ack.advanced, ack.original) {
            (Self::Idle, ..) => (Self::Idle, FrtoVerdict::Pending),
            // Step 2a: a duplicate, or an answer that covers everything and so proves nothing.
            (Self::FirstAck, Advanced::Yes, _) if !whole_flight => {
                (Self::SecondAck(NEW_SEGMENTS), FrtoVerdict::Pending)
            }
            (Self::FirstAck, ..) => (Self::Idle, FrtoVerdict::Pending),
            // Step 3.
            (Self::SecondAck(_), _, OriginalDelivered::Yes) => (Self::Idle, FrtoVerdict::Spurious),
            (Self::SecondAck(_), ..) => (Self::Idle, FrtoVerdict::Pending),
        };
        *self = next;
        verdict
    }

    /// Returns whether new data precedes retransmissions, and how many segments of it.
    pub const fn new_segments(&self) -> Option<u8> {
        match *self {
            Self::SecondAck(left) => Some(left),
            Self::Idle | Self::FirstAck => None,
        }
    }

    /// Returns whether new data is due and none has left.
    pub const fn nothing_was_sent(&self) -> bool {
        matches!(*self, Self::SecondAck(NEW_SEGMENTS))
    }

    /// Notes that a segment of new data left in place of a retransmission.
    pub fn on_new_segment(&mut self) {
        if let Self::SecondAck(left) = self {
            *left = left.saturating_sub(1);
        }
    }

    /// Gives up: new data is not available, or the peer's window has no room for it: conventional recovery (step 2b).
    pub fn give_up(&mut self) {
        *self = Self::Idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const POINT: SeqNum = SeqNum(3);

    /// `una` relative to a point shortly after the wrap of sequence numbers.
    fn ack(una: u32, advanced: Advanced, original: OriginalDelivered) -> AckAfterTimeout {
        AckAfterTimeout { advanced, snd_una: SeqNum(una), point: POINT, original }
    }

    const BEFORE: u32 = u32::MAX - 10;

    //= specs/rfc5682.md#basic-algorithm
    //= type=test
    //# A duplicate ACK as the first one after the timeout ends the test, and recovery is conventional.
    //= specs/rfc5682.md#basic-algorithm
    //= type=test
    //# A first ACK of everything outstanding at the timeout ends the test.
    //= specs/rfc5682.md#with-sack
    //= type=test
    //# With SACK, an ACK without cumulative progress but with new SACK blocks counts as a duplicate.
    #[test_case(ack(BEFORE, Advanced::No, OriginalDelivered::No); "a duplicate")]
    #[test_case(ack(BEFORE, Advanced::No, OriginalDelivered::Yes); "a selective acknowledgement of later data alone")]
    #[test_case(ack(3, Advanced::Yes, OriginalDelivered::Yes); "everything at once")]
    fn the_first_answer_ends_the_examination_when_it_is(first: AckAfterTimeout) {
        let mut frto = Frto::on_timeout();
        assert_eq!(frto.on_ack(&first), FrtoVerdict::Pending);
        assert_eq!(frto, Frto::Idle);
    }

    //= specs/rfc5682.md#basic-algorithm
    //= type=test
    //# A duplicate ACK as the second one shows that the timeout was genuine.
    //= specs/rfc5682.md#basic-algorithm
    //= type=test
    //# A second ACK that advances SND.UNA shows that the timeout was spurious.
    //= specs/rfc5682.md#with-sack
    //= type=test
    //# With SACK, the delivery of a segment not retransmitted since the timeout shows that the timeout was spurious.
    #[test_case(ack(BEFORE + 5, Advanced::Yes, OriginalDelivered::Yes) => FrtoVerdict::Spurious; "more of the original flight")]
    #[test_case(ack(BEFORE + 1, Advanced::No, OriginalDelivered::Yes) => FrtoVerdict::Spurious; "the same, selectively")]
    #[test_case(ack(3, Advanced::Yes, OriginalDelivered::Yes) => FrtoVerdict::Spurious; "all the rest of it")]
    #[test_case(ack(BEFORE + 1, Advanced::No, OriginalDelivered::No) => FrtoVerdict::Pending; "nothing new")]
    #[test_case(ack(BEFORE + 5, Advanced::Yes, OriginalDelivered::No) => FrtoVerdict::Pending; "only what went out again")]
    fn the_second_answer_decides(second: AckAfterTimeout) -> FrtoVerdict {
        let mut frto = Frto::on_timeout();
        let _ = frto.on_ack(&ack(BEFORE + 1, Advanced::Yes, OriginalDelivered::No));
        assert_eq!(frto.new_segments(), Some(2));
        let verdict = frto.on_ack(&second);
        assert_eq!(frto, Frto::Idle);
        verdict
    }

    //= specs/rfc5682.md#basic-algorithm
    //= type=test
    //# A first ACK that advances SND.UNA otherwise lets up to two new segments leave, and no retransmission.
    #[test]
    fn two_new_segments_and_no_retransmission_leave_in_between() {
        let mut frto = Frto::on_timeout();
        assert_eq!(frto.new_segments(), None);
        let _ = frto.on_ack(&ack(BEFORE + 1, Advanced::Yes, OriginalDelivered::No));
        let left: Vec<_> = (0..3)
            .map(|_| {
                frto.on_new_segment();
                frto.new_segments()
            })
            .collect();
        assert_eq!(left, [Some(1), Some(0), Some(0)]);
        frto.give_up();
        assert_eq!(frto.new_segments(), None);
    }

    #[test]
    fn new_data_is_waited_for_until_the_first_segment_of_it_left() {
        let mut frto = Frto::SecondAck(NEW_SEGMENTS);
        assert!(frto.nothing_was_sent());
        frto.on_new_segment();
        assert_eq!((frto.nothing_was_sent(), frto.new_segments()), (false, Some(NEW_SEGMENTS - 1)));
        frto.give_up();
        assert_eq!((frto.nothing_was_sent(), frto.new_segments()), (false, None));
    }
}
