//! Each arm beside the reference over all cells of a large table.

use super::draw::{empty, finish, ratio};
use comfy_table::{Cell, CellAlignment};
use lab::Plan;
use lab::results::{Row, Versus, stats};

/// From this many cells on, a reader wants more than the rows.
const MANY: usize = 9;

/// One line an arm, and what it says; nothing for few cells, and for lists of disturbed cells, which have a summary of their own.
pub(super) fn summary(plan: &Plan, rows: &[Row]) -> String {
    let listed = plan.cells.iter().any(|cell| cell.twin.is_some());
    let Some(reference) = plan.arms.first().filter(|_| plan.cells.len() >= MANY && !listed) else {
        return String::new();
    };
    let mut table = empty();
    let vs = format!("vs {}", reference.label);
    table.set_header(["over all cells", &vs, "least", "in", "most", "in", "▲", "▼", "others"]);
    let lines: Vec<Vec<Cell>> = (1..plan.arms.len()).filter_map(|arm| line(plan, rows, arm)).collect();
    if lines.is_empty() {
        return String::new();
    }
    table.add_rows(lines);
    for index in [1, 2, 4, 6, 7, 8] {
        let column = table.column_mut(index).expect("there are nine");
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}median, least and most of the cells' ratios; ▲ ▼ cells with these verdicts\n", finish(&table))
}

fn line(plan: &Plan, rows: &[Row], arm: usize) -> Option<Vec<Cell>> {
    let own = rows.iter().skip(arm).step_by(plan.arms.len()).enumerate();
    let compared: Vec<(usize, &Versus)> =
        own.filter_map(|(cell, row)| Some((cell, row.vs_reference.as_ref()?))).collect();
    let by_ratio =
        |one: &&(usize, &Versus), other: &&(usize, &Versus)| one.1.median_ratio.total_cmp(&other.1.median_ratio);
    let (least, most) = (compared.iter().min_by(by_ratio)?, compared.iter().max_by(by_ratio)?);
    let ratios: Vec<f64> = compared.iter().map(|(_, versus)| versus.median_ratio).collect();
    let name = |cell: usize| plan.cells[cell].values();
    let count = |verdict: &str| compared.iter().filter(|(_, versus)| versus.verdict == verdict).count();
    let (better, worse) = (count("better"), count("worse"));
    let texts = [
        plan.arms[arm].label.clone(),
        ratio(stats::median(&ratios)?),
        ratio(least.1.median_ratio),
        name(least.0),
        ratio(most.1.median_ratio),
        name(most.0),
        better.to_string(),
        worse.to_string(),
        (compared.len() - better - worse).to_string(),
    ];
    Some(texts.map(Cell::new).into())
}
