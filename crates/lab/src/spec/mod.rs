//! What is compared: an experiment as a file defines it and the command line changes it.

mod buffer;
mod catalogue;
mod drops;
mod expect;
mod experiment;
mod flow;
mod kind;
mod managed_queue;
mod metrics;
mod overrides;
mod queues;
mod rate_trace;
mod read;
mod refusal;
mod setting;

pub use buffer::BufferSize;
pub use catalogue::{BUILTIN, builtin};
pub use drops::Drops;
pub(crate) use drops::Whereabouts;
pub(crate) use expect::GOODPUT;
pub use expect::{Expectation, Term};
pub(crate) use experiment::Target;
pub use experiment::{Axis, Experiment};
pub use flow::Flow;
pub use kind::{ArmKind, ArmSpec, CommandPair, Ends, KernelCc};
pub use managed_queue::ManagedQueue;
pub(crate) use managed_queue::Value;
pub(crate) use metrics::for_each_metric;
pub use metrics::{Column, METRICS, Metric};
pub use overrides::Overrides;
pub use queues::Queues;
pub use rate_trace::RateTrace;
pub use read::read;
pub use refusal::{Part, Refusal, UsageError};
pub use setting::{KEYS, Key, Point, Reorder, ReorderMode};
