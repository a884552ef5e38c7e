//! Tables for a terminal of a hundred columns.

use ::profiles::table::Table as Plain;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use lab::results::Row;
use lab::{Plan, results};

/// What a reader's terminal is expected to have.
const WIDTH: usize = 100;
/// Where sentences begin.
const INDENT: &str = "      ";
/// What stands where a number does not exist.
const NOTHING: &str = "–";

/// How verdicts are drawn, and what the legend says.
const VERDICTS: [(&str, &str); 5] =
    [("better", "▲"), ("worse", "▼"), ("equivalent", "≈"), ("inconclusive", "?"), ("deterministic", "=")];

fn empty() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table
}

/// A table as wide as it needs to be.
pub fn draw(plain: &Plain) -> String {
    let mut table = empty();
    table.set_header(&plain.header);
    table.add_rows(plain.rows.clone());
    finish(&table)
}

/// A table whose last column holds sentences: they go below their rows.
pub fn annotated(plain: &Plain) -> String {
    let numbers = |row: &Vec<String>| row[..row.len() - 1].to_vec();
    let mut table = empty();
    table.set_header(numbers(&plain.header));
    table.add_rows(plain.rows.iter().map(numbers));
    let drawn = finish(&table);
    let mut lines = drawn.lines();
    let mut text: String = lines.by_ref().take(2).map(|line| format!("{line}\n")).collect();
    for (line, row) in lines.zip(&plain.rows) {
        text.push_str(&format!("{line}\n{}", paragraph(INDENT, row.last().map_or("", String::as_str))));
    }
    text
}

/// Words in lines that end before the last column; the first line begins with `first`, the others with as many spaces.
pub fn paragraph(first: &str, sentence: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let (mut text, mut line) = (String::new(), first.to_owned());
    for word in sentence.split_whitespace() {
        if line.chars().count() + word.chars().count() > WIDTH && line.trim() != first.trim() {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clone_from(&indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    text + line.trim_end() + "\n"
}

fn finish(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    lines.concat()
}

/// The table of an experiment: what is the same everywhere, a line per arm and cell, and how to read it.
pub fn ab(plan: &Plan, rows: &[Row]) -> String {
    let experiment = &plan.experiment;
    let head = format!(
        "{}: {}\n{}\nruns per arm and cell: {}, seed: {}\n\n",
        experiment.name,
        experiment.summary,
        results::constants(plan),
        experiment.iterations,
        experiment.seed
    );
    format!("{head}{}\n{}", body(plan, rows), legend(plan))
}

fn body(plan: &Plan, rows: &[Row]) -> String {
    let mut table = empty();
    let axes = plan.experiment.sweep.len();
    let reference = plan.arms.first().map_or("", |arm| arm.label.as_str());
    let mut header: Vec<String> = plan.experiment.sweep.iter().map(|axis| short(&axis.key)).collect();
    header.push("arm".to_owned());
    header.extend(["Mbit/s".to_owned(), format!("vs {reference}")]);
    header.extend(["eff.", "retx %", "fast", "RTOs", "recov.%"].map(str::to_owned));
    table.set_header(header);
    let mut last = None;
    for (row, at) in rows.iter().zip(0..) {
        let cell = &plan.cells[at / plan.arms.len()];
        let repeats = last == Some(cell);
        let swept = cell.swept.iter().map(|(_, value)| if repeats { String::new() } else { value.clone() });
        let numbers = [
            number(row.goodput_mbps.median, 2),
            versus(row),
            number(row.efficiency, 3),
            number(row.retransmitted_pct, 2),
            number(row.fast_retransmits, 1),
            number(row.rtos, 1),
            number(row.recovery_success_pct, 1),
        ];
        let cells: Vec<Cell> = swept.chain([row.arm.clone()]).chain(numbers).map(Cell::new).collect();
        table.add_row(cells);
        last = Some(cell);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let is_number = index > axes && index != axes + 2;
        column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
        column.set_padding((0, if index < axes + 3 { 2 } else { 1 }));
    }
    finish(&table)
}

/// `path.rtt` is `rtt`; leaves of arms keep their arm.
fn short(key: &str) -> String {
    let rest = key.strip_prefix("path.").or_else(|| key.strip_prefix("flow."));
    rest.unwrap_or(key).to_owned()
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| format!("{value:.decimals$}"))
}

fn versus(row: &Row) -> String {
    let Some(versus) = &row.vs_reference else { return String::new() };
    let sign = VERDICTS.iter().find(|(word, _)| *word == versus.verdict).map_or("", |(_, sign)| sign);
    match (versus.lo, versus.hi) {
        (Some(lo), Some(hi)) => format!("{} [{}, {}] {sign}", ratio(versus.median_ratio), ratio(lo), ratio(hi)),
        _ => format!("{} {sign}", ratio(versus.median_ratio)),
    }
}

fn ratio(value: f64) -> String {
    let decimals = if value >= 100.0 {
        1
    } else if value >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

fn legend(plan: &Plan) -> String {
    let reference = plan.arms.first().map_or("", |arm| arm.label.as_str());
    let signs: Vec<String> = VERDICTS.iter().map(|(word, sign)| format!("{sign} {word}")).collect();
    format!(
        "Mbit/s  median goodput: payload over the time from the first SYN to the last byte read\n\
         vs      median over seeds of this arm / {reference}, with its 95 % interval:\n        \
                 {}\n        \
                 (better and worse: clear of 1 ± 1 %; equivalent: within)\n\
         eff.    shortest time the path allows / time taken     retx %   payload that was sent again\n\
         fast    recoveries begun without a timeout, per run    RTOs     timeouts, per run\n\
         recov.% recoveries that ended without a timeout\n",
        signs.join("  "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_stand_below_their_rows_and_end_before_the_last_column() {
        let long = "word ".repeat(60);
        let header = ["a", "source"].map(str::to_owned).to_vec();
        let text =
            annotated(&Plain { header, rows: vec![vec!["x".to_owned(), long], vec!["y".to_owned(), "s".to_owned()]] });
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 60);
        assert!(text.ends_with(" y\n      s\n"), "{text}");
    }

    #[test]
    fn ratios_have_four_digits() {
        let shown: Vec<String> = [0.5, 9.4, 12.62, 135.39].into_iter().map(ratio).collect();
        assert_eq!(shown, ["0.500", "9.400", "12.62", "135.4"]);
    }
}
