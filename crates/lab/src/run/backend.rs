//! The backend seam: where runs happen.

use crate::plan::RunSpec;
use crate::run::measured::Measured;
use crate::run::parts::{Made, Wanted};
use core::fmt;

/// Runs runs. Called from several threads at once.
pub trait Backend: Sync {
    /// Runs one to its end.
    ///
    /// # Errors
    /// If a checker finds an error or the flow does not complete.
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure>;

    /// Runs one to its end, and keeps what is wanted of its parts. A backend that does not see them keeps none.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn run_in_parts(&self, spec: &RunSpec, _wanted: Wanted) -> Result<Made, RunFailure> {
        self.run(spec).map(Made::from)
    }
}

/// A run that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFailure(pub String);

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for RunFailure {}
