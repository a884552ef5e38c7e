//! Shared by commands that print rows: the format, writing to stdout, and the progress bar. If the reader closes the pipe, the
//! program ends quietly like any other.

use crate::failure::Failure;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
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

/// Returns a bar for `len` steps; `beside` is indicatif's template of what stands behind it. It is drawn on stderr, and only where that is
/// a terminal.
///
/// # Panics
/// When the template is wrong.
pub fn progress_bar(len: u64, beside: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(&format!("{{bar:40}} {beside}")).expect("the template is right");
    ProgressBar::new(len).with_style(style)
}

/// As [`progress_bar`], for an unknown number of steps.
///
/// # Panics
/// When the template is wrong.
pub fn progress_spinner(beside: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(&format!("{{spinner}} {beside}")).expect("the template is right");
    ProgressBar::no_length().with_style(style)
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
