//! Paired comparison: the median over seeds of arm / reference, and an interval for it from order statistics.
//!
//! The interval of one look is the sign test's (W. Thompson, "On confidence ranges for the median", 1936): between the r-th
//! smallest and the r-th largest ratio, with the largest r for which a binomial variable with one half leaves at most 2.5 % outside
//! on each side. Below six pairs no such r exists. The interval for a look after every run is wider (`anytime.rs`). Both assume
//! nothing about the distribution. The verdict is the interval against a band; the probability that a whole table needs
//! (`holm.rs`) is a rank test's.

use super::{anytime, rank_sum, signed_rank};

/// Coverage is at least one minus twice this.
const TAIL: f64 = 0.025;
/// Pairs below which no interval has that coverage.
pub const MIN_PAIRS: usize = 6;
/// A difference within ±1 % does not matter.
pub const MARGIN: f64 = 0.01;
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
    /// None of these, although runs were added until they ran out.
    Undecided,
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
            Self::Undecided => "undecided",
            Self::Deterministic => "deterministic",
        }
    }
}

/// How runs were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Design {
    /// Arm and reference have seeds of their own: then only the interval pairs them.
    pub own_seeds: bool,
    /// Runs are added until the interval decides, so that it has to hold at every look.
    pub until_decided: bool,
}

/// An arm against the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Median of the ratios; of two in the middle their geometric mean, so that it is the inverse the other way round.
    pub median_ratio: f64,
    /// Bounds of the 95 % interval; `None` if the samples do not support one.
    pub interval: Option<(f64, f64)>,
    /// The probability of a difference at least as clear between equal arms; `None` if it was not asked for or nothing varies.
    pub p: Option<f64>,
    /// What this says.
    pub verdict: Verdict,
}

impl Comparison {
    /// The same for a case where no other pair can occur.
    #[must_use]
    pub fn deterministic(self) -> Self {
        Self { interval: None, p: None, verdict: Verdict::Deterministic, ..self }
    }

    /// The same where less is better.
    #[must_use]
    pub fn of_less(self) -> Self {
        let verdict = match self.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        Self { verdict, ..self }
    }
}

/// Compares pairs of (arm, reference), one per seed, at one look; `None` without a pair or when a reference is zero.
pub fn compare(pairs: &[(f64, f64)]) -> Option<Comparison> {
    compare_with(pairs, rank, Verdict::Inconclusive)
}

/// The same as the runs were made, with the probability.
pub fn judge(pairs: &[(f64, f64)], design: Design) -> Option<Comparison> {
    let compared = match design.until_decided {
        true => compare_with(pairs, anytime::rank, Verdict::Undecided),
        false => compare(pairs),
    }?;
    let varies = compared.verdict != Verdict::Deterministic;
    Some(Comparison { p: varies.then(|| p_value(pairs, design)).flatten(), ..compared })
}

/// Returns the least probability that `runs` of each arm can give.
pub fn least_p(runs: usize, design: Design) -> f64 {
    match design {
        Design { until_decided: true, .. } => (1.0 / anytime::fortune(runs.min(anytime::MAX_RUNS), 0)).min(1.0),
        Design { own_seeds: true, .. } => rank_sum::least(runs),
        _ => signed_rank::least(runs).min(1.0),
    }
}

fn p_value(pairs: &[(f64, f64)], design: Design) -> Option<f64> {
    let ratios = || pairs.iter().map(|(arm, reference)| arm / reference);
    match design {
        Design { until_decided: true, .. } => {
            // Ratios of one count for the rarer side: they are evidence for no side.
            let at_most = ratios().filter(|ratio| *ratio <= 1.0).count();
            let at_least = ratios().filter(|ratio| *ratio >= 1.0).count();
            let rarer = at_most.min(at_least).min(pairs.len() / 2);
            (pairs.len() <= anytime::MAX_RUNS).then(|| (1.0 / anytime::fortune(pairs.len(), rarer)).min(1.0))
        }
        Design { own_seeds: true, .. } => {
            let (arm, reference): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            rank_sum::p_value(&arm, &reference)
        }
        _ => signed_rank::p_value(&ratios().collect::<Vec<_>>()),
    }
}

fn compare_with(pairs: &[(f64, f64)], rank: fn(usize) -> Option<usize>, open: Verdict) -> Option<Comparison> {
    if pairs.iter().any(|(_, reference)| *reference <= 0.0) {
        return None;
    }
    let ratios: Vec<f64> = pairs.iter().map(|(arm, reference)| arm / reference).collect();
    let sorted = super::sorted(&ratios);
    let (lower, upper) = (*sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted[sorted.len() / 2]);
    let median_ratio = if lower == upper { upper } else { (lower * upper).sqrt() };
    let constant = |side: fn(&(f64, f64)) -> f64| pairs.iter().all(|pair| side(pair) == side(&pairs[0]));
    if pairs.len() > 1 && constant(|pair| pair.0) && constant(|pair| pair.1) {
        return Some(Comparison { median_ratio, interval: None, p: None, verdict: Verdict::Deterministic });
    }
    let interval = rank(sorted.len()).map(|rank| (sorted[rank - 1], sorted[sorted.len() - rank]));
    Some(Comparison { median_ratio, interval, p: None, verdict: within_band(interval).unwrap_or(open) })
}

/// Returns what an interval says beside the band; `None` if it is not clear of one of its bounds.
fn within_band(interval: Option<(f64, f64)>) -> Option<Verdict> {
    match interval? {
        (lo, _) if lo > 1.0 + MARGIN => Some(Verdict::Better),
        (_, hi) if hi < 1.0 - MARGIN => Some(Verdict::Worse),
        (lo, hi) if lo >= 1.0 - MARGIN && hi <= 1.0 + MARGIN => Some(Verdict::Equivalent),
        _ => None,
    }
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
        assert!(
            (found.median_ratio - (1.15f64 * 1.18).sqrt()).abs() < 1e-12
                && (lo - 1.05).abs() < 1e-12
                && (hi - 1.30).abs() < 1e-12
        );
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
    fn the_median_the_other_way_round_is_the_inverse() {
        let there = [(2.0, 1.0), (8.0, 1.0), (1.0, 1.0), (50.0, 1.0)];
        let back = there.map(|(arm, reference)| (reference, arm));
        assert_eq!(compare(&there).unwrap().median_ratio, 4.0);
        assert_eq!(compare(&back).unwrap().median_ratio, 0.25);
    }

    const UNTIL_DECIDED: Design = Design { own_seeds: false, until_decided: true };

    #[test]
    fn an_interval_for_every_look_needs_nine_runs_and_says_when_it_is_open() {
        let alike = |n: usize| {
            judge(&vec![(1.5, 1.0); n - 1].into_iter().chain([(1.6, 1.0)]).collect::<Vec<_>>(), UNTIL_DECIDED)
        };
        assert_eq!(alike(8).unwrap().verdict, Verdict::Undecided);
        assert_eq!(alike(9).unwrap().verdict, Verdict::Better);
        assert_eq!(alike(9).unwrap().of_less().verdict, Verdict::Worse);
        assert!(alike(9).unwrap().p.unwrap() < 0.05 && alike(8).unwrap().p.unwrap() > 0.05);
    }

    #[test]
    fn ratios_of_one_speak_for_no_side() {
        let mut pairs = vec![(1.0, 1.0); 20];
        pairs.push((2.0, 2.0));
        assert_eq!(judge(&pairs, UNTIL_DECIDED).unwrap().p, Some(1.0));
        assert_eq!(judge(&pairs, Design::default()).unwrap().p, Some(1.0));
    }

    /// Against these, six runs of each arm cannot differ in a table of forty comparisons.
    #[test_case(Design::default(), 6, 2.0 / 64.0)]
    #[test_case(Design { own_seeds: true, until_decided: false }, 6, 2.0 / 924.0)]
    #[test_case(UNTIL_DECIDED, 9, 132.0 / 6.0 / 512.0)]
    fn runs_bound_what_a_table_can_say(design: Design, runs: usize, least: f64) {
        assert!((least_p(runs, design) - least).abs() < 1e-12);
        let clear: Vec<(f64, f64)> = (0..runs).map(|i| (10.0 + i as f64, 1.0 + i as f64 / 100.0)).collect();
        assert!((judge(&clear, design).unwrap().p.unwrap() - least).abs() < 1e-12);
    }

    #[test]
    fn nothing_can_be_compared_with_nothing() {
        assert_eq!(compare(&[]), None);
        assert_eq!(compare(&[(1.0, 0.0)]), None);
    }
}
