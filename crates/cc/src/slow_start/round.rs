//! Rounds of a flight and their smallest round-trip times (RFC 9406 §4.2).
//!
//! A round ends with the ACK of the byte that was next to be sent at its beginning; that ACK is the first of the next round. So a
//! round holds the ACKs of one flight, and its first ACK is never a sample of the round before. The RFC starts the first round
//! with the connection: its window end is the first byte of data.
//!
//! Deviation: times are whole microseconds, rounded down. The tests that use them need milliseconds.

use crate::sample::AckSample;
use base::{Duration, SeqNum};

/// A round-trip time in microseconds, in half the size of a [`Duration`]; at most 71 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RttMicros(pub u32);

impl RttMicros {
    /// No sample yet: longer than any (the RFC's infinity).
    pub const NONE: Self = Self(u32::MAX);

    /// `rtt`, rounded down.
    #[inline]
    pub fn of(rtt: Duration) -> Self {
        Self(rtt.as_micros().min(u64::from(u32::MAX - 1)) as u32)
    }
    fn sampled(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// Whether an ACK belongs to the same round as the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// It does.
    Same,
    /// It is the first of a new round.
    New,
}

/// The current round, its minimum round trip and that of the last one, and whether it has enough samples.
#[derive(Clone, Debug)]
pub struct RoundRtt {
    window_end: SeqNum,
    last: RttMicros,
    current: RttMicros,
    samples: u8,
    enough: u8,
    /// Rounds not to judge, including the current one: they were seen in part, or began in the middle of a flight.
    unjudged: u8,
}

impl RoundRtt {
    /// Creates the state before the first round. `first` is the first byte of data; a round counts once it has `enough` samples.
    pub const fn new(first: SeqNum, enough: u8) -> Self {
        Self { window_end: first, last: RttMicros::NONE, current: RttMicros::NONE, samples: 0, enough, unjudged: 0 }
    }

    //= specs/rfc9406.md#rounds
    //# A round ends when the SND.NXT of its beginning is acknowledged, and the next one begins.
    //= specs/rfc9406.md#rounds
    //# When a round begins, the minimum RTT of the last one is kept, and minimum and count of samples start afresh.
    //= specs/rfc9406.md#rounds
    //# Each RTT sample of a round lowers the round's minimum or leaves it, and is counted.
    /// Takes an ACK: it ends at most one round, and its sample, if it carries one, counts in the round after that.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckSample) -> Round {
        let round = if !ack.outstanding().reaches(self.window_end) {
            self.window_end = ack.snd_nxt;
            (self.last, self.current, self.samples) = (self.current, RttMicros::NONE, 0);
            self.unjudged = self.unjudged.saturating_sub(1);
            Round::New
        } else {
            Round::Same
        };
        if let Some(rtt) = ack.rtt {
            self.current = self.current.min(RttMicros::of(rtt));
            self.samples = self.samples.saturating_add(1);
        }
        round
    }

    //= specs/rfc9406.md#delay-increase
    //# The delay is judged only with eight samples in the round and a minimum of the round before.
    /// Returns the smallest sample of this round, once there are enough.
    #[inline]
    pub fn current(&self) -> Option<RttMicros> {
        if self.samples >= self.enough && self.unjudged == 0 { self.current.sampled() } else { None }
    }

    /// Returns the smallest sample of this round, however few there are; before the first, a value longer than any.
    #[inline]
    pub fn least(&self) -> RttMicros {
        self.current
    }

    /// Returns the smallest sample of the last round, however few there were.
    #[inline]
    pub fn last(&self) -> Option<RttMicros> {
        self.last.sampled()
    }

    /// Drops the measurements, because some ACKs were not seen. The round continues to its window end; if that has passed, the
    /// next ACK begins a new round, with nothing to compare it to.
    pub fn forget(&mut self) {
        *self = Self::new(self.window_end, self.enough);
    }

    /// Skips the judgement of `rounds` rounds, including the current one.
    pub fn pass_over(&mut self, rounds: u8) {
        self.unjudged = rounds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ack;
    use test_case::test_case;

    fn at(una: u32, nxt: u32, rtt_us: Option<u64>) -> AckSample {
        let rtt = rtt_us.map(Duration::from_micros);
        AckSample { snd_una: SeqNum(una), snd_nxt: SeqNum(nxt), rtt, ..ack(0, 1) }
    }

    fn minima(round: &RoundRtt) -> (Option<u32>, Option<u32>) {
        (round.last().map(|rtt| rtt.0), round.current().map(|rtt| rtt.0))
    }

    //= specs/rfc9406.md#rounds
    //= type=test
    //# A round ends when the SND.NXT of its beginning is acknowledged, and the next one begins.
    //= specs/rfc9406.md#rounds
    //= type=test
    //# When a round begins, the minimum RTT of the last one is kept, and minimum and count of samples start afresh.
    #[test]
    fn the_byte_after_the_flight_ends_the_round_and_its_ack_is_the_first_of_the_next() {
        let mut round = RoundRtt::new(SeqNum(1), 1);
        assert_eq!(round.on_ack(&at(101, 1_001, Some(50))), Round::New);
        assert_eq!(minima(&round), (None, Some(50)));
        assert_eq!(round.on_ack(&at(1_001, 2_001, Some(40))), Round::Same, "the last byte of the flight");
        assert_eq!(round.on_ack(&at(1_002, 2_101, Some(60))), Round::New);
        assert_eq!(minima(&round), (Some(40), Some(60)));
    }

    #[test]
    fn one_ack_over_several_flights_ends_one_round() {
        let mut round = RoundRtt::new(SeqNum(1), 1);
        round.on_ack(&at(101, 1_001, Some(50)));
        assert_eq!(round.on_ack(&at(50_000, 60_000, Some(70))), Round::New);
        assert_eq!(minima(&round), (Some(50), Some(70)));
        assert_eq!(round.on_ack(&at(60_000, 60_000, None)), Round::Same);
    }

    /// A slow start that begins long after another one, as after a timeout: half of all sequence numbers may lie between them.
    #[test]
    fn a_round_of_gigabytes_ago_is_over() {
        let mut round = RoundRtt::new(SeqNum(1), 1);
        round.on_ack(&at(101, 1_001, Some(50)));
        assert_eq!(round.on_ack(&at(3_000_000_001, 3_000_002_000, Some(60))), Round::New);
        assert_eq!(round.on_ack(&at(3_000_001_001, 3_000_003_000, Some(60))), Round::Same);
    }

    #[test]
    fn before_the_first_byte_of_data_there_is_no_round() {
        let mut round = RoundRtt::new(SeqNum(1), 1);
        assert_eq!(round.on_ack(&at(1, 1, None)), Round::Same);
    }

    //= specs/rfc9406.md#rounds
    //= type=test
    //# A round ends when the SND.NXT of its beginning is acknowledged, and the next one begins.
    #[test]
    fn rounds_go_on_where_sequence_numbers_wrap() {
        let mut round = RoundRtt::new(SeqNum(u32::MAX - 10), 1);
        assert_eq!(round.on_ack(&at(u32::MAX, 90, Some(1))), Round::New);
        assert_eq!(round.on_ack(&at(90, 200, Some(1))), Round::Same);
        assert_eq!(round.on_ack(&at(91, 200, Some(1))), Round::New);
    }

    //= specs/rfc9406.md#rounds
    //= type=test
    //# Each RTT sample of a round lowers the round's minimum or leaves it, and is counted.
    #[test]
    fn a_round_speaks_only_with_enough_samples_and_acks_without_one_do_not_count() {
        let mut round = RoundRtt::new(SeqNum(1), 8);
        for n in 0..7 {
            round.on_ack(&at(2, 1_000, Some(50 + n)));
            round.on_ack(&at(2, 1_000, None));
        }
        assert_eq!(minima(&round), (None, None));
        round.on_ack(&at(2, 1_000, Some(99)));
        assert_eq!(minima(&round), (None, Some(50)));
    }

    //= specs/rfc9406.md#rounds
    //= type=test
    //# When a round begins, the minimum RTT of the last one is kept, and minimum and count of samples start afresh.
    #[test]
    fn a_round_without_a_sample_is_not_a_base_for_the_next() {
        let mut round = RoundRtt::new(SeqNum(1), 0);
        round.on_ack(&at(2, 10, None));
        round.on_ack(&at(11, 20, None));
        assert_eq!(minima(&round), (None, None));
    }

    #[test]
    fn more_samples_than_can_be_counted_are_still_enough() {
        let mut round = RoundRtt::new(SeqNum(1), u8::MAX);
        for _ in 0..1_000 {
            round.on_ack(&at(2, 5_000, Some(7)));
        }
        assert_eq!(minima(&round), (None, Some(7)));
    }

    #[test]
    fn after_forgetting_the_next_round_has_nothing_to_be_compared_to() {
        let mut round = RoundRtt::new(SeqNum(1), 1);
        round.on_ack(&at(2, 10, Some(5)));
        round.on_ack(&at(11, 20, Some(6)));
        round.forget();
        assert_eq!(minima(&round), (None, None));
        assert_eq!(round.on_ack(&at(500, 600, Some(9))), Round::New);
        assert_eq!(minima(&round), (None, Some(9)));
    }

    #[test_case(Duration::from_nanos(1_999), 1)]
    #[test_case(Duration::MAX, u32::MAX - 1; "held, and still a sample")]
    fn microseconds_of(rtt: Duration, expected: u32) {
        assert_eq!(RttMicros::of(rtt), RttMicros(expected));
    }
}
