//! Tuning: which settings of a profile's leaves are best over a set of experiments, how surely, and which leaves matter at all.
//!
//! A [`Setting`] is tried in every cell of the ground ([`Ground`]), on seeds other than those that judge. [`objective`] turns its
//! runs into one number beside a reference, and into what it breaks; [`search()`] looks for the best setting, [`sensitivity()`]
//! changes one leaf at a time. Both see runs through [`Trials`], which makes each one once. Nothing depends on the number of threads
//! or on what a store held before.

pub mod ground;
pub mod objective;
pub mod search;
pub mod sensitivity;
pub mod setting;
pub mod trials;

pub use ground::{Ground, Place};
pub use objective::{Broken, Gain, Score};
pub use search::{Found, Outcome, Step, search};
pub use sensitivity::{Effect, LeafEffect, sensitivity};
pub use setting::{Choices, Setting};
pub use trials::{Maker, Trials};

#[cfg(test)]
mod tests;
