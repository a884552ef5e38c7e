//! Reports about runs: rows of numbers, their comparison, and whether the experiment's conditions hold.

mod across;
mod columns;
mod conditions;
mod courses;
mod each_run;
mod flat;
mod flent;
mod line;
mod metrics;
mod robustness;
mod rounded;
mod rows;
pub mod stats;
mod table;
mod together;
mod until_decided;
mod view;

pub use across::{Across, across};
pub use columns::columns;
pub use conditions::{Conditions, conditions, unmet};
pub use courses::{Course, courses};
pub use each_run::{EachRun, each_run};
pub use flat::csv;
pub use flent::{FlentError, flent};
pub use line::jsonl;
pub use metrics::Metrics;
pub use robustness::{Robustness, robustness};
pub use rounded::ratio;
pub use rows::{Row, Spread, Versus, rows};
pub use table::{ROWS, summaries, table};
pub use together::{Together, together};
pub use until_decided::until_decided;
pub use view::{CellView, ReorderView, constants};
