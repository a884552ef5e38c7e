//! Experiments in real time: a backend for the lab that makes a run between two network namespaces, over an emulated path, with
//! our TCP, the kernel's or two programs at its ends.
#![forbid(unsafe_code)]

mod apps;
mod backend;
mod command_arm;
mod course;
pub mod fidelity;
mod flow_apps;
mod flows;
mod interrupt;
mod kernel_arm;
mod kernel_flows;
mod leftovers;
mod profile_arm;
mod profile_flows;
mod runtime_dir;
pub mod second;
mod snmp;
mod trace_file;
mod turn;
mod watch;
mod world;

pub use backend::{CannotStart, LATE, NetnsBackend};
pub use interrupt::{Interrupt, let_through};
pub use leftovers::remove as remove_leftovers;
pub use runtime_dir::runtime_dir;
pub use trace_file::Traced;
pub use turn::Turn;
pub use world::{WorldError, namespace};
