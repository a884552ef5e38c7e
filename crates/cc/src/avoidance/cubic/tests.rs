//! RFC 9438's published numbers, and its rules one by one.

use super::*;
use crate::algo::{AvoidanceConfig, CcConfig, build};
use crate::sample::EpisodeKind;
use crate::testing::{Rounds, ack, app_limited};
use crate::window::InitialWindow;
use base::SeqNum;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

fn window(segments: u32) -> Window {
    let mut window = Window::new(&InitialWindow::plain(segments), SEGMENT);
    window.set_ssthresh(segments * SEGMENT);
    window
}

fn loss_at(segments: u32) -> CongestionEvent {
    CongestionEvent::Loss { flight_size: segments * SEGMENT }
}

/// Reduced from 100 segments to 70; avoidance begins at time zero.
fn reduced_from_100() -> (Cubic, Window) {
    let mut cubic = Cubic::new(&CubicConfig::default());
    assert_eq!(cubic.on_congestion(&window(100), &loss_at(100), Instant::ZERO), 70 * SEGMENT);
    let window = window(70);
    cubic.on_enter(&window, Instant::ZERO);
    (cubic, window)
}

//= specs/rfc9438.md#window-growth
//= type=test
//# K is the cube root of (W_max − cwnd) / C, with the window of the stage's beginning.
//= specs/rfc9438.md#window-growth
//= type=test
//# C is 0.4.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# β is 0.7.
#[test]
fn a_loss_at_100_segments_leaves_70_and_a_k_of_4217_ms() {
    let (cubic, _) = reduced_from_100();
    assert_eq!(cubic.values(), [("w_max", 100_000), ("k_ms", 4_217)]);
}

//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# A reduction remembers the window before it as `cwnd_prior`.
//= specs/rfc9438.md#fast-convergence
//= type=test
//# A reduction from below the last W_max sets W_max to cwnd · (1 + β) / 2.
//= specs/rfc9438.md#fast-convergence
//= type=test
//# Any other reduction sets W_max to the window before it.
//= specs/rfc9438.md#fast-convergence
//= type=test
//# Fast convergence can be turned off where one flow is alone.
#[test_case(FastConvergence::On, 80, 68; "a lower loss lowers the plateau further")]
#[test_case(FastConvergence::Off, 80, 80; "not without fast convergence")]
#[test_case(FastConvergence::On, 120, 120; "a higher loss raises the plateau")]
#[test_case(FastConvergence::On, 100, 100; "an equal loss keeps it")]
fn after_a_loss_at_100_the_next_plateau_is(fast_convergence: FastConvergence, segments: u32, expected: u32) {
    let mut cubic = Cubic::new(&CubicConfig { fast_convergence, ..CubicConfig::default() });
    cubic.on_congestion(&window(100), &loss_at(100), Instant::ZERO);
    cubic.on_congestion(&window(segments), &loss_at(segments), Instant::ZERO);
    assert_eq!(cubic.epoch.curve.w_max, expected * SEGMENT);
    assert_eq!(cubic.cwnd_prior, segments * SEGMENT);
}

//= specs/rfc9438.md#window-growth
//= type=test
//# The cubic is C · (t − K)³ + W_max, with t the time since the present stage of avoidance began.
//= specs/rfc9438.md#window-growth
//= type=test
//# The target is the cubic's value one smoothed RTT ahead, but at least the window and at most 1.5 windows.
//= specs/rfc9438.md#concave-and-convex-regions
//= type=test
//# Below W_max, an ACK of one segment opens the window by (target − cwnd) / cwnd segments.
#[test]
fn a_whole_window_acknowledged_reaches_the_curve_one_rtt_on() {
    let (mut cubic, window) = reduced_from_100();
    let srtt = Some(Duration::from_secs(1));
    let grown = cubic.on_ack(&AckSample { srtt, ..ack(1_000, 70 * SEGMENT) }, &window);
    assert!((70_000 + grown).abs_diff(95_640) <= 1, "W(2 s) is 95.640 segments, got {}", 70_000 + grown);
}

//= specs/rfc9438.md#concave-and-convex-regions
//= type=test
//# Below W_max, an ACK of one segment opens the window by (target − cwnd) / cwnd segments.
#[test]
fn half_a_window_acknowledged_covers_half_the_way() {
    let (mut cubic, window) = reduced_from_100();
    let srtt = Some(Duration::from_secs(1));
    let grown = cubic.on_ack(&AckSample { srtt, ..ack(1_000, 35 * SEGMENT) }, &window);
    assert!(grown.abs_diff(25_640 / 2) <= 1, "{grown}");
}

//= specs/rfc9438.md#concave-and-convex-regions
//= type=test
//# From W_max on, an ACK of one segment opens the window by (target − cwnd) / cwnd segments.
#[test]
fn beyond_the_plateau_the_window_follows_the_curve_as_well() {
    let (mut cubic, _) = reduced_from_100();
    let (at_the_plateau, srtt) = (window(100), Some(Duration::from_secs(1)));
    let grown = cubic.on_ack(&AckSample { srtt, ..ack(5_000, 50 * SEGMENT) }, &at_the_plateau);
    assert!(
        grown.abs_diff(2_267 / 2) <= 1,
        "W(6 s) is 102.267 segments and half a window covers half the way: {grown}"
    );
}

//= specs/rfc9438.md#window-growth
//= type=test
//# The target is the cubic's value one smoothed RTT ahead, but at least the window and at most 1.5 windows.
#[test]
fn growth_is_at_most_half_a_window_in_a_round_trip() {
    let (mut cubic, window) = reduced_from_100();
    assert_eq!(cubic.on_ack(&ack(60_000, 70 * SEGMENT), &window), 35 * SEGMENT);
}

//= specs/rfc9438.md#reno-friendly-region
//= type=test
//# The estimate of Reno's window begins with the window of the stage's beginning.
//= specs/rfc9438.md#reno-friendly-region
//= type=test
//# Each window's worth of acknowledged segments raises the estimate by α = 3 · (1 − β) / (1 + β) segments.
//= specs/rfc9438.md#reno-friendly-region
//= type=test
//# While the cubic is below the estimate, the window is the estimate.
#[test]
fn with_a_short_round_trip_the_window_is_renos() {
    let (mut cubic, mut window) = reduced_from_100();
    for round in 1..=20 {
        let srtt = Some(Duration::from_millis(10));
        let grown = cubic.on_ack(&AckSample { srtt, ..ack(10 * round, window.cwnd()) }, &window);
        window.grow(grown);
        // α = 9/17 of a segment each round trip.
        let expected = 70_000 + (round as Bytes * 9_000) / 17;
        assert!(window.cwnd().abs_diff(expected) <= 1, "round {round}: {} for {expected}", window.cwnd());
    }
}

//= specs/rfc9438.md#window-growth
//= type=test
//# The cubic is C · (t − K)³ + W_max, with t the time since the present stage of avoidance began.
#[test]
fn with_a_long_round_trip_the_window_is_the_cubics() {
    let (mut cubic, mut window) = reduced_from_100();
    let srtt = Some(Duration::from_millis(200));
    for round in 1..=10 {
        let grown = cubic.on_ack(&AckSample { srtt, ..ack(200 * round, window.cwnd()) }, &window);
        window.grow(grown);
    }
    // W(2.2 s) = 100 − 0.4 · 2.0172³ = 96.717 segments; Reno would be at 75.
    assert!(window.cwnd().abs_diff(96_717) <= 2, "{}", window.cwnd());
}

//= specs/rfc9438.md#reno-friendly-region
//= type=test
//# Once the estimate has come to `cwnd_prior`, α is 1.
#[test]
fn reno_is_matched_in_full_once_its_estimate_is_back_at_the_old_window() {
    let (mut cubic, mut window) = reduced_from_100();
    let mut last = 0;
    for _ in 0..80 {
        let grown = cubic.on_ack(&ack(1, window.cwnd()), &window);
        window.grow(grown);
        last = grown;
    }
    assert!(cubic.epoch.w_est > u64::from(cubic.cwnd_prior) << FRACTION_BITS);
    assert_eq!(last, SEGMENT);
}

#[test]
fn renos_estimate_may_grow_at_one_pace_throughout() {
    let config = CubicConfig { reno_growth: RenoGrowth::Steady, ..CubicConfig::default() };
    let mut cubic = Cubic::new(&config);
    let mut window = window(100);
    cubic.on_enter(&window, Instant::ZERO);
    for _ in 0..80 {
        let grown = cubic.on_ack(&ack(1, window.cwnd()), &window);
        // α = 9/17 of a segment, although nothing was ever lost.
        assert!(grown.abs_diff(9_000 / 17) <= 1, "{grown}");
        window.grow(grown);
    }
}

#[test_case(None, 9_000 / 17; "the cubic's own, beside Reno's")]
#[test_case(Some(20), 5_000; "a twentieth a round trip")]
fn before_the_first_loss_the_window_may_grow_by_a_part_of_itself(blind_divisor: Option<u32>, expected: Bytes) {
    let config = CubicConfig { reno_growth: RenoGrowth::Steady, blind_divisor, ..CubicConfig::default() };
    let mut cubic = Cubic::new(&config);
    cubic.on_enter(&window(100), Instant::ZERO);
    assert_eq!(cubic.on_ack(&ack(1, 100 * SEGMENT), &window(100)), expected);
    cubic.on_congestion(&window(100), &loss_at(100), Instant::ZERO);
    cubic.on_enter(&window(100), Instant::ZERO);
    assert_eq!(cubic.on_ack(&ack(1, 100 * SEGMENT), &window(100)), 9_000 / 17, "congestion has been met");
}

//= specs/rfc9438.md#window-growth
//= type=test
//# Time in which an application limit kept the window from growing does not count towards t.
#[test]
fn time_in_which_the_application_limited_does_not_count() {
    let srtt = Some(Duration::from_secs(1));
    let (mut busy, window) = reduced_from_100();
    let (mut lazy, _) = reduced_from_100();
    assert_eq!(lazy.on_ack(&app_limited(30_000, 10 * SEGMENT), &window), 0);
    assert_eq!(lazy.on_ack(&app_limited(50_000, 10 * SEGMENT), &window), 0);
    let now = busy.on_ack(&AckSample { srtt, ..ack(1_000, 70 * SEGMENT) }, &window);
    let later = lazy.on_ack(&AckSample { srtt, ..ack(51_000, 70 * SEGMENT) }, &window);
    assert_eq!(now, later);
}

//= specs/rfc9438.md#window-growth
//= type=test
//# Time in which an application limit kept the window from growing does not count towards t.
#[test]
fn idle_time_does_not_count() {
    let srtt = Some(Duration::from_secs(1));
    let (mut busy, window) = reduced_from_100();
    let (mut idle, _) = reduced_from_100();
    idle.on_idle(Duration::from_secs(50));
    let now = busy.on_ack(&AckSample { srtt, ..ack(1_000, 70 * SEGMENT) }, &window);
    let later = idle.on_ack(&AckSample { srtt, ..ack(51_000, 70 * SEGMENT) }, &window);
    assert_eq!(now, later);
}

//= specs/rfc9438.md#window-growth
//= type=test
//# Only an ACK that acknowledges new data opens the window.
#[test]
fn a_duplicate_ack_brings_nothing_and_stops_no_clock() {
    let srtt = Some(Duration::from_secs(1));
    let (mut cubic, window) = reduced_from_100();
    assert_eq!(cubic.on_ack(&ack(500, 0), &window), 0);
    let grown = cubic.on_ack(&AckSample { srtt, ..ack(1_000, 70 * SEGMENT) }, &window);
    assert!((70_000 + grown).abs_diff(95_640) <= 1);
}

//= specs/rfc9438.md#timeout
//= type=test
//# A timeout leaves a window of one segment, and an `ssthresh` by β as after a loss.
//= specs/rfc9438.md#timeout
//= type=test
//# The first stage of avoidance after a timeout has K = 0 and its first window as W_max.
//= specs/rfc9438.md#timeout
//= type=test
//# The first stage of avoidance after a timeout has its first window as the estimate of Reno's window.
#[test]
fn after_a_timeout_the_curve_begins_at_its_plateau() {
    let mut cubic = Cubic::new(&CubicConfig::default());
    let timeout = CongestionEvent::Timeout { flight_size: 100 * SEGMENT, first: true };
    assert_eq!(cubic.on_congestion(&window(100), &timeout, Instant::ZERO), 70 * SEGMENT);
    cubic.on_enter(&window(70), Instant::ZERO);
    assert_eq!(cubic.values(), [("w_max", 70_000), ("k_ms", 0)]);
    assert_eq!(cubic.epoch.w_est, 70_000 << FRACTION_BITS);
}

//= specs/rfc9438.md#slow-start
//= type=test
//# Slow start that ends without a loss sets `cwnd_prior` and W_max to the window, and K to 0.
#[test]
fn slow_start_left_without_a_loss_begins_at_its_plateau() {
    let mut cubic = Cubic::new(&CubicConfig::default());
    cubic.on_enter(&window(200), Instant::ZERO);
    assert_eq!(cubic.values(), [("w_max", 200_000), ("k_ms", 0)]);
    assert_eq!(cubic.cwnd_prior, 200_000);
}

#[test]
fn a_new_segment_size_changes_the_steepness_but_not_the_place() {
    let (mut cubic, mut window) = reduced_from_100();
    window.set_smss(500);
    let srtt = Some(Duration::from_secs(1));
    let grown = cubic.on_ack(&AckSample { srtt, ..ack(1_000, 70 * SEGMENT) }, &window);
    // Half the segment size halves the depth below the plateau: 100 − (100 − 95.640)/2.
    assert!((70_000 + grown).abs_diff(97_820) <= 1, "{}", 70_000 + grown);
    assert_eq!(cubic.values(), [("w_max", 100_000), ("k_ms", 4_217)]);
}

/// RFC 9438 §5.2: with one loss in `1/p` segments and a round trip of 100 ms the average is the larger of Reno's `1.2 / p^0.5`
/// and the cubic's `1.054 · RTT^0.75 / p^0.75`. The analysis ignores fast convergence.
#[test_case(1_000, 38; "the Reno-friendly region at one in a thousand")]
#[test_case(10_000, 187; "one in ten thousand")]
#[test_case(100_000, 1_054; "one in a hundred thousand")]
fn the_average_window_under_periodic_loss_is_the_published_one(segments_per_loss: u64, expected: u64) {
    let cubic = CubicConfig { fast_convergence: FastConvergence::Off, ..CubicConfig::default() };
    let avoidance = AvoidanceConfig::Cubic(cubic);
    let config = CcConfig { initial_window: InitialWindow::plain(expected as u32), avoidance, ..CcConfig::default() };
    let (mut cc, mut path) = (build(&config, SEGMENT, SeqNum(0)), Rounds::new(100, 1));
    let (mut sent_since_loss, mut losses, mut rounds, mut sent) = (0, 0, 0_u64, 0_u64);
    path.lose(&mut *cc);
    while losses < 30 {
        let round = u64::from(path.deliver(&mut *cc, EpisodeKind::Open));
        sent_since_loss += round;
        if losses >= 10 {
            (rounds, sent) = (rounds + 1, sent + round);
        }
        if sent_since_loss >= segments_per_loss {
            sent_since_loss -= segments_per_loss;
            losses += 1;
            cc.on_congestion(&CongestionEvent::Loss { flight_size: cc.window().cwnd() }, path.now);
            cc.on_recovery_exit(path.now);
        }
    }
    let average = sent / rounds;
    assert!(average.abs_diff(expected) * 10 <= expected, "{average} instead of {expected}");
}
