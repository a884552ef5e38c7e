//! A distribution of times, in bounded memory.

use super::quantities::ms;
use serde::Serialize;

/// Maximum number of samples. Beyond it, every other one is dropped and the sampling rate is halved.
const KEPT: usize = 256;

/// A distribution: extremes exact, quantiles from evenly spaced samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// How many there were.
    pub samples: u64,
    /// The shortest.
    pub min_ms: f64,
    /// Half are below.
    pub median_ms: f64,
    /// Nineteen of twenty are below.
    pub p95_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

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
        let [min_ms, median_ms, p95_ms, max_ms] = [self.min, median, p95, self.max].map(ms);
        Some(Distribution { samples: self.count, min_ms, median_ms, p95_ms, max_ms })
    }
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
}
