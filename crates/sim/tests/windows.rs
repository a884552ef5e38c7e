//! The law of windows: on a path without loss, goodput is the smaller of the path's rate and one receive window per round trip,
//! whatever the sender attempts (RFC 7323 §1.1). And how growing windows let slow start affect a queue.

use base::{Duration, Rate, Ratio};
use core::ops::RangeInclusive;
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, PathSpec};
use tcp::Config;
use tcp::config::{DrsConfig, ReceiveConfig, ReceiveWindowConfig, SteppedConfig, WindowLevel, WindowRounding};
use test_case::test_case;

const MTU: u64 = 1_500;
const MSS: u64 = 1_460;

fn transfer(receive: ReceiveConfig, there: PathSpec, bytes: u64) -> Outcome {
    let back = PathSpec { buffer: Buffer::Unlimited, ..PathSpec::ideal(there.delay) };
    let mut scenario = Scenario::new(1, there, back);
    let client = Config::default().validate().expect("within bounds");
    let server = Config { receive, ..Config::default() }.validate().expect("within bounds");
    scenario.flows.push(FlowSpec::new(client, server, Workload::Bytes(bytes)));
    run(&scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns goodput in bits per second over at least fifty round trips, for a receiver whose window is `bytes` at first.
fn goodput(receive: ReceiveConfig, rate: u64, delay: Duration, bytes: u64) -> u64 {
    let there = PathSpec { rate: Rate::from_bits_per_sec(rate), ..PathSpec::ideal(delay / 2) };
    let outcome = transfer(receive, there, bytes);
    let elapsed = outcome.flows[0].elapsed().expect("complete");
    bytes * 8 * 1_000_000 / elapsed.as_micros()
}

/// A fixed window, offered whole to a reader that keeps up: an ACK covers two segments.
fn fixed(bytes: u32) -> ReceiveConfig {
    let window = ReceiveWindowConfig::Fixed { bytes };
    ReceiveConfig { window, spare_segments: 2, ..ReceiveConfig::default() }
}

/// `window` bytes per round trip, but at most the payload part of `rate`. A round trip is the path's delay plus the time of the
/// two frames for which an ACK waits.
fn law(window: u64, rate: u64, delay: Duration) -> u64 {
    let frames_us = 2 * MTU * 8 * 1_000_000 / rate;
    (window * 8 * 1_000_000 / (delay.as_micros() + frames_us)).min(rate * MSS / MTU)
}

fn is_within_five_percent(receive: ReceiveConfig, window: u64, rate: u64, delay: Duration) {
    let expected = law(window, rate, delay);
    let bytes = (expected / 8 * delay.as_micros() / 1_000_000 * 100).max(1 << 20);
    let found = goodput(receive, rate, delay, bytes);
    assert!(found.abs_diff(expected) * 20 <= expected, "{expected} expected, {found} found");
}

#[test_case(13_140, 100_000_000, 1_050; "nine segments at 1 ms")]
#[test_case(17_520, 100_000_000, 2_000; "twelve segments do not fill it at 2 ms")]
#[test_case(17_520, 100_000_000, 70_000; "and come to 2 Mbit/s at 70 ms")]
#[test_case(17_520, 10_000_000, 85_000; "on a tenth of the rate a little less")]
#[test_case(106_580, 10_000_000, 85_000; "73 segments fill 10 Mbit/s at 85 ms")]
#[test_case(131_400, 10_000_000, 105_000; "90 segments fill it at 105 ms")]
#[test_case(131_400, 100_000_000, 77_870; "and come to 13.5 Mbit/s where 17520 bytes came to 1.8")]
#[test_case(17_520, 100_000_000, 77_870; "which they do")]
fn goodput_is_the_smaller_of_the_rate_and_a_window_per_round_trip(bytes: u32, rate: u64, delay_us: u64) {
    is_within_five_percent(fixed(bytes), u64::from(bytes), rate, Duration::from_micros(delay_us));
}

/// The SYN advertises 16,384 bytes; with segments of 1460 they become 17,520.
#[test]
fn a_window_that_is_rounded_up_to_segments_is_worth_as_many() {
    let receive = ReceiveConfig { rounding: WindowRounding::Segments, ..fixed(16_384) };
    is_within_five_percent(receive, 17_520, 100_000_000, Duration::from_millis(70));
}

/// 100 Mbit/s, 25 ms and a queue of one product of the two, 208 packets: returns packets lost to the queue, and the window in
/// hundredths of that product.
fn overshoot(window: ReceiveWindowConfig) -> (u64, u64) {
    let rate = Rate::from_bits_per_sec(100_000_000);
    let there = PathSpec { rate, buffer: Buffer::Packets(208), ..PathSpec::ideal(Duration::from_micros(12_500)) };
    let outcome = transfer(ReceiveConfig { window, ..ReceiveConfig::default() }, there, 8 << 20);
    let info = outcome.flows[0].receiver.info.expect("an endpoint");
    (outcome.forward.dropped.total(), u64::from(info.rcv_wnd) * 100 / 312_500)
}

const fn steps(num: u64, den: u64, factor_percent: u32) -> ReceiveWindowConfig {
    let share = Ratio::new(num, den).expect("a share");
    ReceiveWindowConfig::Stepped(SteppedConfig { initial: 64_240, level: WindowLevel::Normal, share, factor_percent })
}

/// The handshake's round trip has no queueing delay, so a round trip delivers at most one product; a window of at most twice that
/// cannot overflow the queue.
#[test_case(steps(3, 4, 150), 100..=150; "cautious")]
#[test_case(steps(1, 2, 200), 180..=200; "doubling")]
fn a_window_that_grows_by_such_steps_keeps_slow_start_within_the_queue(
    window: ReceiveWindowConfig,
    hundredths: RangeInclusive<u64>,
) {
    let (lost, window) = overshoot(window);
    assert!(lost == 0 && hundredths.contains(&window), "{lost} lost, {window} hundredths");
}

#[test_case(steps(1, 2, 400); "larger steps")]
#[test_case(ReceiveWindowConfig::default(); "eager")]
#[test_case(ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED); "right-sized")]
fn other_windows_do_not(window: ReceiveWindowConfig) {
    let (lost, window) = overshoot(window);
    assert!(lost > 100 && window > 200, "{lost} lost, {window} hundredths");
}
