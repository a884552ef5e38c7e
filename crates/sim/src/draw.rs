//! What applications draw: sizes of transfers, and the gaps of arrivals that do not depend on each other.
//!
//! All in integers, so that a seed gives the same numbers on every machine. Each call draws exactly once.

mod powers;

use base::{Duration, Rng};
use powers::{FRACTION_BITS, LN_2, exp2, log2};

/// How large transfers are, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    One(u64),
    /// Evenly between two sizes, which are included.
    Uniform {
        /// Smallest.
        from: u64,
        /// Largest.
        to: u64,
    },
    /// Pareto's law, cut off above: most are near the smallest, and most bytes are in large ones. The probability of more than `x` falls
    /// with the `shape`-th power of `x` until it is nothing at `to`.
    Pareto {
        /// Smallest.
        from: u64,
        /// Largest.
        to: u64,
        /// Thousandths; not zero.
        shape_milli: u32,
    },
}

impl Sizes {
    /// Returns whether there is more than one.
    pub fn is_drawn(self) -> bool {
        !matches!(self, Self::One(_))
    }

    /// Draws one.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        let drawn = rng.next_u64();
        match self {
            Self::One(bytes) => bytes,
            Self::Uniform { from, to } => {
                let choices = u128::from(to.saturating_sub(from)) + 1;
                from + ((u128::from(drawn) * choices) >> 64) as u64
            }
            Self::Pareto { from, to, shape_milli } => pareto(from, to, shape_milli, drawn),
        }
    }
}

/// The inverse of the cut distribution: `from · v^(-1/shape)`, where `v` lies evenly between `(from/to)^shape` and 1.
fn pareto(from: u64, to: u64, shape_milli: u32, drawn: u64) -> u64 {
    let shape = u128::from(shape_milli.max(1));
    let span = log2(u128::from(to)) - log2(u128::from(from));
    // In units of 2^-64.
    let least = exp2(64 << FRACTION_BITS, span * shape / 1_000).max(1);
    let share = least + ((((1 << 64) - least) * (u128::from(drawn) + 1)) >> 64);
    let above = ((64 << FRACTION_BITS) - log2(share)) * 1_000 / shape;
    let bytes = exp2(log2(u128::from(from)) + above.min(span), 0);
    (bytes as u64).clamp(from, to)
}

/// Draws the gap before the next of arrivals that come `per_gigasecond` times in 10^9 seconds, each independently of the others: an
/// exponential distribution (a Poisson process).
///
/// # Panics
/// When that is zero.
pub fn gap(per_gigasecond: u64, rng: &mut Rng) -> Duration {
    assert!(per_gigasecond > 0, "arrivals need a rate");
    let share = u128::from(rng.next_u64()) + 1;
    // -ln(share / 2^64) in units of 2^-FRACTION_BITS.
    let means = (((64 << FRACTION_BITS) - log2(share)) * LN_2) >> FRACTION_BITS;
    let ns = (means * 1_000_000_000_000_000_000 / u128::from(per_gigasecond)) >> FRACTION_BITS;
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Draws a time between two, of which the second is not included unless they are equal.
pub(crate) fn span((from, until): (Duration, Duration), rng: &mut Rng) -> Duration {
    from + Duration::from_nanos(rng.below(until.saturating_sub(from).as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 100_000;

    fn drawn(sizes: Sizes) -> Vec<u64> {
        let mut rng = Rng::new(1);
        let mut all: Vec<u64> = (0..DRAWS).map(|_| sizes.draw(&mut rng)).collect();
        all.sort_unstable();
        all
    }

    /// Returns whether two numbers differ by a share of at most `percent`.
    fn near(one: u64, other: u64, percent: u64) -> bool {
        one.abs_diff(other) * 100 <= other * percent
    }

    #[test]
    fn even_sizes_reach_from_end_to_end() {
        assert_eq!(drawn(Sizes::One(7))[..2], [7, 7]);
        let dice = drawn(Sizes::Uniform { from: 1, to: 6 });
        let counts = [1, 2, 3, 4, 5, 6].map(|face| dice.iter().filter(|size| **size == face).count() as u64);
        assert!(counts.iter().all(|count| near(*count, DRAWS / 6, 3)), "{counts:?}");
    }

    /// For 12 kB to 10 MB and the shape 1.2, the cut distribution has the mean 53,259 bytes, the median 21,376, and one in a hundred
    /// is larger than 543,021 bytes.
    #[test]
    fn pareto_sizes_have_the_mean_and_the_tail_of_the_law() {
        let all = drawn(Sizes::Pareto { from: 12_000, to: 10_000_000, shape_milli: 1_200 });
        let mean = all.iter().sum::<u64>() / DRAWS;
        let quantile = |percent: u64| all[(DRAWS * percent / 100) as usize];
        assert!(near(mean, 53_259, 3), "{mean}");
        assert!(near(quantile(50), 21_376, 1) && near(quantile(99), 543_021, 3), "{} {}", quantile(50), quantile(99));
        let (smallest, largest) = (all[0], all[all.len() - 1]);
        assert!(
            (12_000..12_010).contains(&smallest) && (5_000_000..=10_000_000).contains(&largest),
            "{smallest} {largest}"
        );
    }

    /// Ten a second: the mean gap is 100 ms, as large as its deviation; a share of 1/e is longer, and 1/e^5 is longer than 500 ms.
    #[test]
    fn gaps_are_exponential() {
        let mut rng = Rng::new(2);
        let gaps: Vec<u64> = (0..DRAWS).map(|_| gap(10_000_000_000, &mut rng).as_micros()).collect();
        let mean = gaps.iter().sum::<u64>() / DRAWS;
        let variance = gaps.iter().map(|us| us.abs_diff(mean).pow(2)).sum::<u64>() / DRAWS;
        let beyond = |us: u64| gaps.iter().filter(|gap| **gap > us).count() as u64;
        assert!(near(mean, 100_000, 1) && near(variance.isqrt(), 100_000, 2), "{mean} {variance}");
        assert!(
            near(beyond(100_000), 36_788, 1) && near(beyond(500_000), 674, 8),
            "{} {}",
            beyond(100_000),
            beyond(500_000)
        );
    }

    #[test]
    fn extreme_draws_stay_in_bounds() {
        let pareto = |drawn| pareto(1, 1 << 40, 100, drawn);
        assert_eq!((pareto(u64::MAX), pareto(0) > 1 << 39), (1, true));
        let steep = |drawn| super::pareto(1_000, 1_000_000_000, 10_000, drawn);
        assert!(steep(u64::MAX) == 1_000 && steep(0) <= 1_000_000_000);
    }

    #[test]
    fn draws_are_frozen() {
        let mut rng = Rng::new(1).fork("draws");
        let sizes = Sizes::Pareto { from: 12_000, to: 10_000_000, shape_milli: 1_200 };
        let drawn = [0; 3].map(|_| sizes.draw(&mut rng));
        let gaps = [0; 3].map(|_| gap(2_500_000_000, &mut rng).as_nanos());
        assert_eq!((drawn, gaps), FROZEN);
    }
    const FROZEN: ([u64; 3], [u64; 3]) = ([142_604, 14_241, 20_008], [362_133_393, 329_111_486, 175_381_431]);
}
