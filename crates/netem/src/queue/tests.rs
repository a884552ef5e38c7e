//! What holds for every queue: accounts, order within a flow, determinism, the link's full rate, marks.

use super::*;
use crate::hop::DropCause;
use crate::ip::Ecn;
use crate::path::Path;
use crate::rate::managed::ManagedBottleneck;
use crate::rate::serialiser::Serialiser;
use crate::testing::{Journey, Traveller, rate, travel};
use base::{Duration, Rng};
use proptest::prelude::*;
use test_case::test_case;

const SECOND: u64 = 1_000_000_000;

fn managers(signal: Signal) -> [QueueSpec; 4] {
    [
        QueueSpec::Codel(Codel { signal, ..Codel::default() }),
        QueueSpec::FqCodel(FqCodel { codel: Codel { signal, ..Codel::default() }, ..FqCodel::default() }),
        QueueSpec::Pie(Pie { signal, ..Pie::default() }),
        QueueSpec::DualPi2(DualPi2::default()),
    ]
}

fn any_manager() -> impl Strategy<Value = QueueSpec> {
    let signal = prop_oneof![Just(Signal::Drop), Just(Signal::Mark)];
    (signal, 0..4usize).prop_map(|(signal, which)| managers(signal)[which])
}
fn any_room() -> impl Strategy<Value = Buffer> {
    prop_oneof![Just(Buffer::Unlimited), (1u32..60).prop_map(Buffer::Packets), (0u64..60_000).prop_map(Buffer::Bytes)]
}
fn any_codepoint() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)]
}

prop_compose! {
    /// Packets of five flows in bursts that a link of 10 Mbit/s cannot always follow; a flow keeps its codepoint.
    fn crowds()(
        codepoints in proptest::collection::vec(any_codepoint(), 5),
        packets in proptest::collection::vec((0u64..1_600_000, 40u32..1_501, 0..5usize), 1..900),
    ) -> Vec<(u64, Traveller)> {
        let mut ns = 0;
        (0..).zip(packets).map(|(index, (gap, len, flow))| {
            ns += gap;
            (ns, Traveller { index, len, flow: flow as u64, ecn: codepoints[flow] })
        }).collect()
    }
}

fn path(spec: &QueueSpec, room: Buffer, seed: u64) -> Path<Traveller> {
    let rng = Rng::new(seed);
    let hop = ManagedBottleneck::new(Serialiser::new(rate(10_000_000)), spec, room, &rng).expect("it is managed");
    Path::new(vec![Box::new(hop)], &rng)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_offered_has_left_was_dropped_or_is_inside(
        spec in any_manager(), room in any_room(), offers in crowds(), seed: u64,
    ) {
        let mut path = path(&spec, room, seed);
        let mut journey = Journey::default();
        for (ns, packet) in &offers {
            let now = base::Instant::from_nanos(*ns);
            let drops = &mut journey.drops;
            let mut on_drop = |lost: Traveller, _, cause| drops.push((lost, cause));
            path.offer(now, *packet, &mut on_drop);
            while let Some((at, packet)) = path.poll(now, &mut on_drop) {
                journey.arrivals.push((at.as_nanos(), packet));
            }
            let dropped: u64 = journey.drops.iter().map(|(packet, _)| u64::from(packet.len)).sum();
            let stats = path.stats();
            prop_assert_eq!(stats.offered_bytes, stats.delivered_bytes + dropped + path.backlog(now));
            prop_assert_eq!(path.in_flight() as u64, stats.offered - stats.delivered - journey.drops.len() as u64);
            prop_assert!(path.backlog(now) <= stats.max_backlog_bytes);
        }
        let rest = travel(&mut path, &[]);
        prop_assert_eq!(path.in_flight(), 0);
        let mut seen: Vec<u64> = [&journey, &rest]
            .iter()
            .flat_map(|part| part.arrivals.iter().map(|(_, p)| p.index).chain(part.drops.iter().map(|(p, _)| p.index)))
            .collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..offers.len() as u64).collect::<Vec<_>>());
    }

    #[test]
    fn the_order_within_a_flow_stays(spec in any_manager(), room in any_room(), offers in crowds(), seed: u64) {
        let journey = travel(&mut path(&spec, room, seed), &offers);
        for flow in 0..5 {
            let own = journey.arrivals.iter().filter(|(_, packet)| packet.flow == flow);
            prop_assert!(own.is_sorted_by_key(|(_, packet)| packet.index));
        }
    }

    #[test]
    fn one_seed_is_one_outcome(spec in any_manager(), room in any_room(), offers in crowds(), seed: u64) {
        let run = || travel(&mut path(&spec, room, seed), &offers);
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn packets_that_are_not_capable_are_never_marked(
        spec in any_manager(), room in any_room(), offers in crowds(), seed: u64,
    ) {
        let mut path = path(&spec, room, seed);
        let journey = travel(&mut path, &offers);
        for (_, packet) in &journey.arrivals {
            let before = offers[packet.index as usize].1.ecn;
            prop_assert!(packet.ecn == before || before != Ecn::NotEct && packet.ecn == Ecn::Ce);
        }
        let became = journey.arrivals.iter().filter(|(_, p)| p.ecn != offers[p.index as usize].1.ecn).count() as u64;
        prop_assert!(became <= path.stats().marked);
    }
}

/// A sender at twice the link's rate for ten seconds.
fn flood(ecn: Ecn) -> Vec<(u64, Traveller)> {
    (0..16_666).map(|index| (index * 600_000, Traveller { index, len: 1_500, flow: 1, ecn })).collect()
}

#[test_case(0; "CoDel")]
#[test_case(1; "FQ-CoDel")]
#[test_case(2; "PIE")]
#[test_case(3; "DualPI2")]
fn under_a_flood_a_manager_drops_and_the_link_stays_busy(which: usize) {
    let spec = managers(Signal::Drop)[which];
    let journey = travel(&mut path(&spec, spec.usual_room(), 3), &flood(Ecn::NotEct));
    let dropped = journey.drops.iter().filter(|(_, cause)| *cause == DropCause::Aqm).count();
    assert!(dropped > 300, "{dropped}");
    let gaps = journey.arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let late: Vec<u64> = gaps.filter(|gap| *gap != 1_200_000).collect();
    assert_eq!(late, [0; 0], "each packet follows its predecessor without a gap");
}

#[test_case(0, 3_000; "CoDel")]
#[test_case(1, 3_000; "FQ-CoDel")]
#[test_case(2, 2_100; "PIE up to 10 %")]
#[test_case(3, 2_100; "DualPI2 up to overload")]
fn capable_packets_are_marked_instead(which: usize, packets: usize) {
    let spec = managers(Signal::Mark)[which];
    // 1.02 of the link's rate for some seconds: a queue, but no emergency.
    let offers: Vec<_> =
        flood(Ecn::Ect0).into_iter().take(packets).map(|(ns, packet)| (ns / 51 * 100, packet)).collect();
    let mut path = path(&spec, spec.usual_room(), 3);
    let journey = travel(&mut path, &offers);
    assert_eq!(journey.drops, []);
    let marked = journey.arrivals.iter().filter(|(_, packet)| packet.ecn == Ecn::Ce).count() as u64;
    assert!(marked > 5, "{marked}");
    assert_eq!(path.stats().marked, marked);
}

#[test]
fn drop_tail_is_not_a_managed_queue() {
    assert!(
        ManagedBottleneck::<Traveller>::new(
            Serialiser::new(rate(1)),
            &QueueSpec::DropTail,
            Buffer::Unlimited,
            &Rng::new(1)
        )
        .is_none()
    );
}

#[test]
fn a_manager_that_is_never_called_upon_changes_no_departure() {
    let patient = Codel { target: Duration::from_nanos(100 * SECOND), ..Codel::default() };
    let spec = QueueSpec::Codel(patient);
    // A rate that no nanosecond divides, bursts and pauses.
    let odd = rate(9_999_991);
    let offers: Vec<_> = (0..2_000)
        .map(|i| {
            (i / 7 * 3_333_337, Traveller { index: i, len: 40 + (i * 37 % 1_461) as u32, flow: 0, ecn: Ecn::NotEct })
        })
        .collect();
    let rng = Rng::new(1);
    let managed = ManagedBottleneck::new(Serialiser::new(odd), &spec, Buffer::Unlimited, &rng).expect("it is managed");
    let plain = crate::rate::Bottleneck::new(odd, Buffer::Unlimited);
    let [managed, plain]: [Path<Traveller>; 2] =
        [Path::new(vec![Box::new(managed)], &rng), Path::new(vec![Box::new(plain)], &rng)];
    let [managed, plain] = [managed, plain].map(|mut path| (travel(&mut path, &offers), path.stats()));
    assert_eq!(managed, plain);
}
