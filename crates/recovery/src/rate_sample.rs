//! Delivery-rate samples (draft-ietf-ccwg-bbr §4.1).
//!
//! Each transmission is stamped with the delivery count of that moment; the stamp of the newest segment an ACK delivers
//! says how much was delivered since, over which time. The board keeps the stamps and hands the right one back.
//!
//! Owns: the delivery and loss counts of the connection, and the mark that ends an application-limited phase.

use crate::scoreboard::Delivered;
pub use base::RateSample;
use base::{Bytes, Duration, Instant};

/// What was known when a segment was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateStamp {
    /// Octets delivered on the connection by then (`P.delivered`).
    pub delivered: u64,
    /// When the last of them was (`P.delivered_time`).
    pub delivered_at: Instant,
    /// When the segment was sent whose delivery began the present sending interval (`P.first_send_time`).
    pub first_sent: Instant,
    /// Octets marked lost on the connection by then (`P.lost`).
    pub lost: u64,
    /// Octets in flight: before the transmission when it is handed to the board, with it once the board keeps it
    /// (`P.tx_in_flight`).
    pub pipe: Bytes,
    /// The application had nothing more to send.
    pub app_limited: bool,
}

/// Makes stamps and, from them, samples.
#[derive(Clone, Debug, Default)]
pub struct RateSampler {
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    /// The delivery count at which the last application-limited segment will have left the flight.
    app_limited_until: Option<u64>,
}

impl RateSampler {
    /// Nothing sent yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The stamp of a segment that leaves now, with `pipe_before` octets in flight before it.
    #[inline]
    pub fn stamp(&mut self, now: Instant, pipe_before: Bytes) -> RateStamp {
        if pipe_before == 0 {
            // The path was idle: both intervals begin here, or the silence would count as slow delivery.
            self.first_sent = now;
            self.delivered_at = now;
        }
        RateStamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            pipe: pipe_before,
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// Counts what an ACK delivered and forms its sample; none when nothing was delivered, or in a time shorter than the
    /// minimum RTT, in which no honest path delivers.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, ack: &Delivered, min_rtt: Option<Duration>) -> Option<RateSample> {
        if ack.delivered == 0 {
            return None;
        }
        self.delivered += u64::from(ack.delivered);
        self.delivered_at = now;
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let newest = ack.newest?;
        let stamp = newest.stamp;
        self.first_sent = newest.xmit.at;
        let send_elapsed = newest.xmit.at.since(stamp.first_sent);
        let ack_elapsed = now.since(stamp.delivered_at);
        // ACKs may come compressed; taking the longer interval keeps the rate from exceeding the sending rate.
        let interval = send_elapsed.max(ack_elapsed);
        if min_rtt.is_some_and(|min_rtt| interval < min_rtt) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            pipe_at_send: stamp.pipe,
            lost: self.lost - stamp.lost,
            app_limited: stamp.app_limited,
        })
    }

    /// The application has nothing to send while `pipe` octets are in flight: what is sent until those are delivered
    /// measures the application.
    #[inline]
    pub fn on_app_limited(&mut self, pipe: Bytes) {
        self.app_limited_until = Some(self.delivered + u64::from(pipe));
    }

    /// Octets were marked lost.
    pub fn on_lost(&mut self, bytes: Bytes) {
        self.lost += u64::from(bytes);
    }

    /// Octets delivered on the connection, each counted once.
    pub fn total_delivered(&self) -> u64 {
        self.delivered
    }
}
