//! PIE against sequences of delays worked out by hand in fractions, and its rules on arrival.

use super::*;
use crate::ip::Ecn;
use crate::testing::Traveller;
use test_case::test_case;

/// A probability in units of 10⁻¹².
fn pico(probability: u64) -> i128 {
    i128::from(probability) * 1_000_000_000_000 / i128::from(ONE)
}

/// RFC 8033 §4.2 with its defaults: from a probability (in thousandths) and a delay at the update before, the delays of the
/// following updates in milliseconds, and the probabilities in units of 10⁻¹², worked out in fractions.
#[test_case(0, 0, &[20, 40, 60, 60, 60, 60],
    &[12_512_207, 232_238_770, 1_189_270_020, 1_892_395_020, 2_595_520_020, 3_298_645_020]; "from rest")]
#[test_case(50, 20, &[20, 40, 60, 30, 0, 0],
    &[50_312_500_000, 64_375_000_000, 79_687_500_000, 61_875_000_000, 42_187_500_000, 40_605_468_750]; "up and down")]
#[test_case(200, 20, &[60, 300, 300, 20], &[220_000_000_000, 260_000_000_000, 300_000_000_000, 0]; "in a flood")]
fn the_probability_follows_the_delay(from_thousandths: u64, old_ms: u64, delays_ms: &[u64], expected: &[i128]) {
    let mut control = Control::new(Pie::default());
    control.probability = (u128::from(ONE) * u128::from(from_thousandths) / 1_000) as u64;
    control.delay = Duration::from_millis(old_ms);
    for (delay, expected) in delays_ms.iter().zip(expected) {
        control.update(Duration::from_millis(*delay));
        let found = pico(control.probability);
        assert!((found - expected).abs() <= 1_000, "{found} for {expected} at {delay} ms: more than 10⁻⁹ apart");
    }
}

fn at_work(probability: u64) -> Control {
    let delay = Duration::from_millis(20);
    Control { probability, delay, allowance: Duration::ZERO, ..Control::new(Pie::default()) }
}

const BACKLOG: u64 = 10 * FULL_PACKET;

#[test]
fn a_sum_of_probabilities_keeps_drops_apart() {
    // At 30 % nothing is dropped before the third packet; chance never waits beyond the 29th (RFC 8033 §5.4).
    let (mut rng, mut gaps) = (Rng::new(1), Vec::new());
    let mut control = at_work(ONE / 10 * 3);
    for _ in 0..2_000 {
        let gap = (1..).find(|_| control.chooses(BACKLOG, &mut rng)).expect("the sum grows");
        gaps.push(gap);
    }
    assert_eq!(gaps.iter().min(), Some(&3));
    assert!(gaps.iter().max() <= Some(&29), "{gaps:?}");
    let mean_thousandths = gaps.iter().sum::<u64>() * 1_000 / gaps.len() as u64;
    // Two packets pass for certain, then each has a chance of 30 %: 2 + 1/0.3 = 5.33.
    assert!((5_100..5_600).contains(&mean_thousandths), "{mean_thousandths}");
}

#[test]
fn an_improbable_drop_comes_once_the_sum_is_full() {
    // 8.5 / 0.001 packets, if chance does not choose one before.
    let mut control = at_work(ONE / 1_000);
    control.sum = SUM_MOST - ONE / 2_000;
    assert!(control.chooses(BACKLOG, &mut Rng::new(1)), "the sum alone decides");
    assert_eq!(control.sum, 0);
}

#[test]
fn a_burst_a_calm_queue_and_a_short_queue_pass() {
    let busy = || Control { sum: SUM_MOST, ..at_work(ONE / 10) };
    let drawn = |control: Control, backlog| {
        let mut control = control;
        control.chooses(backlog, &mut Rng::new(1))
    };
    assert!(drawn(busy(), BACKLOG));
    assert!(!drawn(Control { allowance: Duration::from_nanos(1), ..busy() }, BACKLOG), "the allowance is left");
    assert!(!drawn(Control { delay: Duration::from_micros(7_499), ..busy() }, BACKLOG), "half the target, below 20 %");
    assert!(drawn(Control { delay: Duration::from_micros(7_499), probability: ONE / 5, ..busy() }, BACKLOG));
    assert!(!drawn(busy(), 2 * FULL_PACKET - 1), "less than two packets wait");
}

#[test_case(ONE / 10, Signal::Mark)]
#[test_case(ONE / 10 + 1, Signal::Drop)]
fn marks_end_above_ten_per_cent(probability: u64, signal: Signal) {
    let spec = Pie { signal: Signal::Mark, ..Pie::default() };
    assert_eq!(Control { spec, ..at_work(probability) }.signal(), signal);
}

#[test]
fn an_idle_queue_gets_its_allowance_back_and_costs_no_loop() {
    let (mut queue, mut rng, mut decided) =
        (PieQueue::new(Pie::default(), Buffer::Unlimited), Rng::new(1), Decided::new());
    let (ms, packet) = (1_000_000, Traveller { index: 0, len: 1_500, flow: 0, ecn: Ecn::NotEct });
    // 40 packets at once, one each 5 ms: the delay grows beyond the target while the allowance lasts.
    (0..40).for_each(|_| queue.enqueue(Instant::ZERO, packet, &mut rng, &mut decided));
    for n in 1..=40 {
        queue.dequeue(Instant::from_nanos(n * 5 * ms), &mut rng, &mut decided);
    }
    assert!(queue.control.probability > 0 && queue.control.allowance.is_zero(), "{:?}", queue.control);
    queue.advance(Instant::from_nanos(10_000 * ms));
    assert_eq!((queue.control.probability, queue.control.allowance), (0, Duration::from_millis(150)));
    // A century of updates.
    queue.advance(Instant::from_nanos(3_000_000_000_000 * ms));
    assert_eq!(queue.next_update, Instant::from_nanos(3_000_000_000_000 * ms + 15 * ms));
}
