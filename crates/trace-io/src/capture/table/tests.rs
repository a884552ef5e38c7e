//! Connections come and go.

use super::*;
use crate::capture::testing::from;

const HERE: Interface = Interface { file: 0, index: None, network: None };

/// The connection that ends by a segment.
fn ended(table: &mut Table, at: u64, segment: &Segment) -> Option<Flow> {
    match table.on_segment(at, HERE, segment) {
        Taken::New { ended } => ended.map(|flow| *flow),
        Taken::Copy => None,
    }
}

fn segment(port: u16) -> Segment {
    let mut segment = from(0).full(0);
    segment.src.set_port(port);
    segment
}

#[test]
fn the_longest_silent_connection_is_given_up_for_a_new_one() {
    let mut table = Table::of(3);
    for (at, port) in [1, 2, 3, 1, 2].into_iter().enumerate() {
        assert!(ended(&mut table, at as u64, &segment(port).id(1 + at as u16)).is_none());
    }
    let gone = ended(&mut table, 9, &segment(4)).unwrap();
    assert_eq!((gone.ends[0].port(), gone.packets), (3, 1));
    let gone = ended(&mut table, 9, &segment(5)).unwrap();
    assert_eq!((gone.ends[0].port(), gone.packets), (1, 2));
    assert!(ended(&mut table, 9, &segment(2).id(9)).is_none());
    assert_eq!(table.given_up, 2);
    let mut left: Vec<(u64, u16, u64)> =
        table.finish().map(|flow| (flow.id, flow.ends[0].port(), flow.packets)).collect();
    left.sort_unstable();
    assert_eq!(left, [(2, 2, 3), (4, 4, 1), (5, 5, 1)]);
}

#[test]
fn one_packet_at_two_interfaces_belongs_to_two_flows() {
    let mut table = Table::default();
    table.on_segment(0, HERE, &segment(1));
    table.on_segment(5, Interface { file: 1, index: None, network: None }, &segment(1));
    table.on_segment(6, Interface { file: 0, index: Some(7), network: None }, &segment(1));
    let flows: Vec<_> = table
        .finish()
        .map(|flow| (flow.interface.file, flow.interface.index, flow.packets, flow.streams[0].counts.retransmissions))
        .collect();
    assert_eq!(flows, [(0, None, 1, 0), (1, None, 1, 0), (0, Some(7), 1, 0)]);
}

#[test]
fn the_same_ports_may_be_used_again() {
    let mut table = Table::default();
    ended(&mut table, 0, &from(0).syn(None));
    let gone = ended(&mut table, 5, &from(0).syn(None).seq(99)).unwrap();
    assert_eq!((gone.id, table.seen), (1, 2));
}

#[test]
fn books_are_cleared_when_they_take_too_much() {
    let mut table = Table::default();
    let mut most = 0;
    for port in 1..=60 {
        for nth in 0..40_000 {
            let mut one = segment(port);
            one.tcp.seq = base::SeqNum(nth * 1_000);
            table.on_segment(u64::from(nth), HERE, &one);
        }
        most = most.max(table.heap);
    }
    assert!(table.forgotten > 0 && most <= HEAP + (8 << 20), "{most} bytes, {} forgotten", table.forgotten);
    let kept: usize = table.slots.iter().map(|slot| slot.flow.heap()).sum();
    assert_eq!(kept, table.heap);
}
