//! Which metrics a table of rows shows: those that its paths and flows make interesting.

use crate::results::rows::Row;
use crate::spec::{Column, Metric};

/// The metrics for most paths.
const USUAL: [&str; 5] = ["efficiency", "retransmitted_pct", "fast_retransmits", "rtos", "recovery_success_pct"];

/// The metrics for paths with losses by position.
const PLACED: [&str; 3] = ["repair_rtts", "probes", "rtos"];

/// The metrics for paths with a managed queue.
const MANAGED: [&str; 5] = ["efficiency", "retransmitted_pct", "rtos", "aqm_drops", "marks"];

/// The metrics for paths on which the start is measured; with several flows they follow the others.
const STARTED: [&str; 6] =
    ["retransmitted_pct", "rtos", "startup_ms", "full_rate_ms", "startup_queue_packets", "startup_lost_bytes"];

/// The metrics for cells with twins.
const DISTURBED: [&str; 5] = ["efficiency", "of_twin", "retransmitted_pct", "fast_retransmits", "rtos"];

/// The metrics for several flows.
const COMPANY: [&str; 8] = [
    "share_pct",
    "share_lo_pct",
    "share_hi_pct",
    "early_share_pct",
    "jain",
    "utilisation",
    "wait_p95_ms",
    "retransmitted_pct",
];

/// Those for several flows of which somebody waits for transfers.
const TRANSFERS: [&str; 7] = [
    "share_pct",
    "utilisation",
    "completion_p50_ms",
    "completion_p99_ms",
    "slowdown_p50",
    "wait_p95_ms",
    "retransmitted_pct",
];

/// Those for several flows and pings.
const PINGS: [&str; 6] = ["jain", "utilisation", "ping_p95_ms", "wait_p95_ms", "wait_max_ms", "retransmitted_pct"];

/// Those that follow where some row of several flows has them.
const MORE: [&str; 3] = ["datagrams_lost_pct", "harm_pct", "harm_done_pct"];

/// Those for several flows over two bottlenecks.
const IN_LINE: [&str; 8] = [
    "share_pct",
    "share_lo_pct",
    "share_hi_pct",
    "utilisation",
    "wait_p95_ms",
    SECOND[0],
    SECOND[1],
    "retransmitted_pct",
];

/// What a second bottleneck adds to other lists.
const SECOND: [&str; 2] = ["second_utilisation", "second_wait_p95_ms"];

/// Returns the metrics for several flows.
fn of_company(rows: &[Row]) -> Vec<&'static str> {
    let has = |name: &str| rows.iter().any(|row| row.metrics.get(name).is_some());
    let usual: &[&str] = match (has("transfers"), has("ping_p95_ms")) {
        (true, _) => &TRANSFERS,
        (false, true) => &PINGS,
        (false, false) if has(SECOND[0]) => &IN_LINE,
        (false, false) => &COMPANY,
    };
    let second = SECOND.into_iter().filter(|name| has(name) && !usual.contains(name));
    let started = STARTED.into_iter().filter(|name| has("full_rate_ms") && !usual.contains(name));
    let more = MORE.into_iter().filter(|name| has(name));
    usual.iter().copied().chain(second).chain(more).chain(started).collect()
}

/// Returns the metrics that a table of these rows shows, each with its column.
///
/// # Panics
/// If a metric has no column, which a test excludes.
pub fn columns(rows: &[Row]) -> Vec<(&'static Metric, &'static Column)> {
    let placed = rows.iter().any(|row| row.metrics.repair_rtts.is_some());
    let managed = rows.iter().any(|row| row.metrics.marks.is_some());
    let several = rows.iter().any(|row| row.metrics.share_pct.is_some());
    let disturbed = rows.iter().any(|row| row.metrics.of_twin.is_some());
    let started = rows.iter().any(|row| row.metrics.full_rate_ms.is_some());
    let names = match (placed, managed) {
        _ if disturbed => DISTURBED.to_vec(),
        _ if several => of_company(rows),
        _ if started => STARTED.to_vec(),
        (true, _) => PLACED.to_vec(),
        (false, true) => MANAGED.to_vec(),
        (false, false) => USUAL.to_vec(),
    };
    let shown = names.iter().map(|name| {
        let metric = Metric::find(name).expect("the lab has this metric");
        (metric, metric.column.expect("it has a column"))
    });
    shown.collect()
}
