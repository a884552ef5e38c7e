//! How far a number is from what was published.

use crate::headlines::claim::{Claim, Published, Range, Unit};
use core::ops::Bound;

/// A ratio counts as no larger than this, so that one row cannot outweigh all others.
const MOST: f64 = 4.6;

/// Returns whether a number reproduces a claim, taken without an interval's width.
pub fn meets(claim: &Claim, number: Option<f64>) -> bool {
    let verdict = claim.band.map(|band| band.judge(claim.unit, number, number.map(|number| (number, number))));
    verdict == Some(crate::headlines::claim::Verdict::Reproduced)
}

/// Returns the square of the logarithm of the ratio of the effects, measured to published; of a bound, of what is missing to it.
pub fn loss(claim: &Claim, number: Option<f64>) -> f64 {
    let (Some(band), Some(number)) = (claim.band, number) else { return MOST * MOST };
    let distance = match band.published {
        Published::Number(published) => {
            let nothing = claim.unit.without_effect();
            log_ratio(number - nothing, published - nothing)
        }
        Published::Bound(range) | Published::Words(range) => beyond(number, range, claim.unit),
    };
    distance * distance
}

fn log_ratio(measured: f64, published: f64) -> f64 {
    let ratio = measured / published;
    if ratio > 0.0 { libm::log(ratio).clamp(-MOST, MOST) } else { MOST }
}

/// Differences in per cent are compared as factors, others as they are.
fn beyond(number: f64, (lo, hi): Range, unit: Unit) -> f64 {
    let factor = |number: f64| if unit == Unit::Percent { 1.0 + number / 100.0 } else { number };
    let end = |bound: Bound<f64>| match bound {
        Bound::Included(end) | Bound::Excluded(end) => Some(end),
        Bound::Unbounded => None,
    };
    match (end(lo), end(hi)) {
        (Some(lo), _) if number < lo => log_ratio(factor(number), factor(lo)),
        (_, Some(hi)) if number > hi => log_ratio(factor(number), factor(hi)),
        _ => 0.0,
    }
}
