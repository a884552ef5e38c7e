//! When SEARCH fires: against the shortfalls of a sender that doubles each round trip, by the form of the comparison.

use super::*;
use crate::testing::ack;
use crate::window::InitialWindow;
use base::{Duration, Instant, SeqNum};
use test_case::test_case;

const RTT_MS: u64 = 100;
/// Bytes that the path serves in a millisecond.
const SERVED: u64 = 10_000;
const SEGMENT: Bytes = 1_000;

/// A sender that doubles each round trip over a path that delivers what was sent a round trip before, as far as its rate lasts,
/// and never takes longer. Returns how many hundredths of a round trip after the rate was reached the policy acts, and its step.
fn fires(config: &SearchConfig) -> Option<(u64, Step)> {
    let mut policy = Search::new(config);
    let window = Window::new(&InitialWindow::plain(3_000), SEGMENT);
    // Bytes sent in each millisecond: doubling within the first round trip, then two for each that is delivered.
    let mut sent: Vec<u64> = Vec::new();
    let (mut nxt, mut una, mut full) = (0, 0, None);
    for ms in 0..2_000 {
        let arrived = sent.get((ms as usize).wrapping_sub(RTT_MS as usize)).copied();
        let delivered = arrived.unwrap_or(0).min(SERVED);
        let leaves = match arrived {
            Some(_) => 2 * delivered,
            None => sent.last().map_or(100, |last| last + 1),
        };
        sent.push(leaves);
        (nxt, una) = (nxt + leaves, una + delivered);
        if delivered == SERVED {
            full = full.or(Some(ms));
        }
        let sample = AckSample {
            now: Instant::from_nanos(ms * 1_000_000),
            snd_una: SeqNum(una as u32),
            snd_nxt: SeqNum(nxt as u32),
            rtt: Some(Duration::from_millis(RTT_MS)),
            ..ack(0, delivered as u32)
        };
        if arrived.is_some() {
            let step = policy.on_ack(&sample, &window);
            if !matches!(step, Step::Grow(_)) {
                return Some(((ms - full.expect("it was full")) * 100 / RTT_MS, step));
            }
        }
    }
    None
}

/// The model of the reference fires at 1.46 and 2.2 round trips; a bin of 0.35 round trips is the resolution.
#[test_case(&SearchConfig::SENT, 146..=182)]
#[test_case(&SearchConfig::DELIVERED, 220..=256)]
fn a_doubling_sender_is_stopped_within_a_bin_of_the_threshold(
    config: &SearchConfig,
    expected: core::ops::RangeInclusive<u64>,
) {
    let (after, _) = fires(config).expect("it fires");
    assert!(expected.contains(&after), "{after} hundredths of a round trip");
}

#[test]
fn a_threshold_that_nothing_reaches_never_fires() {
    assert_eq!(fires(&SearchConfig { threshold: ratio(99, 100), ..SearchConfig::SENT }), None);
}

#[test]
fn one_form_drains_to_a_round_trip_of_delivery_and_the_other_keeps_its_window() {
    assert_eq!(fires(&SearchConfig::SENT).map(|(_, step)| step), Some(Step::Turn(0)));
    let kept = Step::Exit { window: 3_000_000, cause: ExitCause::Shortfall };
    assert_eq!(fires(&SearchConfig::DELIVERED).map(|(_, step)| step), Some(kept));
    let mut policy = Search::new(&SearchConfig::SENT);
    policy.phase = Phase::Draining(Drain::to(50_000));
    assert_eq!(policy.phase(), CcPhase::Draining);
    let window = |segments| Window::new(&InitialWindow::plain(segments), SEGMENT);
    assert_eq!(policy.on_ack(&ack(0, 3_000), &window(60)), Step::Set(59_000));
    let last = policy.on_ack(&ack(0, 3_000), &window(51));
    assert_eq!(
        (last, policy.phase()),
        (Step::Exit { window: 50_000, cause: ExitCause::Shortfall }, CcPhase::SlowStart)
    );
    assert_eq!(policy.on_ack(&ack(0, 3_000), &window(40)), Step::Grow(3_000), "it searches no more");
}

#[test]
fn nothing_is_decided_without_a_round_trip_or_when_nothing_was_sent() {
    let mut policy = Search::new(&SearchConfig::SENT);
    let window = Window::new(&InitialWindow::plain(10), SEGMENT);
    let at = |ms: u64, rtt| AckSample { now: Instant::from_nanos(ms * 1_000_000), rtt, ..ack(0, 0) };
    policy.on_ack(&at(0, None), &window);
    assert_eq!(policy.boxed_size(), 0, "a bin takes its length from a round trip");
    for ms in 0..3_000 {
        assert_eq!(policy.on_ack(&at(ms, Some(Duration::from_millis(RTT_MS))), &window), Step::Grow(0));
    }
    assert!(policy.boxed_size() > 0);
    policy.on_congestion();
    assert_eq!(policy.boxed_size(), 0);
}

#[test]
fn an_unused_window_starts_the_measurement_over_where_asked() {
    for (unused, over) in [(Unused::Measured, false), (Unused::StartsOver, true)] {
        let mut policy = Search::new(&SearchConfig { unused, ..SearchConfig::SENT });
        let window = Window::new(&InitialWindow::plain(10), SEGMENT);
        let at = |ms: u64, cwnd_limited| AckSample {
            now: Instant::from_nanos(ms * 1_000_000),
            snd_una: SeqNum(ms as u32),
            rtt: Some(Duration::from_millis(RTT_MS)),
            cwnd_limited,
            ..ack(0, 0)
        };
        policy.on_ack(&at(0, true), &window);
        policy.on_ack(&at(300, false), &window);
        let Phase::Searching(Some(bins)) = &policy.phase else { panic!("it searches") };
        assert_eq!(bins.delivered_in_a_round_trip() == 0, over);
        policy.on_undo();
        assert_eq!(policy.boxed_size(), 0, "an undo leaves a gap, too");
    }
}
