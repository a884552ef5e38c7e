//! How often short flows arrive: `10/s`, `0.5/s`.

use crate::spec::refusal::Refusal;
use base::Duration;
use core::fmt;
use profiles::units::Fraction;

/// Seconds in which a rate is a whole number.
const GIGASECOND: u64 = 1_000_000_000;
/// Most arrivals a second.
const MOST: u64 = 10_000;

/// Arrivals that do not depend on each other (a Poisson process), by their mean number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// In 10^9 seconds; not zero.
    pub per_gigasecond: u64,
}

impl Arrivals {
    /// Reads `10/s`.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let read = || {
            let per_second = Fraction::parse(text.strip_suffix("/s")?.trim())?;
            let per_gigasecond = per_second.times_exactly(GIGASECOND)?;
            (1..=MOST * GIGASECOND).contains(&per_gigasecond).then_some(Self { per_gigasecond })
        };
        read().ok_or_else(|| {
            let problem = format!("`{text}` is not a number of arrivals a second");
            Refusal::of_value(problem, format!("write for example `10/s`, {MOST} at most"))
        })
    }

    /// The mean number in this time, rounded up.
    pub(crate) fn expected_in(self, time: Duration) -> u64 {
        let expected = u128::from(self.per_gigasecond) * u128::from(time.as_nanos());
        u64::try_from(expected.div_ceil(1_000_000_000_000_000_000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.per_gigasecond / GIGASECOND, self.per_gigasecond % GIGASECOND);
        let decimals = format!("{rest:09}");
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{whole}/s"),
            decimals => write!(f, "{whole}.{decimals}/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("10/s", Some("10/s"))]
    #[test_case("0.50/s", Some("0.5/s"))]
    #[test_case("10000/s", Some("10000/s"))]
    #[test_case("10001/s", None)]
    #[test_case("0/s", None)]
    #[test_case("10", None)]
    #[test_case("10/min", None)]
    fn arrivals_are_a_number_a_second(text: &str, shown: Option<&str>) {
        assert_eq!(Arrivals::parse(text).ok().map(|arrivals| arrivals.to_string()).as_deref(), shown);
    }

    #[test]
    fn the_mean_number_is_rounded_up() {
        let arrivals = Arrivals::parse("2.5/s").unwrap();
        assert_eq!([0, 1, 2, 10].map(|s| arrivals.expected_in(Duration::from_secs(s))), [0, 3, 5, 25]);
    }
}
