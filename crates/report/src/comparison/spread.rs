//! How runs scatter: an ellipse of one standard deviation of goodput and queueing delay.

use lab::results::EachRun;
use lab::results::stats::mean;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Fewer points have no covariance worth a picture.
const MIN_POINTS: usize = 3;

/// Centre, standard deviations and correlation of points in a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ellipse {
    centre: (f64, f64),
    deviation: (f64, f64),
    correlation: f64,
}

impl Ellipse {
    /// `None` for fewer than three points, and where one coordinate is the same in all.
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        // Of the values and not of their deviation: the mean of equal values may differ from them by a rounding.
        let is_same = |values: &[f64]| values.iter().all(|value| *value == values[0]);
        if points.len() < MIN_POINTS || is_same(&x) || is_same(&y) {
            return None;
        }
        let centre = (mean(&x)?, mean(&y)?);
        let covariance = |one: &[f64], at: f64, other: &[f64], to: f64| {
            let sum: f64 = one.iter().zip(other).map(|(one, other)| (one - at) * (other - to)).sum();
            sum / (points.len() - 1) as f64
        };
        let deviation = (covariance(&x, centre.0, &x, centre.0).sqrt(), covariance(&y, centre.1, &y, centre.1).sqrt());
        let product = deviation.0 * deviation.1;
        let correlation = (covariance(&x, centre.0, &y, centre.1) / product).clamp(-1.0, 1.0);
        Some(Self { centre, deviation, correlation })
    }
}

/// Returns the ellipse of each arm in each cell: queueing delay in milliseconds, then goodput in Mbit/s.
pub(super) fn ellipses(runs: &[EachRun]) -> Vec<Value> {
    let mut points: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for run in runs {
        if let Some(wait) = run.wait_p95_ms {
            points.entry((run.cell, run.arm)).or_default().push((wait, run.goodput_mbps));
        }
    }
    let json = |((cell, arm), points): ((usize, usize), Vec<(f64, f64)>)| {
        let Ellipse { centre, deviation, correlation } = Ellipse::of(&points)?;
        Some(json!({ "cell": cell, "arm": arm, "centre": centre, "deviation": deviation, "correlation": correlation }))
    };
    points.into_iter().filter_map(json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipse_is_that_of_the_sample_covariance() {
        // numpy.cov([[1, 2, 3, 4], [2, 1, 4, 3]]): variances 5/3, covariance 1.
        let found = Ellipse::of(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)]).unwrap();
        assert_eq!(found.centre, (2.5, 2.5));
        assert!((found.deviation.0.powi(2) - 5.0 / 3.0).abs() < 1e-12 && found.deviation.0 == found.deviation.1);
        assert!((found.correlation - 0.6).abs() < 1e-12);
    }

    #[test]
    fn two_points_and_a_straight_coordinate_have_none() {
        assert_eq!(Ellipse::of(&[(1.0, 2.0), (2.0, 1.0)]), None);
        assert_eq!(Ellipse::of(&[(1.0, 2.0), (1.0, 1.0), (1.0, 3.0)]), None);
        assert_eq!(Ellipse::of(&[(0.1, 2.0), (0.1, 1.0), (0.1, 3.0)]), None, "a mean of tenths is not quite a tenth");
    }
}
