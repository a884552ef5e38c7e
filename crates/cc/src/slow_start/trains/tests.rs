//! Trains over a line with a queue: segments leave as the window and the pace allow, and each is acknowledged.

use super::*;
use crate::avoidance::{Cubic, CubicConfig};
use crate::control::{CcNote, CongestionControl};
use crate::loss_based::LossBased;
use crate::pacing::WindowPacing;
use crate::sample::{CongestionEvent, EpisodeKind, SentSample};
use crate::testing::ack;
use crate::window::InitialWindow;
use base::Instant;
use std::collections::VecDeque;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;
const RTT: Duration = Duration::from_millis(100);

type Controller = LossBased<Trains, Cubic>;

fn controller(config: &TrainsConfig) -> Controller {
    let window = Window::new(&InitialWindow::plain(10), SEGMENT);
    let pacing = WindowPacing::new(600, 125, 2);
    LossBased::new(window, Trains::new(config, SeqNum(1)), Cubic::new(&CubicConfig::default()), Some(pacing))
}

/// A line that carries `bdp` segments in a round trip and holds `buffer` more. A segment is known to be lost when the next one that
/// arrives is acknowledged.
struct Line {
    service: Duration,
    buffer: usize,
    now: Instant,
    /// When the bottleneck is free.
    free: Instant,
    /// What is under way: when it left, when its acknowledgement arrives, and how many were lost before it.
    flying: VecDeque<(Instant, Instant, u32)>,
    next_departure: Instant,
    una: u32,
    nxt: u32,
    delivered: u64,
    min_rtt: Duration,
    lost: u32,
    dropped: u32,
    longest_queue: usize,
    notes: Vec<CcNote>,
}

impl Line {
    fn new(bdp: u64, buffer: usize) -> Self {
        Self {
            service: RTT / u32::try_from(bdp).expect("small"),
            buffer,
            now: Instant::ZERO,
            free: Instant::ZERO,
            flying: VecDeque::new(),
            next_departure: Instant::ZERO,
            una: 1,
            nxt: 1,
            delivered: 0,
            min_rtt: Duration::MAX,
            lost: 0,
            dropped: 0,
            longest_queue: 0,
            notes: Vec::new(),
        }
    }

    /// Runs until `until`, or until a loss is found out: then returns true. `extra` is added to the way of a segment that leaves at
    /// this time.
    fn run(&mut self, cc: &mut Controller, until: Duration, extra: impl Fn(Instant) -> Duration) -> bool {
        let end = Instant::ZERO + until;
        loop {
            let ack = self.flying.front().map(|(_, at, _)| *at);
            let departure =
                (self.nxt - self.una + SEGMENT <= cc.window().cwnd()).then(|| self.next_departure.max(self.now));
            let next = departure.into_iter().chain(ack).min().expect("a window of a segment can always be filled");
            if next > end {
                return false;
            }
            self.now = next;
            if departure == Some(next) {
                self.send(cc, extra(next));
            } else if self.acknowledge(cc) {
                return true;
            }
        }
    }

    fn send(&mut self, cc: &mut Controller, extra: Duration) {
        let gap = match cc.pacing() {
            Some(Pacing::Rate { rate, .. }) => rate.time_for(SEGMENT.into()),
            _ => Duration::ZERO,
        };
        self.next_departure = self.now + gap;
        self.nxt += SEGMENT;
        cc.on_sent(&SentSample { now: self.now, bytes: SEGMENT, pipe: self.nxt - self.una, snd_nxt: SeqNum(self.nxt) });
        let waiting = (self.free.since(self.now).as_nanos() / self.service.as_nanos()) as usize;
        if waiting > self.buffer {
            self.lost += 1;
            self.dropped += 1;
            return;
        }
        self.longest_queue = self.longest_queue.max(waiting);
        self.free = self.free.max(self.now) + self.service;
        let arrival =
            (self.free + RTT - self.service + extra).max(self.flying.back().map_or(Instant::ZERO, |last| last.1));
        self.flying.push_back((self.now, arrival, core::mem::take(&mut self.lost)));
    }

    fn acknowledge(&mut self, cc: &mut Controller) -> bool {
        let (left, at, lost) = self.flying.pop_front().expect("under way");
        if lost > 0 {
            let flight_size = self.nxt - self.una;
            cc.on_congestion(&CongestionEvent::Loss { flight_size }, at);
        }
        let rtt = at.since(left);
        self.min_rtt = self.min_rtt.min(rtt);
        self.delivered += u64::from(SEGMENT);
        self.una += SEGMENT * (1 + lost);
        let episode = if lost > 0 { EpisodeKind::Recovery } else { EpisodeKind::Open };
        self.notes.extend(cc.on_ack(&AckSample {
            now: at,
            rtt: Some(rtt),
            srtt: Some(RTT),
            min_rtt: Some(self.min_rtt),
            total_delivered: self.delivered,
            snd_una: SeqNum(self.una),
            snd_nxt: SeqNum(self.nxt),
            episode,
            ..ack(0, SEGMENT)
        }));
        lost > 0
    }
}

fn steady(_: Instant) -> Duration {
    Duration::ZERO
}

fn segments(cc: &Controller) -> u32 {
    cc.window().cwnd() / SEGMENT
}

#[test_case(200, 10, [10, 30, 90, 270])]
#[test_case(100, 10, [10, 20, 40, 80])]
fn while_flights_fit_the_window_grows_by_its_percentage(growth_percent: u32, ms: u64, expected: [u32; 4]) {
    let mut cc = controller(&TrainsConfig { growth_percent });
    let mut line = Line::new(10_000, 10_000);
    let mut seen = vec![segments(&cc)];
    for round in 1..4 {
        line.run(&mut cc, RTT * round + Duration::from_millis(60 + ms), steady);
        seen.push(segments(&cc));
    }
    assert_eq!(seen, expected);
}

#[test_case(200)]
#[test_case(500)]
#[test_case(1_000)]
#[test_case(3_000)]
fn the_window_becomes_what_the_path_holds_with_six_tenths_of_that_in_the_queue_at_most(bdp: u64) {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(bdp, 1 << 20);
    let mut until = RTT;
    while cc.snapshot().phase != CcPhase::Lss {
        until += Duration::from_millis(10);
        assert!(until < RTT * 12, "{cc:?}");
        line.run(&mut cc, until, steady);
    }
    let window = u64::from(segments(&cc));
    assert!(window.abs_diff(bdp) <= bdp / 10, "{window}");
    assert!(line.longest_queue as u64 <= bdp * 6 / 10, "{}", line.longest_queue);
    assert_eq!(line.notes, [CcNote::PhaseChanged(CcPhase::Lss)]);
    // The climb that follows adds a queue of less than half of it, and rests.
    line.longest_queue = 0;
    line.run(&mut cc, until + RTT * 10, steady);
    let window = u64::from(segments(&cc));
    assert!(window <= bdp * 15 / 10, "{window}");
    assert!(line.longest_queue as u64 <= bdp / 2, "{}", line.longest_queue);
}

#[test]
fn a_single_flight_that_was_held_up_costs_a_few_round_trips() {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(1_000, 1 << 20);
    // The second half of the second flight waits for a stalled host.
    let stall = |at: Instant| {
        let since = at.since(Instant::ZERO);
        let stalled = since > RTT + Duration::from_millis(5) && since < RTT * 2;
        if stalled { Duration::from_millis(80) } else { Duration::ZERO }
    };
    line.run(&mut cc, RTT * 4, stall);
    assert_eq!(cc.snapshot().phase, CcPhase::Lss, "taken for a queue");
    assert!(segments(&cc) < 200, "{}", segments(&cc));
    line.run(&mut cc, RTT * 12, stall);
    assert!(segments(&cc) >= 1_000, "{}", segments(&cc));
    // The stall passes for jitter, which hides a queue of up to half a round trip.
    assert!(segments(&cc) <= 2_500, "{}", segments(&cc));
}

#[test]
fn a_train_lost_to_a_small_queue_leaves_the_share_of_what_path_and_queue_hold() {
    let mut cc = controller(&TrainsConfig::default());
    let (bdp, buffer) = (1_000, 100);
    let mut line = Line::new(bdp, buffer);
    assert!(line.run(&mut cc, RTT * 12, steady), "the train overflows the queue");
    assert!(cc.governs_recovery());
    cc.on_recovery_exit(line.now);
    assert!(!cc.governs_recovery());
    let expected = 1_100 * SEGMENT * 7 / 10;
    assert!(cc.window().ssthresh().abs_diff(expected) <= expected / 10, "{:?}", cc.window());
    assert!(cc.window().in_slow_start());
    let Some(Pacing::Rate { rate, .. }) = cc.pacing() else { panic!("paced") };
    let line_rate = Rate::from_delivery(SEGMENT.into(), line.service).expect("not zero").bits_per_sec();
    assert!(rate.bits_per_sec().abs_diff(line_rate) <= line_rate / 10, "{rate:?}");
}

#[test]
fn copies_that_are_lost_too_lower_the_window_and_what_the_path_is_taken_to_hold() {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(1_000, 100);
    assert!(line.run(&mut cc, RTT * 12, steady), "the train overflows the queue");
    let windows = [(); 4].map(|()| {
        let flight_size = line.nxt - line.una;
        cc.on_congestion(&CongestionEvent::Loss { flight_size }, line.now);
        assert!(cc.governs_recovery(), "a further signal is part of it");
        segments(&cc)
    });
    assert!(windows.windows(2).all(|pair| pair[1].abs_diff(pair[0] * 7 / 10) <= 1), "{windows:?}");
    cc.on_recovery_exit(line.now);
    assert!(cc.window().ssthresh() / SEGMENT <= windows[2] * 7 / 10, "{:?}", cc.window());
}

#[test]
fn a_loss_without_a_queue_is_answered_as_usual() {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(10_000, 1 << 20);
    line.run(&mut cc, RTT * 3, steady);
    let before = cc.window().cwnd();
    cc.on_congestion(&CongestionEvent::Loss { flight_size: before }, line.now);
    assert!(!cc.governs_recovery());
    assert_eq!(cc.window().cwnd(), cc.window().ssthresh());
    let reduced = cc.window().cwnd();
    assert!(reduced <= before * 7 / 10);
    // Slow start comes back beside avoidance, because no round trip was longer.
    cc.on_recovery_exit(line.now);
    line.run(&mut cc, RTT * 8, steady);
    assert!(cc.window().cwnd() > before, "{before} {:?}", cc.window());
    assert_eq!(cc.snapshot().phase, CcPhase::Lss);
}

#[test]
fn a_window_lost_by_disuse_comes_back_by_slow_start() {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(10_000, 1 << 20);
    line.run(&mut cc, RTT * 3, steady);
    cc.on_congestion(&CongestionEvent::Loss { flight_size: cc.window().cwnd() }, line.now);
    cc.on_recovery_exit(line.now);
    line.run(&mut cc, RTT * 4, steady);
    assert_eq!(cc.snapshot().phase, CcPhase::Lss, "beside avoidance");
    let small = cc.window().cwnd() / 4;
    cc.on_unused(small);
    let resumed = Duration::from_secs(300);
    line.now += resumed;
    line.flying.clear();
    line.una = line.nxt;
    line.run(&mut cc, resumed + RTT * 6, steady);
    assert!(cc.window().cwnd() >= 2 * small, "{small} {:?}", cc.window());
}

#[test]
fn after_an_undo_the_search_goes_on_with_the_next_flight() {
    let mut cc = controller(&TrainsConfig::default());
    let mut line = Line::new(10_000, 1 << 20);
    line.run(&mut cc, RTT * 3, steady);
    let before = cc.window().cwnd();
    cc.on_congestion(&CongestionEvent::Loss { flight_size: before }, line.now);
    assert!(cc.undo());
    line.run(&mut cc, RTT * 5, steady);
    assert_eq!(cc.snapshot().phase, CcPhase::SlowStart);
    assert!(cc.window().cwnd() >= before * 4, "{:?}", cc.window());
}

#[test]
fn a_flight_knows_how_far_round_trips_rose_and_fell_again() {
    let mut flight = Flight::new(SeqNum(1));
    let mut una = 1;
    let mut hear = |flight: &mut Flight, ms: u64| {
        una += 1;
        let rtt = Some(Duration::from_millis(ms));
        flight.on_ack(&AckSample { rtt, snd_una: SeqNum(una), snd_nxt: SeqNum(100_000), ..ack(ms, 1) }, SEGMENT);
        flight.swing().as_millis()
    };
    let swings: Vec<u64> = [120, 110, 100].map(|ms| hear(&mut flight, ms)).to_vec();
    assert_eq!(swings, [0, 0, 0], "a queue that empties");
    let swings: Vec<u64> = [110, 130, 150].map(|ms| hear(&mut flight, ms)).to_vec();
    assert_eq!(swings, [0, 0, 0], "and one that fills");
    let swings: Vec<u64> = [140, 145, 120, 90, 95].map(|ms| hear(&mut flight, ms)).to_vec();
    assert_eq!(swings, [0, 0, 20, 40, 40], "the longest that two in a row took is 140");
    let swings: Vec<u64> = [190, 92].map(|ms| hear(&mut flight, ms)).to_vec();
    assert_eq!(swings, [40, 40], "one alone may be a delayed acknowledgement");
}

#[test]
fn what_left_before_an_undo_is_no_train() {
    let mut flight = Flight::new(SeqNum(1));
    let hear = |flight: &mut Flight, una: u32, nxt: u32| {
        flight.on_ack(&AckSample { snd_una: SeqNum(una), snd_nxt: SeqNum(nxt), ..ack(0, 1) }, SEGMENT);
        flight.is_judged()
    };
    assert!(hear(&mut flight, 2, 100));
    flight.forget();
    assert!(!hear(&mut flight, 50, 200));
    assert!(!hear(&mut flight, 150, 300), "it left while the window was reduced");
    assert!(hear(&mut flight, 250, 400));
}

/// A signal behind flights of `before` milliseconds, and behind it a loss of so many segments of 300; then round trips of 100.
#[test_case(None, 0, "25 50 100"; "none is known")]
#[test_case(Some(101), 3, "25 50 100"; "a loss by chance")]
#[test_case(Some(104), 0, "0 0 0"; "a queue before the loss")]
#[test_case(Some(101), 10, "0 0 0"; "much was lost at once")]
fn behind_a_signal(before: Option<u64>, lost: u32, growth: &str) {
    let ms = Duration::from_millis;
    let mut climb = Climb::NEW;
    climb.on_flight(ms(100), ms(100), Duration::ZERO);
    if let Some(before) = before {
        climb.on_row(ms(before), ms(100), Duration::ZERO);
    }
    climb.on_signal(ms(100));
    climb.on_lost(lost * SEGMENT, 300 * SEGMENT, SEGMENT);
    let seen = [(); 3].map(|()| {
        climb.on_flight(ms(100), ms(100), Duration::ZERO);
        climb.growth(100).to_string()
    });
    assert_eq!(seen.join(" "), growth);
    assert_eq!(climb.rests(), growth.starts_with('0'));
    climb.on_signal(ms(100));
    assert_eq!(climb.rests(), growth.starts_with('0'), "nothing is known since");
    climb.on_row(ms(101), ms(100), Duration::ZERO);
    climb.on_signal(ms(100));
    assert!(!climb.rests(), "the queue is gone");
    climb.on_flight(ms(113), ms(100), ms(30));
    assert_eq!(climb.growth(100), 0, "jitter no longer widens the margin");
}

/// A flow that joins others behind a full queue takes their delay for usual, and grows beside it; behind a signal it does not.
#[test_case(140, "0 0 0"; "a queue of the others")]
#[test_case(112, "25 50 100"; "less than counts as a queue")]
#[test_case(100, "25 50 100"; "none any more")]
fn who_joins_a_full_queue_climbs_behind_a_signal_only_once_it_is_gone(later: u64, growth: &str) {
    let ms = Duration::from_millis;
    let mut climb = Climb::NEW;
    climb.on_flight(ms(140), ms(100), Duration::ZERO);
    climb.on_flight(ms(140), ms(100), Duration::ZERO);
    assert_eq!(climb.growth(100), 50, "it takes the delay for the path's");
    climb.on_signal(ms(100));
    let seen = [(); 3].map(|()| {
        climb.on_flight(ms(later), ms(100), Duration::ZERO);
        climb.growth(100).to_string()
    });
    assert_eq!(seen.join(" "), growth);
    climb.on_row(ms(later), ms(100), Duration::ZERO);
    climb.on_signal(ms(100));
    assert_eq!(climb.rests(), later > 103, "a delay that the others cause explains a loss");
}

/// Round trips of rows (`r`) and whole flights (`f`) in milliseconds, on a path of 100 ms, and by how many percent the window opens
/// after each.
#[test_case(0, "f100>25 f100>50 f100>100 f105>100"; "faster with each flight of short round trips")]
#[test_case(0, "f100>25 r120>25 r120>25 r120>0 f100>25"; "a queue ends it and its absence begins it anew")]
#[test_case(0, "f100>25 r120>25 r120>25 r100>25 r120>25 r120>25"; "two late rows do not")]
#[test_case(0, "f140>25 f150>50 f156>100 f160>0"; "what is usual on the path is no queue")]
#[test_case(30, "f100>25 f129>50 f131>0"; "and neither is its jitter")]
#[test_case(0, "f190>0 f180>25 f181>0"; "but no more than a known amount is usual")]
fn a_climb(noise_ms: u64, story: &str) {
    let ms = Duration::from_millis;
    let mut climb = Climb::NEW;
    for step in story.split(' ') {
        let (what, percent) = step.split_once('>').expect("a step");
        let least = ms(what[1..].parse().expect("milliseconds"));
        match &what[..1] {
            "r" => climb.on_row(least, ms(100), ms(noise_ms)),
            _ => climb.on_flight(least, ms(100), ms(noise_ms)),
        }
        assert_eq!(climb.growth(100).to_string(), percent, "{step} in {story}");
    }
}
