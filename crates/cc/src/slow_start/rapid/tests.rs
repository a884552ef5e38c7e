//! Rapid Start alone, and in the composite round by round.

use super::*;
use crate::avoidance::{Cubic, CubicConfig, Reno, RenoConfig};
use crate::control::CongestionControl;
use crate::loss_based::LossBased;
use crate::sample::{CongestionEvent, EpisodeKind, FlightStart};
use crate::testing::{Rounds, ack, lost};
use crate::window::InitialWindow;
use base::{Instant, SeqNum};
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

fn window(segments: u32) -> Window {
    Window::new(&InitialWindow::plain(segments), SEGMENT)
}

fn rapid() -> Rapid {
    Rapid::new(&RapidConfig::default())
}

fn cubic(segments: u32) -> LossBased<Rapid, Cubic> {
    LossBased::new(window(segments), rapid(), Cubic::new(&CubicConfig::default()), None)
}

#[test_case(20, 22)]
#[test_case(40, 44)]
#[test_case(100, 104)]
fn a_queue_shows_beyond(min_ms: u64, queued_ms: u64) {
    let ms = Duration::from_millis;
    for (rtt, expected) in [(ms(queued_ms), 2_000), (ms(queued_ms) + Duration::from_micros(1), 1_000)] {
        let sample = AckSample { rtt: Some(rtt), min_rtt: Some(ms(min_ms)), ..ack(1, SEGMENT) };
        assert_eq!(rapid().on_ack(&sample, &window(10)), Step::Grow(expected));
    }
    let unknown = AckSample { rtt: None, min_rtt: Some(ms(min_ms)), ..ack(1, SEGMENT) };
    assert_eq!(rapid().on_ack(&unknown, &window(10)), Step::Grow(1_000), "no sample shows no room");
}

#[test]
fn the_window_triples_in_a_round_trip_without_a_queue() {
    let mut cc = cubic(10);
    let mut path = Rounds::new(100, 1);
    let rounds: Vec<u32> = (0..5).map(|_| path.deliver(&mut cc, EpisodeKind::Open)).collect();
    assert_eq!(rounds, [10, 30, 90, 270, 810]);
}

#[test]
fn the_first_flight_leaves_over_a_round_trip_once_it_is_known() {
    let mut cc = cubic(20);
    assert_eq!(cc.pacing(), None);
    let start = FlightStart { now: Instant::ZERO, srtt: Some(Duration::from_millis(160)), app_limited: false };
    cc.on_flight_start(&start);
    let rate = Rate::from_bits_per_sec(1_000_000).expect("not zero");
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: SEGMENT }));
    cc.on_ack(&ack(1, SEGMENT));
    assert_eq!(cc.pacing(), None);
    cc.on_flight_start(&start);
    assert_eq!(cc.pacing(), None, "later flights follow their ACKs");
}

fn lose(cc: &mut impl CongestionControl, bytes: Bytes) {
    cc.on_lost(&lost(Instant::ZERO, bytes));
}

fn arrive(cc: &mut impl CongestionControl, una: u32, nxt: u32, delivered: Bytes) {
    let episode = EpisodeKind::Recovery;
    cc.on_ack(&AckSample { delivered, snd_una: SeqNum(una), snd_nxt: SeqNum(nxt), episode, ..ack(1, 0) });
}

/// The draft's vectors of 300 segments and a β of 0.7, through the composite: lost before the signal, with it, and after it.
#[test_case(100, 200, 70)]
#[test_case(150, 150, 105)]
#[test_case(200, 100, 140)]
#[test_case(300, 0, 210)]
fn what_is_left_is_the_usual_share_of_what_arrived(arrived: u32, lost: u32, expected: u32) {
    let mut cc = cubic(300);
    lose(&mut cc, lost / 2 * SEGMENT);
    assert!(!cc.governs_recovery());
    let signal = CongestionEvent::Loss { flight_size: 300 * SEGMENT };
    cc.on_congestion(&signal, Instant::ZERO);
    assert!(cc.governs_recovery() && !cc.window().in_slow_start());
    lose(&mut cc, (lost - lost / 2) * SEGMENT);
    cc.on_congestion(&signal, Instant::ZERO);
    for nth in 0..arrived {
        arrive(&mut cc, nth, 300_001, SEGMENT);
    }
    assert!(cc.window().cwnd().abs_diff(expected * SEGMENT) <= 1, "{:?}", cc.window());
    arrive(&mut cc, 300_001, 400_000, SEGMENT);
    assert!(!cc.governs_recovery());
    assert!(cc.window().cwnd().abs_diff(expected * SEGMENT) <= 2, "{:?}", cc.window());
    assert_eq!(cc.window().cwnd(), cc.window().ssthresh());
    // W_max is what the path holds, and not the overshoot.
    let w_max = cc.snapshot().values.iter().find(|(name, _)| *name == "w_max").expect("CUBIC has one").1;
    assert!(w_max.abs_diff(u64::from(expected) * 1_000 * 10 / 7) <= 10, "{w_max}");
}

#[test]
fn the_end_of_the_episode_ends_it_and_the_next_loss_is_answered_as_usual() {
    let mut cc = LossBased::new(window(100), rapid(), Reno::new(&RenoConfig::default()), None);
    let signal = CongestionEvent::Loss { flight_size: 100 * SEGMENT };
    cc.on_congestion(&signal, Instant::ZERO);
    assert_eq!(cc.window().cwnd(), 83_333, "five sixths");
    cc.on_recovery_exit(Instant::ZERO);
    assert!(!cc.governs_recovery());
    let before = cc.window().cwnd();
    cc.on_congestion(&signal, Instant::ZERO);
    assert_eq!(cc.window().cwnd(), before / 2);
}

#[test]
fn a_loss_after_a_timeout_of_nothing_does_not_open_the_window_again() {
    let mut cc = cubic(100);
    let signal = CongestionEvent::Loss { flight_size: 100 * SEGMENT };
    cc.on_congestion(&signal, Instant::ZERO);
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 0, first: true }, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.governs_recovery()), (SEGMENT, true));
    cc.on_congestion(&signal, Instant::ZERO);
    assert_eq!(cc.window().cwnd(), 2 * SEGMENT, "the least that a loss leaves");
}

#[test]
fn a_timeout_in_it_is_answered_as_usual_and_an_undo_brings_the_search_back() {
    let mut cc = cubic(100);
    let signal = CongestionEvent::Loss { flight_size: 100 * SEGMENT };
    cc.on_congestion(&signal, Instant::ZERO);
    let mut other = cc.clone();
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 100 * SEGMENT, first: true }, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.governs_recovery()), (SEGMENT, false));
    assert!(other.undo());
    assert_eq!((other.window().cwnd(), other.window().in_slow_start()), (100 * SEGMENT, true));
    assert!(!other.governs_recovery());
}
