//! Making runs: where they happen, what they give, where that is kept, and how one is made again.

mod backend;
mod execute;
pub mod log;
mod measured;
mod mock;
mod network;
pub mod observed;
pub mod recorded;
mod simulated;
pub mod stale_sacks;
pub mod stamp;

pub use backend::{Backend, RunFailure};
pub use execute::{Finished, execute};
pub use log::{LogError, RunLog};
pub use measured::{Measured, Punctuality, ideal_time};
pub use mock::MockBackend;
pub use network::{forward, paths};
pub use simulated::{SimBackend, scenario, simulate};
pub use stale_sacks::StaleSackBackend;
