//! Turns runs into numbers of rows, once for each combination of settings that a row depends on.

use super::loss;
use super::trials::{Made, World};
use crate::headlines::claim::{Claim, Measure};
use crate::headlines::estimate::Estimate;

/// A row's number, and what it is worth.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// In the row's unit; `None` where a run failed.
    pub number: Option<f64>,
    /// The distance from what was published.
    pub loss: f64,
    /// Whether it reproduces the row.
    pub met: bool,
}

/// The numbers of a row in a world.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The groups that it depends on, in order.
    groups: Vec<usize>,
    /// The number of settings of each.
    counts: Vec<usize>,
    /// By combination, in the order of [`digits`].
    judged: Vec<Judged>,
}

impl Numbers {
    /// Returns what a candidate's settings make of the row.
    pub fn of(&self, settings: &[usize]) -> Judged {
        let at = self.groups.iter().zip(&self.counts).fold(0, |at, (group, count)| at * count + settings[*group]);
        self.judged[at]
    }
}

/// Judges every row in a world.
pub fn evaluate(rows: &[&'static Claim], world: &World, made: &mut [Made]) -> Vec<Numbers> {
    let of_row = |claim: &&'static Claim| match claim.measure {
        Measure::Runs(estimate) => of_estimate(claim, &estimate, world, made),
        Measure::Examples(count) => {
            Numbers { groups: Vec::new(), counts: Vec::new(), judged: vec![judge(claim, Some(count().0 as f64))] }
        }
    };
    rows.iter().map(of_row).collect()
}

fn judge(claim: &Claim, number: Option<f64>) -> Judged {
    let number = number.filter(|number| number.is_finite());
    Judged { number, loss: loss::loss(claim, number), met: loss::meets(claim, number) }
}

fn of_estimate(claim: &Claim, estimate: &Estimate, world: &World, made: &mut [Made]) -> Numbers {
    let is_own = |made: &&mut Made| made.study.name == estimate.study.name;
    let made = made.iter_mut().find(is_own).expect("the studies of all rows are made");
    let is_compared = |name: &str| estimate.arm == name || estimate.over.contains(&name);
    let groups = made.groups_of(&is_compared);
    let counts: Vec<usize> = groups.iter().map(|group| world.settings[*group].len()).collect();
    let combinations: usize = counts.iter().product();
    let mut judged = Vec::with_capacity(combinations);
    for at in 0..combinations {
        let chosen = digits(at, &counts);
        let setting = |group: usize| groups.binary_search(&group).ok().map(|at| chosen[at]);
        judged.push(judge(claim, estimate.of(&made.combined(&setting).once()).map(|value| value.number)));
    }
    Numbers { groups, counts, judged }
}

/// The digits of a number whose last digit counts up first; `counts` are their bases.
pub(super) fn digits(mut number: usize, counts: &[usize]) -> Vec<usize> {
    let mut found = vec![0; counts.len()];
    for (digit, count) in found.iter_mut().zip(counts).rev() {
        (*digit, number) = (number % count, number / count);
    }
    found
}
