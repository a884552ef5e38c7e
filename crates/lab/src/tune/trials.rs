//! The runs of settings: each one made once, on equal seeds, or found in a store.

use crate::plan::RunSpec;
use crate::run::{Backend, Measured, Store, StoreError, execute};
use crate::tune::ground::Ground;
use crate::tune::setting::Setting;
use profiles::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes runs.
pub struct Maker<'a> {
    /// Makes one.
    pub backend: &'a dyn Backend,
    /// Threads.
    pub jobs: usize,
    /// Keeps them.
    pub store: Option<&'a mut Store>,
    /// Called with the number of runs that begin.
    pub begins: &'a mut dyn FnMut(usize),
    /// Called for each that is done.
    pub done: &'a mut dyn FnMut(&RunSpec),
}

/// Results by cell and iteration; `None` where a run failed.
pub type Cells = Vec<Vec<Option<Measured>>>;

/// A profile with a setting, by names.
type Key = (String, Setting);

/// Runs of settings over a ground.
pub struct Trials<'g, 'm> {
    /// Where.
    pub ground: &'g Ground,
    maker: Maker<'m>,
    known: BTreeMap<Key, Cells>,
    /// Runs that all settings so far took, those found in the store among them.
    pub runs: usize,
    /// The first failure, in a sentence.
    pub failure: Option<String>,
}

impl<'g, 'm> Trials<'g, 'm> {
    /// None yet.
    pub fn new(ground: &'g Ground, maker: Maker<'m>) -> Self {
        Self { ground, maker, known: BTreeMap::new(), runs: 0, failure: None }
    }

    /// Makes what is missing of these arms' runs.
    ///
    /// # Errors
    /// When a result cannot be written.
    ///
    /// # Panics
    /// If a profile refuses a setting; see [`Setting::refused_by`].
    pub fn make(&mut self, arms: &[(Arc<Profile>, Setting)]) -> Result<(), StoreError> {
        let mut new: Vec<(Arc<Profile>, Setting)> = Vec::new();
        for arm in arms {
            if !self.known.contains_key(&key(arm)) && !new.iter().any(|other| key(other) == key(arm)) {
                new.push(arm.clone());
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let runs = new.len() * self.ground.runs();
        self.runs += runs;
        (self.maker.begins)(runs);
        let mut found: Vec<Cells> = vec![Vec::new(); new.len()];
        for plan in self.ground.plans(&new).expect("settings were checked") {
            let store = self.maker.store.as_deref_mut();
            let finished = execute(&plan, self.maker.backend, self.maker.jobs, store, &mut *self.maker.done)?;
            let first = found[0].len();
            found.iter_mut().for_each(|cells| cells.resize(first + plan.cells.len(), Vec::new()));
            for (run, measured) in plan.runs.iter().zip(&finished.measured) {
                found[run.arm][first + run.cell].push(*measured);
            }
            if let (None, Some((index, failure))) = (&self.failure, finished.failures.first()) {
                let run = &plan.runs[*index];
                let title = plan.cells[run.cell].title();
                let name = plan.name_of(run);
                self.failure =
                    Some(format!("run {name} of {} ({title}, seed {}): {failure}", plan.experiment.name, run.seed));
            }
        }
        self.known.extend(new.iter().map(key).zip(found));
        Ok(())
    }

    /// Returns what makes runs, for other trials.
    pub(crate) fn into_maker(self) -> Maker<'m> {
        self.maker
    }

    /// The runs of an arm, by the cells of the ground.
    ///
    /// # Panics
    /// If they were not made.
    pub fn of(&self, profile: &Profile, setting: &Setting) -> &Cells {
        &self.known[&(profile.name.clone(), setting.clone())]
    }
}

fn key((profile, setting): &(Arc<Profile>, Setting)) -> Key {
    (profile.name.clone(), setting.clone())
}
