//! Facts within the time of other findings, or without a cost: needless and lost retransmissions, disabled options.

use super::case::Case;
use super::finding::Finding;
use super::limits::is_needless;
use crate::capture::quantities::{ms, several, time};

/// Its time lies within that of losses and timeouts, so it is never a separate finding.
pub(super) const LOST_RETRANSMISSIONS: &str = "lost_retransmissions";

pub(super) fn spurious(case: &Case) -> Option<Finding> {
    let (proved, all) = (case.way.spurious_by_dsack, case.way.retransmissions);
    if proved == 0 {
        return None;
    }
    let (before, behind) = (&case.way.reordering_before, &case.way.reordering_behind);
    let extent_ms = before.extent_ms.max(behind.extent_ms);
    let mut says = format!("D-SACKs prove {proved} of {} spurious", several(all, "retransmission"));
    if extent_ms > 0.0 {
        says += &format!(": packets are reordered by up to {}", time(extent_ms));
    }
    let late_share = share_in_second_half(case);
    if proved >= 10 && late_share >= 0.25 {
        says += ", the sender does not adapt";
    }
    // The cost belongs to losses unless most retransmissions were needless.
    let cost = if is_needless(case) { ms(case.diagnosis.losses) } else { 0.0 };
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

pub(super) fn lost_retransmissions(case: &Case) -> Option<Finding> {
    let (lost, cost) = (case.way.lost_retransmissions, case.way.lost_retransmissions_ms);
    if lost == 0 {
        return None;
    }
    let says = match lost {
        1 => format!("a lost retransmission cost {}", time(cost)),
        lost => format!("{lost} lost retransmissions cost {}", time(cost)),
    };
    let evidence = [("lost_retransmissions", lost as f64), ("lost_retransmissions_ms", cost)];
    Some(case.finding(LOST_RETRANSMISSIONS, cost, says, &evidence))
}

pub(super) fn without_sack(case: &Case) -> Option<Finding> {
    let offers = case.report.offered.iter().flatten();
    if case.way.retransmissions == 0 || offers.clone().all(|offer| offer.sack_permitted) {
        return None;
    }
    let says = "selective acknowledgements are off: a sender repairs one loss in a round trip".to_owned();
    let evidence = [("retransmissions", case.way.retransmissions as f64)];
    Some(case.finding("no_sack", 0.0, says, &evidence))
}
