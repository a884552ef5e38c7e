//! The path as a composition: order of events, accounting, hops that keep packets, independent streams.

use super::*;
use crate::delay::Delay;
use crate::duplicate::Duplicate;
use crate::loss::{Bernoulli, Mask};
use crate::queue::droptail::Buffer;
use crate::rate::Bottleneck;
use crate::reorder::ReorderSpec;
use crate::testing::{Outcome, Parcel, at, drive, full_sized, ns, percent, rate};
use base::{Duration, Ratio};
use std::collections::VecDeque;
use test_case::test_case;

/// A fixed delay implemented with deadlines: keeps its packets and returns them when they are due.
#[derive(Debug, Default)]
struct Holding {
    delay: Duration,
    held: VecDeque<(Instant, Parcel)>,
}

impl Hop<Parcel> for Holding {
    fn offer(&mut self, now: Instant, packet: Parcel, _rng: &mut Rng) -> Offer<Parcel> {
        assert!(self.held.front().is_none_or(|(exit, _)| *exit > now), "offered a packet before an earlier deadline");
        self.held.push_back((now + self.delay, packet));
        Offer::Queued
    }
    fn next_deadline(&self) -> Option<Instant> {
        self.held.front().map(|(exit, _)| *exit)
    }
    fn poll(&mut self, now: Instant, _rng: &mut Rng) -> Option<Left<Parcel>> {
        self.held.pop_front_if(|(exit, _)| *exit <= now).map(|(exit, packet)| Left::Leaves(exit, packet))
    }
    fn kind(&self) -> HopKind {
        HopKind::Delay
    }
}

fn delay(span: u64) -> Box<dyn Hop<Parcel>> {
    Box::new(Delay::fixed(ns(span)))
}
fn holding(span: u64) -> Box<dyn Hop<Parcel>> {
    Box::new(Holding { delay: ns(span), ..Holding::default() })
}
fn late(probability: Ratio) -> Box<dyn Hop<Parcel>> {
    Box::new(Delay::new(ns(1_000), None, ReorderSpec::Late { probability, extra: ns(777) }))
}
/// One nanosecond a byte.
fn link(buffer: Buffer) -> Box<dyn Hop<Parcel>> {
    Box::new(Bottleneck::new(rate(8_000_000_000), buffer))
}
fn path(hops: Vec<Box<dyn Hop<Parcel>>>) -> Path<Parcel> {
    Path::new(hops, &Rng::new(9))
}
fn ignore(_: Parcel, _: HopKind, _: DropCause) {}

fn burst_of_mixed_sizes() -> Vec<(u64, u32)> {
    (0..300).map(|i| (i / 3 * 170, 40 + (i * 37 % 200) as u32)).collect()
}

#[test]
fn an_empty_path_delivers_at_once() {
    let outcome = drive(&mut path(vec![]), &[(5, 40), (5, 40)]);
    assert_eq!(outcome.arrivals, [(5, 0), (5, 1)]);
}

#[test]
fn next_deadline_is_the_next_arrival() {
    let mut path = path(vec![delay(100)]);
    assert_eq!(path.next_deadline(), None);
    path.offer(at(7), full_sized(0), &mut ignore);
    assert_eq!((path.next_deadline(), path.in_flight()), (Some(at(107)), 1));
    assert_eq!(path.poll(at(106), &mut ignore), None);
    assert_eq!(path.poll(at(500), &mut ignore), Some((at(107), full_sized(0))));
    assert_eq!((path.next_deadline(), path.in_flight()), (None, 0));
}

#[test]
#[should_panic(expected = "time runs backwards")]
fn time_does_not_run_backwards() {
    let mut path = path(vec![delay(100)]);
    path.offer(at(7), full_sized(0), &mut ignore);
    path.offer(at(6), full_sized(1), &mut ignore);
}

#[test_case(vec![holding(100), link(Buffer::Bytes(500)), delay(50)], vec![delay(100), link(Buffer::Bytes(500)), delay(50)]; "first")]
#[test_case(vec![link(Buffer::Bytes(500)), holding(100), delay(50)], vec![link(Buffer::Bytes(500)), delay(100), delay(50)]; "in the middle")]
#[test_case(vec![delay(50), holding(100), link(Buffer::Bytes(500))], vec![delay(50), delay(100), link(Buffer::Bytes(500))]; "before the link")]
#[test_case(vec![holding(30), holding(70)], vec![delay(30), delay(70)]; "two in a row")]
#[test_case(vec![late(percent(20)), holding(100)], vec![late(percent(20)), delay(100)]; "behind a hop that reorders")]
fn a_hop_that_keeps_its_packets_is_served_in_time(
    keeping: Vec<Box<dyn Hop<Parcel>>>,
    forwarding: Vec<Box<dyn Hop<Parcel>>>,
) {
    let offers = burst_of_mixed_sizes();
    let (expected, outcome) = (drive(&mut path(forwarding), &offers), drive(&mut path(keeping), &offers));
    assert!(expected.arrivals.len() > 100, "the comparison needs packets");
    assert_eq!(outcome, expected);
}

#[test]
fn behind_a_hop_that_reorders_packets_enter_in_the_order_of_their_times() {
    let offers = burst_of_mixed_sizes();
    let whole = drive(&mut path(vec![late(percent(20)), link(Buffer::Bytes(400))]), &offers);
    // The same in two steps: who leaves the first hop when, and those then offered to the second in that order.
    let between = drive(&mut path(vec![late(percent(20))]), &offers).arrivals;
    let onward: Vec<_> = between.iter().map(|(ns, index)| (*ns, offers[*index as usize].1)).collect();
    let second = drive(&mut path(vec![link(Buffer::Bytes(400))]), &onward);
    let renamed: Vec<_> = second.arrivals.iter().map(|(ns, place)| (*ns, between[*place as usize].1)).collect();
    assert!(!between.is_sorted_by_key(|(_, index)| *index), "somebody must have been late");
    assert!(!second.drops.is_empty(), "the buffer must have mattered");
    assert_eq!(whole.arrivals, renamed);
    assert_eq!(whole.drops.len(), second.drops.len());
}

#[test]
fn a_copy_arrives_right_behind_its_original() {
    let mut path = path(vec![delay(100), Box::new(Duplicate::new(Ratio::ONE))]);
    let outcome = drive(&mut path, &[(0, 40), (0, 40), (9, 40)]);
    assert_eq!(outcome.arrivals, [(100, 0), (100, 0), (100, 1), (100, 1), (109, 2), (109, 2)]);
    assert_eq!((path.stats().duplicated, path.stats().delivered, path.in_flight()), (3, 6, 0));
}

#[test]
fn a_copy_goes_through_the_hops_behind() {
    let mut path = path(vec![Box::new(Duplicate::new(Ratio::ONE)), Box::new(Mask::new(vec![0, 3])), delay(1)]);
    let outcome = drive(&mut path, &[(0, 40), (5, 40)]);
    assert_eq!(outcome.arrivals, [(1, 0), (6, 1)]);
    assert_eq!(outcome.drops, [(0, DropCause::Loss), (1, DropCause::Loss)]);
}

#[test]
fn drops_name_their_hop_and_hand_the_packet_back() {
    let mut path = path(vec![Box::new(Mask::new(vec![0])), link(Buffer::Packets(1)), delay(1)]);
    let mut drops = Vec::new();
    for index in 0..3 {
        path.offer(at(0), full_sized(index), &mut |packet, hop, cause| drops.push((packet.index, hop, cause)));
    }
    assert_eq!(drops, [(0, HopKind::Loss, DropCause::Loss), (2, HopKind::Rate, DropCause::Tail)]);
}

#[test]
fn stats_count_packets_bytes_and_causes() {
    let mut path = path(vec![Box::new(Mask::new(vec![1])), link(Buffer::Bytes(250)), delay(1)]);
    drive(&mut path, &[(0, 100), (0, 100), (0, 100), (0, 51), (0, 50)]);
    let expected = PathStats {
        offered: 5,
        offered_bytes: 401,
        delivered: 3,
        delivered_bytes: 250,
        duplicated: 0,
        dropped: Drops { tail: 1, loss: 1, ..Drops::default() },
        marked: 0,
        max_backlog_bytes: 250,
    };
    assert_eq!(path.stats(), expected);
}

#[test]
fn backlog_is_what_waits_at_the_link() {
    let mut path = path(vec![link(Buffer::Unlimited), delay(1_000)]);
    for index in 0..3 {
        path.offer(at(0), Parcel { index, len: 100 }, &mut ignore);
    }
    assert_eq!([0, 99, 100, 299, 300].map(|ns| path.backlog(at(ns))), [300, 300, 200, 100, 0]);
}

fn losses(hops: Vec<Box<dyn Hop<Parcel>>>) -> Outcome {
    drive(&mut path(hops), &vec![(0, 40); 200])
}
fn bernoulli() -> Box<dyn Hop<Parcel>> {
    Box::new(Bernoulli::new(percent(30)))
}

#[test]
fn adding_a_hop_leaves_the_decisions_of_the_others_alone() {
    let alone = losses(vec![bernoulli(), delay(1)]);
    let more = losses(vec![Box::new(Duplicate::new(Ratio::ZERO)), bernoulli(), link(Buffer::Unlimited), delay(1)]);
    assert_eq!(alone.drops, more.drops);
}

#[test]
fn two_hops_of_one_name_draw_from_different_streams() {
    // With equal streams, the second would repeat the decisions of the first, and the result would not be 70 % of 70 %.
    let drops = losses(vec![bernoulli(), bernoulli()]).drops.len();
    assert!((80..125).contains(&drops), "{drops} of 200 lost at 51 %");
    let path = path(vec![bernoulli(), bernoulli()]);
    assert_ne!(path.stages[0].rng, path.stages[1].rng);
}
