//! The totals of a stack in the text format of Prometheus, version 0.0.4: HELP and TYPE before each metric, units in the names, counters
//! that end in `_total`.

use super::control::state_name;
use crate::answer;
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, Response, StatusCode};
use longhaul::{ConnectionInfo, DropReason, Net, Stats};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// An exhausted system gets this long to recover.
const RECOVERY: Duration = Duration::from_millis(100);
/// The type of the content.
const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers indefinitely.
pub async fn serve(listener: TcpListener, net: Net) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(RECOVERY).await;
            continue;
        };
        let net = net.clone();
        tokio::task::spawn_local(async move {
            let respond = async |method: Method, path: String| respond(&net, &method, &path);
            answer::serve(stream, std::future::pending(), |request| {
                respond(request.method().clone(), request.uri().path().to_owned())
            })
            .await
        });
    }
}

fn respond(net: &Net, method: &Method, path: &str) -> Response<answer::Content> {
    if ![Method::GET, Method::HEAD].contains(method) {
        let mut refused = answer::problem(StatusCode::METHOD_NOT_ALLOWED, "metrics are read with GET");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let found = if path == "/metrics" {
        answer::text(StatusCode::OK, KIND, render(&net.stats(), &net.connections()))
    } else {
        answer::problem(StatusCode::NOT_FOUND, "metrics are at /metrics")
    };
    if *method == Method::HEAD { answer::without_content(found) } else { found }
}

/// A counter, its name without `longhaul_` and `_total`, and what it counts.
type Counter = (&'static str, &'static str, fn(&Stats) -> u64);

const COUNTERS: [Counter; 35] = [
    ("frames_received", "Frames received.", |stats| stats.stack.frames_received),
    ("frames_sent", "Frames accepted by the device.", |stats| stats.stack.frames_sent),
    ("payload_received_bytes", "Payload of TCP segments received, repeated ones too.", |stats| {
        stats.stack.payload_received
    }),
    ("payload_sent_bytes", "Payload of TCP segments sent, retransmissions too.", |stats| stats.stack.payload_sent),
    ("malformed_frames", "Frames that were not valid packets.", |stats| stats.stack.malformed),
    ("checksum_errors", "Frames with a wrong TCP checksum.", |stats| stats.stack.bad_checksum),
    ("foreign_frames", "Frames for other addresses, or from invalid ones.", |stats| stats.stack.not_ours),
    ("segments_without_connection", "Segments for ports without connection or listener.", |stats| {
        stats.stack.no_connection
    }),
    ("backlog_drops", "SYNs and ACKs ignored because a listener's queue was full.", |stats| stats.stack.backlog_full),
    ("syn_fin_drops", "SYNs that a listener dropped because they carried a FIN.", |stats| stats.stack.syn_fin),
    ("syn_cookies_sent", "SYNs that were answered with a cookie.", |stats| stats.stack.cookies_sent),
    ("syn_cookies_accepted", "Cookies that became connections.", |stats| stats.stack.cookies_taken),
    ("icmp_errors", "ICMP errors about our segments that were accepted.", |stats| stats.stack.icmp),
    ("icmp_out_of_window", "ICMP errors about segments that were not in flight.", |stats| {
        stats.stack.icmp_out_of_window
    }),
    ("icmp_ignored", "ICMP messages that concern no connection, or are malformed.", |stats| stats.stack.icmp_ignored),
    ("packets_inbound", "Packets from the device to the stack.", |stats| stats.pipe.inbound),
    ("packets_outbound", "Packets from the stack to the device.", |stats| stats.pipe.outbound),
    ("inbound_queue_full", "Times that the device found the queue to the stack full.", |stats| stats.pipe.inbound_full),
    ("outbound_queue_full", "Times that the stack found the queue to the device full.", |stats| {
        stats.pipe.outbound_full
    }),
    ("packets_handed_over", "Packets that came to another shard's end of the pipe.", |stats| stats.pipe.handed_over),
    ("packets_handed_up", "Packets of other protocols that were kept for the program.", |stats| stats.pipe.others),
    ("malformed_packets", "Packets from the device that were dropped as malformed.", |stats| stats.pipe.malformed),
    ("requests", "Requests for connections that were kept for a decision.", |stats| stats.requests.offered),
    ("requests_late", "Requests whose peers were connected by a cookie.", |stats| stats.requests.late),
    ("requests_repeated", "SYNs that repeated an undecided request.", |stats| stats.requests.repeated),
    ("requests_over_limit", "SYNs dropped because too many requests were undecided.", |stats| {
        stats.requests.over_limit
    }),
    ("requests_without_memory", "SYNs dropped because the budget was spent.", |stats| stats.requests.no_memory),
    ("requests_expired", "Requests without a decision in time.", |stats| stats.requests.expired),
    ("time_wait_evicted", "Connections whose TIME-WAIT ended early.", |stats| stats.guards.time_wait_evicted),
    ("handshakes_evicted", "Handshakes that were dropped for want of room.", |stats| stats.guards.embryonic_evicted),
    ("orphans_reset", "Closed connections that were reset before their end.", |stats| stats.guards.orphans_reset),
    ("out_of_order_discarded", "Blocks of out-of-order data that were discarded.", |stats| {
        stats.guards.out_of_order_discarded
    }),
    ("memory_refusals", "Segments and SYNs dropped because the budget was spent.", |stats| {
        stats.guards.refused_for_memory
    }),
    ("replies_dropped", "Replies dropped because too many waited.", |stats| stats.guards.replies_dropped),
    ("resets_withheld", "Resets withheld by the rate limit.", |stats| stats.guards.resets_withheld),
];

const GAUGES: [Counter; 5] = [
    ("memory_bytes", "Memory that counts against the budget.", |stats| stats.usage.memory),
    ("handshakes", "Handshakes under way.", |stats| stats.usage.embryonic as u64),
    ("orphans", "Connections that the application has released and that are not closed.", |stats| {
        stats.usage.orphans as u64
    }),
    ("replies_waiting", "Replies that wait for the device.", |stats| stats.usage.replies as u64),
    ("requests_undecided", "Requests without a decision.", |stats| stats.undecided as u64),
];

/// A reason for which packets are dropped, and how many were.
type Drops = (&'static str, fn(&Stats) -> u64);

/// Why packets were dropped: those of the TCP, of its requests and of the pipe, as far as a packet was dropped and not only ignored.
const DROPS: [Drops; 8] = [
    ("frame_malformed", |stats| stats.stack.malformed),
    ("packet_malformed", |stats| stats.pipe.malformed),
    ("checksum", |stats| stats.stack.bad_checksum),
    ("foreign", |stats| stats.stack.not_ours),
    ("backlog", |stats| stats.stack.backlog_full),
    ("requests_over_limit", |stats| stats.requests.over_limit),
    ("memory", |stats| stats.guards.refused_for_memory + stats.requests.no_memory),
    ("others_over_limit", |stats| stats.pipe.others_dropped),
];

/// One counter with the reason as its label.
fn drops(text: &mut String, stats: &Stats) {
    head(text, "dropped_packets_total", "counter", "Packets that were dropped, by the reason.");
    let datagrams = stats.datagrams.unwrap_or_default();
    let beside =
        DropReason::ALL.iter().map(|reason| (format!("datagram_{}", reason.name()), datagrams.dropped(*reason)));
    for (reason, count) in DROPS.iter().map(|(reason, of)| ((*reason).to_owned(), of(stats))).chain(beside) {
        let _ = writeln!(text, "longhaul_dropped_packets_total{{reason=\"{reason}\"}} {count}");
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP longhaul_{name} {help}\n# TYPE longhaul_{name} {kind}");
}

/// The whole text.
fn render(stats: &Stats, connections: &[ConnectionInfo]) -> String {
    let mut text = String::new();
    for (stem, help, value) in COUNTERS {
        let name = format!("{stem}_total");
        head(&mut text, &name, "counter", help);
        let _ = writeln!(text, "longhaul_{name} {}", value(stats));
    }
    drops(&mut text, stats);
    for (name, help, value) in GAUGES {
        head(&mut text, name, "gauge", help);
        let _ = writeln!(text, "longhaul_{name} {}", value(stats));
    }
    let mut by_state: BTreeMap<String, u64> = BTreeMap::new();
    for connection in connections {
        *by_state.entry(state_name(connection.state)).or_default() += 1;
    }
    head(&mut text, "connections", "gauge", "Connections by their state.");
    for (state, count) in by_state {
        let _ = writeln!(text, "longhaul_connections{{state=\"{state}\"}} {count}");
    }
    let in_flight: u64 = connections.iter().map(|connection| u64::from(connection.info.pipe)).sum();
    head(&mut text, "in_flight_bytes", "gauge", "Bytes in flight, all connections together.");
    let _ = writeln!(text, "longhaul_in_flight_bytes {in_flight}");
    text
}
