//! What chirps show, over paths that serve one segment after the other.

use super::analysis::Analysis;
use super::*;
use crate::avoidance::{Reno, RenoConfig};
use crate::control::CongestionControl;
use crate::loss_based::LossBased;
use crate::sample::{CongestionEvent, FlightStart};
use crate::testing::ack;
use crate::window::InitialWindow;
use base::SeqNum;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// The mean gap that delays, in microseconds, behind these gaps show.
fn shown(gaps: &[u64], delays: &[u64]) -> u64 {
    let mut analysis = Analysis::default();
    for (&gap, &delay) in gaps.iter().zip(delays) {
        analysis.on_segment(us(gap), us(delay));
    }
    analysis.finish().expect("gaps").as_micros()
}

/// The delays behind these gaps on a path that serves a segment in `service` microseconds.
fn queue(gaps: &[u64], service: u64) -> Vec<u64> {
    let mut delay = 0_u64;
    gaps.iter()
        .map(|gap| {
            delay = (delay + service).saturating_sub(*gap);
            delay
        })
        .collect()
}

/// The gaps of a chirp of sixteen with a mean of 160 µs.
fn sixteen() -> Vec<u64> {
    (0..15).map(|nth| 320 - 20 * nth).collect()
}

#[test_case(310, 320; "the gap before delay rises")]
#[test_case(190, 200)]
#[test_case(39, 40; "a path that is faster than all of it")]
#[test_case(500, 320; "a path that is slower than all of it shows its first gap")]
fn a_chirp_shows_the_rate_of_an_idle_path(service: u64, gap: u64) {
    assert_eq!(shown(&sixteen(), &queue(&sixteen(), service)), gap);
}

/// Delay rises from the third gap on, by 60 and 140 µs: the second is the last that the path carried.
#[test]
fn the_first_chirp_of_a_path_of_300_microseconds() {
    assert_eq!(shown(&[400, 320, 240, 160], &[0, 0, 60, 200]), 320);
}

/// Other traffic comes behind the third segment and drains: five of its six gaps with a rise count for themselves, all other ten with
/// the gap before it.
#[test]
fn other_traffic_that_ends_counts_with_the_chirps_own_gaps() {
    let delays = [0, 0, 0, 50, 100, 150, 200, 250, 100, 0, 0, 0, 0, 0, 0];
    let own = 280 + 260 + 240 + 220 + 200;
    assert_eq!(shown(&sixteen(), &delays), (own + 10 * 280) / 15);
}

#[test]
fn a_short_excursion_counts_for_nothing_but_its_beginning() {
    let delays = [0, 0, 0, 50, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(shown(&sixteen(), &delays), 280);
}

/// 100 falls short of five eighths of 161, 101 does not.
#[test_case(101, 280; "it lasts")]
#[test_case(100, 120; "it ends, and the next one begins later")]
fn an_excursion_lasts_while_delay_stays_above_five_eighths_of_its_highest(low: u64, gap: u64) {
    let delays = [0, 0, 0, 80, 161, low, low, low, low, low, low, 200, 201, 202, 203];
    assert_eq!(shown(&sixteen(), &delays), gap);
}

/// A connection over a path that serves a segment in `service` and has this round trip.
struct Path {
    cc: LossBased<Chirping, Reno>,
    service: Duration,
    rtt: Duration,
    now: Instant,
    nxt: SeqNum,
    una: SeqNum,
    free: Instant,
    left: Instant,
    /// When each segment in flight is acknowledged, and its round trip.
    acks: std::collections::VecDeque<(Instant, Duration)>,
    longest: Duration,
    /// Gaps between departures.
    gaps: Vec<Duration>,
}

impl Path {
    fn new(service_us: u64, rtt_ms: u64) -> Self {
        let window = Window::new(&InitialWindow::plain(10), SEGMENT);
        let chirping = Chirping::new(&ChirpingConfig::default());
        let mut cc = LossBased::new(window, chirping, Reno::new(&RenoConfig::default()), None);
        let rtt = Duration::from_millis(rtt_ms);
        cc.on_flight_start(&FlightStart { now: Instant::ZERO, srtt: Some(rtt), app_limited: true });
        Self {
            cc,
            service: us(service_us),
            rtt,
            now: Instant::ZERO,
            nxt: SeqNum(0),
            una: SeqNum(0),
            free: Instant::ZERO,
            left: Instant::ZERO,
            acks: Default::default(),
            longest: Duration::ZERO,
            gaps: Vec::new(),
        }
    }

    fn pipe(&self) -> Bytes {
        self.nxt.distance_from(self.una)
    }

    /// Sends one segment, or takes one ACK, whichever comes first. Returns what the ACK ended.
    fn step(&mut self) -> Option<crate::control::CcNote> {
        let leaves = match self.cc.pacing() {
            Some(Pacing::Departure(at)) => at.max(self.now),
            Some(Pacing::Rate { rate, .. }) => self.now.max(self.left + rate.time_for(SEGMENT.into())),
            None => self.now,
        };
        let room = self.pipe() + SEGMENT <= self.cc.window().cwnd();
        match self.acks.front().copied() {
            Some((at, _)) if !room || at <= leaves => self.take_ack(),
            _ => {
                assert!(room, "nothing is in flight and nothing may leave");
                self.gaps.push(leaves.since(self.left));
                (self.now, self.left) = (leaves, leaves);
                self.send();
                None
            }
        }
    }

    fn send(&mut self) {
        self.nxt += SEGMENT;
        self.free = self.free.max(self.now) + self.service;
        let delay = self.free.since(self.now);
        self.longest = self.longest.max(delay);
        self.acks.push_back((self.now + self.rtt + delay, self.rtt + delay));
        let (now, pipe, snd_nxt) = (self.now, self.pipe(), self.nxt);
        self.cc.on_sent(&SentSample { now, bytes: SEGMENT, pipe, snd_nxt });
    }

    fn take_ack(&mut self) -> Option<crate::control::CcNote> {
        let (at, rtt) = self.acks.pop_front().expect("an ACK");
        self.now = at;
        self.una += SEGMENT;
        self.cc.on_ack(&AckSample {
            now: at,
            pipe: self.pipe(),
            rtt: Some(rtt),
            srtt: Some(rtt),
            min_rtt: Some(self.rtt + self.service),
            snd_una: self.una,
            snd_nxt: self.nxt,
            ..ack(0, SEGMENT)
        })
    }

    /// Runs slow start to its end. Returns the window in segments.
    fn finish(&mut self) -> u32 {
        for _ in 0..100_000 {
            if let Some(note) = self.step() {
                assert_eq!(note, crate::control::CcNote::SlowStartExited(ExitCause::Chirps));
                return self.cc.window().cwnd() / SEGMENT;
            }
        }
        panic!("slow start has no end");
    }
}

#[test]
fn the_first_flight_is_two_chirps_of_five_half_a_round_trip_apart() {
    let mut path = Path::new(100, 100);
    for _ in 0..10 {
        path.step();
    }
    // A chirp takes 400 + 320 + 240 + 160 µs.
    let planned = [0, 400, 320, 240, 160, 48_880, 400, 320, 240, 160].map(us);
    assert_eq!(path.gaps, planned);
    assert_eq!(path.pipe(), path.cc.window().cwnd(), "no more before an ACK");
}

/// Segments that the path serves in a round trip, against the window that is found, and the longest queue in segments.
#[test_case(1_000, 100)]
#[test_case(250, 100)]
#[test_case(100, 100)]
#[test_case(100, 20)]
#[test_case(40, 50)]
fn the_window_is_what_the_path_holds_and_the_queue_stays_short(service_us: u64, rtt_ms: u64) {
    let mut path = Path::new(service_us, rtt_ms);
    let found = path.finish();
    let holds = (rtt_ms * 1_000 / service_us) as u32;
    assert!(found >= holds * 8 / 10 && found <= holds * 13 / 10, "{found} of {holds}");
    let queue = path.longest.as_nanos() / us(service_us).as_nanos();
    assert!(queue <= 24, "a queue of {queue}");
}

/// Five and five, eight and eight, then chirps of sixteen: two, four, eight and sixteen of them.
#[test]
fn a_round_allows_twice_the_chirps_of_the_one_before() {
    let mut path = Path::new(40, 200);
    let (mut sent, mut rounds) = (0, Vec::new());
    while rounds.len() < 7 {
        let end = path.now + path.rtt;
        while path.now < end {
            path.step();
        }
        let total = path.nxt.distance_from(SeqNum(0)) / SEGMENT;
        rounds.push(total - sent);
        sent = total;
    }
    assert_eq!(rounds[0], 10);
    assert!(
        rounds.windows(2).skip(2).all(|pair| pair[1] >= pair[0] * 3 / 2 && pair[1] <= pair[0] * 5 / 2),
        "{rounds:?}"
    );
}

#[test]
fn a_signal_ends_the_chirps_and_an_undo_does_not_bring_them_back() {
    let mut path = Path::new(100, 100);
    for _ in 0..30 {
        path.step();
    }
    assert!(
        matches!(path.cc.pacing(), Some(Pacing::Departure(_))) && path.cc.state_size() > size_of_val(&path.cc) + 100
    );
    let before = path.cc.window().cwnd();
    path.cc.on_congestion(&CongestionEvent::Loss { flight_size: path.pipe() }, path.now);
    assert!(path.cc.pacing().is_none() && path.cc.window().cwnd() < before);
    path.cc.on_recovery_exit(path.now);
    assert!(path.cc.undo());
    assert_eq!((path.cc.pacing(), path.cc.window().cwnd()), (None, before));
    path.cc.on_ack(&ack(500, SEGMENT));
    assert_eq!(path.cc.window().cwnd(), before + SEGMENT, "as usual");
}

/// One that is late now and then begins chirps again; one that always is does without.
#[test_case(8, true)]
#[test_case(9, false)]
fn a_gap_that_is_not_the_chirps_begins_it_again(times: u32, chirps: bool) {
    let mut path = Path::new(100, 100);
    path.send();
    for _ in 0..times {
        path.now += us(801);
        path.send();
    }
    assert_eq!(matches!(path.cc.pacing(), Some(Pacing::Departure(_))), chirps);
    // A chirp of which one has left, and the other one.
    path.take_ack();
    let expected = if chirps { path.pipe() + 9 * SEGMENT } else { 11 * SEGMENT };
    assert_eq!(path.cc.window().cwnd(), expected);
}

#[test]
fn acks_out_of_order_show_nothing() {
    let mut chirping = Chirping::new(&ChirpingConfig::default());
    let window = Window::new(&InitialWindow::plain(10), SEGMENT);
    for nth in 1..=5 {
        let now = Instant::from_nanos(u64::from(nth) * 200_000);
        chirping.on_sent(&SentSample { now, bytes: SEGMENT, pipe: 0, snd_nxt: SeqNum(nth * SEGMENT) });
    }
    let sample = |ms, una, sacked| AckSample { sacked, snd_una: SeqNum(una * SEGMENT), ..ack(ms, SEGMENT) };
    chirping.on_ack(&sample(100, 1, 0), &window);
    chirping.on_ack(&sample(101, 1, SEGMENT), &window);
    chirping.on_ack(&sample(150, 5, 0), &window);
    assert_eq!(chirping.gap(), Some(us(200)));
}
