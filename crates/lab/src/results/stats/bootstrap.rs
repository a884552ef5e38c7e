//! The bootstrap over seeds (B. Efron, "Bootstrap methods: another look at the jackknife", 1979): an interval for a number
//! that is not a median, such as a ratio of means or the largest of several.
//!
//! The seeds are resampled with replacement, and the number is computed again from their runs; the interval contains 95 % of the
//! results. Draws start from a fixed seed, so that equal runs give equal intervals.

use super::at_permille;
use base::Rng;

/// Times that the seeds are drawn again.
pub const RESAMPLES: usize = 1_000;
/// Minimum number of seeds for resampling; also the minimum for an interval from order statistics.
pub const MIN_SEEDS: usize = 6;

/// The part cut off at each end.
const TAIL_PERMILLE: usize = 25;

/// Returns `n` indices below `n`, drawn with replacement.
pub fn resample(n: usize, rng: &mut Rng) -> Vec<usize> {
    (0..n).map(|_| rng.below(n as u64) as usize).collect()
}

/// Returns the bounds of 95 % of the recomputed numbers; `None` for an empty list.
pub fn bounds(computed: &[f64]) -> Option<(f64, f64)> {
    Some((at_permille(computed, TAIL_PERMILLE)?, at_permille(computed, 1_000 - TAIL_PERMILLE)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_leave_a_fortieth_on_each_side() {
        let values: Vec<f64> = (1..=1_000).rev().map(f64::from).collect();
        assert_eq!(bounds(&values), Some((25.0, 975.0)));
        assert_eq!(bounds(&[7.0]), Some((7.0, 7.0)));
        assert_eq!(bounds(&[]), None);
    }

    #[test]
    fn indices_are_drawn_with_replacement_and_alike_from_equal_seeds() {
        let draw = |seed| resample(10, &mut Rng::new(seed));
        assert_eq!(draw(1), draw(1));
        assert!((1..50).all(|seed| draw(seed).len() == 10 && draw(seed).iter().all(|index| *index < 10)));
        let repeats =
            |drawn: Vec<usize>| (0..10).any(|index| drawn.iter().filter(|other| **other == index).count() > 1);
        assert!((1..50).any(|seed| repeats(draw(seed))));
    }
}
