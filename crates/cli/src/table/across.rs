//! Each arm beside the reference over all cells of a large table.

use super::draw::{empty, finish};
use comfy_table::{Cell, CellAlignment};
use lab::Plan;
use lab::results::{Across, Row, across, ratio};

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
    let arms = across(plan, rows);
    if arms.is_empty() {
        return String::new();
    }
    table.add_rows(arms.iter().map(|arm| line(plan, arm)));
    for index in [1, 2, 4, 6, 7, 8] {
        let column = table.column_mut(index).expect("there are nine");
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}median, least and most of the cells' ratios; ▲ ▼ cells with these verdicts\n", finish(&table))
}

fn line(plan: &Plan, arm: &Across) -> Vec<Cell> {
    let name = |cell: usize| plan.cells[cell].values();
    let texts = [
        plan.arms[arm.arm].label.clone(),
        ratio(arm.median),
        ratio(arm.least.1),
        name(arm.least.0),
        ratio(arm.most.1),
        name(arm.most.0),
        arm.better.to_string(),
        arm.worse.to_string(),
        arm.others.to_string(),
    ];
    texts.map(Cell::new).into()
}
