//! What limited a transfer, in words, each with the numbers it rests on.
//!
//! A finding costs a part of the transfer's time that is worth it, a fifth for most, or says why nothing can be found; findings are ordered by cost.
//! What costs less is a note. A transfer that its path limits without a long queue has no finding: nothing is wrong with it.

mod broken;
mod limits;
mod notes;

use super::diagnosis::Diagnosis;
use super::flow::Flow;
use super::report::{DirectionReport, FlowReport, ms};
use serde::Serialize;
use std::collections::BTreeMap;

/// Part of the time, per cent, below which a cost is not a finding.
const LEAST_PCT: f64 = 20.0;
/// The same of losses: congestion control that fills a path loses something now and then.
const LEAST_LOSSES_PCT: f64 = 30.0;
/// The same of timeouts, which no connection should have.
const LEAST_TIMEOUTS_PCT: f64 = 10.0;
/// The first finding is sure when the second costs less than this part of it.
const CLEAR: f64 = 0.8;

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

/// What was found about a connection.
pub(super) struct Verdict {
    /// One sentence: the first finding, or that nothing is wrong.
    pub summary: String,
    pub findings: Vec<Finding>,
    pub notes: Vec<Finding>,
}

/// What the sentences are made of.
struct Case<'a> {
    flow: &'a Flow,
    side: usize,
    report: &'a FlowReport,
    way: &'a DirectionReport,
    diagnosis: &'a Diagnosis,
    /// From the first packet to the last data or acknowledgement of data, at least a nanosecond.
    whole_ms: f64,
}

/// Judges the direction of most data.
pub(super) fn of(flow: &Flow, side: usize, report: &FlowReport, diagnosis: &Diagnosis) -> Verdict {
    let way = &report.directions[side];
    let stream = &flow.streams[side];
    let end = if stream.first_at.is_some() { stream.last_at } else { flow.last_at };
    let span = end.saturating_sub(flow.first_at).max(diagnosis.total()).max(1);
    let case = Case { flow, side, report, way, diagnosis, whole_ms: ms(span) };
    if let Some(only) = broken::instead(&case) {
        return Verdict { summary: only.says.clone(), findings: vec![only], notes: Vec::new() };
    }
    let judges = [
        limits::window,
        limits::slow_reader,
        limits::timeouts,
        limits::losses,
        limits::application,
        limits::send_buffer,
        limits::slow_start,
        limits::bufferbloat,
        limits::handshake,
        notes::spurious,
        notes::lost_retransmissions,
        notes::without_sack,
    ];
    let all = judges.into_iter().filter_map(|judge| judge(&case));
    let (mut findings, mut notes): (Vec<_>, Vec<_>) = all.partition(|found| found.cost_pct >= least_pct(found.limit));
    by_cost(&mut notes);
    by_cost(&mut findings);
    if let [first, second, ..] = &mut findings[..]
        && second.cost_ms > CLEAR * first.cost_ms
    {
        first.confidence = "low";
    }
    if let Some(gaps) = broken::capture_lost(&case) {
        findings.insert(0, gaps);
    }
    if findings.is_empty() && 2.0 * ms(diagnosis.path) < case.whole_ms {
        findings.push(limits::undetermined(&case));
    }
    let summary = findings.first().map_or_else(|| limits::nothing_wrong(&case), |first| first.says.clone());
    Verdict { summary, findings, notes }
}

/// Returns the part of the time, per cent, from which on a cost is a finding.
fn least_pct(limit: &str) -> f64 {
    match limit {
        "losses" => LEAST_LOSSES_PCT,
        "timeouts" => LEAST_TIMEOUTS_PCT,
        notes::LOST_RETRANSMISSIONS => f64::INFINITY,
        _ => LEAST_PCT,
    }
}

fn by_cost(found: &mut [Finding]) {
    found.sort_by(|a, b| b.cost_ms.total_cmp(&a.cost_ms));
}

impl Case<'_> {
    fn finding(&self, limit: &'static str, cost_ms: f64, says: String, evidence: &[(&'static str, f64)]) -> Finding {
        let cost_pct = (100.0 * cost_ms / self.whole_ms).min(100.0);
        Finding { limit, confidence: "high", cost_ms, cost_pct, says, evidence: evidence.iter().copied().collect() }
    }
    /// Too short to speak of: below a hundredth of the transfer.
    fn is_nothing(&self, cost_ms: f64) -> bool {
        cost_ms < self.whole_ms / 100.0
    }
    fn percent(&self, cost_ms: f64) -> String {
        format!("{:.0} % of the time", 100.0 * cost_ms / self.whole_ms)
    }
    fn rtt_ms(&self) -> f64 {
        self.report.rtt.as_ref().map_or(0.0, |rtt| rtt.median_ms)
    }
}

fn several(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// A time with three digits that count.
pub(super) fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms if ms >= 1.0 => format!("{ms:.1} ms"),
        ms => format!("{:.0} µs", ms * 1e3),
    }
}

/// Bytes, in the powers of two that windows are made of.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", (bytes + 512) >> 10),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

fn rate(bps: f64) -> String {
    match bps {
        bps if bps >= 1e9 => format!("{:.2} Gbit/s", bps / 1e9),
        bps if bps >= 1e6 => format!("{:.1} Mbit/s", bps / 1e6),
        bps => format!("{:.0} kbit/s", bps / 1e3),
    }
}

#[cfg(test)]
mod tests;
