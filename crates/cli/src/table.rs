//! Tables for a terminal of a hundred columns.

mod across;
mod arms;
mod draw;
mod robust;
mod text;

pub use arms::listed;
pub use text::{NOTHING, paragraph};

use ::profiles::table::Table as Plain;
use comfy_table::CellAlignment;
use draw::{empty, finish, number};
use lab::results::stats::MIN_PAIRS;
use lab::results::{Row, Together, ratio};
use lab::spec::Primary;
use lab::{Plan, results};

/// Indentation of sentences.
const INDENT: &str = "      ";
/// How verdicts are drawn, and their entries in the legend.
const VERDICTS: [(&str, &str); 6] = [
    ("better", "▲"),
    ("worse", "▼"),
    ("equivalent", "≈"),
    ("inconclusive", "?"),
    ("undecided", "…"),
    ("deterministic", "="),
];

/// Formats a table whose last column holds sentences, one per line: they appear below their rows.
pub fn annotated(plain: &Plain) -> String {
    let numbers = |row: &Vec<String>| row[..row.len() - 1].to_vec();
    let mut table = empty();
    table.set_header(numbers(&plain.header));
    table.add_rows(plain.rows.iter().map(numbers));
    let drawn = finish(&table);
    let mut lines = drawn.lines();
    let mut text: String = lines.by_ref().take(2).map(|line| format!("{line}\n")).collect();
    for (line, row) in lines.zip(&plain.rows) {
        text.push_str(&format!("{line}\n"));
        text.extend(row.last().map_or("", String::as_str).lines().map(|sentence| paragraph(INDENT, sentence)));
    }
    text
}

/// Formats an experiment's table: common settings, one line per arm and cell, and a legend.
pub fn ab(plan: &Plan, rows: &[Row]) -> String {
    let experiment = &plan.experiment;
    let head = format!(
        "{}{}runs per arm and cell: {}\n{}\n",
        paragraph(&format!("{}: ", experiment.name), &experiment.title()),
        paragraph("", &results::constants(plan)),
        runs(plan),
        arms::differences(plan)
    );
    let parts = [body(plan, rows), robust::summary(plan, rows), across::summary(plan, rows), legend(plan, rows)];
    head + &parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns how many runs were made, and from which seed.
fn runs(plan: &Plan) -> String {
    let (all, seed) = (plan.experiment.iterations, plan.experiment.seed);
    let once = (0..plan.cells.len()).filter(|cell| plan.is_once(*cell)).count();
    match once {
        0 if plan.until_decided => format!("{all} and more, until its verdicts are clear or runs end; seed: {seed}"),
        0 => format!("{all}, seed: {seed}"),
        _ if once == plan.cells.len() => "1, since the path draws nothing and all runs would be equal".to_owned(),
        _ => format!("{all}, seed: {seed}; 1 where the path draws nothing and all runs would be equal"),
    }
}

/// The numbers of a table, as text.
struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns of what the sweep sets; the arm's follows.
    axes: usize,
    /// The column of the comparison.
    compared: usize,
}

impl Grid {
    fn new(plan: &Plan, rows: &[Row]) -> Self {
        let axes = plan.cells.first().map_or(0, |cell| cell.swept.len());
        let reference = plan.arms.first().map_or("", |arm| arm.label.as_str());
        let keys = plan.cells.iter().take(1).flat_map(|cell| &cell.swept);
        let mut header: Vec<String> = keys.map(|(key, _)| short(key)).collect();
        let columns = results::columns(rows);
        header.push("arm".to_owned());
        header.extend(plan.until_decided.then(|| "runs".to_owned()));
        header.extend(["Mbit/s".to_owned(), format!("vs {reference}")]);
        header.extend(columns.iter().map(|(_, column)| column.head.to_owned()));
        let line = |(row, at): (&Row, usize)| {
            let swept = plan.cells[at / plan.arms.len()].swept.iter().map(|(_, value)| value.clone());
            let runs = plan.until_decided.then(|| row.runs.to_string());
            let numbers = [number(row.goodput_mbps.median, 2), versus(row)];
            let metrics = columns.iter().map(|(metric, column)| number(row.metrics.get(metric.name), column.decimals));
            swept.chain([row.arm.clone()]).chain(runs).chain(numbers).chain(metrics).collect()
        };
        let rows = rows.iter().zip(0..).map(line).collect();
        Self { header, rows, axes, compared: axes + 2 + usize::from(plan.until_decided) }
    }

    fn is_number(&self, column: usize) -> bool {
        column > self.axes && column != self.compared
    }
}

fn body(plan: &Plan, rows: &[Row]) -> String {
    let mut table = empty();
    let grid = Grid::new(plan, rows);
    table.set_header(&grid.header);
    for (at, line) in grid.rows.iter().enumerate() {
        // What the sweep sets stands in a cell's first row.
        let repeats = at % plan.arms.len() > 0;
        let shown =
            |(column, text): (usize, &String)| if repeats && column < grid.axes { String::new() } else { text.clone() };
        table.add_row(line.iter().enumerate().map(shown));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if grid.is_number(index) { CellAlignment::Right } else { CellAlignment::Left });
        column.set_padding((0, if index <= grid.compared { 2 } else { 1 }));
    }
    finish(&table)
}

/// Formats the table for a page in Markdown: what was compared, a line per arm and cell, and the legend.
pub fn markdown(plan: &Plan, rows: &[Row]) -> String {
    let grid = Grid::new(plan, rows);
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<String> = (0..grid.header.len())
        .map(|column| if grid.is_number(column) { "---:".to_owned() } else { "---".to_owned() })
        .collect();
    format!(
        "**{}**: {}\n\n{}; runs per arm and cell: {}\n\n{}{}{}\n```text\n{}```\n",
        plan.experiment.name,
        plan.experiment.title(),
        results::constants(plan),
        runs(plan),
        line(&grid.header),
        line(&rule),
        grid.rows.iter().map(|cells| line(cells)).collect::<String>(),
        legend(plan, rows),
    )
}

/// Shortens `path.rtt` to `rtt`; leaves of arms keep their arm.
fn short(key: &str) -> String {
    let rest = key.strip_prefix("path.").or_else(|| key.strip_prefix("flow."));
    rest.unwrap_or(key).to_owned()
}

fn versus(row: &Row) -> String {
    let Some(versus) = &row.vs_reference else { return String::new() };
    let sign = VERDICTS.iter().find(|(word, _)| *word == versus.verdict).map_or("", |(_, sign)| sign);
    match (versus.lo, versus.hi) {
        (Some(lo), Some(hi)) => format!("{} [{}, {}] {sign}", ratio(versus.median_ratio), ratio(lo), ratio(hi)),
        _ => format!("{} {sign}", ratio(versus.median_ratio)),
    }
}

fn legend(plan: &Plan, rows: &[Row]) -> String {
    let columns = results::columns(rows);
    let reference = plan.arms.first().map_or("", |arm| arm.label.as_str());
    let absent = if plan.until_decided { "inconclusive" } else { "undecided" };
    let signs = VERDICTS.iter().filter(|(word, _)| *word != absent).map(|(word, sign)| format!("{sign} {word}"));
    let signs: Vec<String> = signs.collect();
    let mut text = format!(
        "Mbit/s  median goodput: payload over the time from the first SYN to the last byte read\n\
         vs      median over seeds of this arm / {reference}{}, with its 95 % interval:\n        \
                 {}\n        \
                 (better and worse: clear of 1 ± 1 %; equivalent: within)\n",
        compared_by(plan),
        signs.join("  "),
    );
    if rows.iter().filter_map(|row| row.vs_reference.as_ref()).any(|versus| versus.lacks_runs()) {
        text.push_str(&format!(
            "        (`?` without an interval: there is none of fewer than {MIN_PAIRS} runs; use `--iterations`)\n"
        ));
    }
    text.push_str(&whole_table(plan, rows));
    for pair in columns.chunks(2) {
        let (_, first) = pair[0];
        text.push_str(&format!("{:<8}{:<47}", first.head, first.meaning));
        if let Some((_, second)) = pair.get(1) {
            text.push_str(&format!("{:<9}{}", second.head, second.meaning));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Returns what the ratio is of, unless it is of goodput.
fn compared_by(plan: &Plan) -> String {
    let Primary { name, less_is_better } = plan.primary;
    let better = if less_is_better { "less" } else { "more" };
    if plan.primary == Primary::default() { String::new() } else { format!(" by {name}, {better} is better") }
}

/// Returns what all comparisons say together; nothing for fewer than two.
fn whole_table(plan: &Plan, rows: &[Row]) -> String {
    let Some(Together { comparisons, differ, needs }) = results::together(plan, rows) else { return String::new() };
    let lead = format!("all     of {comparisons} comparisons together, {differ} differ from the reference (Holm, 5 %)");
    match needs {
        None => lead + "\n",
        Some(runs) => format!("{lead};\n        to show any, such a table takes {runs} runs of each arm\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::text::WIDTH;
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
}
