//! What took the time of a transfer, from its [`Diagnosis`](super::Diagnosis).

use super::case::Case;
use super::finding::Finding;
use crate::capture::quantities::{ms, rate, several, size, time, times};

/// A queue of this length affects everyone else on the path.
const BUFFERBLOAT: u64 = 50_000_000;
/// A receiver whose window stays below this, per cent of its maximum, holds unread data.
const STAYS_BELOW_PCT: u64 = 75;
/// If this fraction of the retransmissions was needless, they do not count as losses.
const NEEDLESS: f64 = 0.4;

pub(super) fn window(case: &Case) -> Option<Finding> {
    let cost = ms(case.diagnosis.window);
    let window = &case.way.window;
    if case.is_nothing(cost) || reads_slowly(case) {
        return None;
    }
    // In the counts the window limits from the first segment that does not fit; here from nine tenths on.
    let seen = window.max_in_flight_bytes.min(window.max_bytes);
    let limiting = if window.limiting_bytes > 0 { window.limiting_bytes } else { seen };
    let rtt_ms = case.rtt_ms();
    let bps = limiting as f64 * 8e3 / rtt_ms;
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
    let says = format!("receiver window of {} limits this path{to}: {why}", size(limiting));
    let evidence = [
        ("window_limited_ms", cost),
        ("window_bytes", limiting as f64),
        ("rtt_median_ms", rtt_ms),
        ("limit_bps", if rtt_ms > 0.0 { bps } else { 0.0 }),
        ("window_full_segments", window.window_full as f64),
    ];
    Some(case.finding("receive_window", cost, says, &evidence))
}

/// Returns whether the window closes, or unread data takes most of it.
fn reads_slowly(case: &Case) -> bool {
    let (window, diagnosis) = (&case.way.window, case.diagnosis);
    let closed = diagnosis.window_closed * 10 >= diagnosis.window && window.zero_windows > 0;
    let stays = window.since_largest_pct < STAYS_BELOW_PCT;
    closed || stays && diagnosis.window > 0
}

pub(super) fn slow_reader(case: &Case) -> Option<Finding> {
    let window = &case.way.window;
    if !reads_slowly(case) {
        return None;
    }
    let cost = ms(case.diagnosis.window_closed + case.diagnosis.window);
    let says = match case.diagnosis.window_closed {
        0 => format!(
            "the receiving application reads too slowly: its window shrinks from {} to {} and was full {}",
            size(window.max_bytes),
            size(window.min_bytes),
            case.percent(cost)
        ),
        _ => format!(
            "receiver closed its window {} for {} altogether, {} at the longest: its application reads too slowly",
            times(window.zero_windows),
            time(window.zero_window_ms),
            time(window.longest_zero_window_ms)
        ),
    };
    let evidence = [
        ("zero_windows", window.zero_windows as f64),
        ("zero_window_ms", window.zero_window_ms),
        ("window_limited_ms", ms(case.diagnosis.window)),
        ("window_since_largest_pct", window.since_largest_pct as f64),
        ("window_max_bytes", window.max_bytes as f64),
        ("window_probes", case.way.window_probes as f64),
    ];
    Some(case.finding("slow_reader", cost, says, &evidence))
}

pub(super) fn timeouts(case: &Case) -> Option<Finding> {
    let cost = ms(case.diagnosis.timers);
    let (timeouts, probes) = (case.way.timeouts + case.way.timeouts_before, case.way.tail_probes);
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

/// Returns whether most retransmitted data had already arrived.
pub(super) fn is_needless(case: &Case) -> bool {
    case.way.spurious_by_dsack as f64 >= NEEDLESS * case.way.retransmissions.max(1) as f64
}

pub(super) fn losses(case: &Case) -> Option<Finding> {
    let cost = ms(case.diagnosis.losses);
    if case.is_nothing(cost) || case.way.retransmissions == 0 || is_needless(case) {
        return None;
    }
    let lost = 100.0 * case.way.retransmitted_bytes as f64 / case.way.payload_bytes.max(1) as f64;
    let says = format!(
        "losses were repaired, or kept the window small, {}: {} of {:.2} % of the bytes",
        case.percent(cost),
        several(case.way.retransmissions, "retransmission"),
        lost
    );
    let evidence = [
        ("losses_ms", cost),
        ("retransmissions", case.way.retransmissions as f64),
        ("fast_retransmissions", case.way.fast_retransmissions as f64),
        ("retransmitted_pct", lost),
    ];
    Some(case.finding("losses", cost, says, &evidence))
}

pub(super) fn application(case: &Case) -> Option<Finding> {
    let diagnosis = case.diagnosis;
    let (cost, idle) = (ms(diagnosis.application()), ms(diagnosis.idle));
    if case.is_nothing(cost) {
        return None;
    }
    let says = format!("the application had nothing to send {}, {} altogether", case.percent(cost), time(cost));
    let evidence = [("idle_ms", idle), ("starved_ms", ms(diagnosis.starved))];
    Some(case.finding("application", cost, says, &evidence))
}

pub(super) fn send_buffer(case: &Case) -> Option<Finding> {
    let cost = ms(case.diagnosis.send_buffer);
    if case.is_nothing(cost) {
        return None;
    }
    let (bytes, rtt_ms) = (case.diagnosis.buffer, case.rtt_ms());
    let bps = bytes as f64 * 8e3 / rtt_ms;
    let to = if rtt_ms > 0.0 { format!(" to {}", rate(bps)) } else { String::new() };
    let says = format!(
        "the sender's buffer of about {} limits this path{to}: no more was in flight {}, and neither window was full",
        size(bytes),
        case.percent(cost)
    );
    let evidence = [("in_flight_bytes", bytes as f64), ("window_max_bytes", case.way.window.max_bytes as f64)];
    Some(case.finding("send_buffer", cost, says, &evidence))
}

pub(super) fn slow_start(case: &Case) -> Option<Finding> {
    let cost = ms(case.diagnosis.slow_start);
    if case.is_nothing(cost) {
        return None;
    }
    let rounds = u64::from(case.diagnosis.doublings);
    let says = format!(
        "slow start took {} in {}: at its end {} were in flight",
        case.percent(cost),
        several(rounds, "round trip"),
        size(case.diagnosis.largest)
    );
    Some(case.finding("slow_start", cost, says, &[("round_trips", rounds as f64), ("rtt_median_ms", case.rtt_ms())]))
}

/// The rate of the path, in words and in bits per second.
fn carries(case: &Case) -> (String, f64) {
    let bps = case.way.goodput_bps.unwrap_or(0.0);
    (rate(bps), bps)
}

pub(super) fn bufferbloat(case: &Case) -> Option<Finding> {
    let (queue, cost) = (case.diagnosis.queue, ms(case.diagnosis.path));
    if queue < BUFFERBLOAT {
        return None;
    }
    let (carries, bps) = carries(case);
    let least_ms = case.report.rtt.as_ref().map_or(0.0, |rtt| rtt.min_ms);
    let says = format!(
        "the path carries {carries} and is full; a queue adds {} to its round trip of {} (bufferbloat)",
        time(ms(queue)),
        time(least_ms)
    );
    let evidence = [("path_bps", bps), ("queue_ms", ms(queue)), ("rtt_min_ms", least_ms)];
    Some(case.finding("bufferbloat", cost, says, &evidence))
}

pub(super) fn handshake(case: &Case) -> Option<Finding> {
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

/// Reports that no limit explains most of the time.
pub(super) fn undetermined(case: &Case) -> Finding {
    let (cost, window) = (ms(case.diagnosis.undetermined), &case.way.window);
    let guess = if window.scale_is_guessed { ", as far as its scale is known" } else { "" };
    let says = format!(
        "the packets do not tell what limits this transfer: at most {} were in flight of a window of {}{guess}",
        size(window.max_in_flight_bytes),
        size(window.max_bytes)
    );
    let evidence = [
        ("in_flight_max_bytes", window.max_in_flight_bytes as f64),
        ("window_max_bytes", window.max_bytes as f64),
        ("goodput_bps", case.way.goodput_bps.unwrap_or(0.0)),
    ];
    Finding { confidence: "low", ..case.finding("undetermined", cost, says, &evidence) }
}

pub(super) fn nothing_wrong(case: &Case) -> String {
    let queue = time(ms(case.diagnosis.queue));
    format!("nothing wrong: the path carries {} and is full, with a queue of {queue}", carries(case).0)
}
