//! Reports one row per (cell, arm), with numbers as the measurement contract defines them.
//!
//! Figures are rounded to nine decimals only on output, never in between.

use crate::plan::Plan;
use crate::plan::difference::{self, Differences};
use crate::results::metrics::{Metrics, Runs};
use crate::results::rounded::rounded;
use crate::results::stats::{self, Comparison, Verdict, compare};
use crate::results::view::CellView;
use crate::run::log::Identity;
use crate::run::{Finished, Measured, Punctuality};
use crate::spec::GOODPUT;
use serde::Serialize;
use std::collections::BTreeMap;

/// One arm in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: String,
    /// Where.
    pub cell: CellView,
    /// Label of the arm.
    pub arm: String,
    /// Runs that succeeded.
    pub runs: usize,
    /// Whether the seed has no effect here, so that one run represents all.
    pub deterministic: bool,
    /// Payload bits over the time from the first SYN to the last byte read.
    pub goodput_mbps: Spread,
    /// The numbers of the list.
    pub metrics: Metrics,
    /// Against the reference; `None` for the reference itself.
    pub vs_reference: Option<Versus>,
    /// The profile behind the arm, if it is one.
    pub profile: Option<String>,
    /// The leaves in which the arm differs from the reference in this cell; `None` for the reference, and unless both are
    /// profiles.
    pub differs: Option<Differences>,
    /// Runs that the machine disturbed even in the second attempt; `None` in virtual time.
    pub disturbed_runs: Option<usize>,
    /// Longest time that a due packet waited for the machine, over all runs; `None` in virtual time.
    pub latest_ms: Option<f64>,
    /// The median run by goodput, of two the slower one: `longhaul replay` repeats it for a row.
    pub median_run: Option<Identity>,
    /// Goodput by iteration, for pairing.
    by_iteration: BTreeMap<u32, f64>,
}

/// A distribution over runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle.
    pub median: Option<f64>,
    /// The average.
    pub mean: Option<f64>,
    /// One tenth of the runs are at or below; `None` below 50 runs.
    pub p10: Option<f64>,
    /// Nine tenths of the runs are at or below; `None` below 50 runs.
    pub p90: Option<f64>,
}

/// A paired difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versus {
    /// Median over seeds of this arm's goodput / the reference's.
    pub median_ratio: f64,
    /// Lower bound of its 95 % interval.
    pub lo: Option<f64>,
    /// Upper bound.
    pub hi: Option<f64>,
    /// What this says.
    pub verdict: &'static str,
}

impl Row {
    /// Returns the paired ratio of goodputs, seed by seed, whichever arm is the reference.
    pub(crate) fn goodput_ratio_to(&self, other: &Self) -> Option<f64> {
        self.compared_to(other).map(|comparison| comparison.median_ratio)
    }

    /// The number of this name in an expectation.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        if name == GOODPUT { self.goodput_mbps.median } else { self.metrics.get(name) }
    }

    fn compared_to(&self, other: &Self) -> Option<Comparison> {
        let pair = |(iteration, own): (&u32, &f64)| Some((*own, *other.by_iteration.get(iteration)?));
        let pairs: Vec<(f64, f64)> = self.by_iteration.iter().filter_map(pair).collect();
        let verdict = |found: Comparison| if self.deterministic { found.deterministic() } else { found };
        compare(&pairs).map(verdict)
    }
}

/// All rows: by cell in the order of the sweep, then by arm in the order of the arms.
pub fn rows(plan: &Plan, finished: &Finished) -> Vec<Row> {
    let mut rows = Vec::with_capacity(plan.cells.len() * plan.arms.len());
    for cell in 0..plan.cells.len() {
        let first = rows.len();
        for arm in 0..plan.arms.len() {
            let runs: Vec<(u32, Measured)> = plan
                .runs
                .iter()
                .zip(&finished.measured)
                .filter(|(run, _)| run.cell == cell && run.arm == arm)
                .filter_map(|(run, measured)| Some((run.iteration, (*measured)?)))
                .collect();
            let mut row = row(plan, cell, arm, &runs);
            row.vs_reference = rows.get(first).and_then(|reference| row.compared_to(reference)).map(Versus::new);
            rows.push(row);
        }
    }
    rows
}

/// Returns the median run of an arm in a cell; of equal ones the earliest.
fn median_run(plan: &Plan, cell: usize, arm: usize, by_iteration: &BTreeMap<u32, f64>) -> Option<Identity> {
    let mut sorted: Vec<(u32, f64)> = by_iteration.iter().map(|(iteration, goodput)| (*iteration, *goodput)).collect();
    sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let middle = sorted.get(sorted.len().checked_sub(1)? / 2)?.1;
    let iteration = sorted.iter().find(|(_, goodput)| *goodput == middle)?.0;
    let run = plan.runs.iter().find(|run| (run.cell, run.arm, run.iteration) == (cell, arm, iteration))?;
    Some(Identity::new(plan, run))
}

fn row(plan: &Plan, cell: usize, arm: usize, runs: &[(u32, Measured)]) -> Row {
    let point = &plan.cells[cell].point;
    let by_iteration: BTreeMap<u32, f64> =
        runs.iter().map(|(iteration, measured)| (*iteration, measured.goodput_mbps())).collect();
    let goodputs: Vec<f64> = by_iteration.values().copied().collect();
    let punctual: Vec<Punctuality> = runs.iter().filter_map(|(_, measured)| measured.punctuality).collect();
    Row {
        experiment: plan.experiment.name.clone(),
        cell: CellView::new(&plan.cells[cell]),
        arm: plan.arms[arm].label.clone(),
        runs: runs.len(),
        deterministic: plan.is_once(cell),
        goodput_mbps: Spread {
            median: stats::median(&goodputs).map(rounded),
            mean: stats::mean(&goodputs).map(rounded),
            p10: stats::percentile(&goodputs, 10).map(rounded),
            p90: stats::percentile(&goodputs, 90).map(rounded),
        },
        metrics: Metrics::of(&Runs { measured: runs, point }),
        vs_reference: None,
        profile: plan.arms[arm].spec.profile().map(|profile| profile.name.clone()),
        differs: (arm > 0).then(|| difference::between(&plan.ends(cell, 0), &plan.ends(cell, arm))).flatten(),
        disturbed_runs: (!punctual.is_empty()).then(|| punctual.iter().filter(|run| run.disturbed).count()),
        latest_ms: punctual.iter().map(|run| run.latest_ns).max().map(|ns| rounded(ns as f64 / 1e6)),
        median_run: median_run(plan, cell, arm, &by_iteration),
        by_iteration,
    }
}

impl Versus {
    /// Returns whether the verdict is open because there are too few runs.
    pub fn lacks_runs(&self) -> bool {
        self.lo.is_none() && self.verdict == Verdict::Inconclusive.word()
    }

    fn new(comparison: Comparison) -> Self {
        let Comparison { median_ratio, interval, verdict } = comparison;
        Self {
            median_ratio: rounded(median_ratio),
            lo: interval.map(|(lo, _)| rounded(lo)),
            hi: interval.map(|(_, hi)| rounded(hi)),
            verdict: verdict.word(),
        }
    }
}

#[cfg(test)]
mod tests;
