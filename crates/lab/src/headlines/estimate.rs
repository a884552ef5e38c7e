//! Estimates from runs. Arms are compared by the means of their runs in a cell, or over all cells together.

use super::evidence::Draw;
use super::quantity::{self, Quantity};
use super::study::Study;
use crate::results::stats;

/// A number computed from a study.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// Of which runs.
    pub study: &'static Study,
    /// Restricts the cells to those whose sweep has these values, as `KEY=VALUE` or `KEY=VALUE|VALUE` in canonical form.
    pub cells: &'static [&'static str],
    /// The arm to evaluate.
    pub arm: &'static str,
    /// The arms to compare with.
    pub over: &'static [&'static str],
    /// What is computed.
    pub what: What,
    /// How cells are combined.
    pub across: Across,
}

/// How the numbers of cells become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
    /// Their sum.
    Sum,
    /// One number over all cells together.
    Together,
}

/// What to compute from cells. Several other arms count as the best of them, by mean goodput.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// One if the arm's mean goodput is above that of all others, else zero.
    Wins,
    /// Excess of mean goodput over the other's, per cent.
    Gain,
    /// Mean goodput, as a multiple of the other's.
    Times,
    /// Excess of the ninetieth percentile of goodput over the other's, per cent; nothing below fifty runs.
    TailGain,
    /// Median over seeds of goodput / the other's, minus one, per cent.
    MedianGain,
    /// How many times as much of a quantity the other has, by means.
    Less(Quantity),
    /// Excess of a sum over the other's, per cent.
    Change(Quantity),
    /// One sum in per cent of another.
    Share(Quantity, Quantity),
    /// Excess of such a share over the other's, in percentage points.
    Points(Quantity, Quantity),
    /// The mean of a quantity.
    Mean(Quantity),
    /// Excess of that mean over its value in the cell that has the last setting in place of the first.
    More(Quantity, [&'static str; 2]),
}

/// A number and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// In the unit of the claim.
    pub number: f64,
    /// The cell that was largest or smallest, by its index.
    pub cell: Option<usize>,
    /// The arm of the comparison.
    pub over: Option<&'static str>,
}

impl Estimate {
    /// The same for another arm.
    #[must_use]
    pub const fn for_arm(self, arm: &'static str) -> Self {
        Self { arm, ..self }
    }

    /// Returns whether a study's runs have its cells and arms.
    #[cfg(test)]
    pub fn is_found_in(&self, runs: &super::evidence::Runs) -> bool {
        let is_arm = |name: &&str| runs.plan.arms.iter().any(|arm| arm.label == **name);
        let cells = runs.cells_with(self.cells);
        let has_siblings = match self.what {
            What::More(_, [with, without]) => cells.iter().all(|cell| runs.sibling(*cell, with, without).is_some()),
            _ => true,
        };
        !cells.is_empty() && has_siblings && [self.arm].iter().chain(self.over).all(is_arm)
    }

    /// Computes the number; `None` if a run failed or the divisor is zero.
    pub fn of(&self, draw: &Draw<'_>) -> Option<Value> {
        let cells = draw.runs.cells_with(self.cells);
        if self.across == Across::Together {
            let (number, over) = self.in_cells(draw, &cells)?;
            return Some(Value { number, cell: None, over });
        }
        let each = cells.iter().map(|cell| {
            let (number, over) = self.in_cells(draw, &[*cell])?;
            Some(Value { number, cell: Some(*cell), over })
        });
        let each = each.collect::<Option<Vec<Value>>>()?;
        let by_number = |a: &Value, b: &Value| a.number.total_cmp(&b.number);
        match self.across {
            Across::Largest => each.into_iter().max_by(by_number),
            Across::Smallest => each.into_iter().min_by(by_number),
            Across::Sum | Across::Together => {
                let number = each.iter().map(|value| value.number).sum();
                (!each.is_empty()).then_some(Value { number, cell: None, over: None })
            }
        }
    }

    /// Returns the number in these cells, and the arm of the comparison.
    fn in_cells(&self, draw: &Draw<'_>, cells: &[usize]) -> Option<(f64, Option<&'static str>)> {
        let arms = Arms { draw, cells };
        let own = self.arm;
        let versus = || arms.best(self.over);
        let compared = |of: &dyn Fn(&'static str) -> Option<f64>| {
            let other = versus()?;
            Some((of(other)?, Some(other)))
        };
        let more_per_cent = |times: f64| (times - 1.0) * 100.0;
        let times = |other| ratio(arms.mean(own, quantity::goodput)?, arms.mean(other, quantity::goodput)?);
        match self.what {
            What::Wins => compared(&|other| Some(f64::from(u8::from(times(other)? > 1.0)))),
            What::Gain => compared(&|other| times(other).map(more_per_cent)),
            What::Times => compared(&times),
            What::TailGain => compared(&|other| ratio(arms.tail(own)?, arms.tail(other)?).map(more_per_cent)),
            What::MedianGain => compared(&|other| arms.median_ratio(own, other).map(more_per_cent)),
            What::Less(of) => compared(&|other| ratio(arms.mean(other, of)?, arms.mean(own, of)?)),
            What::Change(of) => compared(&|other| ratio(arms.sum(own, of)?, arms.sum(other, of)?).map(more_per_cent)),
            What::Points(part, whole) => {
                compared(&|other| Some(arms.share(own, part, whole)? - arms.share(other, part, whole)?))
            }
            What::Share(part, whole) => Some((arms.share(own, part, whole)?, None)),
            What::Mean(of) => Some((arms.mean(own, of)?, None)),
            What::More(of, [with, without]) => {
                let others = cells.iter().map(|cell| draw.runs.sibling(*cell, with, without));
                let others = others.collect::<Option<Vec<usize>>>()?;
                Some((arms.mean(own, of)? - Arms { draw, cells: &others }.mean(own, of)?, None))
            }
        }
    }
}

/// The results of arms in some cells.
struct Arms<'a> {
    draw: &'a Draw<'a>,
    cells: &'a [usize],
}

impl Arms<'_> {
    fn mean(&self, arm: &str, of: Quantity) -> Option<f64> {
        stats::mean(&self.draw.values(arm, of, self.cells)?)
    }

    fn sum(&self, arm: &str, of: Quantity) -> Option<f64> {
        Some(self.draw.values(arm, of, self.cells)?.iter().sum())
    }

    fn tail(&self, arm: &str) -> Option<f64> {
        stats::percentile(&self.draw.values(arm, quantity::goodput, self.cells)?, 90)
    }

    fn median_ratio(&self, arm: &str, other: &str) -> Option<f64> {
        let [own, others] = [arm, other].map(|arm| self.draw.values(arm, quantity::goodput, self.cells));
        let pairs: Vec<(f64, f64)> = own?.into_iter().zip(others?).collect();
        stats::compare(&pairs).map(|comparison| comparison.median_ratio)
    }

    fn share(&self, arm: &str, part: Quantity, whole: Quantity) -> Option<f64> {
        Some(ratio(self.sum(arm, part)?, self.sum(arm, whole)?)? * 100.0)
    }

    fn best(&self, arms: &[&'static str]) -> Option<&'static str> {
        let each = arms.iter().map(|arm| Some((self.mean(arm, quantity::goodput)?, *arm)));
        let each = each.collect::<Option<Vec<_>>>()?;
        each.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, arm)| arm)
    }
}

fn ratio(number: f64, divisor: f64) -> Option<f64> {
    (divisor > 0.0).then(|| number / divisor)
}
