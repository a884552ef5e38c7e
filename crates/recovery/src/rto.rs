//! Retransmission timeout (RFC 6298).
//!
//! Owns the current timeout, but no deadline: the endpoint adds [`RtoState::current`] and arms the timer. Borrows the
//! configuration with each event, because many connections share one.
//! Deviations: bounds and granularity are [`RtoConfig`]; its defaults are the RFC's.

use crate::rtt::RttEstimator;
use base::Duration;

/// Weight of the variation (RFC 6298 §2.3, `K`).
const K: u32 = 4;
/// The timeout with which data transmission begins when a SYN had to be retransmitted (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_secs(3);

/// Bounds of the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Before the first sample (RFC 6298 §2.1).
    pub initial: Duration,
    /// Lower bound (§2.4).
    pub min: Duration,
    /// Upper bound, including the result of doubling (§2.5).
    pub max: Duration,
    /// Granularity `G`: the minimum added to the smoothed RTT (§2.2, §2.3).
    pub granularity: Duration,
    /// How small `max` may be.
    pub max_bound: MaxBound,
}

/// How small the largest timeout may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxBound {
    /// At least 60 seconds.
    Rfc6298,
    /// Any value.
    Free,
}

impl Default for RtoConfig {
    //= specs/rfc6298.md#computing-the-rto
    //# An RTO below one second is raised to one second.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
            granularity: Duration::from_millis(1),
            max_bound: MaxBound::Rfc6298,
        }
    }
}

impl RtoConfig {
    /// Leaves that are out of bounds: their dotted path, and which values are valid.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let mut need = |holds: bool, path, what: &str| {
            if !holds {
                problems.push((path, what.to_owned()));
            }
        };
        need(!self.min.is_zero(), "rto.min", "must not be zero");
        let least = Duration::from_secs(60);
        let long_enough = self.max_bound == MaxBound::Free || self.max >= least;
        need(long_enough, "rto.max", "must be at least 60s (RFC 6298 §2.5)");
        need(self.min <= self.max, "rto.min", "must not exceed rto.max");
        need(
            self.initial >= self.min && self.initial <= self.max,
            "rto.initial",
            "must lie between rto.min and rto.max",
        );
        need(self.granularity <= self.max, "rto.granularity", "must not exceed rto.max");
        problems
    }

    //= specs/rfc6298.md#computing-the-rto
    //# An upper bound of at least 60 seconds is put on the RTO.
    fn clamp(&self, span: Duration) -> Rto {
        Rto(span.clamp_between(self.min, self.max))
    }
}

/// A timeout that is always inside the bounds it was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rto(Duration);

impl Rto {
    /// How long that is.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl RttEstimator {
    //= specs/rfc6298.md#computing-the-rto
    //# Before the first RTT sample the RTO is one second.
    //= specs/rfc6298.md#computing-the-rto
    //# The RTO is SRTT plus four times RTTVAR, or plus G if that is more.
    /// The smoothed RTT plus the larger of the granularity and four times the variation (RFC 6298 §2.3).
    pub fn rto(&self, config: &RtoConfig) -> Rto {
        match (self.srtt(), self.rttvar()) {
            (Some(srtt), Some(rttvar)) => {
                config.clamp(srtt + config.granularity.max(self.peak().unwrap_or(rttvar * K)))
            }
            _ => config.clamp(config.initial),
        }
    }
}

/// The current timeout: the estimator's value, doubled for each expiry.
#[derive(Clone, Debug)]
pub struct RtoState {
    current: Rto,
}

impl RtoState {
    /// The initial timeout.
    pub fn new(config: &RtoConfig) -> Self {
        Self { current: config.clamp(config.initial) }
    }

    //= specs/rfc6298.md#managing-the-timer
    //# A doubled RTO stays until the next RTT sample, which replaces it.
    /// Follows a changed estimate, which ends any back-off (RFC 6298 §5, closing note).
    #[inline]
    pub fn on_rtt(&mut self, config: &RtoConfig, rtt: &RttEstimator) {
        self.current = rtt.rto(config);
    }

    /// Returns the current timeout, including back-off.
    #[inline]
    pub fn current(&self) -> Rto {
        self.current
    }

    //= specs/rfc6298.md#managing-the-timer
    //# Each expiry doubles the RTO.
    /// The timer expired: double (RFC 6298 §5.5), up to the upper bound.
    pub fn back_off(&mut self, config: &RtoConfig) {
        self.current = config.clamp(self.current.0 * 2);
    }

    //= specs/rfc6298.md#managing-the-timer
    //# If a SYN had to be repeated with an RTO below 3 seconds, data transmission begins with 3 seconds.
    /// Handles a retransmitted SYN, which leaves no sample: until the first one the timeout is the initial one, and at least
    /// three seconds (RFC 6298 §5.7).
    pub fn on_syn_lost(&mut self, config: &RtoConfig) {
        self.current = config.clamp(config.initial.max(AFTER_SYN_LOSS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttConfig;
    use base::Instant;
    use test_case::test_case;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
    fn low() -> RtoConfig {
        RtoConfig { min: ms(1), ..RtoConfig::default() }
    }
    fn estimator(samples: &[u64]) -> RttEstimator {
        let mut rtt = RttEstimator::new();
        samples.iter().for_each(|&sample| {
            rtt.on_sample(
                &RttConfig::default(),
                Instant::ZERO,
                ms(sample),
                1,
                base::SeqRange::new(base::SeqNum(0), base::SeqNum(0)),
            );
        });
        rtt
    }

    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# Before the first RTT sample the RTO is one second.
    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# The RTO is SRTT plus four times RTTVAR, or plus G if that is more.
    #[test_case(&[], 1_000_000_000; "initial")]
    #[test_case(&[100], 300_000_000)]
    #[test_case(&[100, 100], 250_000_000)]
    #[test_case(&[100, 100, 100], 212_500_000)]
    #[test_case(&[100, 100, 100, 120], 206_875_000)]
    #[test_case(&[100, 100, 100, 120, 300], 402_968_748)]
    #[test_case(&[100, 100, 100, 120, 300, 100], 357_812_498)]
    fn the_timeout_is_the_mean_plus_four_variations(samples: &[u64], rto_ns: u64) {
        assert_eq!(estimator(samples).rto(&low()).duration().as_nanos(), rto_ns);
    }

    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# The RTO is SRTT plus four times RTTVAR, or plus G if that is more.
    #[test]
    fn the_granularity_is_the_least_that_is_added() {
        let config = RtoConfig { granularity: ms(200), ..low() };
        let steady = estimator(&[100; 60]);
        assert_eq!(steady.rto(&config).duration(), ms(300));
        assert_eq!(steady.rto(&low()).duration(), ms(101));
    }

    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# An RTO below one second is raised to one second.
    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# An upper bound of at least 60 seconds is put on the RTO.
    #[test_case(10, 1_000; "raised to the lower bound")]
    #[test_case(90_000, 60_000; "cut to the upper bound")]
    fn the_timeout_stays_inside_its_bounds(sample: u64, rto_ms: u64) {
        assert_eq!(estimator(&[sample]).rto(&RtoConfig::default()).duration(), ms(rto_ms));
    }

    //= specs/rfc6298.md#managing-the-timer
    //= type=test
    //# Each expiry doubles the RTO.
    //= specs/rfc6298.md#managing-the-timer
    //= type=test
    //# A doubled RTO stays until the next RTT sample, which replaces it.
    #[test]
    fn it_doubles_up_to_the_bound_and_collapses_with_the_next_estimate() {
        let mut rto = RtoState::new(&low());
        rto.on_rtt(&low(), &estimator(&[100]));
        let doubled: Vec<u64> = (0..9)
            .map(|_| {
                rto.back_off(&low());
                rto.current().duration().as_millis()
            })
            .collect();
        assert_eq!(doubled, [600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 60_000, 60_000]);
        rto.on_rtt(&low(), &estimator(&[100, 100]));
        assert_eq!(rto.current().duration(), ms(250));
    }

    //= specs/rfc6298.md#managing-the-timer
    //= type=test
    //# If a SYN had to be repeated with an RTO below 3 seconds, data transmission begins with 3 seconds.
    #[test]
    fn after_a_lost_syn_data_begins_with_three_seconds() {
        let config = RtoConfig::default();
        let mut rto = RtoState::new(&config);
        rto.back_off(&config);
        rto.on_syn_lost(&config);
        assert_eq!(rto.current().duration(), ms(3_000));
        rto.on_rtt(&config, &estimator(&[500]));
        assert_eq!(rto.current().duration(), ms(1_500));
    }

    #[test]
    fn bounds_that_contradict_each_other_are_named() {
        assert!(RtoConfig::default().problems().is_empty());
        let wrong =
            RtoConfig { initial: ms(0), min: ms(0), max: ms(10_000), granularity: ms(20_000), ..RtoConfig::default() };
        let paths: Vec<&str> = wrong.problems().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["rto.min", "rto.max", "rto.granularity"]);
    }

    #[test]
    fn the_largest_timeout_may_be_short_where_that_is_said() {
        let short = RtoConfig { min: ms(200), max: ms(1_000), ..RtoConfig::default() };
        assert_eq!(short.problems().len(), 1);
        assert!(RtoConfig { max_bound: MaxBound::Free, ..short }.problems().is_empty());
    }

    #[test_case(999; "below the lower bound")]
    #[test_case(60_001; "above the upper bound")]
    fn a_first_timeout_outside_the_bounds_is_refused(initial: u64) {
        let wrong = RtoConfig { initial: ms(initial), ..RtoConfig::default() };
        assert_eq!(wrong.problems(), [("rto.initial", "must lie between rto.min and rto.max".to_owned())]);
    }
}
