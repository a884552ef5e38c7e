//! What a comparison says, in sentences. All numbers are those of the rows, or of the terminal's summary of them.

use super::subject::Comparison;
use lab::results::stats::MARGIN;
use lab::results::{Across, Versus, across, ratio, together};
use lab::spec::Primary;
use std::cmp::Ordering;

/// Cells in which an arm is better, worse, and neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    better: usize,
    worse: usize,
    neither: usize,
}

impl Counts {
    /// Where nothing varies, the ratio itself says it.
    fn of(comparison: &Comparison<'_>, arm: usize) -> Self {
        let Comparison { plan, rows, .. } = comparison;
        let own = rows.iter().skip(arm).step_by(plan.arms.len());
        let says: Vec<Ordering> = own.filter_map(|row| Some(order(plan.primary, row.vs_reference.as_ref()?))).collect();
        let count = |wanted: Ordering| says.iter().filter(|order| **order == wanted).count();
        Self { better: count(Ordering::Greater), worse: count(Ordering::Less), neither: count(Ordering::Equal) }
    }

    fn all(self) -> usize {
        self.better + self.worse + self.neither
    }
}

fn order(primary: Primary, versus: &Versus) -> Ordering {
    let more = if primary.less_is_better { Ordering::Less } else { Ordering::Greater };
    match versus.verdict {
        "better" => Ordering::Greater,
        "worse" => Ordering::Less,
        "deterministic" if versus.median_ratio > 1.0 + MARGIN => more,
        "deterministic" if versus.median_ratio < 1.0 - MARGIN => more.reverse(),
        _ => Ordering::Equal,
    }
}

/// What an arm says beside the reference; `None` for the reference, and where nothing was compared.
pub(super) fn of_arm(comparison: &Comparison<'_>, arm: usize) -> Option<String> {
    let found = across(comparison.plan, comparison.rows).into_iter().find(|found| found.arm == arm)?;
    Some(sentence(comparison, &found))
}

fn sentence(comparison: &Comparison<'_>, found: &Across) -> String {
    let plan = comparison.plan;
    let (label, reference) = (&plan.arms[found.arm].label, &plan.arms[0].label);
    let [better, worse] = words(comparison);
    let counts = Counts::of(comparison, found.arm);
    if counts.all() == 1 {
        return of_one_cell(comparison, found);
    }
    let mut parts = Vec::new();
    for (count, word) in [(counts.better, better), (counts.worse, worse)] {
        if count > 0 {
            parts.push(format!("{word} in {}", of(count, counts.all())));
        }
    }
    if counts.neither > 0 {
        parts.push(format!("neither in {}", of(counts.neither, counts.all())));
    }
    let place = |(cell, least): (usize, f64)| format!("{} ({})", times(least), plan.cells[cell].values());
    format!(
        "{label} beside {reference}: {}. Its {} is {} the reference's in the median of the cells, from {} to {}.",
        parts.join(", "),
        plan.primary.name,
        times(found.median),
        place(found.least),
        place(found.most),
    )
}

/// The same of a single comparison, which has an interval.
fn of_one_cell(comparison: &Comparison<'_>, found: &Across) -> String {
    let plan = comparison.plan;
    let (label, reference) = (&plan.arms[found.arm].label, &plan.arms[0].label);
    let [better, worse] = words(comparison);
    let row = &comparison.rows[found.least.0 * plan.arms.len() + found.arm];
    let Some(versus) = &row.vs_reference else { return String::new() };
    let interval = versus.lo.zip(versus.hi);
    let interval = interval.map_or(String::new(), |(lo, hi)| format!(", between {} and {}", ratio(lo), ratio(hi)));
    let says = match versus.verdict {
        "better" => format!("is {better} than {reference}"),
        "worse" => format!("is {worse} than {reference}"),
        "equivalent" => format!("does as {reference} does"),
        "deterministic" => format!("differs from {reference} in the same way in every run"),
        _ => format!("may or may not differ from {reference}"),
    };
    format!(
        "{label} {says}: its {} is {}{interval}, of the reference's.",
        plan.primary.name,
        times(versus.median_ratio)
    )
}

/// What the whole comparison says: who is ahead, and how many comparisons hold together.
pub(super) fn of_all(comparison: &Comparison<'_>) -> String {
    let Comparison { plan, rows, .. } = comparison;
    let Some(reference) = plan.arms.first().filter(|_| plan.arms.len() > 1) else {
        return "One arm alone: there is nothing to compare.".to_owned();
    };
    let [better, worse] = words(comparison);
    let lead = match ahead(comparison) {
        Some((first, counts)) => format!(
            "{} is ahead: {better} than {} in {}, {} in the median of the cells.",
            plan.arms[first.arm].label,
            reference.label,
            of(counts.better, counts.all()),
            times(first.median),
        ),
        None => format!("No arm is {better} than {} in more cells than it is {worse}.", reference.label),
    };
    let Some(all) = together(plan, rows) else { return lead };
    let (comparisons, differ) = (all.comparisons, all.differ);
    let needs =
        all.needs.map_or(String::new(), |runs| format!("; to show any, such a table takes {runs} runs of each arm"));
    format!("{lead} Of {comparisons} comparisons together, {differ} differ from the reference (Holm, 5 %){needs}.")
}

/// The arm with the best median of those that are better than the reference more often than worse.
fn ahead(comparison: &Comparison<'_>) -> Option<(Across, Counts)> {
    let Comparison { plan, rows, .. } = comparison;
    let gain = |arm: &Across| if plan.primary.less_is_better { -arm.median } else { arm.median };
    let each = across(plan, rows).into_iter().map(|arm| {
        let counts = Counts::of(comparison, arm.arm);
        (arm, counts)
    });
    let candidates = each.filter(|(_, counts)| counts.better > counts.worse);
    candidates.max_by(|(one, _), (other, _)| gain(one).total_cmp(&gain(other)).then(other.arm.cmp(&one.arm)))
}

/// Better and worse, as one says of what is compared.
fn words(comparison: &Comparison<'_>) -> [&'static str; 2] {
    let speed = comparison.plan.primary == Primary::default() && !comparison.plan.experiment.has_company();
    if speed { ["faster", "slower"] } else { ["better", "worse"] }
}

fn of(count: usize, all: usize) -> String {
    let cells = if all == 1 { "cell" } else { "cells" };
    if count == all { format!("all {all} {cells}") } else { format!("{count} of {all} {cells}") }
}

fn times(value: f64) -> String {
    format!("{} ×", ratio(value))
}
