//! What limited a transfer, in words, each with the numbers it rests on.
//!
//! Findings are ordered by the time they cost. Below a hundredth of the transfer, a finding is not worth a sentence.

use super::flow::Flow;
use super::report::{DirectionReport, FlowReport, ms};
use serde::Serialize;
use std::collections::BTreeMap;

/// A sentence and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which limit: one word for programs.
    pub limit: &'static str,
    /// Time of the sender that it took.
    pub cost_ms: f64,
    /// The same in per cent of the time of the transfer.
    pub cost_pct: f64,
    /// For people.
    pub says: String,
    /// The numbers, each with its unit at the end of the name.
    pub evidence: BTreeMap<&'static str, f64>,
}

/// What the sentences are made of.
struct Case<'a> {
    flow: &'a Flow,
    side: usize,
    report: &'a FlowReport,
    way: &'a DirectionReport,
    /// Time from the first data on, at least a nanosecond.
    whole_ms: f64,
}

/// The findings about the direction of most data, the costliest first.
pub(super) fn of(flow: &Flow, side: usize, report: &FlowReport) -> Vec<Finding> {
    let way = &report.directions[side];
    let whole_ms = ms(flow.streams[side].window.shares.total().max(1));
    let case = Case { flow, side, report, way, whole_ms };
    let judges = [
        window,
        closed_window,
        timeouts,
        recovery,
        spurious,
        lost_retransmissions,
        idle,
        handshake,
        without_sack,
        rest,
    ];
    let mut findings: Vec<Finding> = judges.into_iter().filter_map(|judge| judge(&case)).collect();
    findings.sort_by(|a, b| b.cost_ms.total_cmp(&a.cost_ms));
    findings
}

impl Case<'_> {
    fn finding(&self, limit: &'static str, cost_ms: f64, says: String, evidence: &[(&'static str, f64)]) -> Finding {
        let cost_pct = (100.0 * cost_ms / self.whole_ms).min(100.0);
        Finding { limit, cost_ms, cost_pct, says, evidence: evidence.iter().copied().collect() }
    }
    /// Too short to speak of.
    fn is_nothing(&self, cost_ms: f64) -> bool {
        cost_ms < self.whole_ms / 100.0
    }
    fn percent(&self, cost_ms: f64) -> String {
        format!("{:.0} % of the time", 100.0 * cost_ms / self.whole_ms)
    }
}

fn window(case: &Case) -> Option<Finding> {
    let cost = case.way.time.window_limited_ms;
    if case.is_nothing(cost) {
        return None;
    }
    let window = &case.way.window;
    let rtt_ms = case.report.rtt.as_ref().map_or(0.0, |rtt| rtt.median_ms);
    let bps = window.limiting_bytes as f64 * 8e3 / rtt_ms;
    let to = if rtt_ms > 0.0 { format!(" to {}", rate(bps)) } else { String::new() };
    let offers = &case.report.offered;
    let whose = |index: usize| offers[index].as_ref().is_some_and(|offer| offer.window_scale.is_none());
    let why = match (whose(0), whose(1)) {
        (true, true) => "window scaling is off".to_owned(),
        (true, false) => "window scaling is off, for the client does not offer it".to_owned(),
        (false, true) => "window scaling is off, for the server does not take it".to_owned(),
        _ if window.scale_is_guessed => format!("it was full {}, if its scale is {}", case.percent(cost), window.scale),
        _ => format!("it was full {}", case.percent(cost)),
    };
    let says = format!("receiver window of {} limits this path{to}: {why}", size(window.limiting_bytes));
    let evidence = [
        ("window_limited_ms", cost),
        ("window_bytes", window.limiting_bytes as f64),
        ("rtt_median_ms", rtt_ms),
        ("limit_bps", if rtt_ms > 0.0 { bps } else { 0.0 }),
        ("window_full_segments", window.window_full as f64),
    ];
    Some(case.finding("receive_window", cost, says, &evidence))
}

fn closed_window(case: &Case) -> Option<Finding> {
    let cost = case.way.time.window_closed_ms;
    let window = &case.way.window;
    if window.zero_windows == 0 {
        return None;
    }
    let says = format!(
        "receiver closed its window {} for {} altogether, {} at the longest: its application reads too slowly",
        times(window.zero_windows),
        time(window.zero_window_ms),
        time(window.longest_zero_window_ms)
    );
    let evidence = [
        ("zero_windows", window.zero_windows as f64),
        ("zero_window_ms", window.zero_window_ms),
        ("window_probes", case.way.window_probes as f64),
    ];
    Some(case.finding("zero_window", cost, says, &evidence))
}

fn timeouts(case: &Case) -> Option<Finding> {
    let cost = case.way.time.waiting_for_timers_ms;
    let (timeouts, probes) = (case.way.timeouts, case.way.tail_probes);
    if timeouts + probes == 0 {
        return None;
    }
    let says = match (timeouts, probes) {
        (0, probes) => format!("{} after {} of silence", several(probes, "tail loss probe"), time(cost)),
        (timeouts, 0) => format!("{} after {} of silence", several(timeouts, "timeout"), time(cost)),
        (timeouts, probes) => format!(
            "{} and {} after {} of silence",
            several(timeouts, "timeout"),
            several(probes, "tail loss probe"),
            time(cost)
        ),
    };
    let evidence = [
        ("timeouts", timeouts as f64),
        ("tail_probes", probes as f64),
        ("silence_ms", cost),
        ("retransmissions_after_timeouts", case.way.retransmissions_after_timeouts as f64),
    ];
    Some(case.finding("timeouts", cost, says, &evidence))
}

fn recovery(case: &Case) -> Option<Finding> {
    let cost = case.way.time.recovery_ms;
    if case.is_nothing(cost) || case.way.retransmissions == 0 {
        return None;
    }
    let lost = 100.0 * case.way.retransmitted_bytes as f64 / case.way.payload_bytes.max(1) as f64;
    let says = format!(
        "losses were repaired {}: {} of {:.2} % of the octets",
        case.percent(cost),
        several(case.way.retransmissions, "retransmission"),
        lost
    );
    let evidence = [
        ("recovery_ms", cost),
        ("retransmissions", case.way.retransmissions as f64),
        ("fast_retransmissions", case.way.fast_retransmissions as f64),
        ("retransmitted_pct", lost),
    ];
    Some(case.finding("recovery", cost, says, &evidence))
}

fn spurious(case: &Case) -> Option<Finding> {
    let (proved, all) = (case.way.spurious_by_dsack, case.way.retransmissions);
    if proved == 0 {
        return None;
    }
    let (before, behind) = (&case.way.reordering_before, &case.way.reordering_behind);
    let extent_ms = before.extent_ms.max(behind.extent_ms);
    let mut says = format!("D-SACKs prove {proved} of {} spurious", several(all, "retransmission"));
    if before.packets + behind.packets > 0 {
        says += &format!(": packets are reordered by up to {}", time(extent_ms));
    }
    let late_share = share_in_second_half(case);
    if proved >= 10 && late_share >= 0.25 {
        says += ", the sender does not adapt";
    }
    let cost = case.way.time.recovery_ms * proved as f64 / all.max(proved) as f64;
    let evidence = [
        ("spurious_by_dsack", proved as f64),
        ("retransmissions", all as f64),
        ("dsacks", case.way.dsacks as f64),
        ("reordering_extent_ms", extent_ms),
        ("reordering_extent_packets", before.extent_packets.max(behind.extent_packets).into()),
        ("in_second_half_pct", 100.0 * late_share),
    ];
    Some(case.finding("spurious_retransmissions", cost, says, &evidence))
}

/// Which part of the D-SACKs came in the second half of the transfer.
fn share_in_second_half(case: &Case) -> f64 {
    let stream = &case.flow.streams[case.side];
    let first = stream.first_at.unwrap_or(stream.last_at);
    let middle = first + stream.last_at.saturating_sub(first) / 2;
    stream.dsack_times.share_above(middle)
}

fn lost_retransmissions(case: &Case) -> Option<Finding> {
    let (lost, cost) = (case.way.lost_retransmissions, case.way.lost_retransmissions_ms);
    if lost == 0 {
        return None;
    }
    let says = match lost {
        1 => format!("a lost retransmission cost {}", time(cost)),
        lost => format!("{lost} lost retransmissions cost {}", time(cost)),
    };
    let evidence = [("lost_retransmissions", lost as f64), ("lost_retransmissions_ms", cost)];
    Some(case.finding("lost_retransmissions", cost, says, &evidence))
}

fn idle(case: &Case) -> Option<Finding> {
    let cost = case.way.time.idle_ms;
    if case.is_nothing(cost) {
        return None;
    }
    let says = format!("the application had nothing to send {}, {} altogether", case.percent(cost), time(cost));
    Some(case.finding("application", cost, says, &[("idle_ms", cost)]))
}

fn handshake(case: &Case) -> Option<Finding> {
    let shakes = &case.flow.shakes;
    let again = case.report.syn_retransmissions;
    if again == 0 {
        return None;
    }
    let took = shakes.iter().flatten().map(|shake| shake.last_at.saturating_sub(shake.first_at)).max().unwrap_or(0);
    let says = format!("the handshake took {} more and {}", several(again, "SYN"), time(ms(took)));
    let evidence = [("syn_retransmissions", again as f64), ("handshake_ms", ms(took))];
    Some(case.finding("handshake", ms(took), says, &evidence))
}

fn without_sack(case: &Case) -> Option<Finding> {
    let offers = case.report.offered.iter().flatten();
    if case.way.retransmissions == 0 || offers.clone().all(|offer| offer.sack_permitted) {
        return None;
    }
    let says = "selective acknowledgements are off: a sender repairs one loss in a round trip".to_owned();
    let evidence = [("retransmissions", case.way.retransmissions as f64)];
    Some(case.finding("no_sack", 0.0, says, &evidence))
}

/// What is left when nothing else explains it.
fn rest(case: &Case) -> Option<Finding> {
    let cost = case.way.time.sending_ms;
    if case.is_nothing(cost) || case.way.delivered_bytes == 0 {
        return None;
    }
    let window = &case.way.window;
    let guess = if window.scale_is_guessed { ", as far as its scale can be told" } else { "" };
    let says = format!(
        "the congestion window, the path or the pace of the application limits {}: at most {} were in flight of a window of {}{guess}",
        case.percent(cost),
        size(window.max_in_flight_bytes),
        size(window.max_bytes),
    );
    let evidence = [
        ("sending_ms", cost),
        ("in_flight_max_bytes", window.max_in_flight_bytes as f64),
        ("window_max_bytes", window.max_bytes as f64),
        ("goodput_bps", case.way.goodput_bps.unwrap_or(0.0)),
    ];
    Some(case.finding("congestion_or_path", cost, says, &evidence))
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

/// Octets, in the powers of two that windows are made of.
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
