//! Reports about runs: rows of numbers, their comparison, and whether the experiment's conditions hold.

mod conditions;
mod line;
mod metrics;
mod robustness;
mod rounded;
mod rows;
pub mod stats;
mod view;

pub use conditions::{Conditions, conditions, unmet};
pub use line::jsonl;
pub use metrics::Metrics;
pub use robustness::{Robustness, robustness};
pub use rows::{Row, Spread, Versus, rows};
pub use view::{CellView, ReorderView, constants};
