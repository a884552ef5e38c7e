//! Reports one row per (cell, arm), with numbers as the measurement contract defines them.
//!
//! Figures are rounded to nine decimals only on output, never in between.

use crate::plan::Plan;
use crate::plan::difference::{self, Differences};
use crate::results::metrics::{Metrics, Runs};
use crate::results::rounded::rounded;
use crate::results::stats::{self, Comparison, Design, Verdict};
use crate::results::view::CellView;
use crate::run::Identity;
use crate::run::{Finished, Measured, Punctuality};
use crate::spec::{GOODPUT, Point, Primary};
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
    /// What arms are compared by, by iteration; `None` if that is goodput.
    compared: Option<BTreeMap<u32, f64>>,
    /// Whether the arm draws seeds that the reference does not.
    own_seeds: bool,
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
    /// Median over seeds of this arm's number / the reference's.
    pub median_ratio: f64,
    /// Lower bound of its 95 % interval.
    pub lo: Option<f64>,
    /// Upper bound.
    pub hi: Option<f64>,
    /// What this says.
    pub verdict: &'static str,
    /// Probability of a difference at least as clear between equal arms; `None` where nothing varies.
    pub p: Option<f64>,
    /// The same for all comparisons of the table together (Holm): at most 0.05 where the table says that they differ.
    pub p_table: Option<f64>,
    /// What was compared; `None` if it was goodput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<&'static str>,
}

impl Row {
    /// Returns the paired ratio of goodputs, seed by seed, whichever arm is the reference.
    pub(crate) fn goodput_ratio_to(&self, other: &Self) -> Option<f64> {
        stats::compare(&paired(&self.by_iteration, &other.by_iteration)).map(|comparison| comparison.median_ratio)
    }

    /// The number of this name in an expectation.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        if name == GOODPUT { self.goodput_mbps.median } else { self.metrics.get(name) }
    }

    fn compared_to(&self, reference: &Self, plan: &Plan) -> Option<Versus> {
        let of = |row: &Self| row.compared.clone().unwrap_or_else(|| row.by_iteration.clone());
        let design = Design { own_seeds: self.own_seeds, until_decided: plan.until_decided };
        let found = stats::judge(&paired(&of(self), &of(reference)), design)?;
        let found = if self.deterministic { found.deterministic() } else { found };
        let found = if plan.primary.less_is_better { found.of_less() } else { found };
        Some(Versus::new(found, (plan.primary != Primary::default()).then_some(plan.primary.name)))
    }
}

/// Pairs two arms' numbers, seed by seed.
fn paired(own: &BTreeMap<u32, f64>, other: &BTreeMap<u32, f64>) -> Vec<(f64, f64)> {
    own.iter().filter_map(|(iteration, own)| Some((*own, *other.get(iteration)?))).collect()
}

/// An arm's runs in a cell.
type ArmRuns = Vec<(u32, Measured)>;

/// All rows: by cell in the order of the sweep, then by arm in the order of the arms.
pub fn rows(plan: &Plan, finished: &Finished) -> Vec<Row> {
    let mut by_arm: Vec<ArmRuns> = vec![Vec::new(); plan.cells.len() * plan.arms.len()];
    for (run, measured) in plan.runs.iter().zip(&finished.measured) {
        by_arm[run.cell * plan.arms.len() + run.arm].extend(measured.map(|measured| (run.iteration, measured)));
    }
    let mut rows: Vec<Row> =
        by_arm.chunks(plan.arms.len()).enumerate().flat_map(|(cell, arms)| rows_of_cell(plan, cell, arms)).collect();
    let tested: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].p().is_some()).collect();
    let adjusted = stats::adjusted(&tested.iter().filter_map(|at| rows[*at].p()).collect::<Vec<_>>());
    for (at, p) in tested.into_iter().zip(adjusted) {
        rows[at].vs_reference.iter_mut().for_each(|versus| versus.p_table = Some(p));
    }
    rows
}

/// The rows of one cell, as the whole table does not know them yet.
fn rows_of_cell(plan: &Plan, cell: usize, arms: &[ArmRuns]) -> Vec<Row> {
    let mut rows: Vec<Row> = arms.iter().enumerate().map(|(arm, runs)| row(plan, cell, arm, runs)).collect();
    let versus: Vec<Option<Versus>> = rows.iter().skip(1).map(|row| row.compared_to(&rows[0], plan)).collect();
    rows.iter_mut().skip(1).zip(versus).for_each(|(row, versus)| row.vs_reference = versus);
    rows
}

/// Returns the median run of an arm in a cell; of equal ones the earliest.
fn median_run(plan: &Plan, cell: usize, arm: usize, by_iteration: &BTreeMap<u32, f64>) -> Option<Identity> {
    let mut sorted: Vec<(u32, f64)> = by_iteration.iter().map(|(iteration, goodput)| (*iteration, *goodput)).collect();
    sorted.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let middle = sorted.get(sorted.len().checked_sub(1)? / 2)?.1;
    let iteration = sorted.iter().find(|(_, goodput)| *goodput == middle)?.0;
    Some(Identity::new(plan, plan.run(cell, arm, iteration)?))
}

/// Returns what arms are compared by, run by run, unless it is goodput.
fn compared(plan: &Plan, point: &Point, runs: &[(u32, Measured)]) -> Option<BTreeMap<u32, f64>> {
    let of_run = |run: &(u32, Measured)| {
        let metrics = Metrics::of(&Runs { measured: core::slice::from_ref(run), point });
        Some((run.0, metrics.get(plan.primary.name)?))
    };
    (plan.primary != Primary::default()).then(|| runs.iter().filter_map(of_run).collect())
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
        compared: compared(plan, point, runs),
        own_seeds: plan.arms[arm].ordinal != plan.arms[0].ordinal,
    }
}

impl Row {
    /// Returns whether the arm draws seeds that the reference does not.
    pub(crate) fn own_seeds(&self) -> bool {
        self.own_seeds
    }

    fn p(&self) -> Option<f64> {
        self.vs_reference.as_ref()?.p
    }
}

impl Versus {
    /// Returns whether the verdict is open because there are too few runs.
    pub fn lacks_runs(&self) -> bool {
        self.lo.is_none() && self.verdict == Verdict::Inconclusive.word()
    }

    fn new(comparison: Comparison, metric: Option<&'static str>) -> Self {
        let Comparison { median_ratio, interval, p, verdict } = comparison;
        Self {
            median_ratio: rounded(median_ratio),
            lo: interval.map(|(lo, _)| rounded(lo)),
            hi: interval.map(|(_, hi)| rounded(hi)),
            verdict: verdict.word(),
            p,
            p_table: None,
            metric,
        }
    }
}

#[cfg(test)]
mod tests;
