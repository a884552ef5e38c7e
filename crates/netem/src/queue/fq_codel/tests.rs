//! What flows get: a sparse one its promptness, bulk ones their shares, a flood its drops.

use super::*;
use crate::ip::Ecn;
use crate::path::Path;
use crate::queue::QueueSpec;
use crate::rate::managed::ManagedBottleneck;
use crate::rate::serialiser::Serialiser;
use crate::testing::{Journey, Traveller, rate, travel};
use base::Rng;
use proptest::prelude::*;

/// A full packet takes 1.2 ms at 10 Mbit/s.
const FULL_NS: u64 = 1_200_000;
const SECOND: u64 = 1_000_000_000;
const PING: u64 = 3;

/// Packets of `flow`, of `len` bytes, at multiples of `gap` nanoseconds within `seconds`.
fn steady(flow: u64, len: u32, gap: u64, seconds: u64) -> Vec<(u64, Traveller)> {
    let packet = |index| (index * gap, Traveller { index, len, flow, ecn: Ecn::NotEct });
    (0..seconds * SECOND / gap).map(packet).collect()
}

fn through(mut offers: Vec<(u64, Traveller)>) -> Journey {
    offers.sort_by_key(|(ns, packet)| (*ns, packet.flow));
    let spec = QueueSpec::FqCodel(FqCodel::default());
    let hop = ManagedBottleneck::new(Serialiser::new(rate(10_000_000)), &spec, spec.usual_room(), &Rng::new(5))
        .expect("it is managed");
    travel(&mut Path::new(vec![Box::new(hop)], &Rng::new(1)), &offers)
}

/// Longest time that a ping beside two floods waits before its own first bit leaves, in nanoseconds.
fn longest_wait(pings: &[u64]) -> u64 {
    let ping = |(index, ns): (u64, &u64)| (*ns, Traveller { index, len: 64, flow: PING, ecn: Ecn::NotEct });
    let mut offers = [steady(1, 1_500, 1_000_000, 2), steady(2, 1_500, 900_000, 2)].concat();
    offers.extend((0..).zip(pings).map(ping));
    let arrivals = through(offers).arrivals;
    let own = 64 * 8 * 100;
    let waits = arrivals.iter().filter(|(_, packet)| packet.flow == PING);
    let waits: Vec<u64> = waits.map(|(ns, packet)| ns - own - pings[packet.index as usize]).collect();
    assert_eq!(waits.len(), pings.len(), "no ping is dropped");
    waits.into_iter().max().expect("there are pings")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// RFC 8290 §1.3: a sparse flow waits for the packet in service alone once a round of the others lies between two packets.
    #[test]
    fn a_rare_ping_waits_for_one_packet_at_most(gaps in proptest::collection::vec(10_000_000u64..30_000_000, 60)) {
        let at: Vec<u64> = gaps.iter().scan(0, |ns, gap| { *ns += gap; Some(*ns) }).collect();
        prop_assert!(longest_wait(&at) <= FULL_NS, "{}", longest_wait(&at));
    }

    #[test]
    fn a_frequent_ping_waits_for_three_packets_at_most(gaps in proptest::collection::vec(200_000u64..12_000_000, 150)) {
        let at: Vec<u64> = gaps.iter().scan(0, |ns, gap| { *ns += gap; Some(*ns) }).collect();
        prop_assert!(longest_wait(&at) <= 3 * FULL_NS, "{}", longest_wait(&at));
    }
}

#[test]
fn senders_above_their_share_get_equal_shares_and_one_below_gets_all() {
    // 40 and 8 Mbit/s of different packet sizes, and 2 Mbit/s, into 10 Mbit/s: 4, 4 and 2.
    let offers =
        [steady(1, 1_500, 300_000, 20), steady(2, 1_000, 1_000_000, 20), steady(3, 500, 2_000_000, 20)].concat();
    let journey = through(offers);
    let bytes = |flow| -> u64 {
        let within = journey.arrivals.iter().filter(|(ns, packet)| *ns <= 20 * SECOND && packet.flow == flow);
        within.map(|(_, packet)| u64::from(packet.len)).sum()
    };
    let [first, second, third] = [1, 2, 3].map(bytes);
    assert!(first.abs_diff(second) * 100 <= first, "{first} and {second} bytes");
    assert!(first.abs_diff(10_000_000) * 100 <= 10_000_000, "{first} bytes of 10,000,000");
    assert!(third >= 4_995_000, "{third} bytes of 5,000,000");
    assert!(journey.drops.iter().all(|(packet, _)| packet.flow != 3), "a flow below its share loses nothing");
}

#[test]
fn a_flood_makes_room_at_the_expense_of_its_own_head() {
    let spec = FqCodel::default();
    let (mut rng, mut decided) = (Rng::new(1), Decided::new());
    let mut queue = FqCodelQueue::new(spec, Buffer::Packets(100), 9);
    let packet = |flow, index| Traveller { index, len: 1_000, flow, ecn: Ecn::Ect0 };
    (0..10).for_each(|index| queue.enqueue(Instant::ZERO, packet(2, index), &mut rng, &mut decided));
    (0..91).for_each(|index| queue.enqueue(Instant::ZERO, packet(1, index), &mut rng, &mut decided));
    // RFC 8290 §4.1, in a batch: half of the fattest queue's 91 packets, from its head, and not more than 64.
    let dropped: Vec<_> = decided.dropped.iter().map(|(packet, cause)| (packet.flow, packet.index, *cause)).collect();
    let expected: Vec<_> = (0..46).map(|index| (1, index, DropCause::Tail)).collect();
    assert_eq!(dropped, expected);
    assert_eq!((queue.packets(), queue.bytes()), (55, 55_000));
    let mut flood = FqCodelQueue::new(spec, Buffer::Packets(1_000), 9);
    decided.dropped.clear();
    (0..1_001).for_each(|index| flood.enqueue(Instant::ZERO, packet(1, index), &mut rng, &mut decided));
    assert_eq!(decided.dropped.len(), 64);
}

#[test]
fn a_packet_larger_than_the_whole_room_does_not_stay() {
    let (mut rng, mut decided) = (Rng::new(1), Decided::new());
    let mut queue = FqCodelQueue::new(FqCodel::default(), Buffer::Bytes(999), 9);
    queue.enqueue(Instant::ZERO, Traveller { index: 0, len: 1_000, flow: 1, ecn: Ecn::Ect0 }, &mut rng, &mut decided);
    assert_eq!((queue.packets(), decided.dropped.len()), (0, 1));
    assert_eq!(queue.dequeue(Instant::ZERO, &mut rng, &mut decided), None);
}

#[test]
fn flows_spread_evenly_and_another_number_spreads_them_otherwise() {
    let place = |key: u64| {
        let queue = FqCodelQueue::<Traveller>::new(FqCodel::default(), Buffer::Unlimited, key);
        let packet = |flow| Traveller { index: 0, len: 40, flow, ecn: Ecn::NotEct };
        (0..10_240).map(|flow| queue.index_of(&packet(flow))).collect::<Vec<_>>()
    };
    let mut counts = vec![0; 1_024];
    place(1).into_iter().for_each(|index| counts[index] += 1);
    // Ten on average; a Poisson variable exceeds 30 once in ten million.
    assert!(counts.iter().max() <= Some(&30), "{:?}", counts.iter().max());
    let same = place(1).iter().zip(place(2)).filter(|(one, other)| **one == *other).count();
    assert!(same < 40, "{same} of 10,240 in the same place");
}
