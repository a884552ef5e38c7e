//! Connections that cannot be analysed: refused, never answered, seen in one direction, or too short; and captures that lost
//! packets, which weakens their other findings.

use super::case::Case;
use super::finding::Finding;
use crate::capture::flow::Flow;
use crate::capture::quantities::several;

/// Part of the bytes, per cent, that may be missing without a note: a capture begins and ends at some point.
const MISSING_PCT: f64 = 0.5;
/// Fewer segments fit into a first flight (RFC 6928), which shows nothing of later behaviour.
const FIRST_FLIGHT: u64 = 10;
/// Segments, mostly with silence between them, from which that can be inferred.
const PAUSES: u64 = 3;
/// A connection of few bytes in many segments is a dialogue, whose pauses can be recognised.
const DIALOGUE: u64 = 20;

/// Returns the one finding that replaces all others.
pub(super) fn instead(case: &Case) -> Option<Finding> {
    refused(case).or_else(|| one_sided(case)).or_else(|| too_little(case))
}

fn opens(flow: &Flow) -> Option<usize> {
    let shook = |side: usize| flow.shakes[side].is_some_and(|shake| !shake.has_ack);
    (0..2).find(|&side| shook(side))
}

fn refused(case: &Case) -> Option<Finding> {
    let flow = case.flow;
    let opener = opens(flow)?;
    let answered = flow.shakes[1 - opener].is_some();
    if answered || flow.resets == 0 || flow.streams.iter().any(|stream| stream.counts.payload > 0) {
        return None;
    }
    let says = format!("{} refuses the connection: it answers the SYN with a reset", flow.ends[1 - opener]);
    Some(case.finding("refused", case.whole_ms, says, &[("resets", flow.resets as f64)]))
}

fn one_sided(case: &Case) -> Option<Finding> {
    let flow = case.flow;
    let silent = (0..2).find(|&side| flow.streams[side].counts.packets == 0)?;
    let (speaks, packets) = (flow.ends[1 - silent], flow.streams[1 - silent].counts.packets);
    let syns = flow.shakes[1 - silent].map_or(0, |shake| u64::from(shake.repeats) + 1);
    if syns == packets && opens(flow) == Some(1 - silent) {
        let says = format!("{} never answers {}", flow.ends[silent], several(syns, "SYN"));
        return Some(case.finding("never_answered", case.whole_ms, says, &[("syns", syns as f64)]));
    }
    let says = format!(
        "only what {speaks} sends was captured: round trips, losses and limits need both directions, \
         and {} sends too if this is a connection",
        flow.ends[silent]
    );
    Some(case.finding("one_direction", case.whole_ms, says, &[("packets", packets as f64)]))
}

fn too_little(case: &Case) -> Option<Finding> {
    let way = case.way;
    let bytes = case.flow.streams[case.side].bytes();
    let trouble = way.retransmissions + case.report.syn_retransmissions + way.window.zero_windows;
    if way.data_packets >= PAUSES && 2.0 * way.time.idle_ms >= case.whole_ms {
        return None;
    }
    if bytes >= FIRST_FLIGHT * way.mss_bytes.min(1_460) || way.data_packets >= DIALOGUE || trouble > 0 {
        return None;
    }
    let says = format!("too little to tell: {} in {}", several(bytes, "byte"), several(way.data_packets, "segment"));
    Some(case.finding("too_little", case.whole_ms, says, &[("bytes", bytes as f64)]))
}

/// Finds that the receiver acknowledged data that the capture does not show.
pub(super) fn capture_lost(case: &Case) -> Option<Finding> {
    let [unseen, seen] = case
        .report
        .directions
        .iter()
        .fold([0, 0], |[unseen, seen], way| [unseen + way.unseen_bytes, seen + way.payload_bytes]);
    let share = 100.0 * unseen as f64 / (unseen + seen).max(1) as f64;
    // A SYN or a FIN that was not captured is a byte.
    if share < MISSING_PCT || unseen <= case.way.mss_bytes {
        return None;
    }
    let says = format!(
        "the capture lost packets: {share:.1} % of the bytes were acknowledged but never captured, \
         so losses and retransmissions are uncertain"
    );
    let evidence = [("unseen_bytes", unseen as f64), ("unseen_pct", share)];
    Some(case.finding("capture_lost", case.whole_ms, says, &evidence))
}
