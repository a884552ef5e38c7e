//! Paired comparison: the median over seeds of arm / reference, and an interval for it from order statistics.
//!
//! The interval is the sign test's (W. Thompson, "On confidence ranges for the median", 1936): between the r-th smallest
//! and the r-th largest ratio, with the largest r for which a binomial variable with one half leaves at most 2.5 % outside
//! on each side. It assumes nothing about the distribution. Below six pairs no such r exists.

use super::median;

/// Coverage is at least one minus twice this.
const TAIL: f64 = 0.025;
/// Pairs below which no interval has that coverage.
pub const MIN_PAIRS: usize = 6;
/// A difference within ±1 % does not matter.
const MARGIN: f64 = 0.01;
/// Powers of one half stay normal numbers up to here; beyond, the normal distribution is equally good.
const EXACT_UP_TO: usize = 1_000;

/// What the comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies above +1 %.
    Better,
    /// The interval lies below −1 %.
    Worse,
    /// The interval lies within ±1 %.
    Equivalent,
    /// None of these, or too few runs for an interval.
    Inconclusive,
    /// Neither side varies from seed to seed.
    Deterministic,
}

impl Verdict {
    /// The word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Deterministic => "deterministic",
        }
    }
}

/// An arm against the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Median of the ratios.
    pub median_ratio: f64,
    /// Bounds of the 95 % interval; `None` if the samples do not support one.
    pub interval: Option<(f64, f64)>,
    /// What this says.
    pub verdict: Verdict,
}

impl Comparison {
    /// The same for a case where no other pair can occur.
    #[must_use]
    pub fn deterministic(self) -> Self {
        Self { interval: None, verdict: Verdict::Deterministic, ..self }
    }
}

/// Compares pairs of (arm, reference), one per seed; `None` without a pair or when a reference is zero.
pub fn compare(pairs: &[(f64, f64)]) -> Option<Comparison> {
    if pairs.iter().any(|(_, reference)| *reference <= 0.0) {
        return None;
    }
    let ratios: Vec<f64> = pairs.iter().map(|(arm, reference)| arm / reference).collect();
    let median_ratio = median(&ratios)?;
    let constant = |side: fn(&(f64, f64)) -> f64| pairs.iter().all(|pair| side(pair) == side(&pairs[0]));
    if pairs.len() > 1 && constant(|pair| pair.0) && constant(|pair| pair.1) {
        return Some(Comparison { median_ratio, interval: None, verdict: Verdict::Deterministic });
    }
    let interval = interval(ratios);
    Some(Comparison { median_ratio, interval, verdict: judge(interval) })
}

fn judge(interval: Option<(f64, f64)>) -> Verdict {
    match interval {
        Some((lo, _)) if lo > 1.0 + MARGIN => Verdict::Better,
        Some((_, hi)) if hi < 1.0 - MARGIN => Verdict::Worse,
        Some((lo, hi)) if lo >= 1.0 - MARGIN && hi <= 1.0 + MARGIN => Verdict::Equivalent,
        _ => Verdict::Inconclusive,
    }
}

fn interval(ratios: Vec<f64>) -> Option<(f64, f64)> {
    let rank = rank(ratios.len())?;
    let sorted = super::sorted(&ratios);
    Some((sorted[rank - 1], sorted[ratios.len() - rank]))
}

/// Returns the largest r for which P(Bin(n, ½) ≤ r − 1) is at most the tail; `None` if even r = 1 is too much.
fn rank(n: usize) -> Option<usize> {
    if n > EXACT_UP_TO {
        const Z: f64 = 1.959_963_984_540_054;
        // Half a standard deviation is √n / 2; a rank is a whole number of values.
        return Some(((n as f64 + 1.0 - Z * (n as f64).sqrt()) / 2.0) as usize);
    }
    let mut term = 0.5f64.powi(n as i32);
    let (mut below, mut rank) = (0.0, 0);
    while below + term <= TAIL && rank < n {
        below += term;
        term *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    /// Computed independently of this program, in exact fractions, from the binomial coefficients; up to 100 they agree with
    /// published tables of the sign test. Above 1,000 the approximation may be one rank wider (at 1,001 exactly: 470).
    #[test_case(0, None)]
    #[test_case(5, None)]
    #[test_case(6, Some(1))]
    #[test_case(7, Some(1))]
    #[test_case(8, Some(1))]
    #[test_case(9, Some(2))]
    #[test_case(10, Some(2))]
    #[test_case(11, Some(2))]
    #[test_case(12, Some(3))]
    #[test_case(15, Some(4))]
    #[test_case(20, Some(6))]
    #[test_case(25, Some(8))]
    #[test_case(30, Some(10))]
    #[test_case(50, Some(18))]
    #[test_case(100, Some(40))]
    #[test_case(200, Some(86))]
    #[test_case(1000, Some(469))]
    #[test_case(1001, Some(469))]
    #[test_case(10_000, Some(4902))]
    fn rank_of(n: usize, expected: Option<usize>) {
        assert_eq!(rank(n), expected);
    }

    fn pairs(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios.iter().enumerate().map(|(i, ratio)| (ratio * (i + 1) as f64, (i + 1) as f64)).collect()
    }

    #[test]
    fn ten_pairs_give_the_second_smallest_and_the_second_largest() {
        let ratios = [1.10, 1.20, 1.05, 1.30, 1.15, 1.12, 1.18, 1.40, 1.02, 1.25];
        let found = compare(&pairs(&ratios)).unwrap();
        let (lo, hi) = found.interval.unwrap();
        assert!((found.median_ratio - 1.165).abs() < 1e-12 && (lo - 1.05).abs() < 1e-12 && (hi - 1.30).abs() < 1e-12);
        assert_eq!(found.verdict, Verdict::Better);
    }

    #[test_case(&[1.02; 6], Verdict::Better)]
    #[test_case(&[0.90, 0.91, 0.92, 0.93, 0.94, 0.95], Verdict::Worse)]
    #[test_case(&[0.991, 0.995, 1.0, 1.001, 1.005, 1.009], Verdict::Equivalent)]
    #[test_case(&[0.98, 0.99, 1.0, 1.01, 1.02, 1.03], Verdict::Inconclusive)]
    #[test_case(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.02], Verdict::Inconclusive; "reaches across the margin")]
    #[test_case(&[2.0, 2.0, 2.0, 2.0, 2.0], Verdict::Inconclusive; "five pairs have no interval")]
    fn verdict_of(ratios: &[f64], expected: Verdict) {
        let found = compare(&pairs(ratios)).unwrap();
        assert_eq!(found.verdict, expected);
        assert_eq!(found.interval.is_some(), ratios.len() >= 6);
    }

    #[test]
    fn what_never_varies_is_deterministic_and_one_run_cannot_tell() {
        let found = compare(&[(90.0, 45.0); 10]).unwrap();
        assert_eq!((found.median_ratio, found.interval, found.verdict), (2.0, None, Verdict::Deterministic));
        assert_eq!(compare(&[(90.0, 45.0)]).unwrap().verdict, Verdict::Inconclusive);
        assert_eq!(compare(&[(90.0, 45.0), (90.0, 46.0)]).unwrap().verdict, Verdict::Inconclusive);
    }

    #[test]
    fn nothing_can_be_compared_with_nothing() {
        assert_eq!(compare(&[]), None);
        assert_eq!(compare(&[(1.0, 0.0)]), None);
    }
}
