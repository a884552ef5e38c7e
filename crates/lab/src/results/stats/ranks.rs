//! Ranks with ties, and the normal distribution's tail.

/// Returns twice the rank of each value, counted from one; equal values share the mean of their ranks.
pub(super) fn ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut doubled = vec![0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|one, other| values[*one] == values[*other]) {
        // The mean of first + 1 … first + length, twice.
        let shared = 2 * first + equal.len() + 1;
        equal.iter().for_each(|at| doubled[*at] = shared);
        first += equal.len();
    }
    doubled
}

/// Returns the probability that a standard normal variable lies at least this far from zero. The library's function is the same
/// code on every machine.
pub(super) fn two_sided(z: f64) -> f64 {
    libm::erfc(z / core::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [7, 2, 7, 4]);
        assert_eq!(ranks(&[]), [0; 0]);
    }

    #[test]
    fn five_per_cent_lie_beyond_1_96() {
        assert!((two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-12);
        assert!((two_sided(0.0) - 1.0).abs() < 1e-15);
    }
}
