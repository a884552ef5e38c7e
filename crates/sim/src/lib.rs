//! The virtual-time world: nodes that run the real TCP stack, one-way paths between them, applications, and checkers.
//!
//! [`run`] takes a [`Scenario`], which is plain data, and returns an [`Outcome`] or a named [`Failure`]. The same scenario gives
//! the same bits: this crate has neither clock nor thread, and every random stream is forked from the seed by a separate label.
//!
//! Four checkers watch every run, in experiments as in tests: the reader gets what was written (`checker/stream.rs`), every
//! endpoint's invariants hold (`accounting.rs`), data keeps moving (`liveness.rs`), and deadlines lie ahead (`timers.rs`). The
//! [`BudgetSpec`] stops a run that does not end, and names the exhausted resource.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod apps;
mod budget;
mod checker;
mod datagrams;
mod device;
mod draw;
mod gone;
mod labels;
mod node;
mod outcome;
mod packet;
mod pause;
mod queue;
mod scenario;
mod stall_limit;
mod tandem;
mod topology;
mod waits;
mod watch;
mod workload;
mod world;

pub use budget::{BudgetSpec, Resource};
pub use device::{Device, Merging};
pub use draw::{Sizes, gap};
pub use node::CONN_IDS_PER_NODE;
pub use outcome::{Cause, DatagramOutcome, EndOutcome, Failure, FlowOutcome, Outcome, Piece, SecondOutcome, Side};
pub use packet::{PacketPool, Parcel, SimPacket, StoredPayload};
pub use pause::Pause;
pub use queue::EventQueue;
pub use scenario::{
    AppPace, AuditSchedule, BurstLimit, Carriage, DatagramSpec, Direction, FlowSpec, Hops, IpVersion, REQUEST,
    Scenario, SecondHop, Sends, Until, Workload,
};
pub use stall_limit::stall_limit;
pub use topology::server_port;
pub use watch::{Delays, PerFlow, Watch};
pub use world::run;
