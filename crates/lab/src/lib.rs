//! Experiments: what is compared (`spec`), unfolded into runs (`plan`), run in parallel (`run`), kept (`log`), and told as
//! rows of paired differences (`results`). What the numbers mean is written down in `docs/MEASUREMENT.md`.
//!
//! Results depend on the experiment and its seed alone: not on the number of threads, the order in which runs finish, or
//! whether they were made now or found in a file.
#![forbid(unsafe_code)]

pub mod arm;
pub mod backend;
pub mod difference;
pub mod drops;
pub mod expect;
pub mod headlines;
pub mod log;
pub mod observed;
pub mod overrides;
pub mod plan;
pub mod queues;
pub mod recorded;
pub mod results;
pub mod run;
pub mod setting;
pub mod spec;
pub mod stale_sacks;
pub mod stamp;
pub mod stats;
pub mod sweep;
pub mod window;

pub use backend::{Backend, Measured, MockBackend, Punctuality, RunFailure, SimBackend};
pub use log::{LogError, RunLog};
pub use overrides::{Overrides, UsageError};
pub use plan::{Plan, RunName, RunSpec};
pub use results::Row;
pub use run::{Finished, execute};
pub use spec::{CommandPair, Ends, Experiment, KernelCc};
pub use stale_sacks::StaleSackBackend;
