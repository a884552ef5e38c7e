//! Whole paths under random conditions: accounting, order, determinism.

use super::*;
use crate::delay::JitterKind;
use crate::model::{Between, Leo, Model};
use crate::mtu::TooBigReports;
use crate::path::PathStats;
use crate::queue::{Codel, DualPi2, FqCodel, Pie};
use crate::stretch::Stretch;
use crate::testing::{Outcome, Parcel, at, drive, ns, percent, rate};
use base::{Instant, Rng};
use proptest::prelude::*;

fn ratio() -> impl Strategy<Value = Ratio> {
    prop_oneof![Just(Ratio::ZERO), Just(Ratio::ONE), (0u64..=100).prop_map(percent)]
}
fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0u64..500_000).prop_map(ns)]
}
fn buffer() -> impl Strategy<Value = Buffer> {
    let bytes = (0u64..40_000).prop_map(Buffer::Bytes);
    prop_oneof![bytes, (0u32..30).prop_map(Buffer::Packets), Just(Buffer::Unlimited)]
}
fn queue() -> impl Strategy<Value = QueueSpec> {
    prop_oneof![
        3 => Just(QueueSpec::DropTail),
        1 => Just(QueueSpec::Codel(Codel::default())),
        1 => Just(QueueSpec::FqCodel(FqCodel::default())),
        1 => Just(QueueSpec::Pie(Pie::default())),
        1 => Just(QueueSpec::DualPi2(DualPi2::default())),
    ]
}
fn jitter(kind: JitterKind) -> impl Strategy<Value = Option<Jitter>> {
    prop_oneof![Just(None), span().prop_map(move |max| Some(Jitter { max, kind }))]
}
fn any_jitter() -> impl Strategy<Value = Option<Jitter>> {
    prop_oneof![jitter(JitterKind::KeepOrder), jitter(JitterKind::Reorder)]
}
fn loss() -> impl Strategy<Value = LossSpec> {
    let chain = (ratio(), ratio(), ratio(), ratio()).prop_map(|(into_bad, into_good, loss_in_good, loss_in_bad)| {
        LossSpec::GilbertElliott(Chain { into_bad, into_good, loss_in_good, loss_in_bad })
    });
    let mask = proptest::collection::vec(0u64..100, 0..50).prop_map(LossSpec::Mask);
    let changes = proptest::collection::vec((span(), ratio()), 0..4).prop_map(|mut changes| {
        changes.sort_by_key(|(from, _)| *from);
        changes.into()
    });
    let changing = (ratio(), changes).prop_map(|(first, changes)| LossSpec::Changing(first, changes));
    prop_oneof![Just(LossSpec::None), ratio().prop_map(LossSpec::Bernoulli), chain, mask, changing]
}
fn reorder() -> impl Strategy<Value = ReorderSpec> {
    let late = (ratio(), span()).prop_map(|(probability, extra)| ReorderSpec::Late { probability, extra });
    let early = (ratio(), span()).prop_map(|(probability, delay)| ReorderSpec::Early { probability, delay });
    prop_oneof![Just(ReorderSpec::None), late, early]
}

fn mtus() -> impl Strategy<Value = Option<Arc<[Mtu]>>> {
    let mtu = |(ms, bytes, said)| Mtu {
        from: Duration::from_millis(ms),
        bytes,
        reports: if said { TooBigReports::Sent } else { TooBigReports::Missing },
    };
    let mtus = proptest::collection::vec((0u64..200, 100u16..2_000, any::<bool>()), 1..4);
    proptest::option::of(mtus.prop_map(move |mut mtus| {
        mtus.sort_unstable();
        mtus.into_iter().map(mtu).collect()
    }))
}

fn policer() -> impl Strategy<Value = Option<PolicerSpec>> {
    let some =
        (1_000_000u64..1_000_000_000, 0u64..40_000).prop_map(|(bps, burst)| PolicerSpec { rate: rate(bps), burst });
    proptest::option::weighted(0.3, some)
}

fn release() -> impl Strategy<Value = Option<ReleaseSpec>> {
    let some = (span(), span()).prop_map(|(least, more)| ReleaseSpec { least, most: least + more });
    proptest::option::weighted(0.3, some)
}

fn course() -> impl Strategy<Value = Option<Course>> {
    let rates = (proptest::option::weighted(0.7, 1_000_000u64..1_000_000_000), proptest::option::of(span()));
    let given = proptest::collection::vec((1u64..2_000_000, rates), 0..5).prop_map(|stretches| {
        let mut list = vec![Stretch { from: Duration::ZERO, rate: Some(rate(5_000_000)), delay: None }];
        for (gap, (bps, delay)) in stretches {
            let from = list[list.len() - 1].from + ns(gap);
            list.push(Stretch { from, rate: bps.map(rate), delay });
        }
        let last = Stretch { from: list[list.len() - 1].from + ns(1), ..list[0] };
        Course::given([list, vec![last]].concat())
    });
    let between = |least: u64, most: u64| Between { least: ns(least), most: ns(most) };
    let rates = Between { least: rate(1_000_000), most: rate(1_000_000_000) };
    let leo = Leo { every: ns(900_000), delay: between(0, 400_000), rate: rates, outage: between(0, 500_000) };
    let drawn = proptest::num::u64::ANY.prop_map(move |seed| Some(Course::Drawn(Model::Leo(leo), seed)));
    prop_oneof![4 => Just(None), 1 => given, 1 => drawn]
}

prop_compose! {
    fn specs()(
        bps in proptest::option::of(1_000_000u64..1_000_000_000),
        (buffer, queue) in (buffer(), queue()),
        (follows_trace, gaps) in (proptest::bool::weighted(0.2), proptest::collection::vec(1u32..9, 1..5)),
        (delay, jitter) in (span(), any_jitter()),
        (rates, delays) in (course(), course()),
        (loss, mtus, policer) in (loss(), mtus(), policer()),
        (thin, release) in (proptest::option::weighted(0.3, span()), release()),
        (reorder, duplicate) in (reorder(), ratio()),
    ) -> PathSpec {
        let (rate, text) = (bps.map(rate), gaps.iter().scan(0, |ms, gap| { *ms += gap; Some(format!("{ms}\n")) }));
        let trace = follows_trace.then(|| Arc::new(DeliveryTrace::parse(&text.collect::<String>()).expect("times increase")));
        PathSpec { rate, trace, rates, buffer, queue, delay, delays, jitter, drops: Vec::new(), loss, mtus, policer, thin, release, reorder, duplicate, first_flight: Duration::ZERO }
    }
}
prop_compose! {
    fn offers()(gaps in proptest::collection::vec((0u64..100_000, 40u32..1_501), 1..100)) -> Vec<(u64, u32)> {
        gaps.into_iter().scan(0, |ns, (gap, len)| { *ns += gap; Some((*ns, len)) }).collect()
    }
}

/// Checks that every packet that entered has left, was dropped, or is still inside; copies count when they are made.
fn assert_no_packet_vanished(stats: PathStats, in_flight: usize, outcome: &Outcome) {
    assert_eq!(stats.delivered, outcome.arrivals.len() as u64);
    assert_eq!(stats.dropped.total() + stats.dropped.thinned, outcome.drops.len() as u64);
    assert_eq!(stats.offered + stats.duplicated, stats.delivered + outcome.drops.len() as u64 + in_flight as u64);
}

proptest! {
    #[test]
    fn every_packet_comes_out_as_often_as_the_accounts_say(spec in specs(), offers in offers(), seed: u64) {
        let mut path = spec.build(&Rng::new(seed));
        let outcome = drive(&mut path, &offers);
        assert_no_packet_vanished(path.stats(), path.in_flight(), &outcome);
        prop_assert_eq!(path.in_flight(), 0);
        prop_assert_eq!(path.next_deadline(), None);
        let mut seen = vec![0; offers.len()];
        outcome.arrivals.iter().for_each(|(_, index)| seen[*index as usize] += 1);
        outcome.drops.iter().for_each(|(index, _)| seen[*index as usize] += 1);
        prop_assert!(seen.iter().all(|times| (1..=2).contains(times)));
        let copies = seen.iter().filter(|times| **times == 2).count();
        prop_assert_eq!(copies as u64, path.stats().duplicated);
    }

    #[test]
    fn the_accounts_balance_while_packets_are_inside(spec in specs(), offers in offers(), seed: u64) {
        let mut path = spec.build(&Rng::new(seed));
        let mut outcome = Outcome::default();
        for (index, (ns, len)) in (0..).zip(&offers) {
            let drops = &mut outcome.drops;
            let mut dropped = |lost: Parcel, _, cause| drops.push((lost.index, cause));
            path.offer(at(*ns), Parcel { index, len: *len }, &mut dropped);
            if let Some((at, parcel)) = path.poll(at(*ns), &mut dropped) {
                outcome.arrivals.push((at.as_nanos(), parcel.index));
            }
            assert_no_packet_vanished(path.stats(), path.in_flight(), &outcome);
        }
    }

    #[test]
    fn arrivals_come_in_order_of_time(spec in specs(), offers in offers(), seed: u64) {
        let outcome = drive(&mut spec.build(&Rng::new(seed)), &offers);
        prop_assert!(outcome.arrivals.is_sorted_by_key(|(ns, _)| *ns));
    }

    #[test]
    fn polling_late_changes_nothing_but_when_one_hears_of_it(spec in specs(), offers in offers(), seed: u64) {
        let mut path = spec.build(&Rng::new(seed));
        let mut outcome = Outcome::default();
        let drops = &mut outcome.drops;
        let mut dropped = |lost: Parcel, _, cause| drops.push((lost.index, cause));
        for (index, (ns, len)) in (0..).zip(&offers) {
            path.offer(at(*ns), Parcel { index, len: *len }, &mut dropped);
        }
        while let Some((at, parcel)) = path.poll(Instant::MAX, &mut dropped) {
            outcome.arrivals.push((at.as_nanos(), parcel.index));
        }
        // A queue that is asked late drops its packets after those that later offers lost before it.
        let mut in_time = drive(&mut spec.build(&Rng::new(seed)), &offers);
        [&mut outcome, &mut in_time].into_iter().for_each(|one| one.drops.sort_by_key(|(index, _)| *index));
        prop_assert_eq!(outcome, in_time);
    }

    #[test]
    fn without_reordering_packets_arrive_in_the_order_sent(
        spec in specs(), jitter in jitter(JitterKind::KeepOrder), offers in offers(), seed: u64,
    ) {
        let spec = PathSpec { jitter, delays: None, reorder: ReorderSpec::None, ..spec };
        let outcome = drive(&mut spec.build(&Rng::new(seed)), &offers);
        prop_assert!(outcome.arrivals.is_sorted_by_key(|(_, index)| *index));
    }

    #[test]
    fn one_seed_is_one_outcome(spec in specs(), offers in offers(), seed: u64) {
        let run = || drive(&mut spec.build(&Rng::new(seed)), &offers);
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn what_happens_behind_it_does_not_change_who_is_lost(spec in specs(), offers in offers(), seed: u64) {
        let plain = PathSpec { loss: spec.loss.clone(), ..PathSpec::ideal(spec.delay) };
        let lost = |spec: &PathSpec| {
            let drops = drive(&mut spec.build(&Rng::new(seed)), &offers).drops;
            drops.into_iter().filter(|(_, cause)| *cause == crate::DropCause::Loss).collect::<Vec<_>>()
        };
        prop_assert_eq!(lost(&spec), lost(&plain));
    }
}

#[test]
fn different_seeds_are_different_weather() {
    let spec = PathSpec { loss: LossSpec::Bernoulli(percent(50)), ..PathSpec::ideal(ns(1)) };
    let run = |seed| drive(&mut spec.build(&Rng::new(seed)), &[(0, 40); 64]).drops;
    assert_ne!(run(1), run(2));
}

#[test]
fn a_whole_path_to_the_nanosecond() {
    // 1500 bytes take 1 ms; the fourth of four packets at once finds the buffer full, the second is lost before it.
    let spec = PathSpec {
        rate: Some(rate(12_000_000)),
        buffer: Buffer::Packets(2),
        loss: LossSpec::Mask(vec![1]),
        reorder: ReorderSpec::Late { probability: Ratio::ONE, extra: ns(5) },
        duplicate: Ratio::ONE,
        ..PathSpec::ideal(ns(100))
    };
    let outcome = drive(&mut spec.build(&Rng::new(1)), &[(0, 1_500); 4]);
    assert_eq!(outcome.arrivals, [(1_000_105, 0), (1_000_105, 0), (2_000_105, 2), (2_000_105, 2)]);
    assert_eq!(outcome.drops, [(1, crate::DropCause::Loss), (3, crate::DropCause::Tail)]);
}
