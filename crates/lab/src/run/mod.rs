//! Making runs: where they happen, their results, where these are stored, and how a run is repeated.

mod applications;
mod backend;
mod company;
mod course;
mod execute;
mod flows;
mod hosts;
mod ideal;
pub mod log;
mod lone;
mod measured;
mod mock;
mod network;
pub mod observed;
mod plain;
pub mod recorded;
pub mod several;
mod shares;
mod simulated;
pub mod stale_sacks;
pub mod stamp;
mod startup;

pub use applications::ApplicationResult;
pub use backend::{Backend, RunFailure};
pub use execute::{Finished, execute};
pub use flows::Order;
pub use ideal::ideal_time;
pub use log::{LogError, RunLog};
pub use measured::{Measured, Punctuality};
pub use mock::MockBackend;
pub use network::{forward, paths};
pub use plain::{PlainFlow, PlainOutcome, PlainTcp, plain_flows, plain_results};
pub use shares::CompanyResult;
pub use simulated::{SimBackend, scenario, simulate};
pub use stale_sacks::StaleSackBackend;
pub use startup::StartUpResult;
