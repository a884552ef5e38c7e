//! Do two arms that share no seeds tend to differ? (H. Mann and D. Whitney, "On a test of whether one of two random variables is
//! stochastically larger than the other", 1947.)

use super::ranks::{ranks, two_sided};

/// Values of both arms together up to which the distribution is enumerated, ties included.
const EXACT_UP_TO: usize = 80;

/// Returns the probability, if both are drawn alike, of a sum of ranks at least as far from its mean; `None` if one is empty.
pub(super) fn p_value(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let together: Vec<f64> = one.iter().chain(other).copied().collect();
    let doubled = ranks(&together);
    let sum: usize = doubled[..one.len()].iter().sum();
    let small = together.len() <= EXACT_UP_TO;
    Some(if small { exact(&doubled, one.len(), sum) } else { normal(&doubled, one.len(), sum) })
}

/// The least that `n` runs of each arm can give: two of all the ways to choose `n` of `2 n`.
pub(super) fn least(n: usize) -> f64 {
    (1..=n).fold(2.0, |p, i| p * i as f64 / (n + i) as f64)
}

/// Counts the choices of `chosen` ranks whose sum is at least as far from the mean.
fn exact(doubled: &[usize], chosen: usize, sum: usize) -> f64 {
    let all: usize = doubled.iter().sum();
    // ways[c][s]: share of the choices of c ranks among all subsets of the ranks so far, scaled to stay in range.
    let mut ways = vec![vec![0.0f64; all + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in doubled {
        for count in (0..=chosen).rev() {
            for at in (0..=all).rev() {
                let joined = if count > 0 && at >= *rank { ways[count - 1][at - rank] } else { 0.0 };
                ways[count][at] = f64::midpoint(ways[count][at], joined);
            }
        }
    }
    let total: f64 = ways[chosen].iter().sum();
    // Twice the mean of the doubled sum is a whole number.
    let mean_of_two = 2 * all * chosen / doubled.len();
    let distance = (2 * sum).abs_diff(mean_of_two);
    let far = ways[chosen].iter().enumerate().filter(|(at, _)| (2 * at).abs_diff(mean_of_two) >= distance);
    (far.map(|(_, ways)| ways).sum::<f64>() / total).min(1.0)
}

fn normal(doubled: &[usize], chosen: usize, sum: usize) -> f64 {
    let n = doubled.len() as f64;
    let mean = doubled.iter().sum::<usize>() as f64 / n;
    let spread = doubled.iter().map(|rank| (*rank as f64 - mean).powi(2)).sum::<f64>() / n;
    let variance = spread * chosen as f64 * (n - chosen as f64) / (n - 1.0);
    if variance == 0.0 {
        return 1.0;
    }
    two_sided((sum as f64 - mean * chosen as f64).abs() / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(&[], &[1.0], None; "one is empty")]
    #[test_case(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Some(0.1); "two of twenty choices")]
    #[test_case(&[1.0, 1.0], &[1.0, 1.0], Some(1.0); "all equal")]
    #[test_case(&[1.0, 4.0], &[2.0, 3.0], Some(1.0); "as even as can be")]
    fn p_of(one: &[f64], other: &[f64], expected: Option<f64>) {
        let p = p_value(one, other);
        assert!(p.zip(expected).map_or(p == expected, |(p, expected)| (p - expected).abs() < 1e-12), "{p:?}");
    }

    #[test]
    fn the_least_is_what_separate_arms_give() {
        for n in 1..=12u32 {
            let (one, other): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (f64::from(i), f64::from(i + n))).unzip();
            assert!((p_value(&one, &other).unwrap() / least(n as usize) - 1.0).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn enumeration_and_normal_distribution_meet() {
        let one: Vec<f64> = (0..40).map(|i| f64::from(i) * 1.3).collect();
        let other: Vec<f64> = (0..40).map(|i| f64::from(i) + 9.5).collect();
        let doubled = ranks(&one.iter().chain(&other).copied().collect::<Vec<_>>());
        let sum = doubled[..40].iter().sum();
        let (counted, close) = (exact(&doubled, 40, sum), normal(&doubled, 40, sum));
        assert!((counted - close).abs() < 0.003 && counted < 0.9, "{counted} {close}");
    }
}
