//! Captures from outside the project: whatever the bytes, the analysis terminates, its books balance, and its result can be
//! written.

use trace_io::capture::{DirectionReport, FlowReport, analyze};

/// Analyses `bytes` as a capture.
pub fn captures(bytes: &[u8]) {
    let Ok(analysis) = analyze(bytes) else { return };
    let not = &analysis.not_analysed;
    let set_aside = not.not_ip + not.unknown_link + not.not_tcp + not.fragments + not.short + not.malformed;
    assert_eq!(analysis.packets, analysis.segments + set_aside, "a packet is analysed or set aside");
    let in_flows: u64 = analysis.flows.iter().map(|flow| flow.packets).sum();
    let once = analysis.segments - analysis.copies;
    assert!(analysis.flows_left_out > 0 || in_flows == once, "a segment belongs to one flow, or is a copy");
    if let Some(bad) = analysis.first_bad() {
        assert!(bad.offset <= bytes.len() as u64 || is_packed(bytes), "beyond the file");
    }
    analysis.flows.iter().for_each(judge);
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
        || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || bytes.get(1..4) == Some(&[0x2a, 0x4d, 0x18])
}

fn judge(flow: &FlowReport) {
    flow.directions.iter().for_each(balance);
    let most = flow.duration_ms + 1e-3;
    for finding in flow.verdict.iter().chain(&flow.notes) {
        assert!(finding.cost_ms <= most, "a cost above the connection's {most} ms: {finding:?}");
    }
    let costs: Vec<f64> = flow.verdict.iter().map(|finding| finding.cost_ms).collect();
    assert!(costs.is_sorted_by(|a, b| a >= b), "the costliest comes first: {costs:?}");
    let line = serde_json::to_string(flow).expect("a report can be written");
    // JSON cannot represent NaN or infinity: they would appear as null, which must not happen.
    for finding in &flow.verdict {
        assert!(finding.evidence.values().all(|value| value.is_finite()), "{line}");
    }
}

fn balance(way: &DirectionReport) {
    let causes = way.fast_retransmissions
        + way.tail_probes
        + way.timeouts
        + way.retransmissions_after_timeouts
        + way.window_probes
        + way.unexplained_retransmissions;
    assert_eq!(way.retransmissions, causes, "each retransmission has one cause");
    assert!(way.retransmitted_bytes <= way.payload_bytes, "sent again is sent");
    assert!(way.spurious_by_dsack <= way.dsacks.min(way.retransmissions), "one proof each");
    assert!(way.data_packets <= way.packets, "data are packets");
}
