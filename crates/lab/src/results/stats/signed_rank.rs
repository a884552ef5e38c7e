//! Are paired ratios as often, and as far, above one as below? (F. Wilcoxon, "Individual comparisons by ranking methods", 1945.)
//!
//! Ratios rank by their distance from one, where 2 and ½ are equally far. Those that equal one are left out; equal distances
//! share the mean of their ranks.

use super::ranks::{ranks, two_sided};

/// Ratios up to which the distribution is enumerated, ties included; beyond, the normal distribution is close.
const EXACT_UP_TO: usize = 100;

/// Returns the probability, if no side is favoured, of a sum of ranks at least as uneven; `None` without a ratio.
pub(super) fn p_value(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() {
        return None;
    }
    let uneven: Vec<f64> = ratios.iter().copied().filter(|ratio| *ratio != 1.0).collect();
    if uneven.is_empty() {
        return Some(1.0);
    }
    let distances: Vec<f64> = uneven.iter().map(|ratio| if *ratio > 1.0 { *ratio } else { 1.0 / ratio }).collect();
    let doubled = ranks(&distances);
    let above: usize = uneven.iter().zip(&doubled).filter(|(ratio, _)| **ratio > 1.0).map(|(_, rank)| rank).sum();
    let all: usize = doubled.iter().sum();
    let lesser = above.min(all - above);
    Some(if uneven.len() <= EXACT_UP_TO { exact(&doubled, all, lesser) } else { normal(&doubled, all, lesser) })
}

/// The least that `n` ratios can give.
pub(super) fn least(n: usize) -> f64 {
    2.0 * 0.5f64.powi(n.min(1_000) as i32)
}

/// Adds the probabilities of all choices of sides with the lesser sum or less, and doubles them for the other side.
fn exact(doubled: &[usize], all: usize, lesser: usize) -> f64 {
    let mut chance = vec![0.0; all + 1];
    chance[0] = 1.0;
    let mut reached = 0;
    for rank in doubled {
        reached += rank;
        for sum in (0..=reached).rev() {
            let joined = if sum >= *rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = f64::midpoint(chance[sum], joined);
        }
    }
    (2.0 * chance[..=lesser].iter().sum::<f64>()).min(1.0)
}

fn normal(doubled: &[usize], all: usize, lesser: usize) -> f64 {
    let variance: f64 = doubled.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0;
    two_sided((all as f64 / 2.0 - lesser as f64) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(&[], None; "nothing")]
    #[test_case(&[1.0, 1.0], Some(1.0); "all equal")]
    #[test_case(&[1.1, 1.2, 1.3, 1.4, 1.5, 1.6], Some(2.0 / 64.0); "six on one side")]
    #[test_case(&[1.1, 1.2, 0.9], Some(0.75); "by hand: of eight choices, three sums of at most 2")]
    #[test_case(&[2.0, 0.5], Some(1.0); "a half is as far as two")]
    fn p_of(ratios: &[f64], expected: Option<f64>) {
        assert_eq!(p_value(ratios), expected);
    }

    #[test]
    fn the_least_is_what_one_side_alone_gives() {
        for n in 1..60 {
            let ratios: Vec<f64> = (0..n).map(|i| 1.5 + f64::from(i)).collect();
            assert!((p_value(&ratios).unwrap() / least(ratios.len()).min(1.0) - 1.0).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn enumeration_and_normal_distribution_meet() {
        let ratios: Vec<f64> =
            (0..100).map(|i| if i % 5 < 2 { 0.9 - f64::from(i) / 500.0 } else { 1.1 + f64::from(i) / 300.0 }).collect();
        let more: Vec<f64> = ratios.iter().copied().chain([1.0; 3]).collect();
        let distances: Vec<f64> = ratios.iter().map(|ratio| ratio.max(1.0 / ratio)).collect();
        let doubled = ranks(&distances);
        let all = doubled.iter().sum();
        let above: usize = ratios.iter().zip(&doubled).filter(|(ratio, _)| **ratio > 1.0).map(|(_, rank)| rank).sum();
        let (one, other) =
            (exact(&doubled, all, above.min(all - above)), normal(&doubled, all, above.min(all - above)));
        assert!((one - other).abs() < 0.003 && one < 0.5, "{one} {other}");
        assert_eq!(p_value(&more), Some(one), "ratios of one are left out");
    }
}
