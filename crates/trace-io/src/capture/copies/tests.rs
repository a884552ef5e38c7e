//! What is a copy, and what only looks like one.

use super::*;
use crate::capture::testing::{MS, from, opened};

/// A connection with a round trip of 100 ms; returns whether the second of two segments is a copy if it comes `later`.
fn is_copy(later: u64, first: &Segment, second: &Segment) -> bool {
    let (mut copies, flow) = (Copies::default(), opened([Some(7), Some(7)]));
    assert!(!copies.is_copy(200 * MS, &flow, first), "nothing is a copy of nothing");
    copies.is_copy(200 * MS + later, &flow, second)
}

#[test]
fn a_copy_has_the_identification_and_comes_within_a_round_trip() {
    let data = from(0).full(0).id(7);
    assert!(is_copy(0, &data, &data) && is_copy(99 * MS, &data, &data));
    assert!(!is_copy(101 * MS, &data, &data), "that late it was sent again");
    assert!(!is_copy(MS, &data, &data.id(8)), "sent again by its host");
    let ack = from(1).got(1).id(9);
    assert!(is_copy(MS, &ack, &ack));
    assert!(!is_copy(MS, &ack, &ack.id(10)) && !is_copy(MS, &ack, &ack.window(9)));
    assert!(!is_copy(MS, &ack, &ack.sack(&[(2, 3)])) && !is_copy(MS, &ack, &ack.stamped(1, 1)));
}

#[test]
fn without_identification_data_are_copies_only_at_once_and_bare_acks_never() {
    let (data, ack) = (from(0).full(0), from(1).got(1));
    assert!(is_copy(MS / 2, &data, &data) && !is_copy(2 * MS, &data, &data));
    assert!(!is_copy(1, &ack, &ack), "a duplicate acknowledgement");
}

#[test]
fn a_connection_known_to_be_mirrored_needs_no_identification() {
    let (mut copies, mut flow) = (Copies::default(), opened([Some(7), Some(7)]));
    for nth in 0..4 {
        let data = from(0).full(nth);
        assert!(!copies.is_copy(200 * MS, &flow, &data));
        flow.on_segment(200 * MS, &data);
        assert!(copies.is_copy(200 * MS + 9, &flow, &data));
        flow.on_copy(&data);
    }
    assert!(flow.is_mirrored());
    let ack = from(1).got(4);
    assert!(!copies.is_copy(300 * MS, &flow, &ack) && copies.is_copy(300 * MS + 9, &flow, &ack));
    assert_eq!(flow.copies, 4);
}

#[test]
fn a_syn_is_a_copy_before_any_round_trip_is_known() {
    let (mut copies, syn) = (Copies::default(), from(0).syn(None));
    let flow = Flow::new(1, crate::capture::flow::Interface::default(), 0, &syn);
    assert!(!copies.is_copy(0, &flow, &syn) && copies.is_copy(5 * MS, &flow, &syn));
    assert!(!copies.is_copy(1_000 * MS, &flow, &syn), "sent again after its timeout");
}
