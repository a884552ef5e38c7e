//! What is compared: an experiment as a file states it and the command line changes it.

pub mod drops;
pub mod expect;
mod experiment;
mod kind;
pub mod overrides;
pub mod queues;
mod read;
pub mod setting;

pub use experiment::{ArmSpec, Axis, BUILTIN, Experiment, builtin};
pub(crate) use experiment::{Refusal, Target};
pub use kind::{ArmKind, CommandPair, Ends, KernelCc};
pub use overrides::{Overrides, UsageError};
pub use read::read;
