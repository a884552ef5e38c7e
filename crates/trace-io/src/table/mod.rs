//! Events as a table in Parquet: one row an event, one column a field name. `row`, `at_ns`, `conn` and `event` are always
//! there; the other columns hold something where the event has a field of that name.
//!
//! Events that call a field the same share its column. A range has two, `…_start` and `…_end`; times end in `_ns`.
//!
//! Inside a row group, events of one kind stand together: a column then holds something in a few long runs of rows, which is what
//! makes a table of many sparse columns cheap to write and small. `row` counts the events as they happened.

mod layout;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use layout::{Column, ColumnKind, Layout};
pub use read::TableReader;
pub use write::TableWriter;

/// Rows of a row group.
pub const ROWS: usize = 122_880;

/// Key of the metadata that holds [`Meta`](crate::Meta) as JSON.
const META: &str = "longhaul.meta";

/// Names of the columns of every row.
const ROW: &str = "row";
const AT: &str = "at_ns";
const CONN: &str = "conn";
const EVENT: &str = "event";
/// How many these are.
const FIXED: usize = 4;
