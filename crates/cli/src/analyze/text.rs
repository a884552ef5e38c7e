//! The analysis of a capture for people: a table of flows with what limited each, or one flow in full.

use crate::table::{self, NOTHING};
use profiles::table::Table;
use std::fmt::Write;
use trace_io::capture::{Analysis, DirectionReport, Distribution, FlowReport, Offered, Reordering};

/// Findings listed below a flow of the overview.
const FINDINGS: usize = 3;

/// The columns of the overview.
const LEGEND: &str = "
from     the end that sends more, and its port; `to` is the other
MB       payload of both directions
Mbit/s   goodput of the larger direction, from its first data to the last packet or ACK of it
rtt ms   median round trip of the whole path, queues included
retx %   payload of the larger direction that was sent again
RTOs     expiries of the sender's retransmission timer
seen at  where the capture was made, by the halves of the round trip
below    what limited the flow, the costliest first; `--flow ID` shows one in full
";

/// The largest flows, one line each, followed by what limited them.
pub fn overview(analysis: &Analysis, most: usize) -> String {
    let header = ["flow", "from", "to", "MB", "Mbit/s", "rtt ms", "retx %", "RTOs", "seen at", "verdict"];
    let rows = analysis.flows.iter().take(most).map(row).collect();
    let mut text = counted(analysis);
    if !analysis.flows.is_empty() {
        text.push('\n');
        text += &table::annotated(&Table { header: header.map(str::to_owned).to_vec(), rows });
        text += LEGEND;
    }
    let more = analysis.flows.len().saturating_sub(most);
    if more > 0 {
        writeln!(text, "\n{more} smaller flows are not shown: --flows {}", analysis.flows.len()).expect("a string");
    }
    text
}

fn counted(analysis: &Analysis) -> String {
    let not = &analysis.not_analysed;
    let mut parts = vec![format!("{} packets, {} of TCP", analysis.packets, analysis.segments)];
    let counts = [
        (analysis.of_others, "of connections that --host and --port leave out"),
        (analysis.copies, "copies of packets, captured more than once"),
        (not.not_tcp, "of other protocols"),
        (not.not_ip, "without IP"),
        (not.fragments, "fragments"),
        (not.short, "cut too short"),
        (not.malformed, "malformed"),
        (not.unknown_link, "of a link type that is not read"),
    ];
    parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let given_up = [
        (analysis.flows_left_out, "flows left out, the smallest"),
        (analysis.flows_given_up, "flows given up, the longest silent"),
        (analysis.flows_forgotten, "times packets in flight were forgotten for want of memory"),
    ];
    parts.extend(given_up.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    parts.join(", ") + "\n"
}

fn row(flow: &FlowReport) -> Vec<String> {
    let way = flow.main_direction();
    let ends = if flow.sender == "client" { [&flow.client, &flow.server] } else { [&flow.server, &flow.client] };
    let share = 100.0 * way.retransmitted_bytes as f64 / way.payload_bytes.max(1) as f64;
    let found = flow.verdict.iter().take(FINDINGS).map(|finding| finding.says.as_str());
    let says: Vec<&str> = if flow.verdict.is_empty() { vec![&flow.summary] } else { found.collect() };
    vec![
        flow.flow.to_string(),
        ends[0].clone(),
        ends[1].clone(),
        format!("{:.2}", flow.bytes() as f64 / 1e6),
        or_nothing(way.goodput_bps.map(|bps| bps / 1e6), 2),
        or_nothing(flow.rtt.as_ref().map(|rtt| rtt.median_ms), 1),
        format!("{share:.2}"),
        way.timeouts.to_string(),
        flow.vantage.to_owned(),
        says.join("\n"),
    ]
}

fn or_nothing(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| format!("{value:.decimals$}"))
}

/// Names on the left, values on the right.
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        writeln!(self.0, "{name:28} {value}").expect("a string takes it");
    }
    fn head(&mut self, text: &str) {
        writeln!(self.0, "\n{text}").expect("a string takes it");
    }
}

/// Everything about one flow.
pub fn in_full(flow: &FlowReport) -> String {
    let mut page = Page(String::new());
    let index = flow.interface_index.map_or_else(String::new, |index| format!(", index {index}"));
    let network = flow.vxlan_network.map_or_else(String::new, |network| format!(", in VXLAN {network}"));
    page.line("flow", format!("{} at interface {}{index}{network}", flow.flow, flow.interface));
    page.line("client", &flow.client);
    page.line("server", &flow.server);
    page.line("duration", format!("{:.3} ms, {} packets, {} resets", flow.duration_ms, flow.packets, flow.resets));
    if flow.copies > 0 {
        page.line("captured more than once", format!("{} copies of packets, left out", flow.copies));
    }
    let again = flow.syn_retransmissions;
    let missing = if flow.handshake == "missing" { ": the capture starts in the middle" } else { "" };
    page.line("handshake", format!("{}{missing}, {again} SYNs sent again", flow.handshake));
    for (name, offer) in ["client offers", "server offers"].into_iter().zip(&flow.offered) {
        page.line(name, offered(offer.as_ref()));
    }
    let half = |ms: Option<f64>| or_nothing(ms, 3);
    page.line("captured at", flow.vantage);
    page.line("  to client and back, min", format!("{} ms", half(flow.rtt_to_client_ms)));
    page.line("  to server and back, min", format!("{} ms", half(flow.rtt_to_server_ms)));
    page.line("round trip of the path", distribution(flow.rtt.as_ref()));
    for (name, way) in ["client to server", "server to client"].into_iter().zip(&flow.directions) {
        page.head(name);
        direction(&mut page, way);
    }
    page.head("verdict");
    if flow.verdict.is_empty() {
        page.0 += &table::paragraph("         ", &flow.summary);
    }
    for finding in &flow.verdict {
        let unsure = if finding.confidence == "low" { " (not sure)" } else { "" };
        let first = format!("{:5.1} %  ", finding.cost_pct);
        page.0 += &table::paragraph(&first, &format!("{}{unsure}", finding.says));
    }
    if !flow.notes.is_empty() {
        page.head("notes");
        flow.notes
            .iter()
            .for_each(|note| page.0 += &table::paragraph(&format!("{:5.1} %  ", note.cost_pct), &note.says));
    }
    page.0
}

fn offered(offer: Option<&Offered>) -> String {
    let Some(offer) = offer else { return "not captured".to_owned() };
    let number = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let yes = |is| if is { "yes" } else { "no" };
    format!(
        "MSS {}, window scale {}, SACK {}, time stamps {}",
        number(offer.mss_bytes.map(|mss| mss.to_string())),
        number(offer.window_scale.map(|shift| shift.to_string())),
        yes(offer.sack_permitted),
        yes(offer.timestamps)
    )
}

fn distribution(found: Option<&Distribution>) -> String {
    let Some(found) = found else { return "not measured".to_owned() };
    let Distribution { samples, min_ms, median_ms, p95_ms, max_ms } = found;
    format!("min {min_ms:.3} median {median_ms:.3} p95 {p95_ms:.3} max {max_ms:.3} ms ({samples} samples)")
}

fn reordering(found: &Reordering) -> String {
    match found.packets {
        0 => "none".to_owned(),
        count => format!("{count} packets, by up to {} packets and {:.3} ms", found.extent_packets, found.extent_ms),
    }
}

fn direction(page: &mut Page, way: &DirectionReport) {
    page.line("packets", format!("{}, {} with data", way.packets, way.data_packets));
    if way.data_packets == 0 {
        return;
    }
    let unseen = if way.unseen_bytes > 0 { format!(", {} never captured", way.unseen_bytes) } else { String::new() };
    page.line("bytes", format!("{} sent, {} delivered{unseen}", way.payload_bytes, way.delivered_bytes));
    let goodput = or_nothing(way.goodput_bps.map(|bps| bps / 1e6), 3);
    page.line("goodput", format!("{goodput} Mbit/s over {:.3} ms", way.data_ms));
    page.line("retransmissions", format!("{}, {} bytes", way.retransmissions, way.retransmitted_bytes));
    let causes = [
        ("  fast", way.fast_retransmissions),
        ("  tail loss probes", way.tail_probes),
        ("  timeouts", way.timeouts),
        ("  after timeouts", way.retransmissions_after_timeouts),
        ("  window probes", way.window_probes),
        ("  unexplained", way.unexplained_retransmissions),
    ];
    causes.iter().filter(|(_, count)| *count > 0).for_each(|(name, count)| page.line(name, count));
    if way.lost_retransmissions > 0 {
        let cost = format!("{}, {:.3} ms", way.lost_retransmissions, way.lost_retransmissions_ms);
        page.line("  lost in their turn", cost);
    }
    page.line("D-SACKs", format!("{}, {} retransmissions proved spurious", way.dsacks, way.spurious_by_dsack));
    page.line("duplicate ACKs", way.duplicate_acks);
    page.line("reordering before capture", reordering(&way.reordering_before));
    page.line("reordering behind capture", reordering(&way.reordering_behind));
    page.line("round trip to receiver", distribution(way.rtt_to_receiver.as_ref()));
    page.line("  from time stamps", distribution(way.rtt_from_timestamps.as_ref()));
    windows_and_time(page, way);
}

fn windows_and_time(page: &mut Page, way: &DirectionReport) {
    let window = &way.window;
    let guessed = if window.scale_is_guessed { ", scale guessed" } else { "" };
    page.line("window", format!("{} to {} bytes, scale {}{guessed}", window.min_bytes, window.max_bytes, window.scale));
    page.line(
        "in flight",
        format!("up to {} bytes, window filled {} times", window.max_in_flight_bytes, window.window_full),
    );
    if window.zero_windows > 0 {
        let longest = window.longest_zero_window_ms;
        page.line(
            "window closed",
            format!("{} times, {:.3} ms, {longest:.3} ms at the longest", window.zero_windows, window.zero_window_ms),
        );
    }
    if let Some(bps) = way.link_bps {
        page.line("narrowest link", format!("about {:.3} Mbit/s, queue {:.3} ms", bps / 1e6, way.queue_ms));
    }
    let time = &way.time;
    let spent = [
        ("time: path full", time.path_ms),
        ("time: window-limited", time.window_limited_ms),
        ("time: window closed", time.window_closed_ms),
        ("time: losses", time.losses_ms),
        ("time: waiting for timers", time.waiting_for_timers_ms),
        ("time: application silent", time.idle_ms),
        ("time: application slow", time.starved_ms),
        ("time: slow start", time.slow_start_ms),
        ("time: send buffer full", time.send_buffer_ms),
        ("time: undetermined", time.undetermined_ms),
    ];
    spent.iter().filter(|(_, ms)| *ms > 0.0).for_each(|(name, ms)| page.line(name, format!("{ms:.3} ms")));
}
