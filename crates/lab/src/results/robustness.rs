//! What a list of disturbed cells says about each arm.

use crate::plan::Plan;
use crate::results::rows::Row;
use crate::results::stats;
use crate::run::ideal_time;

/// An arm over all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Robustness {
    /// Label of the arm.
    pub arm: String,
    /// The cell in which the arm's efficiency is least, and the efficiency.
    pub worst: Option<(String, f64)>,
    /// Median of the cells' efficiencies.
    pub median: Option<f64>,
    /// The cell in which the arm's goodput is least beside the reference's, and the median paired ratio; `None` for the reference.
    pub worst_ratio: Option<(String, f64)>,
    /// Cells whose disturbance takes no capacity in which the arm takes at most a twentieth more than without it.
    pub unimpressed: usize,
    /// All cells whose disturbance takes no capacity.
    pub of: usize,
}

/// A twin's time over the time taken, from which on the disturbance does not matter.
const UNIMPRESSED: f64 = 1.0 / 1.05;

/// Summarises rows by arm; empty unless cells have twins.
pub fn robustness(plan: &Plan, rows: &[Row]) -> Vec<Robustness> {
    if plan.cells.iter().all(|cell| cell.twin.is_none()) {
        return Vec::new();
    }
    let name = |cell: usize| plan.cells[cell].values();
    let of_arm = |arm: usize| {
        let own: Vec<(usize, &Row)> = rows.iter().skip(arm).step_by(plan.arms.len()).enumerate().collect();
        let least = |of: fn(&Row) -> Option<f64>| {
            let known = own.iter().filter_map(|(cell, row)| Some((*cell, of(row)?)));
            known.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(cell, value)| (name(cell), value))
        };
        let each: Vec<f64> = own.iter().filter_map(|(_, row)| row.metrics.efficiency).collect();
        let calm: Vec<f64> = own
            .iter()
            .filter(|(cell, row)| !takes_capacity(plan, *cell, row))
            .filter_map(|(_, row)| row.metrics.of_twin)
            .collect();
        Robustness {
            arm: plan.arms[arm].label.clone(),
            worst: least(|row| row.metrics.efficiency),
            median: stats::median(&each),
            worst_ratio: least(|row| Some(row.vs_reference.as_ref()?.median_ratio)),
            unimpressed: calm.iter().filter(|of_twin| **of_twin >= UNIMPRESSED).count(),
            of: calm.len(),
        }
    };
    (0..plan.arms.len()).map(of_arm).collect()
}

/// Returns whether the ideal transfer, too, is slower than in the twin.
fn takes_capacity(plan: &Plan, cell: usize, row: &Row) -> bool {
    let cell = &plan.cells[cell];
    let Some(twin) = &cell.twin else { return false };
    // Others take their part.
    if cell.point.company != twin.company {
        return true;
    }
    let bytes = row.cell.bytes.unwrap_or(1 << 20);
    row.metrics.removed_ms.is_some_and(|removed| removed > 0.0)
        // What a model takes depends on the seed.
        || cell.point.life.model != twin.life.model
        || ideal_time(&cell.point, 0, bytes) > ideal_time(twin, 0, bytes)
}
