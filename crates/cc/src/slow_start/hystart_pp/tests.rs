//! The detector, the two tails, and the numbers published for them.

use super::*;
use crate::avoidance::{Cubic, CubicConfig};
use crate::control::{CcNote, CcPhase, CongestionControl};
use crate::loss_based::LossBased;
use crate::sample::CongestionEvent;
use crate::slow_start::ExitCause;
use crate::slow_start::tail::{Css, Lss};
use crate::testing::{ack, app_limited};
use crate::window::InitialWindow;
use base::{Duration, Instant};
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

/// A policy that receives flights of whole segments while its window stays constant.
struct Flights<S> {
    policy: S,
    window: Window,
    una: SeqNum,
    nxt: SeqNum,
}

fn css(change: impl FnOnce(&mut HystartPpConfig<CssConfig>)) -> Flights<HystartPp<Css>> {
    let mut config = HystartPpConfig::<CssConfig>::default();
    change(&mut config);
    Flights::new(HystartPp::new(&config, SeqNum(1)))
}

fn lss(change: impl FnOnce(&mut HystartPpConfig<LssConfig>)) -> Flights<HystartPp<Lss>> {
    let mut config = HystartPpConfig::<LssConfig>::default();
    change(&mut config);
    Flights::new(HystartPp::new(&config, SeqNum(1)))
}

impl<S: SlowStart> Flights<S> {
    fn new(policy: S) -> Self {
        let window = Window::new(&InitialWindow::plain(100), SEGMENT);
        Self { policy, window, una: SeqNum(1), nxt: SeqNum(1) }
    }

    /// A flight leaves.
    fn send(&mut self, segments: u32) {
        self.nxt = self.una + segments * SEGMENT;
    }

    /// One ACK, of `segments`.
    fn ack(&mut self, segments: u32, rtt_us: Option<u64>) -> Step {
        self.una += segments * SEGMENT;
        let rtt = rtt_us.map(Duration::from_micros);
        let sample = AckSample { snd_una: self.una, snd_nxt: self.nxt, rtt, ..ack(0, segments * SEGMENT) };
        self.policy.on_ack(&sample, &self.window)
    }

    /// Sends a flight and acknowledges each of its segments; returns the last step.
    fn round(&mut self, segments: u32, rtt_us: u64) -> Step {
        self.send(segments);
        (0..segments).map(|_| self.ack(1, Some(rtt_us))).last().expect("a flight of segments")
    }
}

const GROW: Step = Step::Grow(SEGMENT);
/// The step of the ACK that makes the detector fire before conservative slow start.
const ENTER_CSS: Step = Step::Turn(SEGMENT);
const IN_CSS: Step = Step::Grow(SEGMENT / 4);

//= specs/rfc9406.md#delay-increase
//= type=test
//# The delay is judged only with eight samples in the round and a minimum of the round before.
//= specs/rfc9406.md#delay-increase
//= type=test
//# The threshold is an eighth of the last round's minimum, but at least 4 ms and at most 16 ms.
//= specs/rfc9406.md#delay-increase
//= type=test
//# CSS begins when the round's minimum is the last round's plus the threshold, or more.
#[test_case(50_000, 56_250; "an eighth of 50 ms")]
#[test_case(20_000, 24_000; "4 ms at least")]
#[test_case(200_000, 216_000; "16 ms at most")]
fn the_eighth_sample_fires_exactly_at_the_margin(last_us: u64, fires_us: u64) {
    for (rtt_us, expected) in [(fires_us, ENTER_CSS), (fires_us - 1, GROW)] {
        let mut flow = css(|_| ());
        flow.round(10, last_us);
        flow.send(10);
        assert!((0..7).all(|_| flow.ack(1, Some(rtt_us)) == GROW));
        assert_eq!(flow.ack(1, Some(rtt_us)), expected);
    }
}

//= specs/rfc9406.md#delay-increase
//= type=test
//# The delay is judged only with eight samples in the round and a minimum of the round before.
#[test]
fn the_first_round_has_nothing_to_be_compared_with() {
    let mut flow = css(|_| ());
    flow.send(100);
    assert!((0..100).all(|n| flow.ack(1, Some(50_000 + n * 1_000)) == GROW));
}

#[test]
fn one_low_sample_keeps_a_round_from_firing() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    flow.send(20);
    flow.ack(1, Some(50_000));
    assert!((0..19).all(|_| flow.ack(1, Some(90_000)) == GROW));
}

//= specs/rfc9406.md#delay-increase
//= type=test
//# The delay is judged only with eight samples in the round and a minimum of the round before.
#[test]
fn acks_without_a_sample_do_not_count() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    flow.send(100);
    for _ in 0..7 {
        assert_eq!((flow.ack(1, Some(90_000)), flow.ack(1, None)), (GROW, GROW));
    }
    assert_eq!(flow.ack(1, Some(90_000)), ENTER_CSS);
}

#[test_case(1, true; "every segment acknowledged")]
#[test_case(2, false; "every second: five samples a round")]
fn ten_segments_a_round_are_enough_unless_acks_are_delayed(per_ack: u32, fires: bool) {
    let mut flow = css(|_| ());
    for rtt_us in [50_000, 60_000, 70_000, 80_000] {
        flow.send(10);
        for _ in 0..10 / per_ack {
            flow.ack(per_ack, Some(rtt_us));
        }
    }
    assert_eq!(flow.policy.phase() == CcPhase::Css, fires);
}

//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# After five rounds of CSS, the one it began in included, congestion avoidance begins.
#[test]
fn css_lasts_five_rounds_of_which_the_one_it_began_in_is_the_first() {
    let mut flow = css(|_| ());
    flow.round(100, 50_000);
    flow.send(100);
    let steps: Vec<Step> = (0..100).map(|_| flow.ack(1, Some(60_000))).collect();
    assert_eq!(steps[6..9], [GROW, ENTER_CSS, IN_CSS]);
    for _ in 2..=5 {
        assert_eq!(flow.round(100, 60_000), IN_CSS);
    }
    flow.send(100);
    assert_eq!(flow.ack(1, Some(60_000)), Step::Exit { window: 100 * SEGMENT, cause: ExitCause::CssRounds });
    assert_eq!(flow.ack(1, Some(60_000)), GROW, "nothing is searched any more");
    assert_eq!(flow.policy.phase(), CcPhase::SlowStart);
}

//= specs/rfc9406.md#delay-increase
//= type=test
//# The minimum with which CSS began is its baseline.
//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# A round of CSS with eight samples and a minimum below the baseline resumes slow start.
//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# Resumed slow start may enter CSS again.
#[test]
fn css_in_the_third_round_finds_the_path_as_fast_as_before_and_a_later_one_has_five_rounds_again() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    for _ in 1..=2 {
        assert_eq!(flow.round(10, 60_000), IN_CSS);
    }
    flow.send(10);
    assert!((0..7).all(|_| flow.ack(1, Some(59_999)) == IN_CSS), "too few samples to judge");
    assert_eq!((flow.policy.phase(), flow.ack(1, Some(59_999))), (CcPhase::Css, Step::Turn(SEGMENT / 4)));
    assert_eq!((flow.policy.phase(), flow.ack(1, Some(59_999))), (CcPhase::SlowStart, GROW));
    for _ in 1..=5 {
        assert_eq!(flow.round(10, 90_000), IN_CSS);
    }
    flow.send(10);
    assert!(matches!(flow.ack(1, Some(90_000)), Step::Exit { .. }));
}

//= specs/rfc9406.md#delay-increase
//= type=test
//# The minimum with which CSS began is its baseline.
#[test]
fn css_stays_while_the_round_trip_is_just_what_it_was_at_its_beginning() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    assert!((0..3).all(|_| flow.round(10, 60_000) == IN_CSS));
}

//= specs/rfc9406.md#growth
//= type=test
//# In slow start an ACK opens the window by the bytes it acknowledges, but by no more than L segments.
//= specs/rfc9406.md#growth
//= type=test
//# A sender that paces sets no limit L.
//= specs/rfc9406.md#growth
//= type=test
//# A sender that does not pace uses an L of 8.
//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# In CSS an ACK opens the window by a quarter of what it would in slow start.
#[test_case(Some(8), 8, 2; "unpaced: eight segments")]
#[test_case(None, 40, 10; "paced: all of them")]
fn a_stretch_ack_of_forty_segments_opens(limit_segments: Option<u32>, probing: u32, conservative: u32) {
    let mut flow = css(|config| config.limit_segments = limit_segments);
    flow.send(40);
    assert_eq!(flow.ack(40, Some(50_000)), Step::Grow(probing * SEGMENT));
    flow.round(10, 60_000);
    assert_eq!(flow.policy.phase(), CcPhase::Css);
    assert_eq!(flow.ack(40, Some(60_000)), Step::Grow(conservative * SEGMENT));
}

#[test_case(15, GROW; "too small a window")]
#[test_case(16, Step::Contend(SEGMENT); "just large enough")]
fn lss_needs_sixteen_segments(segments: u32, expected: Step) {
    let mut flow = lss(|_| ());
    flow.window = Window::new(&InitialWindow::plain(segments), SEGMENT);
    flow.round(10, 50_000);
    flow.send(10);
    let steps: Vec<Step> = (0..8).map(|_| flow.ack(1, Some(60_000))).collect();
    assert_eq!((steps[6], steps[7]), (GROW, expected));
}

#[test]
fn lss_has_no_end_of_its_own_and_never_goes_back() {
    let mut flow = lss(|_| ());
    flow.window.set_ssthresh(100 * SEGMENT);
    flow.round(10, 50_000);
    flow.round(10, 60_000);
    assert!((0..20).all(|_| flow.round(10, 50_000) == Step::Contend(SEGMENT / 4)));
    assert_eq!(flow.policy.phase(), CcPhase::Lss);
}

#[test_case(40, 10; "K is 4 at first")]
#[test_case(400, 25; "no ACK speaks for more than a window")]
fn in_lss_a_stretch_ack_is_not_held_to_l(segments: u32, grown: u32) {
    let mut flow = lss(|_| ());
    flow.window.set_ssthresh(100 * SEGMENT);
    flow.round(10, 50_000);
    flow.round(10, 60_000);
    assert_eq!(flow.ack(segments, Some(60_000)), Step::Contend(grown * SEGMENT));
}

//= specs/rfc9406.md#congestion
//= type=test
//# Loss or a congestion mark in slow start or in CSS ends both.
//= specs/rfc9406.md#scope
//= type=test
//# Only the initial slow start uses HyStart++; later ones are standard.
#[test]
fn after_congestion_one_ack_opens_one_segment_and_nothing_is_searched() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    flow.policy.on_congestion();
    for rtt_us in [50_000, 60_000, 70_000] {
        assert_eq!(flow.round(10, rtt_us), GROW);
    }
    assert_eq!(flow.ack(8, Some(90_000)), GROW);
}

#[test]
fn after_an_undone_episode_the_first_round_is_compared_with_nothing_and_the_next_one_is() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    flow.send(20);
    flow.ack(10, Some(50_000));
    flow.una += 500 * SEGMENT;
    flow.policy.on_undo();
    assert_eq!(flow.round(20, 70_000), GROW);
    assert_eq!(flow.round(20, 80_000), IN_CSS);
}

#[test]
fn undone_in_css_the_rest_of_its_rounds_follows() {
    let mut flow = css(|_| ());
    flow.round(10, 50_000);
    flow.round(10, 60_000);
    flow.una += 500 * SEGMENT;
    flow.policy.on_undo();
    for _ in 2..=5 {
        assert_eq!(flow.round(10, 60_000), IN_CSS);
    }
    flow.send(10);
    assert!(matches!(flow.ack(1, Some(60_000)), Step::Exit { .. }));
}

/// The whole controller, with 100 segments and the detector about to fire.
struct Growing<T: Tail> {
    cc: LossBased<HystartPp<T>, Cubic>,
    una: SeqNum,
    nxt: SeqNum,
}

impl<T: Tail> Growing<T> {
    /// The ACK that makes the detector fire covers one byte of a flight that the application limited, so that the window is still
    /// 100 segments after it.
    fn new(tail: T::Config) -> Self {
        let delay = DelayIncreaseConfig { rtt_samples: 1, ..DelayIncreaseConfig::default() };
        let config = HystartPpConfig { limit_segments: Some(8), delay, tail };
        let window = Window::new(&InitialWindow::plain(100), SEGMENT);
        let cubic = Cubic::new(&CubicConfig::default());
        let cc = LossBased::new(window, HystartPp::new(&config, SeqNum(1)), cubic, None);
        let mut growing = Self { cc, una: SeqNum(1), nxt: SeqNum(1) };
        let entered = Some(CcNote::PhaseChanged(T::PHASE));
        for (una, nxt, rtt_ms, note) in [(2, 2, 50, None), (3, 3 + 100 * SEGMENT, 60, entered)] {
            (growing.una, growing.nxt) = (SeqNum(una), SeqNum(nxt));
            assert_eq!(
                growing.on_ack(&AckSample { rtt: Some(Duration::from_millis(rtt_ms)), ..app_limited(0, 1) }),
                note
            );
        }
        growing
    }

    fn on_ack(&mut self, sample: &AckSample) -> Option<CcNote> {
        self.cc.on_ack(&AckSample { snd_una: self.una, snd_nxt: self.nxt, ..*sample })
    }

    fn ack(&mut self, sample: &AckSample) -> Option<CcNote> {
        self.nxt = self.nxt.max(self.una + self.cc.window().cwnd());
        self.una += sample.acked;
        self.on_ack(sample)
    }

    /// Acknowledges a window segment by segment, in 60 ms; returns `cwnd` in tenths of a segment.
    fn round(&mut self) -> Bytes {
        let mut left = self.cc.window().cwnd();
        while left > 0 {
            let acked = left.min(SEGMENT);
            left -= acked;
            self.ack(&AckSample { rtt: Some(Duration::from_millis(60)), ..ack(0, acked) });
        }
        (self.cc.window().cwnd() + 50) / 100
    }
}

//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# In CSS an ACK opens the window by a quarter of what it would in slow start.
//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# After five rounds of CSS, the one it began in included, congestion avoidance begins.
//= specs/rfc9438.md#slow-start
//= type=test
//# The slow start is HyStart++.
#[test]
fn css_opens_the_window_by_a_quarter_a_round() {
    let mut growing = Growing::<Css>::new(CssConfig::default());
    let rounds: Vec<Bytes> = (0..5).map(|_| growing.round()).collect();
    assert_eq!(rounds, [1_250, 1_563, 1_953, 2_441, 3_052]);
    let note = growing.ack(&ack(0, SEGMENT));
    assert_eq!(note, Some(CcNote::SlowStartExited(ExitCause::CssRounds)));
}

#[test]
fn lss_opens_the_window_by_almost_a_quarter_of_the_threshold_a_round() {
    let mut growing = Growing::<Lss>::new(LssConfig::default());
    assert_eq!(growing.cc.window().ssthresh(), 100 * SEGMENT);
    let rounds: Vec<Bytes> = (0..5).map(|_| growing.round()).collect();
    let expected: [Bytes; 5] = [1_225, 1_453, 1_684, 1_918, 2_152];
    assert!(rounds.iter().zip(expected).all(|(got, expected)| got.abs_diff(expected) <= 1), "{rounds:?}");
    assert_eq!((growing.cc.snapshot().phase, growing.cc.window().ssthresh()), (CcPhase::Lss, 100 * SEGMENT));
}

//= specs/rfc9406.md#conservative-slow-start
//= type=test
//# Congestion avoidance that follows CSS begins with an `ssthresh` of the present window.
//= specs/rfc9438.md#slow-start
//= type=test
//# The slow start is HyStart++.
#[test]
fn a_faster_round_gives_slow_start_back_and_says_so() {
    let mut growing = Growing::<Css>::new(CssConfig::default());
    growing.round();
    let faster = AckSample { rtt: Some(Duration::from_millis(59)), ..ack(0, 4 * SEGMENT) };
    let before = growing.cc.window().cwnd();
    assert_eq!(growing.ack(&faster), Some(CcNote::ReturnedToSlowStart));
    assert_eq!(growing.cc.window().cwnd(), before + SEGMENT, "this ACK still counts a quarter");
    assert_eq!((growing.cc.snapshot().phase, growing.cc.window().ssthresh()), (CcPhase::SlowStart, Window::UNKNOWN));
}

#[test]
fn when_css_is_over_the_cubic_begins_at_its_plateau() {
    let mut growing = Growing::<Css>::new(CssConfig { growth_divisor: 4, rounds: 1 });
    growing.round();
    let before = growing.cc.window().cwnd();
    let note = growing.ack(&AckSample { rtt: Some(Duration::from_millis(60)), ..ack(70, SEGMENT) });
    assert_eq!(note, Some(CcNote::SlowStartExited(ExitCause::CssRounds)));
    let snapshot = growing.cc.snapshot();
    assert_eq!((snapshot.phase, snapshot.cwnd, snapshot.ssthresh), (CcPhase::Cubic, before, before));
    assert_eq!(snapshot.values[..2], [("w_max", u64::from(before)), ("k_ms", 0)]);
}

//= specs/rfc9406.md#congestion
//= type=test
//# Loss or a congestion mark in slow start or in CSS ends both.
#[test_case(CongestionEvent::Loss { flight_size: 100 * SEGMENT }; "a loss")]
#[test_case(CongestionEvent::Ecn { flight_size: 100 * SEGMENT, beta: None, least_segments: 1 }; "a mark")]
fn a_congestion_signal_ends_css(signal: CongestionEvent) {
    let mut growing = Growing::<Css>::new(CssConfig::default());
    assert_eq!(growing.cc.snapshot().phase, CcPhase::Css);
    growing.cc.on_congestion(&signal, Instant::ZERO);
    assert_eq!(growing.ack(&ack(1, 0)), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    growing.cc.on_recovery_exit(Instant::ZERO);
    growing.ack(&ack(1, SEGMENT));
    let snapshot = growing.cc.snapshot();
    assert_eq!((snapshot.phase, snapshot.ssthresh), (CcPhase::Cubic, 70 * SEGMENT));
}

#[test]
fn beside_lss_the_cubic_begins_at_its_plateau_with_the_threshold() {
    let mut growing = Growing::<Lss>::new(LssConfig::default());
    growing.round();
    assert_eq!(growing.cc.snapshot().values[..2], [("w_max", 100_000), ("k_ms", 0)]);
}

#[test]
fn lss_lasts_until_the_next_congestion_signal() {
    let mut growing = Growing::<Lss>::new(LssConfig::default());
    growing.round();
    let cwnd = growing.cc.window().cwnd();
    growing.cc.on_congestion(&CongestionEvent::Loss { flight_size: cwnd }, Instant::ZERO);
    assert_eq!(growing.cc.snapshot().phase, CcPhase::Cubic);
    assert_eq!(growing.cc.window().cwnd(), cwnd * 7 / 10);
    assert_eq!(growing.ack(&ack(1, 0)), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    growing.cc.on_recovery_exit(Instant::ZERO);
    growing.ack(&ack(1, SEGMENT));
    assert_eq!(growing.cc.snapshot().phase, CcPhase::Cubic);
}

#[test]
fn an_undone_loss_gives_slow_start_back_without_what_it_had_measured() {
    let mut growing = Growing::<Css>::new(CssConfig::default());
    growing.round();
    growing.ack(&AckSample { rtt: Some(Duration::from_millis(50)), ..ack(0, SEGMENT) });
    assert_eq!(growing.cc.snapshot().phase, CcPhase::SlowStart);
    growing.cc.on_congestion(&CongestionEvent::Loss { flight_size: growing.cc.window().cwnd() }, Instant::ZERO);
    growing.una = growing.nxt;
    assert!(growing.cc.undo());
    let slower = AckSample { rtt: Some(Duration::from_millis(60)), ..ack(0, SEGMENT) };
    assert_eq!(growing.ack(&slower), None, "50 ms was before the episode");
    assert_eq!(growing.cc.snapshot().phase, CcPhase::SlowStart);
}

#[test]
fn an_undone_loss_gives_lss_back() {
    let mut growing = Growing::<Lss>::new(LssConfig::default());
    growing.round();
    let window = growing.cc.window().clone();
    growing.cc.on_congestion(&CongestionEvent::Loss { flight_size: window.cwnd() }, Instant::ZERO);
    growing.ack(&ack(1, 0));
    assert!(growing.cc.undo());
    assert_eq!((growing.cc.snapshot().phase, growing.cc.window()), (CcPhase::Lss, &window));
    assert_eq!(growing.ack(&ack(1, 0)), Some(CcNote::PhaseChanged(CcPhase::Lss)));
    assert_eq!(growing.round(), 1_453);
}
