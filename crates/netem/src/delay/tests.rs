//! Delay, jitter and all kinds of reordering, to the nanosecond.

use super::*;
use crate::testing::{Parcel, at, exit_of, full_sized, ns, percent};
use base::{Ratio, Rng};
use proptest::prelude::*;
use test_case::test_case;

/// Exit times of packets that enter at `times`.
fn exits(delay: &mut Delay, times: impl IntoIterator<Item = u64>, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    let offers = times.into_iter().map(|ns| delay.offer(at(ns), full_sized(0), &mut rng));
    offers.map(|offer| exit_of(offer).as_nanos()).collect()
}

fn late(probability: Ratio, extra: Duration) -> ReorderSpec {
    ReorderSpec::Late { probability, extra }
}
fn early(probability: Ratio, delay: Duration) -> ReorderSpec {
    ReorderSpec::Early { probability, delay }
}
fn queues(queues: u32, burst: u32, skew: u64) -> ReorderSpec {
    ReorderSpec::Queues { queues, burst, skew: ns(skew) }
}
fn keep_order(max: Duration) -> Option<Jitter> {
    Some(Jitter { max, kind: JitterKind::KeepOrder })
}

#[test_case(ReorderSpec::None, 1_000; "in order")]
#[test_case(late(Ratio::ONE, ns(50)), 1_050; "late takes it on top")]
#[test_case(early(Ratio::ONE, ns(50)), 50; "early takes it instead")]
#[test_case(early(Ratio::ONE, ns(0)), 0; "early at once")]
#[test_case(early(Ratio::ONE, ns(2_000)), 2_000; "early may even take longer")]
#[test_case(late(Ratio::ZERO, ns(50)), 1_000; "late never")]
#[test_case(early(Ratio::ZERO, ns(50)), 1_000; "early never")]
fn time_taken_without_jitter(reorder: ReorderSpec, taken: u64) {
    let mut delay = Delay::new(ns(1_000), None, reorder);
    assert_eq!(exits(&mut delay, [0, 7, 7, 5_000], 1), [0, 7, 7, 5_000].map(|entry| entry + taken));
}

#[test_case(queues(1, 2, 90), [0, 0, 0, 0, 0, 0, 0, 0]; "one queue keeps the order")]
#[test_case(queues(2, 1, 90), [0, 90, 0, 90, 0, 90, 0, 90]; "packet by packet")]
#[test_case(queues(2, 3, 90), [0, 0, 0, 90, 90, 90, 0, 0]; "burst by burst")]
#[test_case(queues(4, 2, 90), [0, 0, 30, 30, 60, 60, 90, 90]; "each queue a step behind the one before")]
#[test_case(queues(3, 2, 0), [0, 0, 0, 0, 0, 0, 0, 0]; "queues of one speed")]
fn queues_take_turns(reorder: ReorderSpec, later: [u64; 8]) {
    let mut delay = Delay::new(ns(1_000), None, reorder);
    let entries = [0, 1, 2, 3, 4, 5, 6, 7];
    let expected = core::array::from_fn::<u64, 8, _>(|i| entries[i] + 1_000 + later[i]);
    assert_eq!(exits(&mut delay, entries, 1), expected);
}

#[test]
fn an_early_packet_has_no_jitter() {
    let mut delay = Delay::new(ns(1_000), keep_order(ns(500)), early(Ratio::ONE, ns(50)));
    assert!(exits(&mut delay, 0..1_000, 1).into_iter().zip(0..).all(|(exit, entry)| exit == entry + 50));
}

#[test_case(Delay::fixed(ns(5)), false; "a fixed delay")]
#[test_case(Delay::new(ns(5), keep_order(ns(5)), ReorderSpec::None), false; "order-keeping jitter")]
#[test_case(Delay::new(ns(5), Some(Jitter { max: ns(5), kind: JitterKind::Reorder }), ReorderSpec::None), true; "jitter that reorders")]
#[test_case(Delay::new(ns(5), None, late(percent(1), ns(5))), true; "late packets")]
#[test_case(Delay::new(ns(5), None, early(percent(1), ns(1))), true; "early packets")]
#[test_case(Delay::new(ns(5), None, queues(2, 4, 1)), true; "queues")]
fn says_whether_it_reorders(delay: Delay, reorders: bool) {
    assert_eq!(Hop::<Parcel>::reorders(&delay), reorders);
}

#[test]
fn jitter_reaches_both_of_its_ends() {
    let mut delay = Delay::new(ns(10), keep_order(ns(3)), ReorderSpec::None);
    let taken: Vec<u64> =
        exits(&mut delay, (0..1_000).map(|i| i * 100), 1).into_iter().map(|exit| exit % 100).collect();
    assert_eq!((taken.iter().min(), taken.iter().max()), (Some(&10), Some(&13)));
}

proptest! {
    #[test]
    fn order_keeping_jitter_keeps_the_order_and_its_bounds(gaps in proptest::collection::vec(0u64..200, 1..200), seed: u64) {
        let entries: Vec<u64> = gaps.iter().scan(0, |ns, gap| { *ns += gap; Some(*ns) }).collect();
        let exits = exits(&mut Delay::new(ns(1_000), keep_order(ns(300)), ReorderSpec::None), entries.clone(), seed);
        prop_assert!(exits.is_sorted());
        for (entry, exit) in entries.iter().zip(exits) {
            // Waiting for a predecessor never takes longer than the largest draw.
            prop_assert!((entry + 1_000..=entry + 1_300).contains(&exit));
        }
    }

    #[test]
    fn reordering_jitter_keeps_its_bounds(seed: u64) {
        let jitter = Some(Jitter { max: ns(300), kind: JitterKind::Reorder });
        let exits = exits(&mut Delay::new(ns(1_000), jitter, ReorderSpec::None), 0..200, seed);
        prop_assert!(!exits.is_sorted());
        prop_assert!(exits.into_iter().zip(0..).all(|(exit, entry)| (entry + 1_000..=entry + 1_300).contains(&exit)));
    }

    #[test]
    fn choosing_a_packet_moves_no_other(seed: u64, extra in 1u64..5_000) {
        let jitter = keep_order(ns(300));
        let mut plain = Delay::new(ns(1_000), jitter, ReorderSpec::None);
        let mut with_late = Delay::new(ns(1_000), jitter, late(percent(10), ns(extra)));
        let regular = exits(&mut plain, 0..500, seed);
        let moved = exits(&mut with_late, 0..500, seed);
        let chosen = regular.iter().zip(&moved).filter(|(a, b)| a != b).count();
        prop_assert!((10..100).contains(&chosen), "{} of 500 at 10 %", chosen);
        prop_assert!(regular.iter().zip(&moved).all(|(a, b)| b == a || *b == a + extra));
    }

    #[test]
    fn within_a_queue_the_order_is_kept_whatever_the_jitter(
        seed: u64, count in 1u32..6, burst in 1u32..10, skew in 0u64..5_000, gap in 0u64..50
    ) {
        let mut delay = Delay::new(ns(1_000), keep_order(ns(300)), queues(count, burst, skew));
        let all = exits(&mut delay, (0..300).map(|i| i * gap), seed);
        for queue in 0..u64::from(count) {
            let own = all.iter().zip(0u64..).filter(|(_, i)| i / u64::from(burst) % u64::from(count) == queue);
            prop_assert!(own.map(|(exit, _)| exit).is_sorted());
        }
    }

    #[test]
    fn jitter_does_not_change_who_is_chosen(seed: u64) {
        let chosen = |jitter| {
            let mut delay = Delay::new(ns(1_000), jitter, early(percent(10), ns(1)));
            let exits = exits(&mut delay, 0..500, seed);
            exits.into_iter().zip(0..).map(|(exit, entry)| exit == entry + 1).collect::<Vec<bool>>()
        };
        prop_assert_eq!(chosen(None), chosen(keep_order(ns(300))));
    }
}
