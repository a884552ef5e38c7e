//! One-way links as sans-I/O hops: rate, queues and their managers, delay, loss, reordering, duplication, and how they change with
//! time.
//!
//! The same hops run in virtual time under `sim` and in real time under `net`. Integers only; every random decision is drawn once
//! per packet index from the hop's own stream, so that two experiments with the same seed meet the same random conditions.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ack;
pub mod capacity;
pub mod course;
pub mod delay;
pub mod duplicate;
pub mod first_flight;
pub mod hop;
pub mod ip;
pub mod loss;
mod meter;
pub mod model;
pub mod mtu;
pub mod path;
pub mod police;
pub mod presets;
pub mod queue;
pub mod rate;
pub mod release;
pub mod reorder;
pub mod shifting;
pub mod stretch;
pub mod thin;

#[cfg(test)]
mod testing;

pub use capacity::Capacity;
pub use course::{Course, Stretches};
pub use delay::{Delay, Jitter, JitterKind};
pub use duplicate::Duplicate;
pub use first_flight::FirstFlight;
pub use hop::{DropCause, Hop, HopKind, Left, Moved, Offer, Packet, Peak};
pub use ip::Ecn;
pub use loss::gilbert_elliott::Chain;
pub use loss::{Place, StreamLoss};
pub use model::{Between, Cell, Leo, Model, Weather, Wifi};
pub use mtu::{Mtu, MtuLimit, TooBigReports};
pub use path::{Drops, Path, PathStats};
pub use police::{Policer, PolicerSpec};
pub use presets::{LossSpec, PathSpec};
pub use queue::droptail::Buffer;
pub use queue::{Codel, DualPi2, FqCodel, Pie, QueueSpec, Signal};
pub use rate::Bottleneck;
pub use rate::changing::ChangingLink;
pub use rate::delivery_trace::{DeliveryTrace, TraceError, TraceLink};
pub use rate::managed::ManagedBottleneck;
pub use rate::serialiser::{Serialiser, Service};
pub use release::{Release, ReleaseSpec};
pub use reorder::ReorderSpec;
pub use shifting::ShiftingDelay;
pub use stretch::Stretch;
pub use thin::Thin;
