//! What there is to do: an experiment unfolded into cells, arms and runs.

pub mod arm;
pub mod difference;
pub mod sweep;
mod unfold;

pub use unfold::{Plan, RunName, RunSpec};
pub(crate) use unfold::{difference_from_root, digest};
