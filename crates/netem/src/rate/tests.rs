//! The bottleneck against exact fractions, and its buffer to the packet.

use super::serialiser::BIT_NANOS;
use super::*;
use crate::testing::{Outcome, Parcel, at, drive, exit_of, full_sized, path_of, rate};
use base::{Duration, Rng};
use proptest::prelude::*;
use std::collections::VecDeque;
use test_case::test_case;

fn offer(link: &mut Bottleneck, ns: u64, len: u32) -> Offer<Parcel> {
    link.offer(at(ns), Parcel { index: 0, len }, &mut Rng::new(0))
}

/// Returns how many of `count` packets of 1500 bytes that arrive at once are accepted.
fn taken_of_burst(buffer: Buffer, count: usize) -> usize {
    let mut path = path_of(Bottleneck::new(rate(100_000_000), buffer));
    let outcome = drive(&mut path, &vec![(0, 1_500); count]);
    assert_eq!(outcome.arrivals.len() + outcome.drops.len(), count);
    outcome.arrivals.len()
}

#[test_case(Buffer::bdp(rate(100_000_000), Duration::from_millis(25)), 208; "one bdp of 25 ms is 208.3 packets")]
#[test_case(Buffer::bdp(rate(100_000_000), Duration::from_millis(50)), 416; "one bdp of 50 ms is 416.7 packets")]
#[test_case(Buffer::Bytes(1_499), 0; "not one packet")]
#[test_case(Buffer::Bytes(1_500), 1; "the packet in service alone")]
#[test_case(Buffer::Bytes(4_499), 2; "one byte short of three")]
#[test_case(Buffer::Bytes(4_500), 3; "exactly three")]
#[test_case(Buffer::Packets(1), 1; "in service, nothing waits")]
#[test_case(Buffer::Packets(400), 400; "four hundred packets")]
#[test_case(Buffer::Unlimited, 1_000; "all")]
fn a_burst_fills_the_buffer_exactly(buffer: Buffer, taken: usize) {
    assert_eq!(taken_of_burst(buffer, 1_000), taken);
}

#[test]
fn room_comes_back_when_the_last_bit_has_left_and_not_before() {
    // 1500 bytes at 100 Mbit/s take 120 us.
    let mut link = Bottleneck::new(rate(100_000_000), Buffer::Bytes(3_000));
    assert_eq!(exit_of(offer(&mut link, 0, 1_500)), at(120_000));
    assert_eq!(exit_of(offer(&mut link, 0, 1_500)), at(240_000));
    assert!(matches!(offer(&mut link, 119_999, 1), Offer::Dropped(_, DropCause::Tail)));
    assert_eq!(exit_of(offer(&mut link, 120_000, 1_500)), at(360_000));
    assert!(matches!(offer(&mut link, 120_000, 1), Offer::Dropped(_, DropCause::Tail)));
    assert_eq!(Hop::<Parcel>::backlog(&link, at(120_000)), 3_000);
    assert_eq!(Hop::<Parcel>::backlog(&link, at(359_999)), 1_500);
    assert_eq!(Hop::<Parcel>::backlog(&link, at(360_000)), 0);
    assert_eq!(Hop::<Parcel>::max_backlog(&link), 3_000);
}

#[test]
fn a_short_packet_still_fits_where_a_long_one_did_not() {
    let mut link = Bottleneck::new(rate(100_000_000), Buffer::Bytes(2_000));
    exit_of(offer(&mut link, 0, 1_500));
    assert!(matches!(offer(&mut link, 0, 1_500), Offer::Dropped(..)));
    assert_eq!(exit_of(offer(&mut link, 0, 500)), at(160_000));
}

#[test]
fn a_dropped_packet_takes_no_time_on_the_link() {
    let mut path = path_of(Bottleneck::new(rate(100_000_000), Buffer::Packets(1)));
    let outcome = drive(&mut path, &[(0, 1_500), (0, 1_500), (120_000, 1_500)]);
    let expected = Outcome { arrivals: vec![(120_000, 0), (240_000, 2)], drops: vec![(1, DropCause::Tail)] };
    assert_eq!(outcome, expected);
}

#[test_case(34_500_000, 1_500; "347826 and 2/23 ns a packet")]
#[test_case(999_999_937, 1_501; "prime rate")]
#[test_case(7, 1; "slower than a packet a second")]
fn rounding_never_accumulates_on_a_busy_link(bps: u64, len: u32) {
    let mut serialiser = Serialiser::new(rate(bps));
    for index in 1..=100_000_u128 {
        let exact_scaled = index * u128::from(len) * u128::from(BIT_NANOS);
        let exit = serialiser.exit(Instant::ZERO, len);
        assert_eq!(u128::from(exit.as_nanos()), exact_scaled.div_ceil(u128::from(bps)), "packet {index}");
    }
}

#[test]
fn a_packet_that_comes_within_the_last_nanosecond_of_another_waits_for_its_end() {
    // 19 bytes take 1.9 ns: the first packet has left at 1.9, the second at 3.8 and not at 1 + 1.9.
    let mut serialiser = Serialiser::new(rate(80_000_000_000));
    assert_eq!([0, 1].map(|ns| serialiser.exit(at(ns), 19)), [at(2), at(4)]);
}

#[test]
fn the_end_of_time_is_never_passed() {
    let mut serialiser = Serialiser::new(rate(1));
    for _ in 0..4 {
        serialiser.exit(Instant::ZERO, u32::MAX);
    }
    assert_eq!(serialiser.exit(at(u64::MAX - 1), u32::MAX), Instant::MAX);
}

/// The same link by definition: exact fractions (nanoseconds × bits per second), a queue of packets, no shortcuts.
struct Model {
    bps: u128,
    limit: u64,
    idle_from: u128,
    inside: VecDeque<(u128, u32)>,
}

impl Model {
    fn offer(&mut self, ns: u64, len: u32) -> Option<Instant> {
        let now = u128::from(ns) * self.bps;
        // A packet has observably left at the first whole nanosecond after its last bit.
        self.inside.retain(|(exit, _)| exit.div_ceil(self.bps) > u128::from(ns));
        let bytes: u64 = self.inside.iter().map(|(_, len)| u64::from(*len)).sum();
        if bytes + u64::from(len) > self.limit {
            return None;
        }
        self.idle_from = self.idle_from.max(now) + u128::from(len) * u128::from(BIT_NANOS);
        self.inside.push_back((self.idle_from, len));
        Some(at(u64::try_from(self.idle_from.div_ceil(self.bps)).unwrap()))
    }
}

prop_compose! {
    fn arrivals()(gaps in proptest::collection::vec((0u64..400_000, 1u32..3_000), 1..80)) -> Vec<(u64, u32)> {
        gaps.into_iter().scan(0, |ns, (gap, len)| { *ns += gap; Some((*ns, len)) }).collect()
    }
}

proptest! {
    #[test]
    fn agrees_with_exact_fractions(bps in 1_000_000u64..1_000_000_000, limit in 0u64..20_000, offers in arrivals()) {
        let mut link = Bottleneck::new(rate(bps), Buffer::Bytes(limit));
        let mut model = Model { bps: bps.into(), limit, idle_from: 0, inside: VecDeque::new() };
        for (ns, len) in offers {
            let expected = model.offer(ns, len);
            match offer(&mut link, ns, len) {
                Offer::Forwards(exit, _) => prop_assert_eq!(Some(exit), expected),
                Offer::Dropped(_, cause) => prop_assert_eq!((expected, cause), (None, DropCause::Tail)),
                other => prop_assert!(false, "{:?}", other),
            }
            prop_assert!(Hop::<Parcel>::backlog(&link, at(ns)) <= limit);
        }
    }

    #[test]
    fn no_window_of_exits_is_faster_than_the_rate(bps in 1_000_000u64..1_000_000_000, offers in arrivals()) {
        let mut link = Bottleneck::new(rate(bps), Buffer::Unlimited);
        let exits: Vec<_> = offers.iter().map(|(ns, len)| (exit_of(offer(&mut link, *ns, *len)).as_nanos(), *len)).collect();
        for first in 0..exits.len() {
            let mut bytes = 0_u128;
            for (exit, len) in &exits[first + 1..] {
                bytes += u128::from(*len);
                // Rounding moves each end by less than a nanosecond.
                let span = u128::from(exit - exits[first].0 + 1);
                prop_assert!(bytes * u128::from(BIT_NANOS) < span * u128::from(bps));
            }
        }
    }

    /// At a rate without fractions of a nanosecond, since these are not handed over.
    #[test]
    fn a_link_replaced_by_its_like_goes_on_as_if_it_were_the_same(
        limit in 0u64..20_000, offers in arrivals(), replaced in 0usize..80,
    ) {
        let new = || Bottleneck::new(rate(1_000_000_000), Buffer::Bytes(limit));
        let (mut kept, mut changed) = (new(), new());
        for (index, (ns, len)) in offers.into_iter().enumerate() {
            if index == replaced {
                let waiting = Hop::<Parcel>::hand_over(&mut changed);
                prop_assert_eq!(Hop::<Parcel>::backlog(&changed, at(ns)), 0);
                changed = new();
                Hop::<Parcel>::take_over(&mut changed, &waiting);
            }
            prop_assert_eq!(format!("{:?}", offer(&mut kept, ns, len)), format!("{:?}", offer(&mut changed, ns, len)));
            prop_assert_eq!(Hop::<Parcel>::backlog(&kept, at(ns)), Hop::<Parcel>::backlog(&changed, at(ns)));
        }
    }
}

#[test]
fn a_full_sized_packet_takes_120_us_at_100_mbit() {
    let mut link = Bottleneck::new(rate(100_000_000), Buffer::Unlimited);
    let mut rng = Rng::new(0);
    assert_eq!(exit_of(link.offer(at(7), full_sized(0), &mut rng)), at(120_007));
}
