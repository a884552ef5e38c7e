//! ACKs by a count of bytes and a fixed delay (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
//!
//! Acknowledges every second full-sized segment by counting bytes, so that one large frame of several segments counts as several.

use super::config::{AckConfig, QuickAgain};
use super::owed::{AckDecision, AckPace, Arriving, Owed, Waiting, ms, quick};
use crate::recv::Arrival;
use base::{Bytes, Duration, Instant};

/// What the delay is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// The first segment that is not acknowledged.
    OfSegment,
    /// The clock of the host.
    OfHost,
}

/// Decides by a count of bytes and a fixed delay.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    beat: Beat,
    /// What the application asked for; nothing here follows it but the ACK that waits at that moment.
    asked: AckPace,
}

impl Fixed {
    /// For a new connection.
    pub fn new(beat: Beat) -> Self {
        Self { beat, asked: AckPace::Quick }
    }

    //= specs/rfc5681.md#acknowledging
    //# An ACK is delayed by less than 500 ms.
    //= specs/rfc5681.md#acknowledging
    //# An out-of-order segment is acknowledged at once.
    //= specs/rfc5681.md#acknowledging
    //# A segment that fills all or part of a gap is acknowledged at once.
    /// A segment arrived: when to acknowledge.
    #[inline(always)]
    pub fn on_data(&self, owed: &mut Owed, config: &AckConfig, arrived: &Arriving) -> AckDecision {
        note_pause(owed, config, arrived);
        let enough = count(owed, config, arrived);
        let quick = owed.quick_left > 0;
        owed.quick_left = owed.quick_left.saturating_sub(1);
        if quick || arrived.holes || arrived.kind != Arrival::InOrder || owed.unacknowledged >= enough {
            return AckDecision::Now;
        }
        if owed.waiting == Waiting::ForTimer {
            return AckDecision::Pending;
        }
        owed.waiting = Waiting::ForTimer;
        AckDecision::After(match self.beat {
            Beat::OfSegment => arrived.now + config.delay,
            Beat::OfHost => next_beat(arrived.now, config.delay),
        })
    }

    /// The application asks for another pace. Returns whether the ACK that waits leaves now.
    pub fn set_pace(&mut self, owed: &Owed, pace: AckPace, rmss: Bytes, all_read: bool) -> bool {
        self.asked = if pace == AckPace::Quick { AckPace::Quick } else { AckPace::Delayed };
        let waits = owed.waiting == Waiting::ForTimer;
        pace != AckPace::Delayed && waits && (all_read || owed.unacknowledged > owed.full_size(rmss))
    }

    /// What the application asked for.
    pub fn pace(&self) -> AckPace {
        self.asked
    }
}

/// Returns the first multiple of `period` after `now`.
fn next_beat(now: Instant, period: Duration) -> Instant {
    (now + Duration::from_nanos(1)).round_up_to(period)
}

/// Did a pause end? Then as many segments as at the start are acknowledged one by one.
#[inline]
fn note_pause(owed: &mut Owed, config: &AckConfig, arrived: &Arriving) {
    if config.quick_again == QuickAgain::AfterIdle {
        // Before the first data nothing has been used up.
        let now_ms = ms(arrived.now);
        if u64::from(now_ms.wrapping_sub(owed.latest_ms)) > arrived.rto.as_millis() {
            owed.quick_left = quick(config);
        }
        owed.latest_ms = now_ms;
    }
}

//= specs/rfc5681.md#acknowledging
//# At least every second full-sized segment is acknowledged at once.
/// Counts the segment, and returns how many bytes make an ACK due.
#[inline]
fn count(owed: &mut Owed, config: &AckConfig, arrived: &Arriving) -> Bytes {
    owed.unacknowledged = owed.unacknowledged.saturating_add(arrived.len);
    owed.largest = owed.largest.max(arrived.len.min(arrived.rmss));
    match config.every_segments {
        // Every segment, however small.
        0 | 1 => 0,
        every => owed.full_size(arrived.rmss).saturating_mul(every),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::{test_case, test_matrix};

    const RMSS: Bytes = 1448;
    const START: Instant = Instant::from_nanos(7_000_000_000);

    fn at_ms(ms: u64) -> Instant {
        START + Duration::from_millis(ms)
    }

    /// A policy and its configuration.
    struct Receiver {
        config: AckConfig,
        policy: Fixed,
        owed: Owed,
    }

    impl Receiver {
        fn on_data(&mut self, now: Instant, len: Bytes, rmss: Bytes, kind: Arrival, holes: bool) -> AckDecision {
            let rto = Duration::from_millis(300);
            self.policy.on_data(&mut self.owed, &self.config, &Arriving { now, len, kind, holes, rmss, rto })
        }
        fn on_ack_sent(&mut self) {
            self.owed.on_ack_sent();
        }
        fn on_timer(&mut self) -> bool {
            self.owed.on_timer()
        }
    }

    fn policy(delay_ms: u64, every_segments: u32, quick_segments: u32) -> Receiver {
        let delay = Duration::from_millis(delay_ms);
        let config = AckConfig { delay, every_segments, quick_segments, ..AckConfig::default() };
        Receiver { policy: Fixed::new(Beat::OfSegment), owed: Owed::new(quick(&config)), config }
    }

    fn in_order(policy: &mut Receiver, ms: u64, len: Bytes) -> AckDecision {
        policy.on_data(at_ms(ms), len, RMSS, Arrival::InOrder, false)
    }

    //= specs/rfc5681.md#acknowledging
    //= type=test
    //# An ACK is delayed by less than 500 ms.
    #[test_matrix([40, 50, 200])]
    fn the_delay_counts_from_the_first_unacknowledged_segment(delay_ms: u64) {
        let mut policy = policy(delay_ms, 2, 0);
        assert_eq!(in_order(&mut policy, 0, 100), AckDecision::After(at_ms(delay_ms)));
        assert_eq!(in_order(&mut policy, 30, 100), AckDecision::Pending);
        assert!(policy.on_timer());
        policy.on_ack_sent();
        assert!(!policy.on_timer());
        assert_eq!(in_order(&mut policy, 300, 100), AckDecision::After(at_ms(300 + delay_ms)));
    }

    //= specs/rfc5681.md#acknowledging
    //= type=test
    //# At least every second full-sized segment is acknowledged at once.
    #[test_matrix([40, 50, 200])]
    fn every_second_full_sized_segment_is_acknowledged(delay_ms: u64) {
        let mut policy = policy(delay_ms, 2, 0);
        for round in 0..5 {
            assert_eq!(in_order(&mut policy, round, RMSS), AckDecision::After(at_ms(round + delay_ms)));
            assert_eq!(in_order(&mut policy, round, RMSS), AckDecision::Now);
            policy.on_ack_sent();
        }
    }

    #[test_case(1448, 1448 => 2)]
    #[test_case(1000, 1448 => 2; "the path of the peer allows less than we do")]
    #[test_case(536, 1448 => 2)]
    #[test_case(268, 1448 => 4; "small segments are not full-sized")]
    #[test_case(200, 200 => 2; "our own limit is below the default")]
    #[test_case(4344, 1448 => 1; "three segments in one frame")]
    fn segments_until_an_ack(len: Bytes, rmss: Bytes) -> usize {
        let mut policy = policy(40, 2, 0);
        (1..=10).find(|_| policy.on_data(START, len, rmss, Arrival::InOrder, false) == AckDecision::Now).unwrap()
    }

    //= specs/rfc5681.md#acknowledging
    //= type=test
    //# An out-of-order segment is acknowledged at once.
    //= specs/rfc5681.md#acknowledging
    //= type=test
    //# A segment that fills all or part of a gap is acknowledged at once.
    #[test_case(Arrival::OutOfOrder, true; "out of order")]
    #[test_case(Arrival::FillsGap, false; "the last gap is filled")]
    #[test_case(Arrival::FillsGap, true; "part of a gap is filled")]
    #[test_case(Arrival::Duplicate, false; "a duplicate")]
    #[test_case(Arrival::InOrder, true; "while blocks wait")]
    fn what_a_sender_needs_to_know_is_said_at_once(kind: Arrival, holes: bool) {
        assert_eq!(policy(200, 2, 0).on_data(START, 10, RMSS, kind, holes), AckDecision::Now);
    }

    #[test]
    fn an_ack_that_leaves_with_data_makes_the_timer_pointless() {
        let mut policy = policy(40, 2, 0);
        in_order(&mut policy, 0, 10);
        policy.on_ack_sent();
        assert!(!policy.on_timer());
        assert_eq!(in_order(&mut policy, 5, RMSS), AckDecision::After(at_ms(45)));
    }

    #[test]
    fn the_first_segments_are_acknowledged_one_by_one() {
        let mut policy = policy(40, 2, 3);
        let decisions: Vec<AckDecision> = (0..4)
            .map(|_| {
                let decision = in_order(&mut policy, 0, 100);
                policy.on_ack_sent();
                decision
            })
            .collect();
        assert_eq!(decisions, [AckDecision::Now, AckDecision::Now, AckDecision::Now, AckDecision::After(at_ms(40))]);
    }

    /// With a heartbeat of 200 ms; `START` falls on it.
    #[test_case(0, 200; "on the beat waits for the next")]
    #[test_case(1, 200)]
    #[test_case(199, 200; "just before it hardly waits")]
    #[test_case(200, 400)]
    #[test_case(330, 400)]
    fn a_heartbeat_acknowledges_at_its_multiples(arrives_ms: u64, acknowledged_ms: u64) {
        let mut policy = policy(200, 2, 0);
        policy.policy.beat = Beat::OfHost;
        assert_eq!(in_order(&mut policy, arrives_ms, 100), AckDecision::After(at_ms(acknowledged_ms)));
        assert_eq!(in_order(&mut policy, arrives_ms, 100), AckDecision::Pending);
    }

    /// How many of four segments are acknowledged individually, after as many before and a pause of `pause_ms`, at a timeout of
    /// 300 ms.
    #[test_case(QuickAgain::AfterIdle, 301 => 2; "after a pause")]
    #[test_case(QuickAgain::AfterIdle, 300 => 0; "not within the timeout")]
    #[test_case(QuickAgain::Never, 10_000 => 0; "never")]
    fn segments_are_acknowledged_one_by_one_again(again: QuickAgain, pause_ms: u64) -> usize {
        let mut policy = policy(40, 2, 2);
        policy.config.quick_again = again;
        let mut quick = |at: u64| {
            let decision = in_order(&mut policy, at, 100);
            policy.on_ack_sent();
            decision == AckDecision::Now
        };
        assert_eq!((0..4).filter(|_| quick(0)).count(), 2, "at the start");
        (0..4).filter(|nth| quick(pause_ms + nth)).count()
    }

    #[test]
    fn delaying_can_be_turned_off() {
        let mut policy = policy(0, 1, 0);
        assert_eq!(in_order(&mut policy, 0, 1), AckDecision::Now);
    }
}
