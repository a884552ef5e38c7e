//! Detects whether round trips have grown by more than the path's noise (Ha & Rhee 2011 §4.2, RFC 9406 §4.2).
//!
//! A pure predicate: the current minimum against a reference, which HyStart takes from the whole connection and HyStart++ from
//! the last round. The margin η is a fraction of the reference, held between two bounds.

use super::round::RttMicros;
use base::Duration;
use core::num::NonZeroU8;

//= specs/rfc9406.md#delay-increase
//# The constants are tuned to the network.
/// The margin, and how many samples a round needs before its minimum counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayIncreaseConfig {
    /// Least margin (RFC 9406's `MIN_RTT_THRESH`).
    pub min_eta: Duration,
    /// Largest margin (`MAX_RTT_THRESH`).
    pub max_eta: Duration,
    /// Divisor of the reference minimum (`MIN_RTT_DIVISOR`).
    pub eta_divisor: u8,
    /// Samples of a round before it is judged (`N_RTT_SAMPLE`).
    pub rtt_samples: u8,
}

impl Default for DelayIncreaseConfig {
    //= specs/rfc9406.md#delay-increase
    //# The threshold is an eighth of the last round's minimum, but at least 4 ms and at most 16 ms.
    /// RFC 9406 §4.3: an eighth, between 4 and 16 ms, from the eighth sample on.
    fn default() -> Self {
        Self { min_eta: Duration::from_millis(4), max_eta: Duration::from_millis(16), eta_divisor: 8, rtt_samples: 8 }
    }
}

/// The test of one minimum against another.
#[derive(Clone, Debug)]
pub struct DelayIncrease {
    min_eta: RttMicros,
    max_eta: RttMicros,
    divisor: NonZeroU8,
}

impl DelayIncrease {
    /// The predicate of `config`.
    ///
    /// # Panics
    /// If the divisor is zero, which [`CcConfig::problems`](crate::CcConfig::problems) rejects.
    pub fn new(config: &DelayIncreaseConfig) -> Self {
        let (min_eta, max_eta) = (RttMicros::of(config.min_eta), RttMicros::of(config.max_eta));
        let divisor = NonZeroU8::new(config.eta_divisor).expect("the margin's divisor is not zero");
        Self { min_eta, max_eta, divisor }
    }

    //= specs/rfc9406.md#delay-increase
    //# The threshold is an eighth of the last round's minimum, but at least 4 ms and at most 16 ms.
    //= specs/rfc9406.md#delay-increase
    //# CSS begins when the round's minimum is the last round's plus the threshold, or more.
    /// Returns whether `current` exceeds `base` by at least the margin.
    #[inline]
    pub fn fires(&self, current: RttMicros, base: RttMicros) -> bool {
        let eta = (base.0 / u32::from(self.divisor.get())).clamp(self.min_eta.0, self.max_eta.0);
        current.0 >= base.0.saturating_add(eta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    //= specs/rfc9406.md#delay-increase
    //= type=test
    //# The threshold is an eighth of the last round's minimum, but at least 4 ms and at most 16 ms.
    #[test_case(50_000, 6_250; "an eighth of 50 ms")]
    #[test_case(20_000, 4_000; "4 ms at least")]
    #[test_case(200_000, 16_000; "16 ms at most")]
    #[test_case(32_000, 4_000; "where the floor ends")]
    #[test_case(128_000, 16_000; "where the ceiling begins")]
    fn fires_exactly_at_the_margin(base_us: u32, eta_us: u32) {
        let test = DelayIncrease::new(&DelayIncreaseConfig::default());
        assert!(test.fires(RttMicros(base_us + eta_us), RttMicros(base_us)));
        assert!(!test.fires(RttMicros(base_us + eta_us - 1), RttMicros(base_us)));
    }

    //= specs/rfc9406.md#delay-increase
    //= type=test
    //# The constants are tuned to the network.
    #[test]
    fn the_margin_is_data() {
        let ms = Duration::from_millis;
        let config = DelayIncreaseConfig { min_eta: ms(1), max_eta: ms(2), eta_divisor: 2, rtt_samples: 1 };
        let test = DelayIncrease::new(&config);
        assert!(
            test.fires(RttMicros(102_000), RttMicros(100_000)) && !test.fires(RttMicros(101_999), RttMicros(100_000))
        );
        assert!(test.fires(RttMicros(2_000), RttMicros(1_000)) && !test.fires(RttMicros(1_999), RttMicros(1_000)));
    }
}
