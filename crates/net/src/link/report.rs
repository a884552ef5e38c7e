//! A link's report about itself: plain numbers, taken while it runs or at its end.

use super::capture::Captured;
use super::sched::Scheduling;
use base::Duration;
use netem::PathStats;

/// Statistics of a link so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkReport {
    /// Since the link began to run.
    pub elapsed: Duration,
    /// How the link's thread is scheduled.
    pub scheduling: Scheduling,
    /// From end a to end b.
    pub ab: DirectionReport,
    /// From end b to end a.
    pub ba: DirectionReport,
    /// How much later than in the model packets left.
    pub lateness: Lateness,
    /// The result of writing a capture; known at the end.
    pub captured: Captured,
}

impl LinkReport {
    /// Returns the packets lost outside the model, in both directions.
    pub fn unmodelled_drops(&self) -> u64 {
        self.ab.unmodelled_drops() + self.ba.unmodelled_drops()
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionReport {
    /// The hops' statistics, over all paths that this direction has had.
    pub path: PathStats,
    /// Bytes currently queued in the hops, the packet in service counted whole.
    pub backlog_bytes: u64,
    /// Packets currently in flight, queued or propagating.
    pub in_flight: u64,
    /// Packets that the kernel could not queue for the link at the sending end: if not 0, the host was too slow.
    pub ring_drops: u64,
    /// Packets that the kernel rejected from the link at the receiving end, for example because the device was down.
    pub refused: u64,
    /// Frames from the device that were not IP packets.
    pub unreadable: u64,
}

impl DirectionReport {
    /// Returns the packets lost outside the model.
    pub fn unmodelled_drops(&self) -> u64 {
        self.ring_drops + self.refused + self.unreadable
    }
}

/// How much later than in the model packets left: the machine's influence on a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Packets that left.
    pub count: u64,
    /// Sum over all of them, in nanoseconds.
    pub sum_ns: u64,
    /// Of the latest.
    pub max: Duration,
    /// Packets by the length of their lateness in nanoseconds as a binary number: `histogram[n]` were less than 2ⁿ ns and at
    /// least half of that late; the last entry also counts all later ones.
    pub histogram: [u64; Lateness::BUCKETS],
}

impl Lateness {
    /// Up to 2³¹ ns, two seconds.
    pub const BUCKETS: usize = 32;

    pub(crate) fn record(&mut self, late: Duration) {
        let ns = late.as_nanos();
        self.count += 1;
        self.sum_ns += ns;
        self.max = self.max.max(late);
        let bucket = (u64::BITS - ns.leading_zeros()) as usize;
        self.histogram[bucket.min(Self::BUCKETS - 1)] += 1;
    }

    /// Returns the mean; zero if there are none.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.sum_ns.checked_div(self.count).unwrap_or(0))
    }

    /// Returns a time that this share of the packets, in thousandths, did not exceed: exact to a factor of two, rounded up.
    pub fn quantile(&self, per_mille: u64) -> Duration {
        let mut left = (self.count * per_mille).div_ceil(1000);
        for (bits, packets) in self.histogram.iter().enumerate() {
            left = left.saturating_sub(*packets);
            if left == 0 {
                return Duration::from_nanos((1 << bits) - 1).min(self.max);
            }
        }
        self.max
    }

    /// Returns the packets later than this, exact to a factor of two, rounded down: the bound is rounded up to a power of two.
    pub fn later_than(&self, bound: Duration) -> u64 {
        let bits = (u64::BITS - bound.as_nanos().leading_zeros()) as usize;
        self.histogram.iter().skip(bits + 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(late_ns: &[u64]) -> Lateness {
        let mut lateness = Lateness::default();
        late_ns.iter().for_each(|ns| lateness.record(Duration::from_nanos(*ns)));
        lateness
    }

    #[test]
    fn lateness_is_kept_by_powers_of_two() {
        let lateness = of(&[0, 1, 2, 3, 4, 1_000, u64::from(u32::MAX) * 10]);
        let filled: Vec<_> = lateness.histogram.iter().enumerate().filter(|(_, packets)| **packets > 0).collect();
        assert_eq!(filled, [(0, &1), (1, &1), (2, &2), (3, &1), (10, &1), (31, &1)]);
        assert_eq!((lateness.count, lateness.max), (7, Duration::from_nanos(u64::from(u32::MAX) * 10)));
    }

    #[test]
    fn quantiles_and_tails_are_exact_to_a_factor_of_two() {
        let lateness = of(&[100, 100, 100, 5_000]);
        assert_eq!(lateness.quantile(500), Duration::from_nanos(127));
        assert_eq!(lateness.quantile(1000), Duration::from_nanos(5_000));
        assert_eq!(
            (lateness.later_than(Duration::from_nanos(127)), lateness.later_than(Duration::from_nanos(4_095))),
            (1, 1)
        );
        assert_eq!(lateness.later_than(Duration::from_nanos(5_000)), 0);
        assert_eq!(of(&[]).quantile(500), Duration::ZERO);
        assert_eq!(of(&[10, 20]).mean(), Duration::from_nanos(15));
    }
}
