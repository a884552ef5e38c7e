//! Shared by commands that print rows: the format, and writing to stdout. If the reader closes the pipe, the
//! program ends quietly like any other.

use crate::failure::Failure;
use clap::ValueEnum;
use std::io::{ErrorKind, Write};

/// How rows are written to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// For people.
    Table,
    /// One JSON object per row.
    Jsonl,
}

/// How the rows of a comparison are written to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// For people.
    Table,
    /// One JSON object per row.
    Jsonl,
    /// One line per row, the same numbers.
    Csv,
    /// The table for a page in Markdown.
    Markdown,
}

/// Writes all of `text`.
///
/// # Errors
/// When it cannot be written.
pub fn write(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Failed(format!("cannot write to stdout: {error}")),
    })
}
