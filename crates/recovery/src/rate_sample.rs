//! Delivery-rate samples (draft-ietf-ccwg-bbr §4.1).
//!
//! Each transmission is stamped with the delivery count at that moment; the stamp of the newest segment that an ACK delivers
//! tells how much was delivered since, in which time. The board keeps the stamps and returns the right one.
//!
//! Owns: the delivery and loss counts of the connection, and the mark that ends an application-limited phase.

mod stamp;

pub use base::RateSample;
pub use stamp::RateStamp;

use crate::scoreboard::Delivered;
use base::{Bytes, Duration, Instant};

/// Makes stamps and, from them, samples.
#[derive(Clone, Debug)]
pub struct RateSampler {
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    /// The delivery count at which the last application-limited segment will have left the flight; [`NEVER`] while the
    /// application keeps up.
    app_limited_until: u64,
}

/// No count reaches this.
const NEVER: u64 = u64::MAX;

impl Default for RateSampler {
    fn default() -> Self {
        Self { delivered: 0, delivered_at: Instant::ZERO, first_sent: Instant::ZERO, lost: 0, app_limited_until: NEVER }
    }
}

impl RateSampler {
    /// Nothing sent yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the stamp of a segment that leaves now, with `pipe_before` bytes in flight before it.
    #[inline]
    pub fn stamp(&mut self, now: Instant, pipe_before: Bytes) -> RateStamp {
        if pipe_before == 0 {
            // The path was idle: both intervals begin here, or the pause would count as slow delivery.
            self.first_sent = now;
            self.delivered_at = now;
        }
        RateStamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            pipe: pipe_before,
            app_limited: self.is_app_limited(),
        }
    }

    /// Counts what an ACK delivered and forms its sample; none if nothing was delivered, or in less time than the minimum RTT,
    /// which no genuine path can do.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, ack: &Delivered, min_rtt: Option<Duration>) -> Option<RateSample> {
        if ack.delivered == 0 {
            return None;
        }
        self.delivered += u64::from(ack.delivered);
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = NEVER;
        }
        let newest = ack.newest?;
        let stamp = newest.stamp;
        self.first_sent = newest.xmit.at;
        let send_elapsed = newest.xmit.at.since(stamp.first_sent);
        let ack_elapsed = now.since(stamp.delivered_at);
        // ACKs may arrive compressed; the longer interval keeps the rate from exceeding the sending rate.
        let interval = send_elapsed.max(ack_elapsed);
        if min_rtt.is_some_and(|min_rtt| interval < min_rtt) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            pipe_at_send: stamp.pipe,
            lost: self.lost_since(&stamp),
            app_limited: stamp.app_limited,
        })
    }

    /// Notes that the application has nothing to send while `pipe` bytes are in flight: segments sent until those are delivered
    /// measure the application.
    #[inline]
    pub fn on_app_limited(&mut self, pipe: Bytes) {
        self.app_limited_until = self.delivered + u64::from(pipe);
    }

    /// Bytes were marked lost.
    pub fn on_lost(&mut self, bytes: Bytes) {
        self.lost += u64::from(bytes);
    }

    /// Returns the bytes marked lost since the transmission of this stamp.
    pub fn lost_since(&self, stamp: &RateStamp) -> u64 {
        self.lost - stamp.lost
    }

    /// Returns whether what leaves now counts as limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until != NEVER
    }

    /// Bytes delivered on the connection, each counted once.
    pub fn total_delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::Scoreboard;
    use base::{SeqNum, SeqRange};

    const SEGMENT: u32 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    struct Flow {
        board: Scoreboard,
        sampler: RateSampler,
        out: Delivered,
        nxt: u32,
    }

    impl Flow {
        fn new() -> Self {
            Self { board: Scoreboard::new(SeqNum(0)), sampler: RateSampler::new(), out: Delivered::default(), nxt: 0 }
        }
        fn send(&mut self, ms: u64) {
            let stamp = self.sampler.stamp(at(ms), self.board.pipe());
            self.board.on_sent(SeqRange::new(SeqNum(self.nxt), SeqNum(self.nxt + SEGMENT)), 0, stamp, at(ms));
            self.nxt += SEGMENT;
        }
        fn ack(&mut self, ms: u64, segments: u32) -> Option<RateSample> {
            self.board.apply(SeqNum(segments * SEGMENT), &[], &mut self.out);
            self.sampler.on_ack(at(ms), &self.out, Some(Duration::from_millis(10)))
        }
    }

    #[test]
    fn a_segment_each_millisecond_is_a_kilobyte_each_millisecond() {
        let mut flow = Flow::new();
        for ms in 0..30u64 {
            let sample = if ms < 10 { None } else { flow.ack(ms, ms as u32 - 9) };
            flow.send(ms);
            if let Some(sample) = sample.filter(|_| ms >= 20) {
                assert_eq!(sample.rate().unwrap().bits_per_sec(), 8_000_000);
                assert_eq!((sample.delivered, sample.interval), (10_000, Duration::from_millis(10)));
                assert_eq!((sample.prior_delivered, sample.pipe_at_send), (1000 * (ms - 19), 10_000));
            }
        }
        assert_eq!(flow.sampler.total_delivered(), 20_000);
    }

    #[test]
    fn acks_that_come_bunched_do_not_raise_the_rate() {
        let mut flow = Flow::new();
        (0..30).for_each(|ms| flow.send(ms));
        flow.ack(10, 1);
        let sample = flow.ack(40, 30).unwrap();
        // Thirty segments in forty milliseconds, not twenty-nine in the thirty between the ACKs.
        assert_eq!((sample.delivered, sample.interval), (30_000, Duration::from_millis(40)));
    }

    #[test]
    fn what_is_sent_after_a_bunch_is_measured_from_the_sending_of_the_bunch() {
        let mut flow = Flow::new();
        (0..30).for_each(|ms| flow.send(ms));
        flow.ack(40, 15);
        flow.send(41);
        let sample = flow.ack(51, 31).unwrap();
        // Sixteen segments were sent from 14 to 41 ms; that their ACKs took only 11 ms proves nothing.
        assert_eq!((sample.delivered, sample.interval), (16_000, Duration::from_millis(27)));
    }

    #[test]
    fn an_interval_below_the_minimum_rtt_gives_no_sample_but_counts() {
        let mut flow = Flow::new();
        flow.send(0);
        assert_eq!(flow.ack(9, 1), None);
        assert_eq!(flow.sampler.total_delivered(), 1000);
        flow.send(9);
        assert!(flow.ack(19, 2).is_some());
    }

    #[test]
    fn nothing_delivered_is_not_a_sample() {
        let mut flow = Flow::new();
        flow.send(0);
        assert_eq!(flow.ack(50, 0), None);
    }

    #[test]
    fn segments_sent_after_the_application_ran_dry_are_marked_until_those_before_are_delivered() {
        let mut flow = Flow::new();
        flow.send(0);
        flow.sampler.on_app_limited(flow.board.pipe());
        flow.send(1);
        assert!(!flow.ack(10, 1).unwrap().app_limited);
        flow.send(10);
        assert!(flow.ack(11, 2).unwrap().app_limited);
        assert!(flow.ack(20, 3).unwrap().app_limited, "sent when only what was in flight then had been delivered");
        flow.send(22);
        assert!(!flow.ack(32, 4).unwrap().app_limited);
    }

    #[test]
    fn silence_is_not_slow_delivery() {
        let mut flow = Flow::new();
        flow.send(0);
        flow.ack(10, 1);
        flow.send(5_000);
        assert_eq!(flow.ack(5_010, 2).unwrap().interval, Duration::from_millis(10));
    }

    #[test]
    fn losses_since_the_transmission_are_counted() {
        let mut flow = Flow::new();
        flow.sampler.on_lost(500);
        flow.send(0);
        flow.sampler.on_lost(3_000);
        assert_eq!(flow.ack(10, 1).unwrap().lost, 3_000);
    }
}
