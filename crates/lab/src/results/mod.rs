//! What is told of the runs: rows of numbers, their comparison, and whether the experiment's conditions hold.

mod rows;
pub mod stats;

pub use rows::{CellView, Conditions, ReorderView, Row, Spread, Versus, conditions, constants, jsonl, rows, unmet};
