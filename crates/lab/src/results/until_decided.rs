//! Adds runs until every cell is decided or has had its most.
//!
//! A cell's arms always have equally many runs: it is decided when the interval of each arm says better, worse or equivalent.
//! These intervals hold at every look (`stats/anytime.rs`), so stopping on them keeps the error.

use crate::plan::Plan;
use crate::results::rows::{Row, rows};
use crate::results::stats::Verdict;
use crate::run::Finished;
use core::ops::RangeInclusive;

/// Between two looks a cell gets at least this many more runs of each arm, and at least the eighth part of those it has: looking
/// more often would leave processors idle.
const STEP: u32 = 2;

/// Makes the plan's runs, then adds more to open cells, up to `most` of each arm. The plan gets the runs that were added.
///
/// # Errors
/// When `make` fails.
pub fn until_decided<E>(
    plan: &mut Plan,
    most: u32,
    make: &mut dyn FnMut(&Plan) -> Result<Finished, E>,
) -> Result<Finished, E> {
    plan.until_decided = true;
    let mut finished = make(plan)?;
    let mut made = vec![plan.experiment.iterations; plan.cells.len()];
    loop {
        let open = open_cells(plan, &finished);
        let more: Vec<(usize, RangeInclusive<u32>)> = open
            .into_iter()
            .filter(|cell| made[*cell] < most)
            .map(|cell| (cell, made[cell] + 1..=(made[cell] + (made[cell] / 8).max(STEP)).min(most)))
            .collect();
        if more.is_empty() {
            return Ok(finished);
        }
        more.iter().for_each(|(cell, iterations)| made[*cell] = *iterations.end());
        let added = plan.more(&more);
        let results = make(&added)?;
        finished = merged(plan, finished, added, results);
    }
}

/// Returns the cells in which some arm is undecided; not those where runs failed, since more runs repair nothing.
fn open_cells(plan: &Plan, finished: &Finished) -> Vec<usize> {
    let open = |row: &Row| row.vs_reference.as_ref().is_some_and(|versus| versus.verdict == Verdict::Undecided.word());
    let rows = rows(plan, finished);
    let cells = rows.chunks(plan.arms.len()).enumerate().filter(|(_, arms)| arms.iter().any(open));
    let failed = |cell: usize| finished.failures.iter().any(|(index, _)| plan.runs[*index].cell == cell);
    cells.map(|(cell, _)| cell).filter(|cell| !failed(*cell)).collect()
}

/// Puts further runs and their results in the places where a wider plan would have them.
fn merged(plan: &mut Plan, before: Finished, added: Plan, later: Finished) -> Finished {
    let first = plan.runs.len();
    plan.runs.extend(added.runs);
    let measured: Vec<_> = before.measured.into_iter().chain(later.measured).collect();
    let mut order: Vec<usize> = (0..plan.runs.len()).collect();
    order.sort_by_key(|at| (plan.runs[*at].cell, plan.runs[*at].iteration, plan.runs[*at].arm));
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(now, before)| place[*before] = now);
    let moved = |(index, failure), offset: usize| (place[index + offset], failure);
    let mut failures: Vec<_> = before.failures.into_iter().map(|failed| moved(failed, 0)).collect();
    failures.extend(later.failures.into_iter().map(|failed| moved(failed, first)));
    failures.sort_by_key(|(index, _)| *index);
    plan.runs = order.iter().map(|at| plan.runs[*at].clone()).collect();
    Finished {
        measured: order.iter().map(|at| measured[*at]).collect(),
        failures,
        made: before.made + later.made,
        resumed: before.resumed + later.resumed,
        packets: before.packets + later.packets,
        jobs: before.jobs.max(later.jobs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RunSpec;
    use crate::run::{Backend, Measured, RunFailure, execute};
    use crate::spec::{self, Flow, Overrides};
    use base::{Duration, Rng};
    use core::convert::Infallible;

    /// Takes 100 ms with a spread of ten per cent; the second arm takes half as long for a kilobyte.
    struct Noisy;
    impl Backend for Noisy {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            let mut rng = Rng::new(run.seed).fork(&run.arm.to_string());
            let faster = if run.arm == 1 && run.point.flow == Flow::Bytes(1_000) { 2 } else { 1 };
            let elapsed = (95_000 + rng.below(10_000)) / faster;
            if run.cell == 2 && run.iteration == 3 {
                return Err(RunFailure("on purpose".to_owned()));
            }
            Ok(Measured::of_transfer(1_000_000, Duration::from_micros(elapsed)))
        }
    }

    fn plan(cells: &str) -> Plan {
        let mut experiment = spec::builtin("reorder").unwrap();
        let set = ["path.rtt=25ms".to_owned(), format!("flow.bytes={cells}")].to_vec();
        let arms = ["server-2016", "server-2022"].map(str::to_owned).to_vec();
        experiment.apply(&Overrides { set, arms, iterations: Some(4), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    fn made(plan: &mut Plan, most: u32) -> Finished {
        let mut make = |plan: &Plan| Ok::<_, Infallible>(execute(plan, &Noisy, 2, None, &mut |_| {}).unwrap());
        until_decided(plan, most, &mut make).unwrap()
    }

    #[test]
    fn a_clear_difference_stops_early_and_none_goes_on_to_the_most() {
        let mut plan = plan("1kB,2kB");
        let finished = made(&mut plan, 60);
        let rows = rows(&plan, &finished);
        let runs: Vec<usize> = rows.iter().map(|row| row.runs).collect();
        assert!(runs[0] == runs[1] && runs[1] < 16, "{runs:?}");
        assert!(runs[2] == 60 && runs[3] == 60, "{runs:?}");
        let verdicts: Vec<&str> = rows.iter().filter_map(|row| Some(row.vs_reference.as_ref()?.verdict)).collect();
        assert_eq!(verdicts, ["better", "undecided"]);
        assert_eq!(finished.made, plan.runs.len());
    }

    #[test]
    fn runs_that_were_added_are_those_of_a_wider_plan() {
        let mut narrow = plan("2kB");
        let finished = made(&mut narrow, 20);
        let mut wide = plan("2kB");
        wide.experiment.iterations = 20;
        let wide = Plan::new(wide.experiment).unwrap();
        let named =
            |plan: &Plan| plan.runs.iter().map(|run| (run.cell, run.iteration, run.arm, run.seed)).collect::<Vec<_>>();
        assert_eq!(named(&narrow), named(&wide));
        assert_eq!(finished.measured, execute(&wide, &Noisy, 1, None, &mut |_| {}).unwrap().measured);
    }

    #[test]
    fn a_cell_with_a_failure_gets_no_further_runs_and_keeps_its_place() {
        let mut plan = plan("1kB,2kB,3kB");
        let finished = made(&mut plan, 12);
        let failed: Vec<(usize, u32)> =
            finished.failures.iter().map(|(at, _)| (plan.runs[*at].cell, plan.runs[*at].iteration)).collect();
        assert_eq!(failed, [(2, 3), (2, 3)]);
        assert_eq!(plan.runs.iter().filter(|run| run.cell == 2).count(), 8);
    }
}
