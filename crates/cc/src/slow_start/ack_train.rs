//! Whether the ACKs of one flight span half a round trip without a gap (Ha & Rhee 2011 §4.1).
//!
//! A flight that is sent in one burst and fills the path comes back as a train: ACKs close behind one another, for as long
//! as the path is deep. The train begins with the round; the first gap ends it until the next round.
//!
//! Deviation: a sender that spaces its segments would see its own spacing, so it compares the train with the whole round
//! trip, as deployed implementations do.

use super::round::RttMicros;
use base::{Duration, Instant};

/// How much of the smallest round trip a train may span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainSpan {
    /// Half of it: the way there, or the way back.
    HalfRtt,
    /// All of it, for paced senders.
    WholeRtt,
}

/// The train of the present round. Times are microseconds of a clock that wraps; only differences are formed.
#[derive(Clone, Debug)]
pub struct AckTrain {
    start: u32,
    last: u32,
    /// Largest spacing within a train.
    ack_delta: RttMicros,
    span: TrainSpan,
}

impl AckTrain {
    /// Before the first round. ACKs at most `ack_delta` apart belong together.
    pub fn new(ack_delta: Duration, span: TrainSpan) -> Self {
        Self { start: 0, last: 0, ack_delta: RttMicros::of(ack_delta), span }
    }

    /// A round began with the ACK that arrived now.
    pub fn begin(&mut self, now: Instant) {
        (self.start, self.last) = (wrapping_micros(now), wrapping_micros(now));
    }

    /// An ACK arrived: whether the train that it prolongs is longer than the path whose smallest round trip is `min_rtt`.
    #[inline]
    pub fn fires(&mut self, now: Instant, min_rtt: RttMicros) -> bool {
        let now = wrapping_micros(now);
        if now.wrapping_sub(self.last) > self.ack_delta.0 {
            // `last` stays, so that every later ACK of the round finds a gap as well.
            return false;
        }
        self.last = now;
        let longest = match self.span {
            TrainSpan::HalfRtt => min_rtt.0 / 2,
            TrainSpan::WholeRtt => min_rtt.0,
        };
        now.wrapping_sub(self.start) > longest
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
        (1..100).map(|n| n * spacing_us).find(|after| train.fires(at(start_us + after), MIN_RTT))
    }

    #[test_case(TrainSpan::HalfRtt, 1_000, Some(11_000); "longer than half a round trip")]
    #[test_case(TrainSpan::WholeRtt, 1_000, Some(21_000); "paced: longer than a round trip")]
    #[test_case(TrainSpan::HalfRtt, 2_000, Some(12_000); "just close enough")]
    #[test_case(TrainSpan::HalfRtt, 2_001, None; "just too far apart")]
    fn a_train_fires(span: TrainSpan, spacing_us: u64, expected: Option<u64>) {
        let mut train = AckTrain::new(Duration::from_millis(2), span);
        assert_eq!(fires_at(&mut train, 7_000, spacing_us), expected);
    }

    #[test]
    fn a_gap_ends_the_train_until_the_next_round() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainSpan::HalfRtt);
        train.begin(at(0));
        assert!(!train.fires(at(1_000), MIN_RTT));
        assert!(!train.fires(at(9_000), MIN_RTT), "the gap");
        assert!((10..30).all(|ms| !train.fires(at(ms * 1_000), MIN_RTT)));
        assert_eq!(fires_at(&mut train, 40_000, 1_000), Some(11_000));
    }

    #[test]
    fn a_train_goes_on_where_the_clock_wraps() {
        let mut train = AckTrain::new(Duration::from_millis(2), TrainSpan::HalfRtt);
        assert_eq!(fires_at(&mut train, (1 << 32) - 5_000, 1_000), Some(11_000));
    }
}
