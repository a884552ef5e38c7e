//! The two detectors of classic HyStart, together and apart.

use super::*;
use crate::testing::ack;
use crate::window::InitialWindow;
use base::{Bytes, Instant};
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

/// A policy that receives flights of a hundred segments while its window stays constant.
struct Flights {
    policy: Hystart,
    window: Window,
    una: SeqNum,
    now_us: u64,
}

fn hystart(change: impl FnOnce(&mut HystartConfig)) -> Flights {
    let mut config = HystartConfig::default();
    change(&mut config);
    let policy = Hystart::new(&config, SeqNum(1), TrainTest::HalfRtt);
    Flights { policy, window: Window::new(&InitialWindow::plain(100), SEGMENT), una: SeqNum(1), now_us: 0 }
}

impl Flights {
    /// Delivers a flight with ACKs `spacing_us` apart. Returns which of them ends slow start, and why.
    fn round(&mut self, spacing_us: u64, rtt_us: u64, min_rtt_us: u64) -> Option<(u32, ExitCause)> {
        let nxt = self.una + 100 * SEGMENT;
        for nth in 1..=100 {
            self.una += SEGMENT;
            self.now_us += spacing_us;
            let sample = AckSample {
                now: Instant::from_nanos(self.now_us * 1_000),
                rtt: Some(Duration::from_micros(rtt_us)),
                min_rtt: Some(Duration::from_micros(min_rtt_us)),
                snd_una: self.una,
                snd_nxt: nxt,
                ..ack(0, SEGMENT)
            };
            match self.policy.on_ack(&sample, &self.window) {
                Step::Exit { window, cause } => {
                    assert_eq!(window, self.window.cwnd());
                    return Some((nth, cause));
                }
                step => assert_eq!(step, Step::Grow(SEGMENT)),
            }
        }
        None
    }
}

#[test_case(20_000, 24_000; "4 ms at least")]
#[test_case(50_000, 56_250; "an eighth of 50 ms")]
#[test_case(200_000, 216_000; "16 ms at most")]
fn the_eighth_sample_is_compared_with_the_whole_connection(min_us: u64, fires_us: u64) {
    let mut flow = hystart(|config| config.ack_train = Detection::Off);
    assert_eq!(flow.round(1_000, fires_us - 1, min_us), None);
    assert_eq!(flow.round(1_000, fires_us - 1, min_us), None);
    assert_eq!(flow.round(1_000, fires_us, min_us), Some((8, ExitCause::DelayIncrease)));
}

#[test]
fn a_delay_that_rises_slowly_from_round_to_round_is_found_in_the_end() {
    // HyStart++ would miss it: no round is slower than the last one by the margin.
    let mut flow = hystart(|config| config.ack_train = Detection::Off);
    let fires = (0..10).map(|round| flow.round(1_000, 50_000 + round * 2_000, 50_000));
    assert_eq!(fires.collect::<Vec<_>>()[..5], [None, None, None, None, Some((8, ExitCause::DelayIncrease))]);
}

#[test]
fn a_train_longer_than_half_a_round_trip_ends_slow_start() {
    let mut flow = hystart(|_| ());
    // The first ACK begins the train; the 52nd is 51 ms after it.
    assert_eq!(flow.round(1_000, 100_000, 100_000), Some((52, ExitCause::AckTrain)));
}

#[test]
fn a_train_may_leave_headroom_in_which_slow_start_goes_on() {
    let mut flow = hystart(|config| config.train_exit_percent = 140);
    assert_eq!(flow.round(1_000, 100_000, 100_000), None);
    flow.window = Window::new(&InitialWindow::plain(139), SEGMENT);
    assert_eq!(flow.round(1_000, 300_000, 100_000), None, "the delay is expected to rise");
    flow.window = Window::new(&InitialWindow::plain(140), SEGMENT);
    assert_eq!(flow.round(1_000, 100_000, 100_000), Some((1, ExitCause::AckTrain)));
}

#[test_case(Detection::Off, Detection::Off; "neither")]
#[test_case(Detection::Off, Detection::On; "only the train, which has gaps")]
#[test_case(Detection::On, Detection::Off; "only the delay, which does not rise")]
fn without_its_detector_slow_start_goes_on(delay_increase: Detection, ack_train: Detection) {
    let mut flow = hystart(|config| (config.delay_increase, config.ack_train) = (delay_increase, ack_train));
    let (spacing_us, rtt_us) = if delay_increase == Detection::On { (1_000, 100_000) } else { (2_001, 300_000) };
    assert!((0..5).all(|_| flow.round(spacing_us, rtt_us, 100_000).is_none()));
}

#[test_case(15, None)]
#[test_case(16, Some((8, ExitCause::DelayIncrease)))]
fn the_detectors_count_from_the_low_window_on(segments: u32, expected: Option<(u32, ExitCause)>) {
    let mut flow = hystart(|_| ());
    flow.window = Window::new(&InitialWindow::plain(segments), SEGMENT);
    assert_eq!(flow.round(1_000, 150_000, 100_000), expected);
}

#[test]
fn what_has_fired_or_met_congestion_searches_no_more() {
    let mut flow = hystart(|_| ());
    flow.round(1_000, 100_000, 100_000);
    assert_eq!(flow.round(1_000, 300_000, 100_000), None);
    let mut flow = hystart(|_| ());
    flow.policy.on_congestion();
    assert_eq!(flow.round(1_000, 300_000, 100_000), None);
    let stretch = AckSample { snd_una: flow.una + 8 * SEGMENT, snd_nxt: flow.una, ..ack(0, 8 * SEGMENT) };
    assert_eq!(flow.policy.on_ack(&stretch, &flow.window), Step::Grow(SEGMENT), "L is 1");
}

#[test]
fn after_an_undone_episode_eight_new_samples_are_needed() {
    // The flight in progress began before the episode, and seven of its samples were taken then.
    let slow = AckSample {
        rtt: Some(Duration::from_millis(150)),
        min_rtt: Some(Duration::from_millis(100)),
        snd_una: SeqNum(1 + SEGMENT),
        snd_nxt: SeqNum(1 + 100 * SEGMENT),
        ..ack(0, SEGMENT)
    };
    let mut flow = hystart(|config| config.ack_train = Detection::Off);
    let step = |flow: &mut Flights| flow.policy.on_ack(&slow, &flow.window);
    assert!((0..7).all(|_| step(&mut flow) == Step::Grow(SEGMENT)));
    flow.policy.on_undo();
    assert!((0..7).all(|_| step(&mut flow) == Step::Grow(SEGMENT)));
    assert!(matches!(step(&mut flow), Step::Exit { cause: ExitCause::DelayIncrease, .. }));
}

/// The first ACK after the episode ends the round that it interrupted.
#[test_case(1, [Some(8), None]; "the next is judged")]
#[test_case(2, [None, Some(8)]; "the one after it is judged")]
#[test_case(3, [None, None]; "none of two is judged")]
fn after_an_undone_episode_some_rounds_are_not_judged(unjudged_rounds: u8, fires: [Option<u32>; 2]) {
    let mut flow = hystart(|config| {
        (config.ack_train, config.unjudged_rounds) = (Detection::Off, unjudged_rounds);
    });
    flow.round(1_000, 100_000, 100_000);
    flow.policy.on_undo();
    let fired = [(); 2].map(|()| flow.round(1_000, 150_000, 100_000).map(|(nth, _)| nth));
    assert_eq!(fired, fires);
    assert_eq!(flow.policy.phase == Phase::Done, fires != [None, None]);
}

#[test]
fn an_ack_without_any_known_round_trip_only_opens_the_window() {
    let mut flow = hystart(|_| ());
    let blind = AckSample { snd_una: SeqNum(5_000), snd_nxt: SeqNum(9_000), ..ack(0, 4 * SEGMENT) };
    assert_eq!(flow.policy.on_ack(&blind, &flow.window), Step::Grow(4 * SEGMENT));
}

#[test]
fn an_ack_of_nothing_new_is_not_part_of_a_train() {
    let mut flow = hystart(|config| config.delay_increase = Detection::Off);
    assert_eq!(flow.round(2_001, 100_000, 100_000), None, "with gaps");
    let duplicate = |flow: &mut Flights| {
        flow.now_us += 1_000;
        let sample = AckSample {
            now: Instant::from_nanos(flow.now_us * 1_000),
            min_rtt: Some(Duration::from_micros(100_000)),
            snd_una: flow.una,
            snd_nxt: flow.una + SEGMENT,
            ..ack(0, 0)
        };
        matches!(flow.policy.on_ack(&sample, &flow.window), Step::Exit { .. })
    };
    // The next round begins with an ACK of data.
    flow.una += SEGMENT;
    assert!(!(0..100).any(|_| duplicate(&mut flow)));
}
