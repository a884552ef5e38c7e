//! Statistics of runs: order statistics, comparison of two arms, what a whole table says, and the bootstrap over seeds.
//!
//! Uses only additions, multiplications, divisions and square roots of `f64`, which are exact to the last bit on every
//! machine, and one library function that is the same code everywhere, so results do not depend on where they were computed.

mod anytime;
pub mod bootstrap;
mod holm;
mod paired;
mod rank_sum;
mod ranks;
mod signed_rank;

pub use anytime::MAX_RUNS as MAX_RUNS_UNTIL_DECIDED;
pub use holm::{TABLE_ERROR, adjusted};
pub use paired::{Comparison, Design, MARGIN, MIN_PAIRS, Verdict, compare, judge, least_p};

/// Minimum number of runs for a tenth percentile.
const MIN_RUNS_FOR_TAILS: usize = 50;

/// Returns the middle value, or the mean of the two in the middle; `None` for an empty list.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(if lower == upper { upper } else { (lower + upper) / 2.0 })
}

/// Returns the sum divided by the number; `None` for an empty list.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The smallest value that at least `percent` of all values do not exceed; `None` below 50 values.
pub fn percentile(values: &[f64], percent: usize) -> Option<f64> {
    if values.len() < MIN_RUNS_FOR_TAILS {
        return None;
    }
    at_permille(values, percent * 10)
}

/// Returns the smallest value that at least this many thousandths of all values do not exceed; `None` for an empty list.
fn at_permille(values: &[f64], permille: usize) -> Option<f64> {
    let rank = (values.len() * permille).div_ceil(1_000).max(1);
    sorted(values).get(rank - 1).copied()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(&[], None)]
    #[test_case(&[3.0], Some(3.0))]
    #[test_case(&[3.0, 1.0], Some(2.0))]
    #[test_case(&[9.0, 1.0, 5.0], Some(5.0))]
    #[test_case(&[4.0, 1.0, 3.0, 2.0], Some(2.5))]
    fn median_of(values: &[f64], expected: Option<f64>) {
        assert_eq!(median(values), expected);
    }

    #[test]
    fn a_mean_is_the_sum_divided_by_the_number() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
    }

    #[test]
    fn tails_need_fifty_runs() {
        let values: Vec<f64> = (1..=50).rev().map(f64::from).collect();
        assert_eq!(percentile(&values[1..], 90), None);
        assert_eq!(percentile(&values, 90), Some(45.0));
        assert_eq!(percentile(&values, 10), Some(5.0));
        let values: Vec<f64> = (1..=101).map(f64::from).collect();
        assert_eq!(percentile(&values, 10), Some(11.0));
    }
}
