//! Events as a table in Parquet: one row per event, one column per field name. `row`, `at_ns`, `conn` and `event` are always
//! present; the other columns have a value where the event has a field of that name.
//!
//! Events with the same field name share its column. A range has two, `…_start` and `…_end`; times end in `_ns`, and some columns have
//! a name of their own (`layout.rs`). Files with the names of earlier releases are read as well.
//!
//! A row group holds events of one kind and, while there are few connections, of one connection: a column then has a value in all
//! its rows or in none, which makes a table of many sparse columns cheap to write, small, and fast to query for one kind. `row`
//! numbers the events in their order.

mod constant;
mod encoder;
mod file;
mod layout;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod whole;
mod write;

pub use crate::sheet::{Column, ColumnKind};
pub use layout::Layout;
pub(crate) use layout::column_of;
pub use read::read;
pub use whole::sheet;
pub use write::TableWriter;

/// Rows of a row group.
pub const ROWS: usize = 32_768;

/// Key of the metadata that holds [`Meta`](crate::Meta) as JSON.
const META: &str = "longhaul.meta";

/// The columns of every row, and where they stand.
const COMMON: [&str; 4] = ["row", "at_ns", "conn", "event"];
const ROW: usize = 0;
const AT: usize = 1;
const CONN: usize = 2;
const EVENT: usize = 3;
