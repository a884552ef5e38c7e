//! All kinds of loss: edge cases, long-run fractions, and decisions that depend only on the packet's index.

use super::gilbert_elliott::Chain;
use super::*;
use crate::hop::Hop;
use crate::presets::{LossSpec, PathSpec};
use crate::testing::{Parcel, at, drive, full_sized, ns, percent};
use base::{Duration, Ratio, Rng};
use proptest::prelude::*;
use test_case::test_case;

/// Indices lost among the first `count` packets.
fn lost(hop: &mut dyn Hop<Parcel>, count: u64) -> Vec<u64> {
    let mut rng = Rng::new(1);
    (0..count).filter(|index| matches!(hop.offer(at(0), full_sized(*index), &mut rng), Offer::Dropped(..))).collect()
}

fn chain(into_bad: Ratio, into_good: Ratio, loss_in_good: Ratio, loss_in_bad: Ratio) -> GilbertElliott {
    GilbertElliott::new(Chain { into_bad, into_good, loss_in_good, loss_in_bad })
}

const ZERO: Ratio = Ratio::ZERO;
const ONE: Ratio = Ratio::ONE;

#[test_case(Bernoulli::new(ZERO), vec![]; "never")]
#[test_case(Bernoulli::new(ONE), vec![0, 1, 2, 3, 4, 5]; "always")]
#[test_case(chain(ZERO, ONE, ZERO, ONE), vec![]; "a chain that stays good")]
#[test_case(chain(ZERO, ONE, ONE, ZERO), vec![0, 1, 2, 3, 4, 5]; "a chain that is bad at good")]
#[test_case(chain(ONE, ZERO, ZERO, ONE), vec![1, 2, 3, 4, 5]; "a chain that turns bad and stays so")]
#[test_case(chain(ONE, ONE, ZERO, ONE), vec![1, 3, 5]; "a chain that alternates")]
#[test_case(Mask::new(vec![4, 0, 4]), vec![0, 4]; "the packets named")]
#[test_case(Mask::new(vec![]), vec![]; "no packet named")]
#[test_case(Mask::new(vec![99]), vec![]; "a packet never sent")]
fn loses_exactly(mut hop: impl Hop<Parcel>, expected: Vec<u64>) {
    assert_eq!(lost(&mut hop, 6), expected);
}

#[test_case(chain(percent(1), percent(9), ZERO, ONE), 100_000; "a tenth of the time bad")]
#[test_case(chain(percent(2), percent(6), percent(1), percent(50)), 132_500; "losses in both states")]
#[test_case(Bernoulli::new(percent(3)), 30_000; "independent")]
fn long_run_loss_is_what_the_chain_says(mut hop: impl Hop<Parcel>, expected_in_a_million: usize) {
    let count = lost(&mut hop, 1_000_000).len();
    let off = count.abs_diff(expected_in_a_million);
    assert!(off * 50 < expected_in_a_million, "{count} lost, {expected_in_a_million} expected within 2 %");
}

#[test]
fn bad_times_last_as_long_as_they_say() {
    // Mean burst of 1/r = 4 packets; a burst is a maximal run of losses.
    let lost = lost(&mut chain(percent(1), percent(25), ZERO, ONE), 1_000_000);
    let bursts = 1 + lost.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    let mean_in_hundredths = lost.len() * 100 / bursts;
    assert!((390..410).contains(&mean_in_hundredths), "mean burst of {mean_in_hundredths}/100 packets");
}

#[test_case((1, 200), (4, 1) => Some(((1, 796), (1, 4))); "one in 200 in fours")]
#[test_case((1, 2), (5, 2) => Some(((2, 5), (2, 5))); "a burst of a part of a packet more")]
#[test_case((3, 100), (1, 1) => Some(((3, 97), (1, 1))); "single packets")]
#[test_case((0, 1), (4, 1) => Some(((0, 1), (1, 4))); "none")]
#[test_case((1, 2), (1, 2) => None; "shorter than a packet")]
#[test_case((3, 4), (2, 1) => None; "more loss than such bursts can hold")]
#[test_case((1, 1), (9, 1) => None; "everything")]
fn a_chain_of_bursts(loss: (u64, u64), length: (u64, u64)) -> Option<((u64, u64), (u64, u64))> {
    let chain = Chain::of_bursts(Ratio::new(loss.0, loss.1).unwrap(), length.0, length.1)?;
    assert_eq!((chain.loss_in_good, chain.loss_in_bad), (ZERO, ONE));
    Some(((chain.into_bad.num(), chain.into_bad.den()), (chain.into_good.num(), chain.into_good.den())))
}

#[test]
fn a_changed_probability_holds_from_its_time_on() {
    let lost = |begin: u64| {
        let changes = [(ns(100), ONE), (ns(200), ZERO), (ns(300), ONE), (ns(300), ZERO)];
        let mut hop = ChangingLoss::new(ZERO, changes.into());
        Hop::<Parcel>::begin(&mut hop, at(begin));
        let offers = (0..5).map(|index| hop.offer(at(begin + index * 99 + 1), full_sized(index), &mut Rng::new(1)));
        offers.map(|offer| matches!(offer, Offer::Dropped(..))).collect::<Vec<_>>()
    };
    assert_eq!(lost(0), [false, true, true, false, false]);
    assert_eq!(lost(7_000), lost(0));
}

#[test]
fn bursts_lose_what_they_say_in_the_long_run() {
    let mut hop = GilbertElliott::new(Chain::of_bursts(Ratio::new(1, 50).unwrap(), 4, 1).unwrap());
    let lost = lost(&mut hop, 1_000_000);
    let bursts = 1 + lost.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert!((18_900..21_100).contains(&lost.len()), "{} of a million lost at 2 %, three deviations around", lost.len());
    assert!((390..410).contains(&(lost.len() * 100 / bursts)), "{bursts} bursts of {}", lost.len());
}

proptest! {
    #[test]
    fn a_chain_draws_twice_a_packet_in_any_state(seed: u64) {
        let (mut rng, mut shadow) = (Rng::new(seed), Rng::new(seed));
        let mut hop = chain(percent(50), percent(50), percent(50), percent(50));
        for index in 0..50 {
            hop.offer(at(0), full_sized(index), &mut rng);
            shadow.next_u64();
            shadow.next_u64();
        }
        prop_assert_eq!(rng, shadow);
    }

    #[test]
    fn a_packet_has_the_same_fate_whatever_its_time_and_size(
        gaps in proptest::collection::vec((0u64..1_000_000, 40u32..9_000), 50..200),
        bursty: bool,
    ) {
        let quarter = percent(25);
        let gilbert = Chain { into_bad: percent(10), into_good: quarter, loss_in_good: percent(1), loss_in_bad: ONE };
        let loss = if bursty { LossSpec::GilbertElliott(gilbert) } else { LossSpec::Bernoulli(quarter) };
        let spec = PathSpec { loss, ..PathSpec::ideal(Duration::from_millis(10)) };
        let spread: Vec<_> =
            gaps.iter().scan(0, |ns, (gap, len)| { *ns += gap; Some((*ns, *len)) }).collect();
        let at_once = vec![(0, 1_500); gaps.len()];
        let drops = |offers: &[_]| drive(&mut spec.build(&Rng::new(5)), offers).drops;
        prop_assert_eq!(drops(&spread), drops(&at_once));
    }
}

#[test]
fn a_lost_packet_takes_no_room_in_the_buffer() {
    let spec = PathSpec {
        rate: base::Rate::from_bits_per_sec(12_000_000),
        buffer: crate::Buffer::Packets(1),
        loss: LossSpec::Mask(vec![0]),
        ..PathSpec::ideal(ns(0))
    };
    let outcome = drive(&mut spec.build(&Rng::new(1)), &[(0, 1_500), (0, 1_500)]);
    assert_eq!(outcome.arrivals, [(1_000_000, 1)]);
    assert_eq!(outcome.drops, [(0, DropCause::Loss)]);
}
