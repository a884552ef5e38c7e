//! Round-trip times, as far as a point of capture can see them: from a segment to its acknowledgement, and from a time stamp
//! to its echo (RFC 7323 §4.1).
//!
//! What is measured is the round trip from here to one end and back. Both ends' halves together are the path's.

use super::report::Distribution;
use std::collections::VecDeque;

/// Samples that are kept. When they are too many, every other one is forgotten and half as many are taken from then on.
const KEPT: usize = 256;
/// Time stamps that may be on their way.
const STAMPS: usize = 512;

/// A distribution in bounded memory: extremes exact, quantiles from samples at equal distances.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    kept: Vec<u64>,
    /// One in `1 << thinning` is kept.
    thinning: u32,
    count: u64,
    min: u64,
    max: u64,
    latest: u64,
    /// Smoothed, and its variation (RFC 6298 §2).
    smoothed: u64,
    variation: u64,
}

impl Samples {
    #[inline]
    pub fn push(&mut self, sample: u64) {
        if self.count == 0 {
            (self.min, self.max, self.smoothed, self.variation) = (sample, sample, sample, sample / 2);
        }
        self.latest = sample;
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
        self.variation = (3 * self.variation + self.smoothed.abs_diff(sample)) / 4;
        self.smoothed = (7 * self.smoothed + sample) / 8;
        if self.count.trailing_zeros() >= self.thinning || self.count == 0 {
            if self.kept.len() == KEPT {
                let mut nth = 0;
                self.kept.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.thinning += 1;
            }
            if self.count.trailing_zeros() >= self.thinning || self.count == 0 {
                self.kept.push(sample);
            }
        }
        self.count += 1;
    }

    pub fn count(&self) -> u64 {
        self.count
    }
    /// The last one; zero before the first.
    pub fn latest(&self) -> u64 {
        self.latest
    }
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }
    pub fn smoothed(&self) -> Option<u64> {
        (self.count > 0).then_some(self.smoothed)
    }
    pub fn variation(&self) -> u64 {
        self.variation
    }

    /// The value below which `num / den` of the samples lie.
    pub fn quantile(&self, num: usize, den: usize) -> Option<u64> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * num).div_ceil(den).max(1) - 1;
        sorted.get(rank).copied()
    }

    /// Which part of the samples is above `value`.
    pub fn share_above(&self, value: u64) -> f64 {
        let above = self.kept.iter().filter(|&&sample| sample > value).count();
        above as f64 / self.kept.len().max(1) as f64
    }

    /// Count, extremes and quantiles; `None` without a sample.
    pub fn distribution(&self) -> Option<Distribution> {
        let (median, p95) = (self.quantile(1, 2)?, self.quantile(19, 20)?);
        let [min_ms, median_ms, p95_ms, max_ms] = [self.min, median, p95, self.max].map(super::report::ms);
        Some(Distribution { samples: self.count, min_ms, median_ms, p95_ms, max_ms })
    }
}

/// Time stamps that one end has sent and the other not echoed yet, each with when it was seen first.
///
/// Only segments that have to be acknowledged belong here. The time stamp of a bare ACK is echoed when the other
/// application has something to say, which may take minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    waiting: VecDeque<(u32, u64)>,
    /// A clock that ticks once a millisecond gives a stamp to segments behind its echo as well, where the path is shorter than a
    /// tick. Taken for a new one, it would measure less than the path.
    newest: Option<u32>,
}

impl Stamps {
    /// One end sends `tsval`.
    #[inline]
    pub fn sent(&mut self, at: u64, tsval: u32) {
        if self.newest.is_none_or(|newest| is_after(tsval, newest)) {
            self.newest = Some(tsval);
            if self.waiting.len() == STAMPS {
                self.waiting.pop_front();
            }
            self.waiting.push_back((tsval, at));
        }
    }

    /// The other echoes it: how long ago it was seen, at its first echo.
    #[inline]
    pub fn echoed(&mut self, at: u64, tsecr: u32) -> Option<u64> {
        while let Some(&(tsval, sent)) = self.waiting.front() {
            if is_after(tsval, tsecr) {
                break;
            }
            self.waiting.pop_front();
            if tsval == tsecr {
                return Some(at.saturating_sub(sent));
            }
        }
        None
    }
}

/// Whether one time stamp is later than another, around the circle of 32 bits.
#[inline]
pub(super) fn is_after(this: u32, that: u32) -> bool {
    this.wrapping_sub(that) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_are_kept_all_and_many_are_thinned_evenly() {
        let mut samples = Samples::default();
        for sample in 1..=100 {
            samples.push(sample * 1_000_000);
        }
        let shown = samples.distribution().unwrap();
        assert_eq!((shown.samples, shown.min_ms, shown.max_ms), (100, 1.0, 100.0));
        assert_eq!((shown.median_ms, shown.p95_ms), (50.0, 95.0));
        for sample in 101..=100_000 {
            samples.push(sample * 1_000_000);
        }
        assert!(samples.kept.len() <= KEPT);
        let shown = samples.distribution().unwrap();
        assert_eq!((shown.samples, shown.min_ms, shown.max_ms), (100_000, 1.0, 100_000.0));
        assert!((shown.median_ms - 50_000.0).abs() < 1_000.0, "{}", shown.median_ms);
        assert!((shown.p95_ms - 95_000.0).abs() < 1_000.0, "{}", shown.p95_ms);
    }

    #[test]
    fn a_stamp_that_is_sent_on_behind_its_echo_measures_nothing() {
        let mut stamps = Stamps::default();
        stamps.sent(0, 5);
        assert_eq!(stamps.echoed(250, 5), Some(250));
        // The clock has not ticked, and an echo of the first segments is still on its way.
        stamps.sent(260, 5);
        assert_eq!(stamps.echoed(262, 5), None);
        stamps.sent(1000, 6);
        assert_eq!(stamps.echoed(1250, 6), Some(250));
    }

    #[test]
    fn a_stamp_counts_once_and_across_the_wrap() {
        let mut stamps = Stamps::default();
        stamps.sent(10, u32::MAX);
        stamps.sent(11, u32::MAX);
        stamps.sent(20, 1);
        assert_eq!(stamps.echoed(40, u32::MAX), Some(30));
        assert_eq!(stamps.echoed(41, u32::MAX), None);
        assert_eq!(stamps.echoed(50, 0), None);
        assert_eq!(stamps.echoed(60, 1), Some(40));
    }
}
