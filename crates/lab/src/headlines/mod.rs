//! Published results: the claim, its measurement here, the band of acceptable numbers, and the cause of the effect.
//!
//! A [`Claim`] is data: the runs it needs ([`Study`]), the number computed from them ([`Estimate`]), and the band. `evidence.rs`
//! makes the runs, `judge.rs` turns them into [`Finding`]s. The estimator is the published one, means of ten runs; intervals come
//! from the bootstrap over seeds.

pub mod claim;
pub mod claims;
pub mod estimate;
pub mod evidence;
pub mod fit;
pub mod judge;
pub mod quantity;
pub mod study;

pub use claim::{Ablation, Band, Claim, Fact, Measure, Nothing, Published, Unit, Verdict};
pub use estimate::{Across, Estimate, Value, What};
pub use evidence::{Backends, Evidence, Runs};
pub use judge::{Carrier, Finding, find};
pub use study::{Study, StudyArm, Watch};

#[cfg(test)]
mod tests;
