//! The lab for Python: experiments, their results as Arrow tables, and profiles. The wheel's other half is `python/longhaul`.
//!
//! Nothing is decided here: experiments are read and changed by the lab's own grammar, and refused in its own words; columns are those of
//! its tables. Everything that simulates releases the interpreter's lock, and asks between runs whether the user wants to stop.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "structures of C: Arrow's readers get pointers")]
mod arrow;
mod batch;
mod controller;
mod document;
mod errors;
mod experiment;
mod place;
mod profile;
mod progress;
mod results;
mod table;

use pyo3::prelude::*;

/// The compiled half of `longhaul`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::controller::{Report, Rule};
    #[pymodule_export]
    use crate::errors::{ControllerError, Error, Interrupted, SpecError, StoreError};
    #[pymodule_export]
    use crate::experiment::{Experiment, builtins};
    #[pymodule_export]
    use crate::profile::{Leaf, Profile, profile, profiles};
    #[pymodule_export]
    use crate::results::Results;
    #[pymodule_export]
    use crate::table::Table;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
