//! Compound TCP against the vectors of its reference, in segments.

use super::*;
use crate::testing::ack;
use crate::window::InitialWindow;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

fn window(segments: u32) -> Window {
    Window::new(&InitialWindow::plain(segments), SEGMENT)
}

fn compound() -> Compound {
    Compound::new(&CompoundConfig::default())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a round: the window is acknowledged, segment by segment, with these round trips in turn.
fn round(compound: &mut Compound, window: &mut Window, una: &mut SeqNum, rtts: &[u64]) {
    let end = *una + window.cwnd();
    let mut turn = rtts.iter().cycle();
    while una.before(end) {
        *una += SEGMENT;
        let rtt = turn.next().map(|rtt| ms(*rtt));
        let sample =
            AckSample { rtt, min_rtt: Some(ms(100)), snd_una: *una, snd_nxt: *una + window.cwnd(), ..ack(0, SEGMENT) };
        window.grow(compound.on_ack(&sample, window));
        let withdrawn = compound.withdrawn();
        window.set_cwnd(window.cwnd() - withdrawn);
    }
}

#[test_case(38, 910)]
#[test_case(64, 1_830)]
#[test_case(100, 2_950)]
#[test_case(256, 7_000)]
#[test_case(500, 12_220)]
#[test_case(1_000, 21_230)]
#[test_case(1_712, 32_270)]
#[test_case(10, 0; "never less than nothing")]
fn the_delay_part_grows_by(segments: u32, expected: Bytes) {
    let grown = increase(&window(segments), ratio(1, 8));
    assert!(grown.abs_diff(expected) <= 5, "{grown}");
}

#[test]
fn ten_rounds_without_a_queue() {
    let (mut compound, mut window, mut una) = (compound(), window(100), SeqNum(1));
    // Two rounds pass before the first one that was seen whole is over.
    round(&mut compound, &mut window, &mut una, &[100]);
    round(&mut compound, &mut window, &mut una, &[100]);
    let before = (window.cwnd(), compound.dwnd);
    assert_eq!(before.1, 0);
    for _ in 0..10 {
        round(&mut compound, &mut window, &mut una, &[100]);
    }
    let (grown, delay) = (window.cwnd() - before.0, compound.dwnd);
    assert!((34_000..=37_500).contains(&delay), "dwnd {delay}");
    assert!((9_000..=10_000).contains(&(grown - delay)), "the loss part {}", grown - delay);
}

/// 500 segments that take 110 ms instead of 100 are 45.5 queued.
#[test_case(RoundTrip::Least, &[110], 154_545)]
#[test_case(RoundTrip::Least, &[110, 112], 154_545; "the shortest of a round counts")]
#[test_case(RoundTrip::Mean, &[100, 120], 154_545; "or the mean")]
fn a_queue_beyond_gamma_is_taken_off(round_rtt: RoundTrip, rtts: &[u64], expected: Bytes) {
    let mut compound = Compound::new(&CompoundConfig { round_rtt, ..CompoundConfig::default() });
    (compound.dwnd, compound.base) = (200_000, ms(100));
    let mut una = SeqNum(1);
    let mut window = window(500);
    round(&mut compound, &mut window, &mut una, rtts);
    round(&mut compound, &mut window, &mut una, rtts);
    assert_eq!(compound.dwnd, 200_000);
    // The round's last ACK came with the first of the next.
    window.set_cwnd(500_000);
    let sample = AckSample { rtt: Some(ms(110)), snd_una: una + 2_000_000, snd_nxt: una + 3_000_000, ..ack(0, 0) };
    assert_eq!(compound.on_ack(&sample, &window), 0);
    assert!(compound.dwnd.abs_diff(expected) <= 1, "{}", compound.dwnd);
    assert_eq!(compound.withdrawn(), 200_000 - compound.dwnd);
    assert_eq!(compound.withdrawn(), 0);
}

#[test]
fn a_loss_halves_the_sum_and_the_loss_part_and_a_timeout_leaves_no_delay_part() {
    let mut compound = compound();
    compound.dwnd = 200_000;
    let full = window(500);
    let loss = CongestionEvent::Loss { flight_size: 500_000 };
    assert_eq!(compound.on_congestion(&full, &loss, Instant::ZERO), 250_000);
    assert_eq!(compound.dwnd, 100_000);
    let timeout = CongestionEvent::Timeout { flight_size: 250_000, first: true };
    compound.gamma = 7_000;
    compound.on_congestion(&window(250), &timeout, Instant::ZERO);
    assert_eq!((compound.dwnd, compound.gamma), (0, 30_000));
}

#[test_case(ratio(1, 2), Some(20_000), 22_500)]
#[test_case(ratio(4, 5), Some(20_000), 18_000)]
#[test_case(ratio(1, 2), Some(0), 15_000)]
#[test_case(ratio(4, 5), Some(0), 6_000)]
#[test_case(ratio(9, 10), Some(0), 5_000; "never below five")]
#[test_case(ratio(1, 2), Some(100_000), 30_000; "never beyond thirty")]
#[test_case(ratio(1, 2), None, 30_000; "a sample is used once")]
fn gamma_follows_the_queue_of_the_loss_part(gamma_gain: Ratio, queue: Option<u32>, expected: u32) {
    let mut compound = Compound::new(&CompoundConfig { gamma_gain, ..CompoundConfig::default() });
    compound.queue_of_loss_part = queue;
    compound.on_congestion(&window(100), &CongestionEvent::Loss { flight_size: 100_000 }, Instant::ZERO);
    assert_eq!(compound.values(), [("dwnd", 0), ("gamma_milli", u64::from(expected))]);
    assert_eq!(compound.queue_of_loss_part, None);
}

#[test]
fn the_delay_part_rests_in_small_windows_after_a_pause_and_in_unused_ones() {
    let run = |segments: u32, rounds: usize, pause: bool| {
        let (mut compound, mut window, mut una) = (compound(), window(segments), SeqNum(1));
        for _ in 0..rounds {
            round(&mut compound, &mut window, &mut una, &[100]);
            window.set_cwnd(segments * SEGMENT);
            if pause {
                compound.on_idle(ms(2_000));
            }
        }
        compound.dwnd
    };
    assert_eq!(run(37, 8, false), 0);
    assert!(run(38, 8, false) > 0);
    assert_eq!(run(100, 8, true), 0);
    let mut compound = compound();
    compound.base = ms(100);
    assert_eq!(compound.judge(ms(100), &window(100), false), 0);
    assert_eq!(compound.judge(ms(100), &window(100), true), compound.dwnd);
}
