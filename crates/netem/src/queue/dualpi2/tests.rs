//! DualPI2 against a sequence of delays worked out by hand, and what each queue gets.

use super::*;
use crate::testing::Traveller;
use test_case::test_case;

const MS: u64 = 1_000_000;

/// A probability in units of 10⁻¹².
fn pico(probability: u64) -> i128 {
    i128::from(probability) * 1_000_000_000_000 / i128::from(ONE)
}

/// RFC 9332 appendix A.1 with gains of 0.16 and 3.2 per second: delays of successive updates in milliseconds, and the
/// probabilities that follow from them in units of 10⁻⁶, in fractions.
#[test]
fn the_probability_follows_the_delay() {
    let mut control = Control { target: Duration::from_millis(15), probability: 0, delay: Duration::ZERO };
    let expected = [(20, 64_800), (30, 99_200), (30, 101_600), (20, 70_400), (15, 54_400), (10, 37_600)];
    for (delay_ms, millionths) in expected {
        control.update(Duration::from_millis(delay_ms));
        let off = pico(control.probability) - millionths * 1_000_000;
        assert!(off.abs() <= 1_000, "{off} off at {delay_ms} ms: more than 10⁻⁹");
    }
}

fn packet(ecn: Ecn) -> Traveller {
    Traveller { index: 0, len: 1_500, flow: 0, ecn }
}

fn queue(probability: u64) -> DualPi2Queue<Traveller> {
    let mut queue = DualPi2Queue::new(DualPi2::default(), Buffer::Unlimited);
    queue.control.probability = probability;
    queue
}

/// Packets among 100,000 that meet this fate.
fn met(probability: u64, kind: Kind, waited: Duration, fate: Fate) -> usize {
    let (queue, mut rng) = (queue(probability), Rng::new(7));
    (0..100_000).filter(|_| queue.decide(kind, waited, 10 * FULL_PACKET, &mut rng) == fate).count()
}

/// The probability is squared for classic traffic and doubled for the other (RFC 9332 §2.1): of the sequence above,
/// 0.0992² = 0.0098 and 2 · 0.0992 = 0.198.
#[test_case(99_200, 980, 19_840)]
#[test_case(64_800, 420, 12_960)]
#[test_case(37_600, 140, 7_520)]
fn classic_packets_meet_the_square_and_the_others_the_double(millionths: u64, classic: usize, low_latency: usize) {
    let probability = ONE / 1_000_000 * millionths;
    let marked = |kind| met(probability, kind, Duration::ZERO, Fate::Signals(Signal::Mark));
    assert!(marked(Kind::Classic).abs_diff(classic) < 4 * classic.isqrt(), "{}", marked(Kind::Classic));
    assert!(marked(Kind::LowLatency).abs_diff(low_latency) < 4 * low_latency.isqrt(), "{}", marked(Kind::LowLatency));
}

#[test]
fn beyond_a_step_of_one_millisecond_every_packet_is_marked() {
    let marked = |waited| met(0, Kind::LowLatency, Duration::from_nanos(waited), Fate::Signals(Signal::Mark));
    assert_eq!((marked(MS), marked(MS + 1)), (0, 100_000));
    assert_eq!(met(0, Kind::Classic, Duration::from_secs(1), Fate::Passes), 100_000);
}

#[test]
fn in_overload_both_queues_drop_by_the_square() {
    for kind in [Kind::Classic, Kind::LowLatency] {
        let dropped = |probability| met(probability, kind, Duration::ZERO, Fate::Signals(Signal::Drop));
        assert_eq!(dropped(ONE / 2 - 1), 0);
        assert!(dropped(ONE / 2).abs_diff(25_000) < 600, "{kind:?}: {}", dropped(ONE / 2));
    }
    let marked = met(ONE / 2, Kind::LowLatency, Duration::ZERO, Fate::Signals(Signal::Mark));
    assert!(marked.abs_diff(75_000) < 600, "all others are marked: {marked}");
}

#[test]
fn fewer_than_two_packets_are_marked_by_the_step_alone() {
    let (queue, mut rng) = (queue(ONE), Rng::new(1));
    for (kind, waited, fate) in [
        (Kind::Classic, 0, Fate::Passes),
        (Kind::LowLatency, 0, Fate::Passes),
        (Kind::LowLatency, 2 * MS, Fate::Signals(Signal::Mark)),
    ] {
        let waited = Duration::from_nanos(waited);
        assert_eq!(queue.decide(kind, waited, 2 * FULL_PACKET - 1, &mut rng), fate);
    }
}

#[test_case(Ecn::NotEct, false)]
#[test_case(Ecn::Ect0, false)]
#[test_case(Ecn::Ect1, true)]
#[test_case(Ecn::Ce, true)]
fn the_codepoint_chooses_the_queue(ecn: Ecn, is_low_latency: bool) {
    let mut queue = queue(0);
    queue.enqueue(Instant::ZERO, packet(ecn), &mut Rng::new(1), &mut Decided::new());
    assert_eq!((queue.low_latency.len(), queue.classic.len()), if is_low_latency { (1, 0) } else { (0, 1) });
}

#[test]
fn while_both_wait_the_classic_queue_gets_one_packet_in_ten() {
    let (mut queue, mut rng, mut decided) = (queue(0), Rng::new(1), Decided::new());
    for _ in 0..1_000 {
        for ecn in [Ecn::Ect1, Ecn::NotEct] {
            queue.enqueue(Instant::ZERO, packet(ecn), &mut rng, &mut decided);
        }
    }
    let served: Vec<bool> = (0..1_000)
        .map(|_| queue.dequeue(Instant::ZERO, &mut rng, &mut decided).expect("both wait").ecn == Ecn::NotEct)
        .collect();
    assert_eq!(served.iter().position(|classic| *classic), Some(9), "the other queue begins");
    assert_eq!(served.iter().filter(|classic| **classic).count(), 100);
}

#[test]
fn an_idle_century_costs_no_loop() {
    let mut queue = queue(0);
    queue.advance(Instant::from_nanos(3_000_000_000_000 * MS));
    assert_eq!(queue.next_update, Instant::from_nanos(3_000_000_000_000 * MS + 16 * MS));
}
