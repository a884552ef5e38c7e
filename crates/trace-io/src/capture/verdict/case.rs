//! What a judge looks at: a connection, the direction of most data, and where its time went.

use super::finding::Finding;
use crate::capture::diagnosis::Diagnosis;
use crate::capture::flow::Flow;
use crate::capture::report::{DirectionReport, FlowReport};

/// The input of the sentences.
pub(super) struct Case<'a> {
    pub flow: &'a Flow,
    pub side: usize,
    pub report: &'a FlowReport,
    pub way: &'a DirectionReport,
    pub diagnosis: &'a Diagnosis,
    /// From the first packet to the last data or acknowledgement of data, at least a nanosecond.
    pub whole_ms: f64,
}

impl Case<'_> {
    /// A finding that is sure.
    pub fn finding(
        &self,
        limit: &'static str,
        cost_ms: f64,
        says: String,
        evidence: &[(&'static str, f64)],
    ) -> Finding {
        let cost_pct = (100.0 * cost_ms / self.whole_ms).min(100.0);
        Finding { limit, confidence: "high", cost_ms, cost_pct, says, evidence: evidence.iter().copied().collect() }
    }

    /// Returns whether a cost is too small to mention: below a hundredth of the transfer.
    pub fn is_nothing(&self, cost_ms: f64) -> bool {
        cost_ms < self.whole_ms / 100.0
    }

    /// Which part of the time a cost is, in words.
    pub fn percent(&self, cost_ms: f64) -> String {
        format!("{:.0} % of the time", 100.0 * cost_ms / self.whole_ms)
    }

    /// Median round trip of the whole path; zero where it is unknown.
    pub fn rtt_ms(&self) -> f64 {
        self.report.rtt.as_ref().map_or(0.0, |rtt| rtt.median_ms)
    }
}
