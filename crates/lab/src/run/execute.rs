//! Runs a plan on several threads; results are stored by position, so neither the number of threads nor the order in which they finish
//! affects them.

use crate::plan::{Plan, RunSpec};
use crate::run::store::{Store, StoreError, Units};
use crate::run::workers::workers;
use crate::run::{Backend, Made, Measured, RunFailure, Wanted};
use core::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// One per run of the plan, in its order; `None` where a run failed.
    pub measured: Vec<Option<Measured>>,
    /// The failed runs by their position in the plan, in its order.
    pub failures: Vec<(usize, RunFailure)>,
    /// Runs that were made now.
    pub made: usize,
    /// Runs whose result was already in the store.
    pub resumed: usize,
    /// Packets of the runs made now.
    pub packets: u64,
    /// Threads that ran them.
    pub jobs: usize,
}

/// Runs everything that `store` does not know yet on up to `jobs` threads; calls `progress` for every run, those found
/// in the store first. Threads take single runs, in the order of the plan; a unit is stored when its last run is done, so that at most as
/// many units are under way as there are threads, and those that wait to be written.
///
/// # Errors
/// If a result cannot be written; runs in progress are then finished and dropped.
pub fn execute(
    plan: &Plan,
    backend: &dyn Backend,
    jobs: usize,
    store: Option<&mut Store>,
    progress: &mut dyn FnMut(&RunSpec),
) -> Result<Finished, StoreError> {
    let mut progress = |run: &RunSpec| {
        progress(run);
        ControlFlow::Continue(())
    };
    execute_until(plan, backend, jobs, store, &mut progress)
}

/// The same until `progress` breaks off: runs in progress are then finished and dropped, and neither those nor the rest have a result or
/// a failure. The units that are complete are in the store; those under way are made again the next time.
///
/// # Errors
/// As [`execute`].
pub fn execute_until(
    plan: &Plan,
    backend: &dyn Backend,
    jobs: usize,
    mut store: Option<&mut Store>,
    progress: &mut dyn FnMut(&RunSpec) -> ControlFlow<()>,
) -> Result<Finished, StoreError> {
    let wanted = store.as_ref().map_or(Wanted::Nothing, |store| store.wanted());
    let mut find = |run: &RunSpec| store.as_mut().and_then(|store| store.find(run));
    let found: Vec<Option<Measured>> = plan.runs.iter().map(&mut find).collect();
    let open: Vec<usize> = (0..found.len()).filter(|index| found[*index].is_none()).collect();
    let resumed = found.len() - open.len();
    let known = plan.runs.iter().zip(&found).filter(|(_, known)| known.is_some()).map(|(run, _)| run);
    let broken_off = known.map(&mut *progress).any(|flow| flow.is_break());
    let jobs = jobs.clamp(1, open.len().max(1));
    let mut finished = Finished { measured: found, resumed, jobs, ..Finished::default() };
    if broken_off {
        return Ok(finished);
    }

    let mut keeper = store.map(|store| (store, Units::of(plan, &open)));
    let make = |at: usize| guarded(backend, &plan.runs[open[at]], wanted);
    let outcome = workers(open.len(), jobs, make, |at, result| {
        match note(plan, open[at], result, keeper.as_mut(), &mut finished) {
            Ok(()) => progress(&plan.runs[open[at]]).map_break(Ok),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    });
    outcome.break_value().unwrap_or(Ok(()))?;
    finished.failures.sort_by_key(|(index, _)| *index);
    Ok(finished)
}

/// Returns what a store knows of a plan's runs, without making any; those that are not there are `None`.
pub fn kept(plan: &Plan, store: &mut Store) -> Finished {
    let measured: Vec<Option<Measured>> = plan.runs.iter().map(|run| store.find(run)).collect();
    Finished { resumed: measured.iter().flatten().count(), measured, ..Finished::default() }
}

/// Adds what came of a run, and writes its unit if that was the last one.
fn note(
    plan: &Plan,
    index: usize,
    result: Result<Made, RunFailure>,
    keeper: Option<&mut (&mut Store, Units)>,
    finished: &mut Finished,
) -> Result<(), StoreError> {
    finished.made += 1;
    let made = match result {
        Ok(made) => {
            finished.packets += made.measured.packets;
            finished.measured[index] = Some(made.measured);
            Some(made)
        }
        Err(failure) => {
            finished.failures.push((index, failure));
            None
        }
    };
    match keeper.and_then(|(store, units)| Some((store, units.done(index, made)?))) {
        Some((store, unit)) => store.write(plan, &unit),
        None => Ok(()),
    }
}

pub(crate) fn guarded(backend: &dyn Backend, run: &RunSpec, wanted: Wanted) -> Result<Made, RunFailure> {
    caught(run, || backend.run_in_parts(run, wanted))
}

/// Makes a run, where a panic becomes the run's failure: it has a seed and can be replayed like any other. What unwinds with a
/// [`RunFailure`], as a program's own congestion control does that cannot go on, ends the run with that.
///
/// # Errors
/// As what makes it.
pub fn caught<T>(run: &RunSpec, make: impl FnOnce() -> Result<T, RunFailure>) -> Result<T, RunFailure> {
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        let panic = match panic.downcast::<RunFailure>() {
            Ok(failure) => return Err(*failure),
            Err(panic) => panic,
        };
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(RunFailure(format!("Panicked, seed {}: {}", run.seed, text.unwrap_or("no message"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{MockBackend, SimBackend};
    use crate::spec;
    use crate::spec::Overrides;

    fn plan(set: &[&str]) -> Plan {
        let mut experiment = spec::builtin("reorder").unwrap();
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        let arms = ["server-2016", "server-2022", "longhaul"].map(str::to_owned).to_vec();
        experiment.apply(&Overrides { set, arms, iterations: Some(2), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    fn run(plan: &Plan, backend: &dyn Backend, jobs: usize, store: Option<&mut Store>) -> (Finished, usize) {
        let mut progress = 0;
        let finished = execute(plan, backend, jobs, store, &mut |_| progress += 1).unwrap();
        (finished, progress)
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let plan = plan(&["path.rtt=25ms", "flow.bytes=100kB,200kB"]);
        let (one, progress) = run(&plan, &SimBackend, 1, None);
        let (three, _) = run(&plan, &SimBackend, 3, None);
        assert_eq!(one.measured, three.measured);
        assert_eq!((progress, one.made, one.resumed, one.jobs, three.jobs), (12, 12, 0, 1, 3));
        assert!(one.failures.is_empty() && one.packets == three.packets);
    }

    #[test]
    fn failures_are_collected_in_order_and_do_not_stop_the_rest() {
        let plan = plan(&["path.rtt=25ms", "flow.bytes=13B,1kB"]);
        let (finished, _) = run(&plan, &MockBackend, 2, None);
        let failed: Vec<usize> = finished.failures.iter().map(|(index, _)| *index).collect();
        assert_eq!(failed, [0, 1, 2, 3, 4, 5]);
        assert!(finished.measured[6..].iter().all(Option::is_some));
    }

    #[test]
    fn a_sweep_that_is_broken_off_keeps_what_is_done_and_makes_nothing_more() {
        let plan = plan(&["path.rtt=25ms", "flow.bytes=1kB,2kB,3kB"]);
        let mut left = 5;
        let mut progress = |_: &RunSpec| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let finished = execute_until(&plan, &MockBackend, 1, None, &mut progress).unwrap();
        assert_eq!((finished.made, finished.failures.len()), (5, 0));
        assert!(
            finished.measured[..5].iter().all(Option::is_some) && finished.measured[5..].iter().all(Option::is_none)
        );
        let whole = run(&plan, &MockBackend, 1, None).0;
        assert_eq!(finished.measured[..5], whole.measured[..5]);
    }

    struct Panics;
    impl Backend for Panics {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            assert!(run.iteration != 2, "on purpose");
            MockBackend.run(run)
        }
    }

    #[test]
    fn a_panic_is_the_failure_of_its_run() {
        let plan = plan(&["path.rtt=25ms", "flow.bytes=1kB"]);
        let (finished, _) = run(&plan, &Panics, 2, None);
        assert_eq!(finished.failures.len(), 3);
        let seed = plan.runs[3].seed;
        assert_eq!(finished.failures[0].1.to_string(), format!("Panicked, seed {seed}: on purpose"));
    }

    #[test]
    fn a_second_invocation_makes_only_what_is_missing_and_gives_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let small = plan(&["path.rtt=25ms", "flow.bytes=1kB"]);
        let large = plan(&["path.rtt=25ms", "flow.bytes=1kB,2kB"]);
        let (first, _) = run(&small, &MockBackend, 2, Some(&mut Store::open(directory.path()).unwrap()));
        assert_eq!((first.made, first.resumed), (6, 0));
        let (second, progress) = run(&large, &MockBackend, 2, Some(&mut Store::open(directory.path()).unwrap()));
        assert_eq!((second.made, second.resumed, progress), (6, 6, 12));
        assert_eq!(second.measured, run(&large, &MockBackend, 1, None).0.measured);
    }
}
