//! Experiments on six floors, each built from those before it: what is compared (`spec`), unfolded into runs (`plan`), run in
//! parallel and stored (`run`), reported as rows of paired differences (`results`), settings searched (`tune`), and published results
//! measured again (`headlines`). `docs/MEASUREMENT.md` defines the numbers.
//!
//! Results depend only on the experiment and its seed: not on the number of threads, the order in which runs finish, or whether
//! they were made now or read from a file.
#![forbid(unsafe_code)]

pub mod headlines;
pub mod plan;
pub mod results;
pub mod run;
pub mod schema;
pub mod spec;
pub mod tune;
pub mod window;

pub use plan::{Plan, RunName, RunSpec};
pub use results::Row;
pub use run::{
    Backend, Finished, Measured, MockBackend, Punctuality, RunFailure, SimBackend, StaleSackBackend, Store, StoreError,
    execute, kept,
};
pub use spec::{CellChoice, CommandPair, Ends, Experiment, KernelCc, Overrides, UsageError};
