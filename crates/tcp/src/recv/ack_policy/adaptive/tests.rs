//! The rules of adaptive delays, value by value.

use super::*;
use test_case::test_case;

const RMSS: Bytes = 1460;
const START: Instant = Instant::from_nanos(7_000_000_000);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A policy of this kind and its surroundings.
struct Receiver {
    config: AckConfig,
    policy: Adaptive,
    owed: Owed,
    now: Instant,
    armed: Option<Instant>,
    reopens: bool,
    window: Bytes,
    srtt: Option<Duration>,
}

impl Receiver {
    fn new(quick_segments: u32) -> Self {
        let config = AckConfig { quick_segments, quick_again: QuickAgain::AfterIdle, ..AckConfig::default() };
        Self {
            config,
            policy: Adaptive::new(),
            owed: Owed::new(0),
            now: START,
            armed: None,
            reopens: true,
            window: 64_240,
            srtt: None,
        }
    }

    /// A receiver that acknowledges nothing quickly and has received one segment at the start.
    fn after_the_first(quick_segments: u32) -> Self {
        let mut receiver = Self::new(quick_segments);
        receiver.arrives(0, 100);
        receiver.acknowledge();
        receiver.owed.quick_left = 0;
        receiver
    }

    fn arrives_as(&mut self, after_ms: u64, len: Bytes, kind: Arrival) -> Option<u64> {
        self.now += ms(after_ms);
        let arriving = Arriving { now: self.now, len, kind, holes: false, rmss: RMSS, rto: ms(300) };
        let around = Surroundings {
            push: false,
            window: self.window,
            scarce: false,
            room: if self.reopens { 1 << 20 } else { self.window },
            armed: self.armed,
            srtt: self.srtt,
        };
        match self.policy.on_data(&mut self.owed, &self.config, &arriving, &around) {
            AckDecision::Now => Some(0),
            AckDecision::After(at) => {
                self.armed = Some(at);
                Some(at.since(self.now).as_millis())
            }
            AckDecision::Pending => None,
        }
    }

    /// Delivers a segment in order: returns the delay of its ACK in milliseconds, `None` while an earlier timer covers it.
    fn arrives(&mut self, after_ms: u64, len: Bytes) -> Option<u64> {
        self.arrives_as(after_ms, len, Arrival::InOrder)
    }

    fn acknowledge(&mut self) {
        self.armed = None;
        self.policy.on_ack_sent(&mut self.owed, &self.config);
    }

    /// Lets the delayed ACK leave when its timer fires.
    fn wait(&mut self) {
        self.now = self.armed.take().expect("a timer runs");
        assert!(self.owed.on_timer());
        self.policy.lengthen(&self.config, ms(300));
        self.acknowledge();
    }
}

/// Half a window of segments, at least two and at most the profile's number.
#[test_case(16, 64_240, 1_460 => 16; "as many as the profile says")]
#[test_case(16, 14_600, 1_460 => 5; "half a small window")]
#[test_case(16, 1_000, 1_460 => 2; "at least two")]
#[test_case(0, 64_240, 1_460 => 0; "none")]
fn segments_at_the_start_are_acknowledged_one_by_one(quick_segments: u32, window: Bytes, len: Bytes) -> usize {
    let mut receiver = Receiver::new(quick_segments);
    receiver.window = window;
    (0..100)
        .take_while(|_| {
            let quick = receiver.arrives(1, len) == Some(0);
            receiver.acknowledge();
            quick
        })
        .count()
}

#[test]
fn an_ack_that_covers_nothing_new_is_not_counted_among_the_quick_ones() {
    let mut receiver = Receiver::new(3);
    receiver.arrives(0, 100);
    (0..5).for_each(|_| receiver.acknowledge());
    assert_eq!((receiver.arrives(1, 100), receiver.owed.quick_left), (Some(0), 2));
}

#[test]
fn more_than_one_full_segment_is_acknowledged_at_once() {
    let mut receiver = Receiver::after_the_first(0);
    assert_eq!(receiver.arrives(50, RMSS), Some(40));
    assert_eq!(receiver.arrives(0, 1), Some(0), "one byte more");
}

#[test]
fn not_while_the_window_cannot_be_offered_again() {
    let mut receiver = Receiver::after_the_first(0);
    receiver.reopens = false;
    assert_eq!((receiver.arrives(50, RMSS), receiver.arrives(1, RMSS)), (Some(40), None));
}

/// The delay after a second segment arrived this many milliseconds after the first.
#[test_case(0, 40)]
#[test_case(20, 40; "half the least delay")]
#[test_case(30, 50; "half of the delay before, and the interval")]
#[test_case(40, 40; "as long as the delay: unchanged")]
#[test_case(250, 40)]
fn the_delay_follows_the_intervals_of_arrivals(interval_ms: u64, delay_ms: u64) {
    let mut receiver = Receiver::after_the_first(0);
    receiver.srtt = Some(ms(1_000));
    assert_eq!(receiver.arrives(interval_ms, 100), Some(delay_ms));
}

#[test]
fn after_a_pause_longer_than_the_timeout_segments_are_acknowledged_one_by_one_again() {
    let mut receiver = Receiver::after_the_first(2);
    assert_eq!(receiver.arrives(300, 100), Some(40));
    receiver.acknowledge();
    let mut next = |after| {
        let delay = receiver.arrives(after, 100);
        receiver.acknowledge();
        delay
    };
    assert_eq!([next(301), next(1), next(1)], [Some(0), Some(0), Some(40)]);
}

/// With a round trip of this many milliseconds the delay doubles for each ACK that leaves alone.
#[test_case(1_000, &[40, 80, 160, 200, 200]; "up to the longest")]
#[test_case(100, &[40, 80, 100, 100]; "up to the round trip")]
#[test_case(1, &[40, 40, 40]; "never less than the least")]
fn acks_that_leave_by_themselves_make_the_delay_grow(srtt_ms: u64, delays_ms: &[u64]) {
    let mut receiver = Receiver::after_the_first(0);
    receiver.srtt = Some(ms(srtt_ms));
    for delay in delays_ms {
        assert_eq!(receiver.arrives(290, 100), Some(*delay));
        receiver.wait();
    }
}

#[test]
fn a_timer_that_runs_stays_unless_the_new_delay_is_shorter_or_it_is_about_to_fire() {
    let mut receiver = Receiver::after_the_first(0);
    assert_eq!(receiver.arrives(100, 10), Some(40));
    assert_eq!(receiver.arrives(20, 10), None);
    // Ten milliseconds remain, a quarter of the delay.
    assert_eq!(receiver.arrives(10, 10), Some(0));
}

#[test]
fn replies_make_a_connection_wait_for_them_until_one_fails_to_come() {
    let mut receiver = Receiver::after_the_first(16);
    receiver.policy.on_data_sent(&receiver.owed, receiver.now + ms(39));
    receiver.owed.quick_left = 16;
    assert_eq!(receiver.policy.pace(), AckPace::Delayed);
    assert_eq!(receiver.arrives(290, 100), Some(40), "although quick ones are left");
    receiver.wait();
    assert_eq!(receiver.policy.pace(), AckPace::Quick);
    assert_eq!(receiver.arrives(290, 100), Some(0));
}

#[test]
fn what_is_sent_later_than_the_delay_is_not_a_reply() {
    let mut receiver = Receiver::after_the_first(16);
    receiver.policy.on_data_sent(&receiver.owed, receiver.now + ms(40));
    assert_eq!(receiver.policy.pace(), AckPace::Quick);
}

#[test]
fn nothing_is_a_reply_before_data_has_come() {
    let mut receiver = Receiver::new(16);
    receiver.policy.on_data_sent(&receiver.owed, receiver.now);
    assert_eq!((receiver.policy.pace(), receiver.policy.delay()), (AckPace::Quick, Duration::ZERO));
}

/// The data that arrived before the application read everything; reading may send the waiting ACK.
#[test_case(&[100], true, 0 => true; "a small segment")]
#[test_case(&[100], false, 0 => false; "not everything")]
#[test_case(&[100], true, 1 => false; "a small segment, where replies follow")]
#[test_case(&[100, 100], true, 1 => true; "two small segments, even there")]
#[test_case(&[1460], true, 0 => false; "a full one: another may follow")]
#[test_case(&[1460, 400], false, 0 => true; "more than a full one, though not all is read")]
fn reading_sends_the_ack_of(segments: &[Bytes], all: bool, replies: u8) -> bool {
    let mut receiver = Receiver::after_the_first(0);
    receiver.owed.largest = RMSS;
    receiver.policy.replies = replies;
    receiver.reopens = false;
    receiver.now += ms(100);
    segments.iter().for_each(|&len| assert_ne!(receiver.arrives(0, len), Some(0)));
    receiver.policy.on_read(&receiver.owed, RMSS, all)
}

#[test]
fn reading_sends_nothing_when_no_ack_waits() {
    let mut receiver = Receiver::after_the_first(0);
    receiver.arrives(100, 100);
    receiver.acknowledge();
    assert!(!receiver.policy.on_read(&receiver.owed, RMSS, true));
}

#[test]
fn a_duplicate_is_acknowledged_at_once_and_so_are_those_after_it() {
    let mut receiver = Receiver::after_the_first(2);
    receiver.policy.replies = 1;
    let mut next = |kind| {
        let delay = receiver.arrives_as(1, 100, kind);
        receiver.acknowledge();
        delay
    };
    assert_eq!(next(Arrival::Duplicate), Some(0));
    assert_eq!([next(Arrival::InOrder), next(Arrival::InOrder)], [Some(0), Some(40)]);
}

#[test_case(Arrival::OutOfOrder)]
#[test_case(Arrival::FillsGap)]
fn holes_are_reported_at_once(kind: Arrival) {
    assert_eq!(Receiver::after_the_first(0).arrives_as(1, 100, kind), Some(0));
}

/// A FIN before any data, and one after it.
#[test_case(0 => Some(0); "at once when no delay is known yet")]
#[test_case(100 => Some(40); "like data, although quick ACKs are left")]
fn a_fin_is_acknowledged(data_before: Bytes) -> Option<u64> {
    let mut receiver = Receiver::new(16);
    if data_before > 0 {
        receiver.arrives(0, data_before);
        receiver.acknowledge();
    }
    receiver.policy.on_fin();
    receiver.arrives(1, 0)
}

/// An application's request while an ACK waits for data, read or unread: does the ACK leave, and what is the pace then?
#[test_case(AckPace::Quick, true => (true, AckPace::Quick))]
#[test_case(AckPace::Quick, false => (false, AckPace::Quick); "quick, unread")]
#[test_case(AckPace::QuickOnce, true => (true, AckPace::Delayed))]
#[test_case(AckPace::Delayed, true => (false, AckPace::Delayed))]
fn the_application_may_ask_for(pace: AckPace, all_read: bool) -> (bool, AckPace) {
    let mut receiver = Receiver::after_the_first(0);
    receiver.owed.largest = RMSS;
    assert_eq!(receiver.arrives(100, RMSS), Some(40));
    (receiver.policy.set_pace(&receiver.owed, pace, RMSS, all_read), receiver.policy.pace())
}
