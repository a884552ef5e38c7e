//! A row as a line of JSON.

use crate::plan::difference::Differences;
use crate::results::metrics::Metrics;
use crate::results::rows::{Row, Spread, Versus};
use crate::results::view::CellView;
use crate::run::Identity;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Metrics before the comparison with the reference, in the order that lines have always had. All others follow after it, in the
/// order of the list.
const FIRST: [&str; 8] = [
    "elapsed_ms",
    "efficiency",
    "repair_rtts",
    "retransmitted_pct",
    "rtos",
    "runs_with_rto_pct",
    "fast_retransmits",
    "recovery_success_pct",
];

/// From this metric of the list on, a line holds those that apply, so that lines of other paths stay as they have always been.
const FIRST_WHERE_IT_APPLIES: &str = "aqm_drops";

/// The keys of a line in their order.
#[derive(Serialize)]
struct Line<'r> {
    experiment: &'r str,
    cell: &'r CellView,
    arm: &'r str,
    runs: usize,
    deterministic: bool,
    goodput_mbps: &'r Spread,
    #[serde(flatten)]
    first: Numbers,
    vs_reference: &'r Option<Versus>,
    #[serde(flatten)]
    others: Numbers,
    profile: &'r Option<String>,
    differs: &'r Option<Differences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disturbed_runs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_ms: Option<f64>,
    median_run: &'r Option<Identity>,
}

/// Some of the metrics.
struct Numbers(Vec<(&'static str, Option<f64>)>);

impl Numbers {
    fn first(metrics: &Metrics) -> Self {
        Self(FIRST.map(|name| (name, metrics.get(name))).into())
    }

    fn others(metrics: &Metrics) -> Self {
        let mut all = metrics.all();
        let later = all.iter().position(|(name, _)| *name == FIRST_WHERE_IT_APPLIES).unwrap_or(all.len());
        let applying = all.split_off(later).into_iter().filter(|(_, value)| value.is_some());
        Self(all.into_iter().filter(|(name, _)| !FIRST.contains(name)).chain(applying).collect())
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// One JSON object a row.
pub fn jsonl(row: &Row) -> String {
    let line = Line {
        experiment: &row.experiment,
        cell: &row.cell,
        arm: &row.arm,
        runs: row.runs,
        deterministic: row.deterministic,
        goodput_mbps: &row.goodput_mbps,
        first: Numbers::first(&row.metrics),
        vs_reference: &row.vs_reference,
        others: Numbers::others(&row.metrics),
        profile: &row.profile,
        differs: &row.differs,
        disturbed_runs: row.disturbed_runs,
        latest_ms: row.latest_ms,
        median_run: &row.median_run,
    };
    serde_json::to_string(&line).expect("rows have only text as keys")
}
