//! A comparison as a page: what was compared and how, what came out, and the numbers behind it.

mod data;
mod spread;
mod subject;
mod verdict;

pub use subject::{Commands, Comparison};

use crate::page::{embed, packed};
use serde_json::json;
use std::io::{self, Write};

/// The report, built from `web/`.
const REPORT: &str = include_str!("../../assets/report.html");
/// Version of the data format; the page rejects any other.
const FORMAT: u32 = 1;

impl Comparison<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// Those of `out`.
    ///
    /// # Panics
    /// If the page has no place for data, which a test excludes.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let block = packed(data::text(self).as_bytes())?;
        embed(REPORT, &json!({ "format": FORMAT, "block": block }).to_string(), out)
    }
}

#[cfg(test)]
mod tests;
