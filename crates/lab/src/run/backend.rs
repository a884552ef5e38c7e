//! The backend seam: where runs happen.

use crate::plan::RunSpec;
use crate::run::measured::Measured;
use core::fmt;

/// Runs runs. Called from several threads at once.
pub trait Backend: Sync {
    /// Runs one to its end.
    ///
    /// # Errors
    /// If a checker finds an error or the flow does not complete.
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure>;
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
