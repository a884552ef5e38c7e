//! One finding.

use serde::Serialize;
use std::collections::BTreeMap;

/// A sentence and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which limit: one word for programs.
    pub limit: &'static str,
    /// `high`; `low` where another limit costs nearly as much, or the packets are inconclusive.
    pub confidence: &'static str,
    /// Time of the sender that it took.
    pub cost_ms: f64,
    /// The same in per cent of the time of the transfer, from its first packet to the last data or acknowledgement of data.
    pub cost_pct: f64,
    /// For people.
    pub says: String,
    /// The numbers, each with its unit at the end of the name.
    pub evidence: BTreeMap<&'static str, f64>,
}
