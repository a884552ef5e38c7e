//! Reports about runs: rows of numbers, their comparison, and whether the experiment's conditions hold.

mod conditions;
mod line;
mod metrics;
mod robustness;
mod rounded;
mod rows;
pub mod stats;
mod together;
mod until_decided;
mod view;

pub use conditions::{Conditions, conditions, unmet};
pub use line::jsonl;
pub use metrics::Metrics;
pub use robustness::{Robustness, robustness};
pub use rows::{Row, Spread, Versus, rows};
pub use together::{Together, together};
pub use until_decided::until_decided;
pub use view::{CellView, ReorderView, constants};
