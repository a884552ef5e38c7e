//! The bucket: its rate, its depth, timers and late drivers.

use super::*;
use base::Rate;
use proptest::prelude::*;
use test_case::test_case;

const SEGMENT: Bytes = 1_000;
/// One microsecond a byte.
const SLOW: u64 = 8_000_000;
const TEN_GBIT: u64 = 10_000_000_000;

/// A sender that always has data, and a record of its sends.
struct Sender {
    pacer: Pacer,
    now: Instant,
    bits_per_sec: u64,
    quantum: Bytes,
    sent: u64,
    timers: u32,
}

impl Sender {
    fn new(bits_per_sec: u64, quantum: Bytes) -> Self {
        let now = Instant::from_nanos(1_000_000_000);
        Self { pacer: Pacer::default(), now, bits_per_sec, quantum, sent: 0, timers: 0 }
    }

    fn blocked_until(&mut self, ready: Bytes) -> Option<Instant> {
        let rate = Rate::from_bits_per_sec(self.bits_per_sec).expect("not zero");
        let pacing = Some(Pacing::Rate { rate, quantum: self.quantum });
        self.pacer.blocked_until(self.now, SEGMENT, || pacing, || ready)
    }

    /// Sends all that may leave now; returns its bytes and when to try again.
    fn send(&mut self, ready: Bytes) -> (Bytes, Instant) {
        let mut burst = 0;
        loop {
            if let Some(until) = self.blocked_until(ready) {
                return (burst, until);
            }
            self.pacer.on_sent(SEGMENT);
            burst += SEGMENT;
            self.sent += u64::from(SEGMENT);
        }
    }

    /// Sends for `span`; the driver wakes up `late` after each timer. Returns the largest burst.
    fn run(&mut self, span: Duration, late: Duration) -> Bytes {
        let (end, mut largest) = (self.now + span, 0);
        while self.now < end {
            let (burst, until) = self.send(Bytes::MAX);
            largest = largest.max(burst);
            self.timers += 1;
            self.now = until + late;
        }
        largest
    }
}

#[test]
fn a_silent_sender_may_send_one_quantum_at_once_however_long_it_was_silent() {
    let mut sender = Sender::new(SLOW, 4_000);
    assert_eq!(sender.send(Bytes::MAX).0, 4_000);
    sender.now += Duration::from_secs(3_600);
    assert_eq!(sender.send(Bytes::MAX).0, 4_000);
}

#[test]
fn then_it_is_spaced_by_the_rate() {
    let mut sender = Sender::new(SLOW, 4_000);
    let (_, until) = sender.send(Bytes::MAX);
    assert_eq!(until.since(sender.now), Duration::from_millis(2), "two segments at least");
    sender.now = until;
    assert_eq!(sender.send(Bytes::MAX).0, 2_000);
}

#[test]
fn it_waits_for_no_more_than_it_has_to_send() {
    let mut sender = Sender::new(SLOW, 4_000);
    let (_, until) = sender.send(1_000);
    assert_eq!(until.since(sender.now), Duration::from_millis(1));
}

#[test]
fn whoever_waits_for_a_burst_waits_to_the_end() {
    let mut sender = Sender::new(SLOW, 4_000);
    let (_, until) = sender.send(Bytes::MAX);
    sender.now = until - Duration::from_nanos(1);
    assert_eq!(sender.send(Bytes::MAX), (0, until), "although there is enough for one segment");
    assert_eq!(sender.send(Bytes::MAX), (0, until), "asked once more");
}

#[test]
fn a_rate_that_falls_while_it_waits_makes_it_wait_longer() {
    let mut sender = Sender::new(SLOW, 4_000);
    let (_, until) = sender.send(Bytes::MAX);
    (sender.now, sender.bits_per_sec) = (until, SLOW / 4);
    // A quarter of two segments has been earned at the current rate.
    assert_eq!(sender.send(Bytes::MAX), (0, until + Duration::from_millis(6)));
}

#[test]
fn what_leaves_unasked_is_paid_back() {
    let mut sender = Sender::new(SLOW, 1_000);
    sender.send(Bytes::MAX);
    sender.pacer.on_sent(2 * SEGMENT);
    let (burst, until) = sender.send(1_000);
    assert_eq!((burst, until), (0, sender.now + Duration::from_millis(1)), "it waits until then");
    sender.now = until;
    assert_eq!(sender.send(1_000), (0, until + Duration::from_millis(2)));
}

#[test]
fn ten_gigabits_take_one_timer_a_burst() {
    let mut sender = Sender::new(TEN_GBIT, 10 * SEGMENT);
    let largest = sender.run(Duration::from_millis(10), Duration::ZERO);
    assert_eq!(largest, 10 * SEGMENT, "nothing leaves beyond the quantum where timers are exact");
    let segments = sender.sent / u64::from(SEGMENT);
    assert!(u64::from(sender.timers) * 9 < segments, "{} timers for {segments} segments", sender.timers);
}

#[test_case(50, 1_000; "timers that are 50 us late")]
#[test_case(500, 120; "timers that are half a millisecond late")]
fn a_late_driver_keeps_up_with_ten_gigabits(late_us: u64, most_timers: u32) {
    let mut sender = Sender::new(TEN_GBIT, 10 * SEGMENT);
    let start = sender.now;
    sender.run(Duration::from_millis(50), Duration::from_micros(late_us));
    // Up to the last burst; the burst that is due now has not left.
    sender.send(Bytes::MAX);
    let rate = Rate::from_delivery(sender.sent, sender.now.since(start)).expect("sent").bits_per_sec();
    assert!(rate >= TEN_GBIT, "{rate} bit/s");
    assert!(sender.timers <= most_timers, "{} timers", sender.timers);
}

#[test]
fn a_driver_that_was_away_for_long_makes_up_for_a_millisecond_at_most() {
    let mut sender = Sender::new(TEN_GBIT, 10 * SEGMENT);
    let (_, until) = sender.send(Bytes::MAX);
    sender.now = until + LATENESS;
    assert_eq!(sender.send(Bytes::MAX).0, 1_260_000);
    let (_, until) = sender.send(Bytes::MAX);
    sender.now = until + LATENESS * 2;
    assert_eq!(sender.send(Bytes::MAX).0, 10 * SEGMENT, "so late it counts as silent");
}

#[test]
fn a_sender_that_something_else_held_back_after_its_timer_is_not_late() {
    let mut sender = Sender::new(SLOW, SEGMENT);
    let (_, until) = sender.send(10 * SEGMENT);
    sender.now = until;
    sender.pacer.on_timer(until);
    // Nothing may leave for a while, and then an undo restores a window ten times as wide.
    sender.now += Duration::from_micros(900);
    sender.bits_per_sec = 10 * SLOW;
    assert_eq!(sender.send(10 * SEGMENT).0, SEGMENT);
}

/// A driver reads its clock again between the timer and what leaves.
#[test]
fn lateness_is_made_up_for_although_time_passes_between_timer_and_departure() {
    let mut sender = Sender::new(TEN_GBIT, 10 * SEGMENT);
    let (_, until) = sender.send(Bytes::MAX);
    sender.now = until + Duration::from_micros(50);
    sender.pacer.on_timer(sender.now);
    sender.now += Duration::from_micros(5);
    // Fifty microseconds earn 62 segments.
    assert!(sender.send(Bytes::MAX).0 >= 62 * SEGMENT);
}

#[test]
fn without_pacing_nothing_is_held() {
    let (mut pacer, now) = (Pacer::default(), Instant::from_nanos(7));
    for _ in 0..1_000 {
        assert_eq!(pacer.blocked_until(now, SEGMENT, || None, || 0), None);
        pacer.on_sent(SEGMENT);
    }
    assert!(pacer.allowed() > 1_000_000_000);
}

#[test]
fn departures_are_the_controllers() {
    let (at, mut pacer) = (Instant::from_nanos(5), Pacer::default());
    let mut blocked = |now| pacer.blocked_until(now, SEGMENT, || Some(Pacing::Departure(at)), || SEGMENT);
    assert_eq!(blocked(Instant::from_nanos(4)), Some(at));
    assert_eq!(blocked(at), None);
}

#[test]
fn one_segment_leaves_at_each_departure_of_the_controllers() {
    let (at, mut pacer) = (Instant::from_nanos(5), Pacer::default());
    let mut next = at;
    let blocked =
        |pacer: &mut Pacer, next| pacer.blocked_until(at, SEGMENT, || Some(Pacing::Departure(next)), || 10 * SEGMENT);
    assert_eq!((blocked(&mut pacer, next), pacer.allowed(), pacer.is_waiting(at)), (None, SEGMENT, false));
    pacer.on_sent(SEGMENT);
    next += Duration::from_micros(1);
    assert_eq!((blocked(&mut pacer, next), pacer.is_waiting(at)), (Some(next), true));
}

proptest! {
    /// For any rates, quanta and pauses: between any two instants at most one quantum leaves plus what the rates earned between
    /// them.
    #[test]
    fn it_is_a_token_bucket(
        steps in prop::collection::vec((1_000_000u64..1_000_000_000, 0u64..20_000_000, any::<bool>()), 1..60),
        quantum in 1u32..20,
    ) {
        let quantum = quantum * SEGMENT;
        let mut sender = Sender::new(SLOW, quantum);
        // The model, in the pacer's units: never more than a quantum, and never overdrawn.
        let (mut tokens, mut at) = (i128::from(quantum) * i128::from(UNITS), sender.now);
        for (bits_per_sec, pause_ns, to_timer) in steps {
            sender.bits_per_sec = bits_per_sec;
            let (burst, until) = {
                let earned = i128::from(bits_per_sec) * i128::from(sender.now.since(at).as_nanos());
                tokens = (tokens + earned).min(i128::from(quantum) * i128::from(UNITS));
                at = sender.now;
                sender.send(Bytes::MAX)
            };
            tokens -= i128::from(burst) * i128::from(UNITS);
            prop_assert!(tokens >= 0, "{burst} bytes at {at}");
            // A waiting sender with data tries again when the wait is over, if not before.
            sender.now = if to_timer { until } else { until.min(sender.now + Duration::from_nanos(pause_ns)) };
        }
    }
}
