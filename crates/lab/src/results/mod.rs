//! What is told of the runs: rows of numbers, their comparison, and whether the experiment's conditions hold.

mod conditions;
mod rounded;
mod rows;
pub mod stats;
mod view;

pub use conditions::{Conditions, conditions, unmet};
pub use rows::{Row, Spread, Versus, jsonl, rows};
pub use view::{CellView, ReorderView, constants};
