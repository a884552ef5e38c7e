//! Each arm over a list of disturbed cells.

use super::draw::{empty, finish, number};
use super::text::NOTHING;
use comfy_table::{Cell, CellAlignment};
use lab::Plan;
use lab::results::{Robustness, Row, ratio, robustness};

/// One line an arm, and what it says; nothing unless cells have twins.
pub(super) fn summary(plan: &Plan, rows: &[Row]) -> String {
    let arms = robustness(plan, rows);
    let Some(reference) = plan.arms.first().filter(|_| !arms.is_empty()) else { return String::new() };
    let mut table = empty();
    let vs = format!("worst vs {}", reference.label);
    table.set_header(["over all cells", "median", "worst eff.", "in", &vs, "in", "undisturbed"]);
    for arm in arms {
        table.add_row(line(arm));
    }
    for index in [1, 2, 4, 6] {
        let column = table.column_mut(index).expect("there are seven");
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{}median, worst: of the cells' efficiencies. undisturbed: cells within 5 % of the twin without disturbance, of\n\
         those whose disturbance takes no capacity\n",
        finish(&table)
    )
}

fn line(arm: Robustness) -> Vec<Cell> {
    let place = |worst: &Option<(String, f64)>| worst.as_ref().map_or(NOTHING.to_owned(), |(cell, _)| cell.clone());
    let value = |worst: &Option<(String, f64)>| worst.as_ref().map(|(_, value)| *value);
    let texts = [
        arm.arm,
        number(arm.median, 3),
        number(value(&arm.worst), 3),
        place(&arm.worst),
        value(&arm.worst_ratio).map_or(NOTHING.to_owned(), ratio),
        place(&arm.worst_ratio),
        format!("{} of {}", arm.unimpressed, arm.of),
    ];
    texts.map(Cell::new).into()
}
