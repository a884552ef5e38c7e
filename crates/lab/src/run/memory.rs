//! Runs whose flows and series stay in memory, for tables that no folder keeps.

use crate::plan::RunSpec;
use crate::run::{Backend, Made, Measured, RunFailure, Wanted};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Where a run stands in its plan: cell, arm, iteration.
type Place = (usize, usize, u32);

/// A backend that makes each run of one plan once, with another, and remembers it.
#[derive(Debug)]
pub struct Memory<B> {
    backend: B,
    wanted: Wanted,
    made: Mutex<HashMap<Place, Made>>,
}

impl<B: Backend> Memory<B> {
    /// Nothing yet; of runs that `backend` makes, `wanted` parts stay.
    pub fn new(backend: B, wanted: Wanted) -> Self {
        Self { backend, wanted, made: Mutex::default() }
    }

    /// Returns a run as it was made; `None` if it was not.
    pub fn find(&self, run: &RunSpec) -> Option<Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&place(run)).cloned()
    }
}

fn place(run: &RunSpec) -> Place {
    (run.cell, run.arm, run.iteration)
}

impl<B: Backend> Backend for Memory<B> {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        self.run_in_parts(run, self.wanted).map(|made| made.measured)
    }

    fn run_in_parts(&self, run: &RunSpec, _: Wanted) -> Result<Made, RunFailure> {
        if let Some(made) = self.find(run) {
            return Ok(made);
        }
        let made = self.backend.run_in_parts(run, self.wanted)?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(place(run), made.clone());
        Ok(made)
    }
}
