//! What limited a transfer, as text, each statement with its numbers.
//!
//! A finding costs a significant part of the transfer's time, for most a fifth, or says why nothing can be found; findings are
//! ordered by cost. A smaller cost is a note. A transfer that its path limits without a long queue has no finding: nothing is
//! wrong with it.

mod broken;
mod case;
mod finding;
mod limits;
mod notes;

pub use finding::Finding;

use super::diagnosis::{self, Diagnosis};
use super::flow::Flow;
use super::quantities::ms;
use super::report::FlowReport;
use case::Case;

/// Part of the time, per cent, below which a cost is not a finding.
const LEAST_PCT: f64 = 20.0;
/// The same for losses: congestion control that fills a path loses a segment now and then.
const LEAST_LOSSES_PCT: f64 = 30.0;
/// The same of timeouts, which no connection should have.
const LEAST_TIMEOUTS_PCT: f64 = 10.0;
/// The first finding is certain if the second costs less than this fraction of it.
const CLEAR: f64 = 0.8;

/// What was found about a connection.
struct Verdict {
    /// One sentence: the first finding, or that nothing is wrong.
    summary: String,
    findings: Vec<Finding>,
    notes: Vec<Finding>,
}

/// Reports a connection that is over, with what limited it.
pub(super) fn report(flow: &Flow) -> FlowReport {
    let diagnoses =
        [0, 1].map(|side: usize| diagnosis::of(&flow.streams[side], [flow.half(side), flow.half(1 - side)]));
    let side = flow.main_side();
    let mut report = FlowReport::of(flow, &diagnoses);
    let found = judge(flow, side, &report, &diagnoses[side]);
    (report.summary, report.verdict, report.notes) = (found.summary, found.findings, found.notes);
    report
}

/// Judges the direction of most data.
fn judge(flow: &Flow, side: usize, report: &FlowReport, diagnosis: &Diagnosis) -> Verdict {
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

#[cfg(test)]
mod tests;
