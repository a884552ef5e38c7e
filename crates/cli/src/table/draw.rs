//! The parts of every table.

use super::text::NOTHING;
use comfy_table::{LineStyle, Table, TableStyle};

pub(super) fn empty() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table
}

pub(super) fn finish(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    lines.concat()
}

pub(super) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| format!("{value:.decimals$}"))
}
