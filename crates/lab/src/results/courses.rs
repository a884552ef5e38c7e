//! What arms get beside others second by second, in the run with their median goodput: it is made again, under an observer.

use crate::plan::{Plan, RunSpec};
use crate::results::rounded::rounded;
use crate::results::rows::Row;
use crate::run::{Backend, Made, SimBackend, Wanted, guarded, workers};
use core::ops::ControlFlow;
use std::collections::{BTreeMap, BTreeSet};

/// From this many runs of each arm on, one more takes little of the time.
const MANY_RUNS: usize = 10;
/// Up to this many rows, one more run of each takes little time anyway.
const FEW_ROWS: usize = 12;
/// The series that says what arrived.
const ARRIVED: &str = "acked_bytes";

/// An arm's share in a cell, second by second.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Which cell of the plan.
    pub cell: usize,
    /// Which arm of the plan.
    pub arm: usize,
    /// Which run of the arm in the cell.
    pub iteration: u32,
    /// Bytes acknowledged of the arm's flows, of all that were acknowledged in that second in their direction, in per cent; `None` where
    /// there were none.
    pub share_pct: Vec<Option<f64>>,
}

/// Returns the courses of rows with several flows, on up to `jobs` threads; none if the simulator did not make the runs, or if they
/// would take a noticeable part of the time. A row whose run fails now has none.
pub fn courses(plan: &Plan, rows: &[Row], jobs: usize) -> Vec<Course> {
    courses_by(&SimBackend, plan, rows, jobs)
}

fn courses_by(backend: &dyn Backend, plan: &Plan, rows: &[Row], jobs: usize) -> Vec<Course> {
    let chosen: Vec<&RunSpec> = match &plan.made_by {
        None => (0..rows.len()).filter_map(|at| chosen(plan, rows, at)).collect(),
        Some(_) => Vec::new(),
    };
    let make = |at: usize| guarded(backend, chosen[at], Wanted::Series).map(|made| course(chosen[at], &made));
    let mut found: Vec<Course> = Vec::new();
    let _ = workers(chosen.len(), jobs, make, |_, made| {
        found.extend(made);
        ControlFlow::<()>::Continue(())
    });
    found.sort_by_key(|course| (course.cell, course.arm));
    found
}

/// Returns the run to make again for a row.
fn chosen<'p>(plan: &'p Plan, rows: &[Row], at: usize) -> Option<&'p RunSpec> {
    let row = &rows[at];
    row.metrics.share_pct?;
    if row.runs < MANY_RUNS && rows.len() > FEW_ROWS {
        return None;
    }
    let (cell, arm) = (at / plan.arms.len(), at % plan.arms.len());
    let iteration = row.median_run.as_ref()?.iteration;
    plan.run(cell, arm, iteration)
}

fn course(run: &RunSpec, made: &Made) -> Course {
    let there = made.flows.iter().filter(|flow| !flow.result.back);
    let there: BTreeMap<u32, bool> = there.map(|flow| (flow.result.flow, flow.result.of_arm)).collect();
    let own: BTreeSet<u32> = there.iter().filter(|(_, of_arm)| **of_arm).map(|(flow, _)| *flow).collect();
    let mut seconds: Vec<(u64, u64)> = Vec::new();
    for value in made.series.iter().filter(|value| value.name == ARRIVED && there.contains_key(&value.flow)) {
        let second = value.second as usize;
        if seconds.len() <= second {
            seconds.resize(second + 1, (0, 0));
        }
        seconds[second].0 += if own.contains(&value.flow) { value.value } else { 0 };
        seconds[second].1 += value.value;
    }
    let share = |(own, all): (u64, u64)| (all > 0).then(|| rounded(own as f64 * 100.0 / all as f64));
    let (cell, arm, iteration) = (run.cell, run.arm, run.iteration);
    Course { cell, arm, iteration, share_pct: seconds.into_iter().map(share).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::rows;
    use crate::run::{Measured, RunFailure, execute};
    use crate::spec::{self, Overrides};

    fn made(company: &str) -> (Plan, Vec<Row>) {
        let mut experiment = spec::builtin("late-comer").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let company = format!("flow.company={company}");
        let set = texts(&["path.rtt=25ms", "path.rate=10Mbit", "flow.window=2s..6s", &company]);
        let arms = texts(&["rfc", "linux"]);
        experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).unwrap();
        let plan = Plan::new(experiment).unwrap();
        let finished = execute(&plan, &SimBackend, 1, None, &mut |_| {}).unwrap();
        let rows = rows(&plan, &finished);
        (plan, rows)
    }

    #[test]
    fn an_arm_has_everything_until_the_other_comes() {
        let (plan, rows) = made("arm + linux start=3s");
        let found = courses(&plan, &rows, 2);
        assert_eq!(found.iter().map(|course| (course.cell, course.arm)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
        for course in &found {
            let shares: Vec<f64> = course.share_pct.iter().flatten().copied().collect();
            assert!(shares.len() >= 5 && shares[..3].iter().all(|share| *share == 100.0), "{shares:?}");
            assert!(shares[4..].iter().any(|share| *share < 100.0), "{shares:?}");
        }
        assert_eq!(found, courses(&plan, &rows, 1), "for any number of threads");
    }

    /// Panics in runs of the first arm.
    struct Panics;
    impl Backend for Panics {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            SimBackend.run(run)
        }
        fn run_in_parts(&self, run: &RunSpec, wanted: Wanted) -> Result<Made, RunFailure> {
            assert!(run.arm != 0, "on purpose");
            SimBackend.run_in_parts(run, wanted)
        }
    }

    #[test]
    fn a_run_that_panics_costs_no_other_its_course() {
        let (plan, rows) = made("arm + linux");
        let all = courses(&plan, &rows, 1);
        for jobs in [1, 2] {
            assert_eq!(courses_by(&Panics, &plan, &rows, jobs), all[1..]);
        }
    }

    #[test]
    fn real_time_has_none() {
        let (plan, rows) = made("arm + linux");
        assert!(courses(&plan.made_by("somebody".to_owned()), &rows, 1).is_empty());
    }
}
