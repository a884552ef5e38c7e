//! The composite: its rules one by one, and runs round by round as snapshots.

use super::*;
use crate::avoidance::{Compound, CompoundConfig, Cubic, CubicConfig, Reno, RenoConfig, Undone};
use crate::control::CcPhase;
use crate::slow_start::tail::{Css, Lss};
use crate::slow_start::{Classic, ClassicConfig, ExitCause, Hystart, HystartPp, Step};
use crate::testing::{Delays, Happening, Rounds, ack, app_limited, story};
use crate::window::InitialWindow;
use base::Rate;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;
const CLASSIC: ClassicConfig = ClassicConfig { limit_segments: Some(2) };

fn window(segments: u32) -> Window {
    Window::new(&InitialWindow::plain(segments), SEGMENT)
}

fn reno(segments: u32) -> LossBased<Classic, Reno> {
    LossBased::new(window(segments), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), None)
}

fn cubic(segments: u32) -> LossBased<Classic, Cubic> {
    LossBased::new(window(segments), Classic::new(&CLASSIC), Cubic::new(&CubicConfig::default()), None)
}

fn loss(segments: u32) -> CongestionEvent {
    CongestionEvent::Loss { flight_size: segments * SEGMENT }
}

fn timeout(segments: u32, first: bool) -> CongestionEvent {
    CongestionEvent::Timeout { flight_size: segments * SEGMENT, first }
}

fn segments(cc: &impl CongestionControl) -> (Bytes, Bytes) {
    (cc.window().cwnd() / SEGMENT, cc.window().ssthresh() / SEGMENT)
}

#[test]
fn reno_round_by_round() {
    let table = story(&mut reno(10), &mut Rounds::new(100, 2), 24, &[Happening::Loss(5), Happening::Timeout(14)]);
    insta::assert_snapshot!(table);
}

#[test]
fn cubic_round_by_round() {
    let table = story(&mut cubic(10), &mut Rounds::new(100, 2), 64, &[Happening::Loss(5), Happening::Loss(50)]);
    insta::assert_snapshot!(table);
}

#[test]
fn compound_round_by_round() {
    let compound = Compound::new(&CompoundConfig::default());
    let mut cc = LossBased::new(window(10), Classic::new(&CLASSIC), compound, None);
    let mut path = Rounds::new(100, 2).with(Delays::Queue { bdp: 400 });
    let table = story(&mut cc, &mut path, 40, &[Happening::Loss(6), Happening::Loss(34)]);
    insta::assert_snapshot!(table);
}

#[test]
fn cubic_round_by_round_after_a_timeout() {
    let table = story(&mut cubic(10), &mut Rounds::new(50, 1), 30, &[Happening::Timeout(6)]);
    insta::assert_snapshot!(table);
}

//= specs/rfc9438.md#slow-start
//= type=test
//# The slow start is Reno's.
//= specs/rfc5681.md#slow-start-and-congestion-avoidance
//= type=test
//# In slow start an ACK opens the window by the bytes it newly acknowledges.
#[test_case(1, &[10, 15, 23, 35]; "L 1: half as much again when every second segment is acknowledged")]
#[test_case(2, &[10, 20, 40, 80]; "L 2: doubling")]
fn slow_start_in_rounds(limit: u32, expected: &[u32]) {
    let classic = Classic::new(&ClassicConfig { limit_segments: Some(limit) });
    let mut cc = LossBased::new(window(10), classic, Reno::new(&RenoConfig::default()), None);
    let mut path = Rounds::new(100, 2);
    let rounds: Vec<u32> = expected.iter().map(|_| path.deliver(&mut cc, EpisodeKind::Open)).collect();
    assert_eq!(rounds, expected);
}

//= specs/rfc9438.md#slow-start
//= type=test
//# A slow start algorithm governs the window while it is below `ssthresh`.
//= specs/rfc5681.md#slow-start-and-congestion-avoidance
//= type=test
//# Slow start is used while the window is below `ssthresh`, and avoidance while it is above.
#[test]
fn slow_start_stops_exactly_at_the_threshold_and_says_so() {
    let mut cc = reno(10);
    cc.on_congestion(&timeout(10, true), Instant::ZERO);
    assert_eq!(cc.on_ack(&ack(1, SEGMENT)), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    for (ms, acked) in [(2, SEGMENT), (3, SEGMENT), (4, SEGMENT - 1)] {
        assert_eq!(cc.on_ack(&ack(ms, acked)), None);
    }
    assert_eq!(cc.on_ack(&ack(5, SEGMENT)), Some(CcNote::SlowStartExited(ExitCause::Threshold)));
    assert_eq!(segments(&cc), (5, 5), "what lies beyond the threshold is dropped");
    assert_eq!(cc.snapshot().phase, CcPhase::Reno);
}

#[test]
fn a_loss_in_slow_start_is_reported_with_the_next_ack() {
    let mut cc = reno(10);
    cc.on_congestion(&loss(10), Instant::ZERO);
    let in_recovery = AckSample { episode: EpisodeKind::Recovery, ..ack(1, SEGMENT) };
    assert_eq!(cc.on_ack(&in_recovery), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    assert_eq!(cc.on_ack(&in_recovery), None);
}

//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# A sender that applies β to the window does not let a window grow that is not in use.
//= specs/rfc9438.md#application-limit
//= type=test
//# The window of a flow that does not use it does not grow.
#[test]
fn nothing_grows_in_recovery_or_in_an_unused_window() {
    let mut cc = reno(10);
    cc.on_ack(&app_limited(1, 10 * SEGMENT));
    cc.on_ack(&AckSample { episode: EpisodeKind::Recovery, ..ack(1, 10 * SEGMENT) });
    assert_eq!(segments(&cc).0, 10);
    cc.on_ack(&AckSample { episode: EpisodeKind::Loss, ..ack(1, 2 * SEGMENT) });
    assert_eq!(segments(&cc).0, 12);
}

//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# After a loss the window is at least two segments.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# `ssthresh` is at least two segments.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# ECN echoes reduce the window until it is one segment.
//= specs/rfc9438.md#timeout
//= type=test
//# A timeout leaves a window of one segment, and an `ssthresh` by β as after a loss.
//= specs/rfc5681.md#response-to-a-timeout
//= type=test
//# After a timeout the window is one segment.
#[test_case(loss(3), 2, 2; "a loss leaves two segments")]
#[test_case(CongestionEvent::Ecn { flight_size: 3 * SEGMENT, beta: None, least_segments: 1 }, 1, 2; "a mark leaves one")]
#[test_case(CongestionEvent::Ecn { flight_size: 3 * SEGMENT, beta: None, least_segments: 2 }, 2, 2; "or two")]
#[test_case(timeout(3, true), 1, 2; "a timeout leaves one")]
fn floors_of_a_small_window(event: CongestionEvent, cwnd: Bytes, ssthresh: Bytes) {
    let mut cc = reno(3);
    cc.on_congestion(&event, Instant::ZERO);
    assert_eq!(segments(&cc), (cwnd, ssthresh));
}

//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# Loss reduces `cwnd` and `ssthresh` as soon as recovery begins.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# β is 0.7.
//= specs/rfc9438.md#multiplicative-decrease
//= type=test
//# The new `ssthresh` is β times what is in flight.
//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# When recovery is over, the window is `ssthresh`.
#[test_case(100, 70; "of a full window")]
#[test_case(50, 35; "of a window half in use")]
fn a_loss_reduces_window_and_threshold_at_once_by_what_is_in_flight(flight: u32, expected: Bytes) {
    let mut cc = cubic(100);
    cc.on_congestion(&loss(flight), Instant::ZERO);
    assert_eq!(segments(&cc), (expected, expected));
    cc.on_recovery_exit(Instant::ZERO);
    assert_eq!(segments(&cc), (expected, expected));
}

//= specs/rfc5681.md#response-to-a-timeout
//= type=test
//# A first timeout sets `ssthresh` to half the FlightSize, but to no less than two segments.
//= specs/rfc5681.md#response-to-a-timeout
//= type=test
//# A repeated timeout of the same segment leaves `ssthresh` as it is.
#[test]
fn repeated_timeouts_leave_the_threshold_alone_and_new_ones_lower_it() {
    let mut cc = reno(40);
    cc.on_congestion(&timeout(40, true), Instant::ZERO);
    assert_eq!(segments(&cc), (1, 20));
    cc.on_congestion(&timeout(40, false), Instant::ZERO);
    assert_eq!(segments(&cc), (1, 20));
    cc.on_congestion(&timeout(40, true), Instant::ZERO);
    assert_eq!(segments(&cc), (1, 10));
}

#[test]
fn a_timeout_with_nothing_in_flight_restarts_but_keeps_the_threshold() {
    let mut cc = cubic(10);
    cc.on_congestion(&timeout(0, true), Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (SEGMENT, Window::UNKNOWN));
    assert!(!cc.undo());
    assert_eq!(cc.on_ack(&ack(1, 4 * SEGMENT)), None);
    assert_eq!(cc.window().cwnd(), 3 * SEGMENT, "the first slow start still has its L of 2");
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# What a reduction changes is saved before it.
//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# A reduction that proves spurious is taken back if the window is below what was saved.
#[test]
fn undo_brings_back_the_window_before_the_first_reduction_of_the_episode() {
    let mut cc = cubic(100);
    cc.on_congestion(&loss(100), Instant::ZERO);
    cc.on_congestion(&loss(100), Instant::ZERO);
    cc.on_congestion(&timeout(100, true), Instant::ZERO);
    assert!(cc.undo());
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (100 * SEGMENT, Window::UNKNOWN));
    assert_eq!(cc.on_ack(&ack(1, 0)), None, "the exit from slow start is undone as well");
    assert!(!cc.undo());
}

#[test]
fn undo_after_the_episode_brings_back_the_state_of_the_last_one() {
    let mut cc = reno(100);
    cc.on_congestion(&loss(100), Instant::ZERO);
    cc.on_recovery_exit(Instant::ZERO);
    cc.on_congestion(&loss(50), Instant::ZERO);
    cc.on_recovery_exit(Instant::ZERO);
    assert_eq!(segments(&cc), (25, 25));
    assert!(cc.undo());
    assert_eq!(segments(&cc), (50, 50));
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# A window that has grown beyond what was saved stays as it is.
#[test]
fn undo_keeps_a_window_that_has_grown_beyond_the_saved_one_and_resumes_the_slow_start_it_was_in() {
    let mut cc = reno(2);
    cc.on_congestion(&timeout(2, true), Instant::ZERO);
    for ms in 0..20 {
        cc.on_ack(&ack(ms, 2 * SEGMENT));
    }
    let grown = cc.window().clone();
    assert!(grown.cwnd() > 2 * SEGMENT);
    assert!(cc.undo());
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (grown.cwnd(), Window::UNKNOWN));
    assert_eq!(cc.on_ack(&ack(20, SEGMENT)), Some(CcNote::ReturnedToSlowStart));
    assert_eq!(cc.window().cwnd(), grown.cwnd() + SEGMENT);
}

#[test]
fn after_an_undo_the_cubic_goes_on_where_it_was_or_begins_anew() {
    let [resumed, anew] = [Undone::Resumed, Undone::Anew].map(|undone| {
        let avoidance = Cubic::new(&CubicConfig { undone, ..CubicConfig::default() });
        let mut cc = LossBased::new(window(100), Classic::new(&CLASSIC), avoidance, None);
        cc.state.window.set_ssthresh(100 * SEGMENT);
        let round = |cc: &mut LossBased<_, _>, at_ms: u64| {
            let window = cc.window().cwnd();
            cc.on_ack(&ack(at_ms, window));
        };
        (0..15).for_each(|nth| round(&mut cc, 200 * nth));
        let before = cc.window().cwnd();
        cc.on_congestion(&loss(100), Instant::from_nanos(3_000_000_000));
        assert!(cc.window().cwnd() < before);
        assert!(cc.undo());
        assert_eq!(cc.window().cwnd(), before);
        (15..20).for_each(|nth| round(&mut cc, 200 * nth));
        cc.window().cwnd() - before
    });
    // From 3 s on the curve is steeper than at its beginning, where Reno's estimate exceeds it.
    assert!(resumed > anew + SEGMENT, "{resumed} and {anew}");
}

#[test]
fn undo_gives_back_the_threshold_but_not_the_state_of_an_avoidance_that_has_been_outgrown() {
    let mut cc = reno(10);
    cc.on_congestion(&loss(20), Instant::ZERO);
    cc.on_recovery_exit(Instant::ZERO);
    assert_eq!(segments(&cc), (5, 5));
    cc.on_congestion(&timeout(5, true), Instant::ZERO);
    for ms in 0..20 {
        cc.on_ack(&ack(ms, 2 * SEGMENT));
    }
    let grown = segments(&cc).0;
    assert!(grown > 5);
    assert_eq!(segments(&cc).1, 2);
    let counted = cc.snapshot().values;
    assert!(cc.undo());
    assert_eq!((segments(&cc), cc.snapshot().values), ((grown, 5), counted));
    assert_eq!((cc.snapshot().phase, cc.on_ack(&ack(20, 0))), (CcPhase::Reno, None));
}

#[test]
fn undo_keeps_a_larger_window_within_the_slow_start_it_resumes() {
    let mut cc = reno(40);
    cc.on_congestion(&timeout(40, true), Instant::ZERO);
    cc.on_recovery_exit(Instant::ZERO);
    cc.on_ack(&ack(0, SEGMENT));
    assert_eq!(segments(&cc), (2, 20));
    cc.on_congestion(&timeout(2, true), Instant::ZERO);
    for ms in 1..9 {
        cc.on_ack(&ack(ms, SEGMENT));
    }
    let grown = segments(&cc).0;
    assert!((3..20).contains(&grown), "{grown}");
    assert!(cc.undo());
    assert_eq!(segments(&cc), (grown, 20));
    cc.on_ack(&ack(9, SEGMENT));
    assert_eq!((segments(&cc), cc.snapshot().phase), ((grown + 1, 20), CcPhase::SlowStart));
}

#[test_case(true; "after the episode of the loss")]
#[test_case(false; "within it")]
fn a_mark_is_not_undone(episode_over: bool) {
    let mut cc = reno(100);
    cc.on_congestion(&loss(100), Instant::ZERO);
    if episode_over {
        cc.on_recovery_exit(Instant::ZERO);
    }
    cc.on_congestion(&CongestionEvent::Ecn { flight_size: 50 * SEGMENT, beta: None, least_segments: 1 }, Instant::ZERO);
    assert!(!cc.undo());
    assert_eq!(segments(&cc).0, 25);
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# What a reduction changes is saved before it.
//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# A reduction that proves spurious is taken back if the window is below what was saved.
#[test]
fn a_restored_cubic_continues_its_old_curve() {
    let mut cc = cubic(100);
    cc.on_congestion(&loss(100), Instant::ZERO);
    cc.on_recovery_exit(Instant::ZERO);
    cc.on_ack(&ack(1, SEGMENT));
    let before = (cc.window().cwnd(), cc.snapshot().values);
    cc.on_congestion(&loss(70), Instant::ZERO);
    assert_ne!(cc.snapshot().values, before.1);
    assert!(cc.undo());
    assert_eq!((cc.window().cwnd(), cc.snapshot().values), before);
}

#[test]
fn what_was_saved_is_counted_in_the_new_segment_size() {
    let mut cc = reno(4);
    cc.on_congestion(&loss(4), Instant::ZERO);
    cc.on_smss_change(9_000);
    assert!(cc.undo());
    assert_eq!((cc.window().cwnd(), cc.window().smss()), (9_000, 9_000));
}

/// Fires after `probing` ACKs, competes for `contending` more, then exits.
#[derive(Clone, Debug)]
struct Scripted {
    probing: u32,
    contending: u32,
}

impl SlowStart for Scripted {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        if self.probing > 0 {
            self.probing -= 1;
            return Step::Grow(ack.acked);
        }
        if self.contending > 0 {
            self.contending -= 1;
            return Step::Contend(ack.acked / 4);
        }
        Step::Exit { window: window.cwnd(), cause: ExitCause::DelayIncrease }
    }

    fn pacing(&self, _window: &Window) -> Option<Pacing> {
        Some(Pacing::Departure(Instant::from_nanos(7)))
    }
}

/// Counts its starts and grows by a fixed step.
#[derive(Clone, Debug)]
struct Counting {
    entered: u64,
    step: Bytes,
}

impl Avoidance for Counting {
    const PHASE: CcPhase = CcPhase::Reno;

    fn on_enter(&mut self, _window: &Window, _now: Instant) {
        self.entered += 1;
    }
    fn on_ack(&mut self, _ack: &AckSample, _window: &Window) -> Bytes {
        self.step
    }
    fn on_congestion(&mut self, window: &Window, _event: &CongestionEvent, _now: Instant) -> Bytes {
        window.cwnd() / 2
    }
    fn values(&self) -> [(&'static str, u64); 2] {
        [("entered", self.entered), ("", 0)]
    }
}

fn scripted(probing: u32, contending: u32, step: Bytes) -> LossBased<Scripted, Counting> {
    LossBased::new(window(10), Scripted { probing, contending }, Counting { entered: 0, step }, None)
}

fn entered(cc: &impl CongestionControl) -> u64 {
    cc.snapshot().values[0].1
}

#[test_case(100, &[1_000, 250, 250]; "the policy's growth is the larger")]
#[test_case(400, &[1_000, 250, 400]; "the growth of avoidance is the larger, once it has begun")]
fn contending_takes_the_larger_growth(step: Bytes, expected: &[Bytes]) {
    let mut cc = scripted(1, 2, step);
    let mut grown = Vec::new();
    for ms in 0..3 {
        let before = cc.window().cwnd();
        cc.on_ack(&ack(ms, SEGMENT));
        grown.push(cc.window().cwnd() - before);
    }
    assert_eq!(grown, expected);
    assert_eq!(cc.snapshot().phase, CcPhase::SlowStart);
}

#[test_case(0; "on exit")]
#[test_case(3; "on the first contention")]
fn avoidance_begins_once(contending: u32) {
    let mut cc = scripted(1, contending, 10);
    cc.on_ack(&ack(0, SEGMENT));
    assert_eq!(entered(&cc), 0);
    cc.on_ack(&ack(1, SEGMENT));
    assert_eq!(entered(&cc), 1);
    for ms in 2..6 {
        cc.on_ack(&ack(ms, SEGMENT));
    }
    assert_eq!((entered(&cc), cc.snapshot().phase), (1, CcPhase::Reno));
}

#[test]
fn the_exit_window_becomes_the_threshold() {
    let mut cc = scripted(0, 0, 10);
    assert_eq!(cc.on_ack(&ack(0, SEGMENT)), Some(CcNote::SlowStartExited(ExitCause::DelayIncrease)));
    assert_eq!(segments(&cc), (10, 10));
}

#[test]
fn an_exit_below_the_floor_of_the_threshold_opens_nothing() {
    let mut cc =
        LossBased::new(window(1), Scripted { probing: 0, contending: 0 }, Counting { entered: 0, step: 10 }, None);
    assert_eq!(cc.on_ack(&ack(0, SEGMENT)), None);
    assert_eq!((segments(&cc), entered(&cc)), ((1, 2), 0));
}

#[test]
fn contention_goes_on_above_the_threshold_until_a_signal() {
    let mut cc = scripted(0, 5, 10);
    let notes: Vec<_> = (0..4).map(|ms| cc.on_ack(&ack(ms, SEGMENT))).collect();
    assert_eq!(notes, [Some(CcNote::ReturnedToSlowStart), None, None, None]);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (11_000, 10_250));
    assert_eq!((entered(&cc), cc.snapshot().phase), (1, CcPhase::SlowStart));
    cc.on_congestion(&loss(11), Instant::ZERO);
    assert_eq!(cc.on_ack(&ack(4, SEGMENT)), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    assert_eq!((entered(&cc), cc.snapshot().phase), (2, CcPhase::Reno));
}

#[test]
fn avoidance_begins_anew_after_every_signal_with_the_first_ack_that_may_grow() {
    let mut cc = scripted(0, 0, 10);
    cc.on_ack(&ack(0, SEGMENT));
    cc.on_congestion(&loss(10), Instant::ZERO);
    cc.on_ack(&AckSample { episode: EpisodeKind::Recovery, ..ack(1, SEGMENT) });
    assert_eq!(entered(&cc), 1);
    cc.on_recovery_exit(Instant::ZERO);
    cc.on_ack(&ack(2, SEGMENT));
    assert_eq!(entered(&cc), 2);
}

#[test]
fn a_policy_that_decides_departures_is_asked_before_the_window_paces() {
    let pacing = Some(WindowPacing::new(200, 100, 10));
    let (slow_start, avoidance) = (Scripted { probing: 1, contending: 0 }, Counting { entered: 0, step: 0 });
    let mut cc = LossBased::new(window(10), slow_start, avoidance, pacing);
    assert_eq!(cc.pacing(), Some(Pacing::Departure(Instant::from_nanos(7))));
    let timed = AckSample { srtt: Some(Duration::from_millis(80)), ..ack(1, 0) };
    cc.on_ack(&timed);
    cc.on_ack(&timed);
    let rate = Rate::from_bits_per_sec(1_000_000).expect("not zero");
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: 10 * SEGMENT }));
}

#[test]
fn the_pace_follows_a_reduction_and_its_undo_at_once() {
    let pacing = Some(WindowPacing::new(100, 100, 1));
    let mut cc = LossBased::new(window(10), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), pacing);
    cc.on_ack(&AckSample { srtt: Some(Duration::from_millis(80)), ..ack(1, 0) });
    let paced = |bps| Rate::from_bits_per_sec(bps).map(|rate| Pacing::Rate { rate, quantum: SEGMENT });
    assert_eq!(cc.pacing(), paced(1_000_000));
    cc.on_congestion(&loss(10), Instant::ZERO);
    assert_eq!(cc.pacing(), paced(500_000));
    cc.undo();
    assert_eq!(cc.pacing(), paced(1_000_000));
}

#[test]
fn a_round_trip_counts_for_no_more_than_four_of_the_shortest() {
    let pacing = Some(WindowPacing::new(100, 100, 1));
    let mut cc = LossBased::new(window(10), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), pacing);
    let ms = Duration::from_millis;
    // Ten segments of a thousand bytes: a megabit each 80 ms.
    for (srtt, least, bps) in
        [(80, None, 1_000_000), (80, Some(20), 1_000_000), (81, Some(20), 1_000_000), (800, Some(20), 1_000_000)]
    {
        cc.on_ack(&AckSample { srtt: Some(ms(srtt)), min_rtt: least.map(ms), ..ack(1, 0) });
        let rate = Rate::from_bits_per_sec(bps).expect("not zero");
        assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: SEGMENT }), "{srtt} ms of {least:?}");
    }
    cc.on_ack(&AckSample { srtt: Some(ms(800)), min_rtt: None, ..ack(1, 0) });
    let slow = Rate::from_bits_per_sec(100_000).expect("not zero");
    assert_eq!(
        cc.pacing(),
        Some(Pacing::Rate { rate: slow, quantum: SEGMENT }),
        "with no shortest one, the mean is believed"
    );
}

#[test]
fn an_unused_window_shrinks_and_is_remembered_as_the_threshold() {
    let pacing = Some(WindowPacing::new(100, 100, 1));
    let mut cc = LossBased::new(window(40), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), pacing);
    cc.on_ack(&AckSample { srtt: Some(Duration::from_millis(80)), ..ack(1, 0) });
    cc.on_congestion(&loss(40), Instant::ZERO);
    assert_eq!(segments(&cc), (20, 20));
    cc.on_unused(4 * SEGMENT);
    // Three quarters of twenty are below the known threshold.
    assert_eq!(segments(&cc), (4, 20));
    let rate = Rate::from_bits_per_sec(400_000).expect("not zero");
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: SEGMENT }), "the pace follows");
    let mut grown = LossBased::new(window(40), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), None);
    grown.on_congestion(&loss(8), Instant::ZERO);
    while segments(&grown).0 < 16 {
        grown.on_ack(&ack(2, SEGMENT));
    }
    grown.on_unused(3 * SEGMENT);
    assert_eq!(segments(&grown), (3, 12), "three quarters of sixteen");
}

#[test]
fn a_search_costs_little_more_than_none() {
    let classic = size_of::<LossBased<Classic, Cubic>>();
    assert!(size_of::<LossBased<HystartPp<Css>, Cubic>>() <= classic + 40);
    assert!(size_of::<LossBased<HystartPp<Lss>, Cubic>>() <= classic + 40);
    assert!(size_of::<LossBased<Hystart, Cubic>>() <= classic + 48);
}

#[test]
fn the_whole_state_is_small_and_a_copy_lives_its_own_life() {
    let mut cc = cubic(10);
    assert!(cc.state_size() <= 512, "{} bytes", cc.state_size());
    let before = cc.state_size();
    cc.on_congestion(&loss(10), Instant::ZERO);
    assert!(cc.state_size() > before, "what an undo needs counts");
    let copy = cc.clone_box();
    cc.on_ack(&ack(0, SEGMENT));
    assert_ne!(cc.window(), copy.window());
}

#[test]
fn an_undo_gives_reno_back_what_it_had_counted() {
    let mut cc = reno(10);
    cc.state.window.set_ssthresh(10 * SEGMENT);
    let counted = |cc: &LossBased<Classic, Reno>| cc.snapshot().values[0].1;
    cc.on_ack(&ack(0, 4 * SEGMENT));
    cc.on_congestion(&loss(10), Instant::ZERO);
    assert!(cc.undo());
    cc.on_ack(&ack(1, SEGMENT));
    assert_eq!(counted(&cc), u64::from(5 * SEGMENT));
}

#[test]
fn an_idle_time_does_not_count_for_the_cubic() {
    let mut busy = cubic(100);
    busy.state.window.set_ssthresh(100 * SEGMENT);
    busy.on_ack(&ack(0, SEGMENT));
    let mut idle = busy.clone();
    idle.on_idle_restart(Duration::from_secs(60));
    for ms in (100..5_000).step_by(100) {
        busy.on_ack(&ack(ms, 100 * SEGMENT));
        idle.on_ack(&ack(60_000 + ms, 100 * SEGMENT));
    }
    assert_eq!(idle.window(), busy.window());
}

#[test]
fn the_pace_and_what_an_undo_needs_count_towards_memory() {
    let paced = |pacing| LossBased::new(window(10), Classic::new(&CLASSIC), Reno::new(&RenoConfig::default()), pacing);
    let plain = size_of::<LossBased<Classic, Reno>>();
    assert_eq!(paced(None).state_size(), plain);
    let mut cc = paced(Some(WindowPacing::new(100, 100, 1)));
    assert_eq!(cc.state_size(), plain + size_of::<WindowPacing>());
    cc.on_congestion(&loss(10), Instant::ZERO);
    assert!(cc.state_size() > plain + size_of::<WindowPacing>() + size_of::<State<Classic, Reno>>());
}
