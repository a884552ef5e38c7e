//! Whether the pipe is full: the delivery rate has stopped growing (draft-ietf-ccwg-bbr §5.3.1.2).
//!
//! While a sender doubles what it sends each round, the delivery rate doubles with it until the bottleneck is busy all the time.
//! From then on each further round only makes the queue longer. Three rounds without a quarter more are taken as proof: one
//! could be noise, and a receiver that opens its window may need two.

use base::Rate;

/// A round grows if its rate is at least this much of the baseline: numerator and denominator.
const GROWTH: (u64, u64) = (5, 4);
/// Rounds without growth that prove the pipe full.
const ROUNDS: u8 = 3;

/// The largest delivery rate that grew, and for how many rounds nothing has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullPipe {
    /// `full_bw`; `None` before the first sample.
    baseline: Option<Rate>,
    /// `full_bw_count`.
    rounds: u8,
}

impl FullPipe {
    /// Starts over with a rate that the following rounds have to exceed.
    pub const fn from(baseline: Option<Rate>) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// Returns whether the pipe is full (`full_bw_now`), until the estimator starts over.
    pub const fn is_full(&self) -> bool {
        self.rounds >= ROUNDS
    }

    /// Returns the largest rate that grew (`full_bw`).
    pub const fn baseline(&self) -> Option<Rate> {
        self.baseline
    }

    /// Handles the first delivery rate of a round, unless the application limited it: such a rate says nothing about the path.
    /// Returns whether this round proves the pipe full.
    pub fn on_round(&mut self, rate: Rate) -> bool {
        if self.is_full() {
            return false;
        }
        if self.baseline.is_none_or(|baseline| rate >= baseline.scale(GROWTH.0, GROWTH.1)) {
            *self = Self::from(Some(rate));
            return false;
        }
        self.rounds += 1;
        self.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn kbit(kbit: u64) -> Rate {
        Rate::from_bits_per_sec(kbit * 1_000).expect("not zero")
    }

    /// Returns the number of the round, counted from one, that proves the pipe full.
    fn fires(rates: &[u64]) -> Option<usize> {
        let mut pipe = FullPipe::default();
        rates.iter().position(|&rate| pipe.on_round(kbit(rate))).map(|index| index + 1)
    }

    #[test_case(&[1_170, 2_340, 4_670, 9_340, 18_700, 37_400, 74_800, 100_000, 100_000, 100_000, 100_000], Some(11);
        "100 Mbit/s at 100 ms from ten segments")]
    #[test_case(&[100, 124, 124, 124], Some(4); "less than a quarter more is no growth")]
    #[test_case(&[100, 124, 124, 125, 125, 125, 125], Some(7); "a quarter more starts over")]
    #[test_case(&[100, 124, 110, 125, 90, 130], None; "growth between the rounds that lack it")]
    fn the_pipe_is_full_after_three_rounds_without_a_quarter_more(rates: &[u64], round: Option<usize>) {
        assert_eq!(fires(rates), round);
    }

    #[test]
    fn it_reports_once_and_stays_full_until_it_starts_over() {
        let mut pipe = FullPipe::from(Some(kbit(100)));
        assert_eq!(
            [100, 100, 100, 1_000, 100].map(|rate| pipe.on_round(kbit(rate))),
            [false, false, true, false, false]
        );
        assert!(pipe.is_full());
        assert_eq!(pipe.baseline(), Some(kbit(100)));
        pipe = FullPipe::from(Some(kbit(1_000)));
        assert!(!pipe.is_full());
    }
}
