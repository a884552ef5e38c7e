//! Round-trip time: RFC 6298's smoothed estimate, and a windowed minimum.
//!
//! Owns: SRTT, RTTVAR and the minimum. [`Delivered::rtt_sample`](crate::Delivered::rtt_sample) decides which segments give
//! samples (Karn's rule).
//! Integer nanoseconds, rounded down. Borrows the configuration with each sample, because many estimators share one.

mod min;
mod peak;

use base::{Duration, Instant, SeqRange};
use core::num::NonZeroU64;
pub use min::Trust;
use min::{Candidate, MinRtt};
use peak::Peak;

/// The estimator's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttConfig {
    /// How long a minimum is remembered. RFC 8985 §6.2 leaves it open, but asks that it can rise after a change of
    /// path.
    pub min_rtt_window: Duration,
    /// The weight of one of many samples in a round trip.
    pub gains: RttGains,
    /// What the timeout adds to the smoothed RTT.
    pub variation: RttVariation,
    /// How to use an echoed timestamp after a SYN was sent several times.
    pub syn_echo: SynEcho,
}

/// Whether the answer to a SYN that was sent several times gives a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynEcho {
    /// No: data begins with a timeout of three seconds (RFC 6298 §5.7).
    #[default]
    Ignored,
    /// Yes: the echo tells which of them was answered (RFC 7323 §4.1), so the timeout follows from it.
    Sampled,
}

/// Gains of the smoothed estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttGains {
    /// RFC 6298's 1/8 and 1/4 for every sample. With one sample per ACK the variation forgets a whole round trip within a few
    /// milliseconds, and a growing queue makes the timeout expire although nothing was lost.
    PerSample,
    /// The same, spread over the samples of a round trip (RFC 7323 appendix G).
    #[default]
    PerRoundTrip,
}

/// The variation from which the timeout is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttVariation {
    /// The smoothed one (RFC 6298 §2.3).
    #[default]
    Smoothed,
    /// The greatest smoothed one of a round trip, which then decays slowly.
    RoundPeak {
        /// The minimum added to the smoothed RTT.
        floor: Duration,
    },
}

impl Default for RttConfig {
    fn default() -> Self {
        Self {
            min_rtt_window: Duration::from_secs(300),
            gains: RttGains::PerRoundTrip,
            variation: RttVariation::Smoothed,
            syn_echo: SynEcho::Ignored,
        }
    }
}

impl RttConfig {
    /// Leaves that are out of bounds: their dotted path, and which values are valid.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        if self.min_rtt_window.is_zero() {
            return vec![("rtt.min_rtt_window", "must not be zero".to_owned())];
        }
        Vec::new()
    }
}

/// The estimator's state.
#[derive(Clone, Debug, Default)]
pub struct RttEstimator {
    /// Nothing before the first sample, and all of it from then on.
    measured: Option<Measured>,
}

#[derive(Clone, Debug)]
struct Measured {
    /// The smoothed RTT in nanoseconds plus one: a type that is never zero lets "no sample yet" take no space.
    srtt: NonZeroU64,
    rttvar: Duration,
    min: MinRtt,
    apart: Option<Box<Apart>>,
}

/// State that few connections need.
#[derive(Clone, Debug, Default)]
struct Apart {
    /// Only for [`RttVariation::RoundPeak`].
    peak: Option<Peak>,
    /// A sample that the minimum has not accepted yet.
    doubt: Option<Candidate>,
}

impl RttEstimator {
    /// Nothing measured yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the round trip of the handshake, the first sample and a trusted one.
    pub fn on_handshake(&mut self, config: &RttConfig, now: Instant, sample: Duration, flight: SeqRange) {
        self.measured = Some(Measured::first(config, MinRtt::after_handshake(now, sample), sample, flight));
    }

    //= specs/rfc8985.md#minimum-rtt
    //# The samples of the RTT estimator also feed the minimum RTT.
    //= specs/rfc6298.md#computing-the-rto
    //# The first sample R sets SRTT to R and RTTVAR to R/2.
    //= specs/rfc6298.md#computing-the-rto
    //# RTTVAR moves by a quarter towards the difference between a sample and SRTT, before SRTT is updated.
    //= specs/rfc6298.md#computing-the-rto
    //# SRTT moves by an eighth towards a sample.
    //= specs/rfc7323.md#round-trips
    //# With several samples in a round trip, each weighs so much less in SRTT and RTTVAR.
    /// Takes a sample free of retransmission ambiguity (RFC 6298 §2.2, §2.3): one of about `per_round_trip` in a round
    /// trip. `flight` is the unacknowledged data at that time. Returns how far users of the minimum may trust the
    /// sample.
    #[inline]
    pub fn on_sample(
        &mut self,
        config: &RttConfig,
        now: Instant,
        sample: Duration,
        per_round_trip: u32,
        flight: SeqRange,
    ) -> Trust {
        let Some(known) = &mut self.measured else {
            let first = Candidate { at: now, rtt: sample };
            let mut measured = Measured::first(config, MinRtt::after_first(first), sample, flight);
            measured.apart.get_or_insert_default().doubt = Some(first);
            self.measured = Some(measured);
            return Trust::Doubted;
        };
        let trust = if known.min.doubts(sample) {
            known.weigh(config.min_rtt_window, now, sample)
        } else {
            known.min.update(config.min_rtt_window, now, sample);
            Trust::Taken
        };
        let share = match config.gains {
            RttGains::PerSample => 1,
            RttGains::PerRoundTrip => per_round_trip.max(1),
        };
        // The variation uses the old mean.
        let srtt = known.srtt();
        match (known.apart.as_mut().and_then(|apart| apart.peak.as_mut()), config.variation) {
            (Some(peak), RttVariation::RoundPeak { floor }) => {
                known.rttvar = peak::smoothed(known.rttvar, srtt, sample);
                peak.on_variation(floor, known.rttvar, flight);
            }
            _ => known.rttvar = towards(known.rttvar, srtt.abs_diff(sample), share.saturating_mul(4)),
        }
        known.srtt = stored(towards(srtt, sample, share.saturating_mul(8)));
        trust
    }

    /// Smoothed RTT.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        self.measured.as_ref().map(Measured::srtt)
    }

    /// Its mean deviation.
    #[inline]
    pub fn rttvar(&self) -> Option<Duration> {
        self.measured.as_ref().map(|known| known.rttvar)
    }

    /// Returns what the timeout adds to the smoothed RTT, if not four times its mean deviation.
    #[inline]
    pub fn peak(&self) -> Option<Duration> {
        self.measured.as_ref()?.apart.as_ref()?.peak.as_ref().map(|peak| peak.held)
    }

    /// Returns the bytes of its boxes.
    pub fn heap_size(&self) -> usize {
        self.measured.as_ref().and_then(|known| known.apart.as_deref()).map_or(0, size_of_val)
    }

    /// Returns the minimum RTT of the window; `None` until the handshake or two samples have established it.
    #[inline]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.measured.as_ref()?.min.get()
    }
}

impl Measured {
    fn first(config: &RttConfig, min: MinRtt, sample: Duration, flight: SeqRange) -> Self {
        let rttvar = sample / 2;
        let apart = match config.variation {
            RttVariation::Smoothed => None,
            RttVariation::RoundPeak { floor } => {
                Some(Box::new(Apart { peak: Some(Peak::new(floor, rttvar, flight)), doubt: None }))
            }
        };
        Self { srtt: stored(sample), rttvar, min, apart }
    }

    /// Handles a sample too short to be trusted on its own.
    #[cold]
    fn weigh(&mut self, window: Duration, now: Instant, sample: Duration) -> Trust {
        let apart = self.apart.get_or_insert_default();
        let trust = self.min.weigh(&mut apart.doubt, window, now, sample);
        if apart.peak.is_none() && apart.doubt.is_none() {
            self.apart = None;
        }
        trust
    }

    fn srtt(&self) -> Duration {
        Duration::from_nanos(self.srtt.get() - 1)
    }
}

/// The form in which a smoothed RTT is kept.
fn stored(srtt: Duration) -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(srtt.as_nanos())
}

/// `mean` moved by one `divisor`-th of the way to `value`, as `((divisor - 1) * mean + value) / divisor`.
#[inline]
fn towards(mean: Duration, value: Duration, divisor: u32) -> Duration {
    let sum = mean.as_nanos().saturating_mul(u64::from(divisor) - 1).saturating_add(value.as_nanos());
    Duration::from_nanos(sum / u64::from(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SeqNum;

    const NOTHING: SeqRange = SeqRange { start: SeqNum(0), end: SeqNum(0) };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    //= specs/rfc8985.md#minimum-rtt
    //= type=test
    //# The samples of the RTT estimator also feed the minimum RTT.
    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# The first sample R sets SRTT to R and RTTVAR to R/2.
    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# RTTVAR moves by a quarter towards the difference between a sample and SRTT, before SRTT is updated.
    //= specs/rfc6298.md#computing-the-rto
    //= type=test
    //# SRTT moves by an eighth towards a sample.
    #[test]
    fn follows_the_worked_example() {
        let (config, mut rtt) = (RttConfig::default(), RttEstimator::new());
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.min_rtt()), (None, None, None));
        let expected = [
            (100, 100_000_000, 50_000_000),
            (100, 100_000_000, 37_500_000),
            (100, 100_000_000, 28_125_000),
            (120, 102_500_000, 26_093_750),
            (300, 127_187_500, 68_945_312),
            (100, 123_789_062, 58_505_859),
        ];
        for (sample, srtt, rttvar) in expected {
            match rtt.srtt() {
                None => rtt.on_handshake(&config, Instant::ZERO, ms(sample), NOTHING),
                Some(_) => drop(rtt.on_sample(&config, Instant::ZERO, ms(sample), 1, NOTHING)),
            }
            assert_eq!(rtt.srtt().map(Duration::as_nanos), Some(srtt));
            assert_eq!(rtt.rttvar().map(Duration::as_nanos), Some(rttvar));
        }
        assert_eq!(rtt.min_rtt(), Some(ms(100)));
    }

    #[test]
    fn a_window_of_no_length_is_refused() {
        assert!(RttConfig::default().problems().is_empty());
        assert_eq!(
            RttConfig { min_rtt_window: Duration::ZERO, ..RttConfig::default() }.problems()[0].0,
            "rtt.min_rtt_window"
        );
    }

    //= specs/rfc7323.md#round-trips
    //= type=test
    //# With several samples in a round trip, each weighs so much less in SRTT and RTTVAR.
    #[test]
    fn many_samples_of_one_round_trip_together_weigh_as_much_as_one() {
        let (slow, fast) = (Duration::from_millis(200), Duration::from_millis(100));
        let (mut spread, mut each) = (RttEstimator::new(), RttEstimator::new());
        for (estimator, gains) in [(&mut spread, RttGains::PerRoundTrip), (&mut each, RttGains::PerSample)] {
            let config = RttConfig { gains, ..RttConfig::default() };
            estimator.on_sample(&config, Instant::ZERO, fast, 1, NOTHING);
            for _ in 0..1000 {
                estimator.on_sample(&config, Instant::ZERO, slow, 1000, NOTHING);
            }
        }
        let ms = |rtt: Option<Duration>| rtt.map(Duration::as_millis);
        assert_eq!((ms(spread.srtt()), ms(each.srtt())), (Some(111), Some(199)));
        assert!(spread.rttvar() > Some(Duration::from_millis(50)) && each.rttvar() < Some(Duration::from_millis(1)));
    }

    const WITH_PEAK: RttVariation = RttVariation::RoundPeak { floor: Duration::from_millis(200) };

    #[test]
    fn a_round_peak_follows_the_variation_and_is_what_the_timeout_adds() {
        let config = RttConfig { variation: WITH_PEAK, ..RttConfig::default() };
        let mut rtt = RttEstimator::new();
        assert_eq!((rtt.peak(), rtt.heap_size()), (None, 0));
        rtt.on_handshake(&config, Instant::ZERO, ms(100), NOTHING);
        assert_eq!(rtt.peak(), Some(ms(200)));
        // 500 ms of deviation, after 50 ms: a quarter of the way, four times.
        rtt.on_sample(&config, Instant::ZERO + ms(600), ms(600), 1, NOTHING);
        assert_eq!(rtt.peak(), Some(ms(650)));
        assert!(rtt.heap_size() >= size_of::<Peak>());
    }

    #[test]
    fn two_samples_that_agree_lower_the_minimum_and_leave_the_peak() {
        for variation in [RttVariation::Smoothed, WITH_PEAK] {
            let config = RttConfig { variation, ..RttConfig::default() };
            let mut rtt = RttEstimator::new();
            rtt.on_handshake(&config, Instant::ZERO, ms(400), NOTHING);
            let mut sample = |at: u64| rtt.on_sample(&config, Instant::ZERO + ms(at), ms(20), 1, NOTHING);
            assert_eq!([420, 440].map(&mut sample), [Trust::Doubted, Trust::Taken]);
            assert_eq!(rtt.min_rtt(), Some(ms(20)));
            assert_eq!((rtt.peak().is_some(), rtt.heap_size() > 0), (variation == WITH_PEAK, variation == WITH_PEAK));
        }
    }
}
