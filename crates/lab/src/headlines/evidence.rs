//! The runs of studies: made once, however many claims use them, and resampled for intervals.

use super::quantity::Quantity;
use super::study::{Study, Watch};
use crate::plan::{Plan, RunSpec};
use crate::results::stats::bootstrap;
use crate::run::{Backend, Measured, Store, StoreError, execute};
use crate::spec::UsageError;
use base::Rng;
use std::collections::BTreeMap;

/// The runs of a study.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The runs to make.
    pub plan: Plan,
    /// By cell, arm and iteration; `None` where a run failed.
    measured: Vec<Vec<Vec<Option<Measured>>>>,
    /// Errors, one sentence per failed run.
    pub failures: Vec<String>,
    /// Packets of the runs made now.
    pub packets: u64,
}

/// What makes runs.
#[derive(Clone, Copy)]
pub struct Backends<'a> {
    /// For runs whose counters suffice.
    pub plain: &'a dyn Backend,
    /// For runs that are observed for SACKs that report nothing new.
    pub watching: &'a dyn Backend,
}

/// Studies by name.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    runs: BTreeMap<&'static str, Runs>,
}

/// Runs of a study, seed by seed: each one once, or drawn with replacement.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    /// The study's.
    pub runs: &'a Runs,
    /// Iterations by cell, counted from zero. Arms of a cell keep their pairs.
    iterations: Vec<Vec<usize>>,
}

impl Evidence {
    /// Makes the runs of one study and keeps them.
    ///
    /// # Errors
    /// When results cannot be written.
    pub fn make(
        &mut self,
        study: &Study,
        plan: Plan,
        backends: Backends<'_>,
        jobs: usize,
        store: Option<&mut Store>,
        progress: &mut dyn FnMut(&RunSpec),
    ) -> Result<(), StoreError> {
        let backend = match study.watch {
            Watch::Nothing => backends.plain,
            Watch::StaleSacks => backends.watching,
        };
        let finished = execute(&plan, backend, jobs, store, progress)?;
        let iterations = plan.experiment.iterations as usize;
        let mut measured = vec![vec![vec![None; iterations]; plan.arms.len()]; plan.cells.len()];
        for (run, found) in plan.runs.iter().zip(&finished.measured) {
            measured[run.cell][run.arm][run.iteration as usize - 1] = *found;
        }
        let failures = finished.failures.iter().map(|(index, failure)| {
            let run = &plan.runs[*index];
            format!("run {} of {}, seed {}: {failure}", plan.name_of(run), study.name, run.seed)
        });
        let failures = failures.collect();
        self.runs.insert(study.name, Runs { plan, measured, failures, packets: finished.packets });
        Ok(())
    }

    /// The runs of a study, if they were made.
    pub fn of(&self, study: &Study) -> Option<&Runs> {
        self.runs.get(study.name)
    }

    /// All of them, by the name of their study.
    pub fn all(&self) -> impl Iterator<Item = &Runs> {
        self.runs.values()
    }
}

impl Runs {
    /// The runs of a plan, none of which has a result.
    pub(super) fn without_results(plan: Plan) -> Self {
        let none = vec![vec![None; plan.experiment.iterations as usize]; plan.arms.len()];
        Self { measured: vec![none; plan.cells.len()], plan, failures: Vec::new(), packets: 0 }
    }

    /// Sets the results of an arm, by cell and iteration; one result of a cell stands for all iterations.
    pub(super) fn put(&mut self, arm: usize, results: &[Vec<Option<Measured>>]) {
        for (cell, results) in self.measured.iter_mut().zip(results) {
            for (at, known) in cell[arm].iter_mut().enumerate() {
                *known = results.get(at).or(results.first()).copied().flatten();
            }
        }
    }

    /// Every seed once.
    pub fn once(&self) -> Draw<'_> {
        let all: Vec<usize> = (0..self.plan.experiment.iterations as usize).collect();
        Draw { runs: self, iterations: vec![all; self.plan.cells.len()] }
    }

    /// Seeds drawn again; `None` when there are too few of them.
    pub fn again(&self, rng: &mut Rng) -> Option<Draw<'_>> {
        let seeds = self.plan.experiment.iterations as usize;
        let draw = || self.plan.cells.iter().map(|_| bootstrap::resample(seeds, rng)).collect();
        (seeds >= bootstrap::MIN_SEEDS).then(draw).map(|iterations| Draw { runs: self, iterations })
    }

    /// Returns the cells whose sweep has all of these settings; a value with bars matches any of its alternatives.
    pub(super) fn cells_with(&self, settings: &[&str]) -> Vec<usize> {
        let has = |cell: usize, setting: &str| {
            let (wanted, values) = setting.split_once('=').expect("a setting is KEY=VALUE");
            let swept = &self.plan.cells[cell].swept;
            swept.iter().any(|(key, value)| key == wanted && values.split('|').any(|wanted| wanted == value))
        };
        (0..self.plan.cells.len()).filter(|cell| settings.iter().all(|setting| has(*cell, setting))).collect()
    }

    /// The cell that differs from this one in having `without` in place of `with`.
    pub(super) fn sibling(&self, cell: usize, with: &str, without: &str) -> Option<usize> {
        let settings = |cell: usize| {
            let swept = self.plan.cells[cell].swept.iter();
            swept.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
        };
        let wanted: Vec<String> =
            settings(cell).into_iter().map(|has| if has == with { without.to_owned() } else { has }).collect();
        (0..self.plan.cells.len()).find(|other| *other != cell && settings(*other) == wanted)
    }
}

impl Draw<'_> {
    /// Which runs were drawn, by cell, counted from zero.
    pub fn iterations(&self) -> &[Vec<usize>] {
        &self.iterations
    }

    /// Returns a number of every drawn run of an arm in these cells; `None` if one is missing or cannot provide it.
    pub(super) fn values(&self, arm: &str, of: Quantity, cells: &[usize]) -> Option<Vec<f64>> {
        let plan = &self.runs.plan;
        let arm = plan.arms.iter().position(|known| known.label == arm)?;
        let drawn = cells.iter().flat_map(|cell| {
            let point = &plan.cells[*cell].point;
            let runs = &self.runs.measured[*cell][arm];
            self.iterations[*cell].iter().map(move |iteration| of(runs[*iteration].as_ref()?, point))
        });
        drawn.collect()
    }
}

/// The plans of studies, each once, in their order.
///
/// # Errors
/// As [`Study::plan`].
pub fn plans(studies: &[&'static Study]) -> Result<Vec<(&'static Study, Plan)>, UsageError> {
    let mut found: Vec<(&'static Study, Plan)> = Vec::new();
    for study in studies {
        if !found.iter().any(|(known, _)| known.name == study.name) {
            found.push((study, study.plan()?));
        }
    }
    Ok(found)
}
