//! What the command works on.

use ::profiles::Profile;
use lab::tune::{Choices, Ground};
use std::sync::Arc;

/// What is tried, where, and how often.
pub(super) struct Job {
    /// The profile whose leaves change.
    pub(super) profile: Arc<Profile>,
    /// Beside which efficiency counts.
    pub(super) against: Arc<Profile>,
    /// The leaves.
    pub(super) choices: Vec<Choices>,
    /// The cells.
    pub(super) ground: Ground,
    /// Origin of the seeds.
    pub(super) seed: u64,
    /// Runs in each cell.
    pub(super) iterations: u32,
}
