//! An interval for a median that may be looked at after every run (A. Wald's mixtures; H. Robbins, "Statistical methods related to
//! the law of the iterated logarithm", 1970; S. Howard and A. Ramdas, "Sequential estimation of quantiles", 2022).
//!
//! If `m` is the median, each value lies below it like the toss of a fair coin. Bet against the coin: start with one unit and
//! let the stake follow a coin whose bias is drawn from Beta(2, 2). Fortune after `n` tosses with `k` below is
//! `B(2 + k, 2 + n − k) / B(2, 2) · 2ⁿ`; against a fair coin it is a martingale, and the chance that it *ever* reaches 20 is at most
//! one in twenty (J. Ville, 1939). So whoever excludes every `m` against which 20 was won is wrong, at whatever moment of their
//! choice, in at most 5 % of cases. The excluded values lie outside two order statistics, as for the interval of a single look.

/// The prior's two equal parameters: the smaller, the sooner large differences are decided, and the later small ones.
const PRIOR: f64 = 2.0;
/// Fortune that excludes a value: the inverse of the error over all looks.
const FORTUNE: f64 = 20.0;
/// The largest number of values: beyond it, fortunes leave the range of an `f64`.
pub const MAX_RUNS: usize = 1_000;

/// Returns the fortune after `n` tosses of which `k` came down on the rarer side.
pub(super) fn fortune(n: usize, k: usize) -> f64 {
    // Factors of 2ⁿ · B(a + k, a + n − k) / B(a, a), each between zero and two, tails first.
    let tails = (0..n - k).map(|i| 2.0 * (PRIOR + i as f64) / (2.0 * PRIOR + i as f64));
    let heads = (0..k).map(|i| 2.0 * (PRIOR + i as f64) / (2.0 * PRIOR + (n - k + i) as f64));
    tails.chain(heads).product()
}

/// Returns the largest r for which a value below the r-th smallest is excluded; `None` if none is, or there are more than
/// [`MAX_RUNS`] values.
pub(super) fn rank(n: usize) -> Option<usize> {
    if n > MAX_RUNS {
        return None;
    }
    let mut won = fortune(n, 0);
    let mut rank = 0;
    while won >= FORTUNE && 2 * rank < n {
        won *= (PRIOR + rank as f64) / (PRIOR + (n - rank - 1) as f64);
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;
    use test_case::test_case;

    /// Beta functions of small whole numbers, by hand: B(2, 2) = 1/6, B(3, 2) = 1/12, B(2, 11) = 1/132.
    #[test_case(0, 0, 1.0; "nothing tossed")]
    #[test_case(1, 0, 1.0; "the first toss cannot win")]
    #[test_case(2, 0, 1.2; "B of 2 and 4 is a twentieth")]
    #[test_case(2, 1, 0.8)]
    #[test_case(9, 0, 6.0 * 512.0 / 132.0; "nine alike")]
    fn fortune_of(n: usize, k: usize, expected: f64) {
        assert!((fortune(n, k) - expected).abs() < 1e-12, "{}", fortune(n, k));
    }

    #[test_case(8, None)]
    #[test_case(9, Some(1); "nine alike decide")]
    #[test_case(20, Some(4))]
    #[test_case(100, Some(35))]
    #[test_case(1_000, Some(447))]
    #[test_case(1_001, None)]
    fn rank_of(n: usize, expected: Option<usize>) {
        assert_eq!(rank(n), expected);
    }

    /// The martingale, exactly: the mean fortune over both outcomes of the next toss is the fortune before it.
    #[test]
    fn a_fair_coin_gains_nothing_on_average() {
        for n in 0..200 {
            for k in 0..=n {
                let next = f64::midpoint(fortune(n + 1, k), fortune(n + 1, k + 1));
                assert!((next / fortune(n, k) - 1.0).abs() < 1e-9, "{n} {k}");
            }
        }
    }

    #[test]
    fn looking_after_each_of_a_thousand_runs_errs_in_at_most_a_twentieth_of_cases() {
        let ranks: Vec<usize> = (0..=MAX_RUNS).map(|n| rank(n).unwrap_or(0)).collect();
        let mut rng = Rng::new(1);
        let errs = |rng: &mut Rng| {
            let mut below = 0;
            (1..=MAX_RUNS).any(|n| {
                below += usize::from(rng.below(2) == 0);
                below.min(n - below) < ranks[n]
            })
        };
        let wrong = (0..4_000).filter(|_| errs(&mut rng)).count();
        assert!((60..=200).contains(&wrong), "{wrong} of 4,000");
    }
}
