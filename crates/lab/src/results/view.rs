//! A cell in plain numbers, and what all cells have in common.

use crate::plan::{Cell, Plan};
use crate::results::rounded::rounded;
use crate::spec::Flow;
use netem::Buffer;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cell in plain numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellView {
    /// Round-trip time.
    pub rtt_ms: f64,
    /// Payload of a sized flow.
    pub bytes: Option<u64>,
    /// Length of a timed flow.
    pub seconds: Option<f64>,
    /// Rate of the bottleneck.
    pub rate_mbit: f64,
    /// Room of the bottleneck's queue, unless it is counted in packets.
    pub buffer_bytes: Option<u64>,
    /// Room of the bottleneck's queue, if it is counted in packets.
    pub buffer_packets: Option<u32>,
    /// How a bottleneck that manages its queue does so, as experiments write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Largest jitter.
    pub jitter_us: f64,
    /// Probability of loss.
    pub loss_pct: f64,
    /// Losses by position, if there are any, as experiments write them.
    pub drop: Option<String>,
    /// Reordering, if there is any.
    pub reorder: Option<ReorderView>,
    /// Queues through which packets pass in turn, if there are any, as experiments write them.
    pub queues: Option<String>,
    /// What is not ideal about the two hosts, as experiments write it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, String>,
    /// What disturbs a cell of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What makes the path more than a pipe, by key, as experiments write it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub life: BTreeMap<&'static str, String>,
    /// The sweep's settings, as they were written.
    pub swept: BTreeMap<String, String>,
}

/// Reordering in plain numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReorderView {
    /// How often.
    pub probability_pct: f64,
    /// How long.
    pub delay_ms: f64,
    /// `late` or `early`.
    pub mode: &'static str,
}

impl CellView {
    pub(crate) fn new(cell: &Cell) -> Self {
        let Cell { swept, point, kind, .. } = cell;
        let percent = |ratio: base::Ratio| rounded(ratio.num() as f64 * 100.0 / ratio.den() as f64);
        let reorder = point.reorder;
        let (bytes, seconds) = match point.flow {
            Flow::Bytes(bytes) => (Some(bytes), None),
            Flow::Seconds(span) => (None, Some(span.as_nanos() as f64 / 1e9)),
        };
        let (buffer_bytes, buffer_packets) = match point.buffer() {
            Buffer::Bytes(bytes) => (Some(bytes), None),
            Buffer::Packets(packets) => (None, Some(packets)),
            Buffer::Unlimited => (None, None),
        };
        Self {
            rtt_ms: point.usual_rtt().as_nanos() as f64 / 1e6,
            bytes,
            seconds,
            rate_mbit: point.usual_rate().bits_per_sec() as f64 / 1e6,
            buffer_bytes,
            buffer_packets,
            queue: point.queue.map(|queue| queue.to_string()),
            jitter_us: point.jitter.as_nanos() as f64 / 1e3,
            loss_pct: percent(point.loss),
            drop: (!point.drops.is_empty()).then(|| point.drops.to_string()),
            reorder: (!reorder.probability.is_zero()).then(|| ReorderView {
                probability_pct: percent(reorder.probability),
                delay_ms: reorder.delay.as_nanos() as f64 / 1e6,
                mode: reorder.mode.word(),
            }),
            queues: point.queues.map(|queues| queues.to_string()),
            hosts: point
                .settings()
                .filter(|(key, _)| key.starts_with("host."))
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            kind: kind.clone(),
            life: point.living().collect(),
            swept: swept.iter().cloned().collect(),
        }
    }
}

/// Returns the settings common to all cells: `rate=100Mbit buffer=1bdp`.
pub fn constants(plan: &Plan) -> String {
    let mut swept: Vec<&str> = plan.experiment.sweep.iter().map(|axis| axis.key.as_str()).collect();
    let listed = plan.experiment.cells.iter().flat_map(|cell| cell.base.iter().chain(&cell.disturb));
    swept.extend(listed.map(|(key, _)| key.as_str()));
    let point = &plan.experiment.point;
    let reorders = !point.reorder.probability.is_zero() || swept.contains(&"path.reorder.probability");
    let shown = point.settings().filter(|(key, _)| {
        let absent = match *key {
            "path.buffer" => point.queue.is_some() && !swept.contains(&"path.queue"),
            "path.jitter" => point.jitter.is_zero(),
            "path.loss" => point.loss.is_zero(),
            "path.reorder.queues" => false,
            key => key.starts_with("path.reorder") && !reorders,
        };
        !absent && !swept.contains(key)
    });
    let short = |key: &'static str| key.split_once('.').map_or(key, |(_, rest)| rest);
    shown.map(|(key, value)| format!("{}={value}", short(key))).collect::<Vec<_>>().join(" ")
}
