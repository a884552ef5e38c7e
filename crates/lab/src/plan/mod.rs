//! The work to do: an experiment unfolded into cells, arms and runs.

mod arm;
pub mod difference;
mod encoding;
mod identity;
mod pair;
mod sweep;
mod unfold;

pub use arm::Arm;
pub use identity::RunName;
pub(crate) use identity::{digest, fnv128};
pub use sweep::{Cell, cells};
pub use unfold::{Plan, RunSpec};
