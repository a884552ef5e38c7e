//! What `longhaul analyze` finds in a capture, on the page of the connection.

use crate::model::{Finding, Run};
use trace_io::capture::{self, FlowReport};

/// Adds the findings of an analysed connection to its run: the first says what limited it, or that nothing is wrong.
pub fn add_findings(run: &mut Run, report: &FlowReport) {
    run.findings = findings(&report.summary, &report.verdict, &report.notes);
}

fn findings(summary: &str, verdict: &[capture::Finding], notes: &[capture::Finding]) -> Vec<Finding> {
    let found = |is_note| {
        move |found: &capture::Finding| Finding { says: found.says.clone(), cost_pct: found.cost_pct, is_note }
    };
    let nothing = verdict.is_empty().then(|| Finding { says: summary.to_owned(), cost_pct: 0.0, is_note: false });
    nothing.into_iter().chain(verdict.iter().map(found(false))).chain(notes.iter().map(found(true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_first_finding_leads_and_without_one_the_summary_does() {
        let of = |says: &str, cost_pct| capture::Finding {
            limit: "losses",
            confidence: "high",
            cost_ms: 1.0,
            cost_pct,
            says: says.to_owned(),
            evidence: BTreeMap::new(),
        };
        let shown = |found: Vec<Finding>| -> Vec<_> {
            found.into_iter().map(|found| (found.says, found.cost_pct, found.is_note)).collect()
        };
        let (many, few) = (of("many losses", 60.0), of("a slow reader", 3.0));
        let both = shown(findings("many losses", &[many], std::slice::from_ref(&few)));
        assert_eq!(both, [("many losses".to_owned(), 60.0, false), ("a slow reader".to_owned(), 3.0, true)]);
        let noted = shown(findings("nothing wrong", &[], &[few]));
        assert_eq!(noted, [("nothing wrong".to_owned(), 0.0, false), ("a slow reader".to_owned(), 3.0, true)]);
    }
}
