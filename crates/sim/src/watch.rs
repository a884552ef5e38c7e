//! What is watched of a run with several flows: what each reads over time, and how long packets wait at the bottleneck.

use base::{Duration, Instant};
use std::collections::BTreeMap;

/// What to watch, counted from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Length of the bins in which bytes read are counted; not zero.
    pub bin: Duration,
    /// Delays are counted from this time …
    pub from: Duration,
    /// … until this one.
    pub until: Duration,
    /// Whether those of each flow are counted apart, too.
    pub waits: PerFlow,
}

/// Whether something is watched for each flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerFlow {
    /// It is not.
    Off,
    /// It is, which takes memory for each.
    On,
}

/// How long packets took on a path beyond its delay and their own serialisation: in queues, and by jitter where there is any. In
/// microseconds, rounded down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    by_us: BTreeMap<u64, u64>,
    packets: u64,
}

impl Delays {
    pub(crate) fn add(&mut self, delay: Duration) {
        *self.by_us.entry(delay.as_nanos() / 1_000).or_default() += 1;
        self.packets += 1;
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        for (us, packets) in &other.by_us {
            *self.by_us.entry(*us).or_default() += packets;
        }
        self.packets += other.packets;
    }

    /// Returns how many packets were counted.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the delay that `percent` of the packets did not exceed, in microseconds; `None` without a packet. The order statistic of rank
    /// ⌈n · percent / 100⌉.
    pub fn quantile_us(&self, percent: u64) -> Option<u64> {
        let rank = (self.packets * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.by_us.iter().find_map(|(us, packets)| {
            seen += packets;
            (seen >= rank).then_some(*us)
        })
    }
}

/// Bytes by bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bins {
    bin: Option<Duration>,
    bytes: Vec<u64>,
}

impl Bins {
    /// Counts in bins of this length, or not at all.
    pub(crate) fn new(bin: Option<Duration>) -> Self {
        Self { bin, bytes: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, now: Instant, bytes: u64) {
        if let Some(bin) = self.bin {
            let index = (now.since(Instant::ZERO).as_nanos() / bin.as_nanos()) as usize;
            if index >= self.bytes.len() {
                self.bytes.resize(index + 1, 0);
            }
            self.bytes[index] += bytes;
        }
    }

    pub(crate) fn bytes(&self) -> &[u64] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_an_order_statistic() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantile_us(50), None);
        for us in 1..=200 {
            delays.add(Duration::from_nanos(us * 1_000 + 999));
        }
        let quantiles = [0, 1, 50, 95, 99, 100].map(|percent| delays.quantile_us(percent).unwrap());
        assert_eq!((quantiles, delays.packets()), ([1, 2, 100, 190, 198, 200], 200));
        let mut twice = delays.clone();
        twice.merge(&delays);
        assert_eq!((twice.quantile_us(50), twice.packets()), (Some(100), 400));
    }

    #[test]
    fn bytes_fall_into_the_bin_of_their_time() {
        let mut bins = Bins::new(Some(Duration::from_secs(1)));
        for (ns, bytes) in [(0, 1), (999_999_999, 2), (1_000_000_000, 4), (3_000_000_000, 8)] {
            bins.add(Instant::from_nanos(ns), bytes);
        }
        assert_eq!(bins.bytes(), [3, 4, 0, 8]);
        let mut none = Bins::new(None);
        none.add(Instant::ZERO, 1);
        assert!(none.bytes().is_empty());
    }
}
