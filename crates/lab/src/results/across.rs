//! Each arm beside the reference over all cells.

use crate::plan::Plan;
use crate::results::rows::{Row, Versus};
use crate::results::stats::{self, Verdict};

/// An arm's comparisons with the reference, in all cells where there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Across {
    /// Which arm of the plan.
    pub arm: usize,
    /// Median of the cells' ratios.
    pub median: f64,
    /// The cell with the least ratio, and the ratio.
    pub least: (usize, f64),
    /// The cell with the greatest, and the ratio.
    pub most: (usize, f64),
    /// Cells in which the arm is better.
    pub better: usize,
    /// Cells in which it is worse.
    pub worse: usize,
    /// Cells in which it is neither.
    pub others: usize,
}

/// Returns a summary of each arm that is compared in some cell, in the order of the arms.
pub fn across(plan: &Plan, rows: &[Row]) -> Vec<Across> {
    (1..plan.arms.len()).filter_map(|arm| of_arm(plan, rows, arm)).collect()
}

fn of_arm(plan: &Plan, rows: &[Row], arm: usize) -> Option<Across> {
    let own = rows.iter().skip(arm).step_by(plan.arms.len()).enumerate();
    let compared: Vec<(usize, &Versus)> =
        own.filter_map(|(cell, row)| Some((cell, row.vs_reference.as_ref()?))).collect();
    let by_ratio =
        |one: &&(usize, &Versus), other: &&(usize, &Versus)| one.1.median_ratio.total_cmp(&other.1.median_ratio);
    let (least, most) = (compared.iter().min_by(by_ratio)?, compared.iter().max_by(by_ratio)?);
    let ratios: Vec<f64> = compared.iter().map(|(_, versus)| versus.median_ratio).collect();
    let count = |verdict: Verdict| compared.iter().filter(|(_, versus)| versus.verdict == verdict.word()).count();
    let (better, worse) = (count(Verdict::Better), count(Verdict::Worse));
    Some(Across {
        arm,
        median: stats::median(&ratios)?,
        least: (least.0, least.1.median_ratio),
        most: (most.0, most.1.median_ratio),
        better,
        worse,
        others: compared.len() - better - worse,
    })
}
