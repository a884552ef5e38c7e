//! Detects whether the ACKs of one flight span half a round trip without a gap (Ha & Rhee 2011 §4.1).
//!
//! A flight that is sent in one burst and fills the path returns as a train: closely spaced ACKs, over the length of the path.
//! The train begins with the round; the first gap ends it until the next round.
//!
//! A sender that paces sees its own spacing in its ACKs: at twice the window per round trip a flight takes up to two thirds of a
//! round trip to leave, so half of one proves nothing. There are two solutions. Deployed implementations compare the train with
//! the whole round trip, which is right but late: the flight is then one to two bandwidth-delay products long, and the window
//! twice that. Or the train is compared with the spacing that the sender applied: while the path is not full, ACKs are as far
//! apart as the segments were; on a full path they are further apart, and the train has grown by the amount by which a sample's
//! round trip exceeds the minimum of the same round. That shows after a part of the flight, and ignores a queue that existed
//! before. The minimum of several samples in a row has to show it: within one of the sender's own bursts round trips grow on
//! every path.

use super::round::RttMicros;
use base::{Duration, Instant};

/// When a train is too long for the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainTest {
    /// If it spans more than half of the smallest round trip: one direction of the path.
    HalfRtt,
    /// If it spans more than all of it; for senders that pace.
    WholeRtt,
    /// If it is longer than its flight was by an eighth of the smallest round trip, but at least by half of the largest spacing
    /// within a train, which is noise, or on a very short path by half of the round trip; for senders that pace.
    Stretched,
}

/// The train of the current round. Times are microseconds of a clock that wraps; only differences are used.
#[derive(Clone, Debug)]
pub struct AckTrain {
    start: u32,
    last: u32,
    /// Largest spacing within a train, microseconds.
    ack_delta_us: u16,
    test: TrainTest,
    /// The minimum of the latest samples, and their number.
    least: RttMicros,
    samples: u8,
}

/// Number of consecutive samples whose minimum counts: more than the segments that leave at once with delayed ACKs.
const IN_A_ROW: u8 = 8;

impl AckTrain {
    /// Creates the state before the first round. ACKs at most `ack_delta` apart belong together; it is at most 65 ms.
    pub fn new(ack_delta: Duration, test: TrainTest) -> Self {
        let ack_delta_us = u16::try_from(ack_delta.as_micros()).unwrap_or(u16::MAX);
        Self { start: 0, last: 0, ack_delta_us, test, least: RttMicros::NONE, samples: 0 }
    }

    /// Judges trains by another test from here on.
    pub const fn judge_by(&mut self, test: TrainTest) {
        self.test = test;
    }

    /// Starts a round with the ACK that arrived now.
    pub fn begin(&mut self, now: Instant) {
        (self.start, self.last) = (wrapping_micros(now), wrapping_micros(now));
        (self.least, self.samples) = (RttMicros::NONE, 0);
    }

    /// Handles an ACK, with the sample `rtt` if it carried one: returns whether the train that it extends is longer than the path
    /// whose smallest round trip is `min_rtt`, and `of_round` in this round.
    #[inline]
    pub fn fires(&mut self, now: Instant, rtt: Option<Duration>, of_round: RttMicros, min_rtt: RttMicros) -> bool {
        let now = wrapping_micros(now);
        if now.wrapping_sub(self.last) > u32::from(self.ack_delta_us) {
            // `last` stays unchanged, so that every later ACK of the round finds a gap as well.
            return false;
        }
        self.last = now;
        let span = now.wrapping_sub(self.start);
        match self.test {
            TrainTest::HalfRtt => span > min_rtt.0 / 2,
            TrainTest::WholeRtt => span > min_rtt.0,
            TrainTest::Stretched => {
                let grown = self.least_in_a_row(rtt).map_or(0, |least| least.0.saturating_sub(of_round.0));
                let noise = u32::from(self.ack_delta_us).min(min_rtt.0) / 2;
                grown > (min_rtt.0 / 8).max(noise)
            }
        }
    }

    /// Takes a sample; returns the minimum of [`IN_A_ROW`] of them once there are that many.
    fn least_in_a_row(&mut self, rtt: Option<Duration>) -> Option<RttMicros> {
        self.least = self.least.min(RttMicros::of(rtt?));
        self.samples += 1;
        if self.samples < IN_A_ROW {
            return None;
        }
        self.samples = 0;
        Some(core::mem::replace(&mut self.least, RttMicros::NONE))
    }
}

fn wrapping_micros(now: Instant) -> u32 {
    (now.as_nanos() / 1_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const MIN_RTT: RttMicros = RttMicros(20_000);

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// When the test fires for ACKs that come `spacing_us` apart.
    fn fires_at(train: &mut AckTrain, start_us: u64, spacing_us: u64) -> Option<u64> {
        train.begin(at(start_us));
        (1..100).map(|n| n * spacing_us).find(|after| train.fires(at(start_us + after), None, MIN_RTT, MIN_RTT))
    }

    #[test_case(TrainTest::HalfRtt, 1_000, Some(11_000); "longer than half a round trip")]
    #[test_case(TrainTest::WholeRtt, 1_000, Some(21_000); "paced: longer than a round trip")]
    #[test_case(TrainTest::HalfRtt, 2_000, Some(12_000); "just close enough")]
    #[test_case(TrainTest::HalfRtt, 2_001, None; "just too far apart")]
    fn a_train_fires(test: TrainTest, spacing_us: u64, expected: Option<u64>) {
        let mut train = AckTrain::new(Duration::from_millis(2), test);
        assert_eq!(fires_at(&mut train, 7_000, spacing_us), expected);
    }

    #[test]
    fn a_gap_ends_the_train_until_the_next_round() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainTest::HalfRtt);
        train.begin(at(0));
        assert!(!train.fires(at(1_000), None, MIN_RTT, MIN_RTT));
        assert!(!train.fires(at(9_000), None, MIN_RTT, MIN_RTT), "the gap");
        assert!((10..30).all(|ms| !train.fires(at(ms * 1_000), None, MIN_RTT, MIN_RTT)));
        assert_eq!(fires_at(&mut train, 40_000, 1_000), Some(11_000));
    }

    #[test]
    fn a_train_goes_on_where_the_clock_wraps() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainTest::HalfRtt);
        assert_eq!(fires_at(&mut train, (1 << 32) - 5_000, 1_000), Some(11_000));
    }

    /// Returns after how many ACKs at 1 ms spacing the stretched test fires, if each round trip is `grows_us` longer than the one
    /// before and the first of the round is `first_us`.
    fn stretched_at(min_rtt_us: u32, first_us: u64, grows_us: u64) -> Option<u64> {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainTest::Stretched);
        train.begin(at(0));
        (1..100).find(|&nth| {
            let rtt = Duration::from_micros(first_us + nth * grows_us);
            train.fires(at(nth * 1_000), Some(rtt), RttMicros(first_us as u32), RttMicros(min_rtt_us))
        })
    }

    // The minimum of eight samples is the first of them: the 25th ACK's of 17 to 24, and the ninth's.
    #[test_case(80_000, 80_000, 500, Some(32); "more than an eighth of the smallest round trip")]
    #[test_case(80_000, 200_000, 500, Some(32); "whatever queue was there before")]
    #[test_case(4_000, 4_000, 100, Some(24); "more than half a spacing on a short path")]
    #[test_case(500, 500, 100, Some(16); "more than half a round trip on a shorter one")]
    #[test_case(80_000, 80_000, 0, None; "not while ACKs come as the segments left, however long that takes")]
    #[test_case(80_000, 80_000, 100, None; "not for less")]
    #[test_case(68_000, 68_000, 500, Some(32); "nor for just an eighth, which the 17th ACK's is")]
    fn a_train_is_stretched(min_rtt_us: u32, first_us: u64, grows_us: u64, expected: Option<u64>) {
        assert_eq!(stretched_at(min_rtt_us, first_us, grows_us), expected);
    }

    #[test]
    fn a_burst_of_the_senders_own_stretches_nothing() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainTest::Stretched);
        train.begin(at(0));
        // Round trips grow by 4 ms within each burst, and start over with the next.
        let fires = |nth: u64| {
            let rtt = Duration::from_micros(20_000 + nth % 5 * 1_000);
            train.fires(at(nth * 1_000), Some(rtt), MIN_RTT, MIN_RTT)
        };
        assert!(!(1..100).any(fires));
    }

    #[test]
    fn without_samples_nothing_is_stretched() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainTest::Stretched);
        train.begin(at(0));
        assert!(!(1..100).any(|ms| train.fires(at(ms * 1_000), None, MIN_RTT, MIN_RTT)));
    }
}
