//! Making runs: where they happen, what they give, where that is kept, and how one is made again.

pub mod backend;
mod execute;
pub mod log;
pub mod observed;
pub mod recorded;
pub mod stale_sacks;
pub mod stamp;

pub use backend::{Backend, Measured, MockBackend, Punctuality, RunFailure, SimBackend};
pub use execute::{Finished, execute};
pub use log::{LogError, RunLog};
pub use stale_sacks::StaleSackBackend;
