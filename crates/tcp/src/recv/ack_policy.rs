//! When to acknowledge (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
//!
//! Owns how much data no ACK has covered yet. The configuration is lent to it, since endpoints are many and share theirs.
//! Owns no deadline: it returns one and the endpoint arms it; several
//! segments of one instant that each ask for an ACK are covered by the one that leaves at the end of the turn (MUST-58).
//!
//! Every second full-sized segment is acknowledged by counting bytes, so that one large frame made of several segments
//! counts as several. What is full-sized is learnt from the peer: the largest segment it has sent, between 536 bytes and
//! `rmss`. A peer whose path allows less than our MSS would otherwise be acknowledged less often than every second segment.

mod adaptive;

pub use adaptive::AckPace;
pub(crate) use adaptive::Arriving;

use super::Arrival;
use base::{Bytes, Duration, Instant};

/// A smaller segment is not taken for the largest the peer can send (RFC 9293 MUST-15: the default MSS).
const SMALLEST_FULL_SIZE: Bytes = 536;

/// The ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckConfig {
    /// Longest time data stays unacknowledged. RFC 9293 MUST-40: below 500 ms.
    pub delay: Duration,
    /// What that time is counted from.
    pub timer: AckTimer,
    /// Up to where an adaptive delay may grow; `delay` is where it begins. Below 500 ms, too.
    pub delay_max: Duration,
    /// Full-sized segments that make an ACK due at once. RFC 5681 §4.2: at most 2; 1 turns delaying off.
    pub every_segments: u32,
    /// That many segments at the start of a connection are acknowledged one by one, so that the peer's slow start is not
    /// held back. Zero turns it off; 65,535 and more are the same.
    pub quick_segments: u32,
    /// Whether they are again after a pause, when the peer begins with a small window again.
    pub quick_again: QuickAgain,
}

/// What delayed ACKs wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckTimer {
    /// The delay counts from the first segment that is not acknowledged.
    PerSegment,
    /// The delay is the period of one beat for all connections, at its multiples since the clock began: an ACK waits for the
    /// next, however close it is.
    Heartbeat,
    /// The delay follows the intervals at which data comes, and grows each time an ACK had to leave by itself. A connection on
    /// which replies follow data acknowledges with them; one without acknowledges more than one full-sized segment at once,
    /// and a small one as soon as it is read. A FIN that leaves this side open is delayed like data.
    Adaptive,
}

/// When segments are acknowledged one by one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickAgain {
    /// Only the connection's first ones are.
    Never,
    /// After no data came for longer than the retransmission timeout, which is when a sender restarts (RFC 5681 §4.1).
    AfterIdle,
}

impl Default for AckConfig {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(40),
            timer: AckTimer::PerSegment,
            delay_max: Duration::from_millis(200),
            every_segments: 2,
            quick_segments: 16,
            quick_again: QuickAgain::Never,
        }
    }
}

/// What to do about a segment that brought data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckDecision {
    /// An ACK leaves with this turn.
    Now,
    /// An ACK leaves at this moment at the latest: arm the timer.
    After(Instant),
    /// The timer that was armed before covers this segment as well.
    Pending,
}

/// Whether a delayed ACK is being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Nothing,
    ForTimer,
}

/// Decides when received data is acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct AckPolicy {
    waiting: Waiting,
    /// Bytes received since the last ACK.
    unacknowledged: Bytes,
    /// Largest segment seen.
    largest: Bytes,
    /// Segments that are still acknowledged one by one.
    quick_left: u16,
    /// When data last came, in milliseconds that wrap: endpoints are many, and a pause of 49 days may pass for none. Kept
    /// only where a pause matters.
    latest_ms: u32,
    /// What only an adaptive delay has: `adaptive.rs`.
    adaptive: adaptive::Learnt,
}

impl AckPolicy {
    /// A policy for a new connection.
    pub fn new(config: &AckConfig) -> Self {
        Self {
            waiting: Waiting::Nothing,
            unacknowledged: 0,
            largest: 0,
            quick_left: initially_quick(config),
            latest_ms: 0,
            adaptive: Default::default(),
        }
    }

    /// A segment with data is about to be judged, while the retransmission timeout is `rto`: did a pause end?
    #[inline]
    pub fn note_pause(&mut self, config: &AckConfig, now: Instant, rto: Duration) {
        if config.quick_again == QuickAgain::AfterIdle {
            // Before the first data all that is restored is there.
            let now_ms = (now.as_nanos() / 1_000_000) as u32;
            if u64::from(now_ms.wrapping_sub(self.latest_ms)) > rto.as_millis() {
                self.quick_left = quick(config);
            }
            self.latest_ms = now_ms;
        }
    }

    //= specs/rfc5681.md#acknowledging
    //# An ACK is delayed by less than 500 ms.
    //= specs/rfc5681.md#acknowledging
    //# An out-of-order segment is acknowledged at once.
    //= specs/rfc5681.md#acknowledging
    //# A segment that fills all or part of a gap is acknowledged at once.
    /// A segment with `len` bytes arrived on a connection of this configuration, the one it was made with. `rmss` is the
    /// largest segment the peer may send; `holes` says whether data waits out of order now that this segment is in place.
    #[inline(always)]
    pub fn on_data(
        &mut self,
        config: &AckConfig,
        now: Instant,
        len: Bytes,
        rmss: Bytes,
        kind: Arrival,
        holes: bool,
    ) -> AckDecision {
        self.unacknowledged = self.unacknowledged.saturating_add(len);
        self.largest = self.largest.max(len.min(rmss));
        let quick = self.quick_left > 0;
        self.quick_left = self.quick_left.saturating_sub(1);
        if quick || holes || kind != Arrival::InOrder || self.unacknowledged >= self.enough(config.every_segments, rmss)
        {
            return AckDecision::Now;
        }
        match self.waiting {
            Waiting::ForTimer => AckDecision::Pending,
            Waiting::Nothing => {
                self.waiting = Waiting::ForTimer;
                AckDecision::After(match config.timer {
                    AckTimer::PerSegment | AckTimer::Adaptive => now + config.delay,
                    AckTimer::Heartbeat => next_beat(now, config.delay),
                })
            }
        }
    }

    /// The largest segment the peer has sent; zero before the first.
    pub fn largest(&self) -> Bytes {
        self.largest
    }

    //= specs/rfc5681.md#acknowledging
    //# At least every second full-sized segment is acknowledged at once.
    /// Bytes that make an ACK due.
    #[inline]
    fn enough(&self, every_segments: u32, rmss: Bytes) -> Bytes {
        match every_segments {
            // Every segment, however small.
            0 | 1 => 0,
            every => self.largest.max(SMALLEST_FULL_SIZE).min(rmss).saturating_mul(every),
        }
    }

    /// A segment left that acknowledges everything received so far.
    #[inline]
    pub fn on_ack_sent(&mut self, config: &AckConfig) {
        if config.timer == AckTimer::Adaptive {
            self.count_quick_ack(config);
        }
        self.unacknowledged = 0;
        self.waiting = Waiting::Nothing;
    }

    /// The delayed-ACK timer fired, while the retransmission timeout is `rto`; returns whether there is anything to
    /// acknowledge.
    pub fn on_timer(&mut self, config: &AckConfig, rto: Duration) -> bool {
        let due = core::mem::replace(&mut self.waiting, Waiting::Nothing) == Waiting::ForTimer;
        if due && config.timer == AckTimer::Adaptive {
            self.lengthen(config, rto);
        }
        due
    }
}

/// Segments at the start that are acknowledged one by one; an adaptive delay decides that when data comes.
fn initially_quick(config: &AckConfig) -> u16 {
    if config.timer == AckTimer::Adaptive { 0 } else { quick(config) }
}

fn quick(config: &AckConfig) -> u16 {
    u16::try_from(config.quick_segments).unwrap_or(u16::MAX)
}

/// The first multiple of `period` after `now`.
fn next_beat(now: Instant, period: Duration) -> Instant {
    (now + Duration::from_nanos(1)).round_up_to(period)
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

    /// A policy and what it was made with.
    struct Receiver {
        config: AckConfig,
        policy: AckPolicy,
    }

    impl Receiver {
        fn on_data(&mut self, now: Instant, len: Bytes, rmss: Bytes, kind: Arrival, holes: bool) -> AckDecision {
            self.policy.on_data(&self.config, now, len, rmss, kind, holes)
        }
        fn on_ack_sent(&mut self) {
            self.policy.on_ack_sent(&self.config);
        }
        fn on_timer(&mut self) -> bool {
            self.policy.on_timer(&self.config, Duration::from_secs(1))
        }
    }

    fn policy(delay_ms: u64, every_segments: u32, quick_segments: u32) -> Receiver {
        let delay = Duration::from_millis(delay_ms);
        let config = AckConfig { delay, every_segments, quick_segments, ..AckConfig::default() };
        Receiver { policy: AckPolicy::new(&config), config }
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

    /// With a beat of 200 ms; `START` is on it.
    #[test_case(0, 200; "on the beat waits for the next")]
    #[test_case(1, 200)]
    #[test_case(199, 200; "just before it hardly waits")]
    #[test_case(200, 400)]
    #[test_case(330, 400)]
    fn a_heartbeat_acknowledges_at_its_multiples(arrives_ms: u64, acknowledged_ms: u64) {
        let mut policy = policy(200, 2, 0);
        policy.config.timer = AckTimer::Heartbeat;
        assert_eq!(in_order(&mut policy, arrives_ms, 100), AckDecision::After(at_ms(acknowledged_ms)));
        assert_eq!(in_order(&mut policy, arrives_ms, 100), AckDecision::Pending);
    }

    /// How many of four segments are acknowledged one by one, after as many were and a pause of `pause_ms` against a timeout of
    /// 300 ms.
    #[test_case(QuickAgain::AfterIdle, 301 => 2; "after a pause")]
    #[test_case(QuickAgain::AfterIdle, 300 => 0; "not within the timeout")]
    #[test_case(QuickAgain::Never, 10_000 => 0; "never")]
    fn segments_are_acknowledged_one_by_one_again(again: QuickAgain, pause_ms: u64) -> usize {
        let mut policy = policy(40, 2, 2);
        policy.config.quick_again = again;
        let mut quick = |at: u64| {
            let rto = Duration::from_millis(300);
            policy.policy.note_pause(&policy.config, at_ms(at), rto);
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
