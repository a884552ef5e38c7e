//! Orders of delivery, and the rule that distinguishes late segments from repeated ones.

use super::*;
use crate::capture::pieces::Fate;
use crate::capture::testing::{MS, from};
use test_case::test_case;

fn piece(order: u32) -> Piece {
    Piece { start: 0, end: 1, first_sent: 0, last_sent: 0, order, retransmits: 0, fate: Fate::Flying }
}

#[test]
fn what_is_overtaken_counts_packets_and_time_since_the_first_that_did() {
    let mut deliveries = Deliveries::default();
    for (at, order) in [(1, 0), (2, 2), (3, 3), (9, 1), (10, 4)] {
        deliveries.delivered(at, &piece(order));
    }
    assert_eq!(deliveries.extent, Extent { packets: 1, overtaken_by: 2, late: 7 });
}

#[test]
fn order_is_not_disturbed_by_parts_of_one_segment_or_by_unknown_copies() {
    let mut deliveries = Deliveries::default();
    deliveries.delivered(1, &piece(5));
    deliveries.delivered(2, &piece(5));
    deliveries.delivered_somehow(3, &piece(4));
    deliveries.delivered_somehow(3, &piece(6));
    deliveries.delivered(4, &piece(7));
    assert_eq!(deliveries.extent, Extent::default());
}

const ROUND_TRIP: Option<u64> = Some(20 * MS);

// Time stamps of what revealed the hole and of what fills it; identifications before, behind and of that; time between.
#[test_case(Some(100), Some(99), (0, 0, 0), 50 * MS => true; "an older time stamp was sent first, however late")]
#[test_case(Some(100), Some(101), (0, 0, 0), MS => false; "a newer time stamp was sent later, however soon")]
#[test_case(Some(0), Some(u32::MAX), (0, 0, 0), 50 * MS => true; "older across the wrap")]
#[test_case(Some(100), Some(100), (7, 9, 8), 50 * MS => true; "equal stamps, counted between")]
#[test_case(None, None, (7, 9, 10), MS => false; "counted behind")]
#[test_case(None, None, (65_535, 1, 0), MS => true; "no identification: the time decides")]
#[test_case(None, None, (7, 40_000, 41_000), 50 * MS => false; "identifications that are drawn, not counted")]
#[test_case(None, None, (0, 0, 0), 19 * MS => true; "sooner than a round trip")]
#[test_case(None, None, (0, 0, 0), 20 * MS => false; "a round trip later")]
fn late_or_again(revealed: Option<u32>, stamp: Option<u32>, ids: (u16, u16, u16), elapsed: u64) -> bool {
    let hole = Revealed { tsval: revealed, ids: (ids.0, ids.1) };
    let mut segment = from(0).id(ids.2);
    if let Some(stamp) = stamp {
        segment = segment.stamped(stamp, 0);
    }
    is_late_original(&hole, &segment, elapsed, ROUND_TRIP)
}
