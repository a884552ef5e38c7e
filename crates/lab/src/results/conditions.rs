//! Checks whether an experiment's results meet the conditions in its file.

use crate::plan::Plan;
use crate::results::rows::Row;
use crate::spec::{Expectation, GOODPUT};

/// The outcome of the conditions in the experiment's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Those that do not hold: which cell, counted from zero, and what is wrong.
    pub unmet: Vec<(usize, String)>,
    /// Conditions that were not checked, and why: one sentence for all, or one for each.
    pub unchecked: Vec<String>,
}

/// Checks the conditions, unless they were written for another experiment than the one made.
pub fn conditions(plan: &Plan, rows: &[Row]) -> Conditions {
    if plan.experiment.expect.is_empty() {
        return Conditions::default();
    }
    if let Some(why) = other_experiment(plan) {
        return Conditions { unchecked: vec![format!("[expect] is not checked: {why}")], ..Conditions::default() };
    }
    let takes_part = |arm: &str| plan.arms.iter().any(|known| known.label == arm);
    let absent = |condition: &Expectation| {
        let arm = condition.arms().find(|arm| !takes_part(arm))?;
        Some(format!("`{}` is not checked: arm `{arm}` takes no part", condition.text))
    };
    Conditions { unmet: unmet(plan, rows), unchecked: plan.experiment.expect.iter().filter_map(absent).collect() }
}

/// Returns why the file's conditions do not apply to these runs.
fn other_experiment(plan: &Plan) -> Option<String> {
    let experiment = &plan.experiment;
    if !experiment.changed.is_empty() {
        return Some(format!("it speaks of the experiment without `--set {}`", experiment.changed.join(" ")));
    }
    let (own, made) = (experiment.expected_of, experiment.iterations);
    let fewer = made < own && (0..plan.cells.len()).any(|cell| !plan.is_once(cell));
    fewer.then(|| format!("it speaks of {own} runs per arm and cell, and these are {made}"))
}

/// Returns the conditions that do not hold: the cell, counted from zero, and what is wrong.
pub fn unmet(plan: &Plan, rows: &[Row]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (cell, rows) in rows.chunks(plan.arms.len()).enumerate() {
        let rows: Vec<&Row> = rows.iter().collect();
        let complaints = plan.experiment.expect.iter().filter_map(|condition| complaint(condition, &rows));
        found.extend(complaints.map(|complaint| (cell, complaint)));
    }
    found
}

/// Returns what is wrong with the rows of one cell; `None` if nothing is, or if an arm does not take part.
///
/// A ratio of goodputs is the paired one, seed by seed.
fn complaint(condition: &Expectation, rows: &[&Row]) -> Option<String> {
    let row = |arm: &str| rows.iter().copied().find(|row| row.arm == arm);
    if condition.arms().any(|arm| row(arm).is_none()) {
        return None;
    }
    let found = match &condition.divided_by {
        None => row(&condition.value.arm)?.metric(condition.value.metric),
        Some(divisor) if condition.value.metric == GOODPUT && divisor.metric == GOODPUT => {
            row(&condition.value.arm)?.goodput_ratio_to(row(&divisor.arm)?)
        }
        Some(divisor) => {
            let (a, b) =
                (row(&condition.value.arm)?.metric(condition.value.metric), row(&divisor.arm)?.metric(divisor.metric));
            a.zip(b).filter(|(_, b)| *b != 0.0).map(|(a, b)| a / b)
        }
    };
    let Some(found) = found else { return Some(format!("`{}` has no value here", condition.text)) };
    let too_small = condition.at_least.filter(|bound| found < *bound).map(|bound| format!("at least {bound}"));
    let too_large = condition.at_most.filter(|bound| found > *bound).map(|bound| format!("at most {bound}"));
    let bound = too_small.or(too_large)?;
    Some(format!("`{}` is {found:.3}, {bound} was expected", condition.text))
}
