//! Delayed ACKs that learn from the traffic ([`AckTimer::Adaptive`](super::AckTimer)): within RFC 9293 §3.8.6.3 and RFC 5681
//! §4.2, which bound the delay and the bytes without an ACK, the rest is a law found in the field.
//!
//! Owns the delay in force and whether replies follow data. The delay begins with `delay`, is the mean of itself and the
//! interval between arrivals while that is shorter, doubles when an ACK had to leave by itself, and ends at the round trip or
//! at `delay_max`. Deviation from RFC 5681 §4.2: a second full-sized segment waits while the application does not read and
//! the window could not be offered again, because its reading will send the ACK.

use super::{AckConfig, AckDecision, AckPolicy, AckTimer, Arrival, QuickAgain, SMALLEST_FULL_SIZE, Waiting, quick};
use base::{Bytes, Duration, Instant};

/// What an adaptive delay has learnt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learnt {
    /// The delay in force, in milliseconds; zero before the first data.
    delay_ms: u16,
    /// Replies that followed data within the delay; saturates.
    replies: u8,
    /// Small segments since the last ACK, two at most.
    small: u8,
}

/// A segment that has arrived, and what its acknowledgement depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub now: Instant,
    /// Its bytes.
    pub len: Bytes,
    /// It asked to be handed on at once.
    pub push: bool,
    pub kind: Arrival,
    /// Data waits out of order now that it is in place.
    pub holes: bool,
    /// Largest segment the peer may send.
    pub rmss: Bytes,
    /// The window the peer was last shown, less what has arrived since.
    pub window: Bytes,
    /// The window that could be offered now.
    pub room: Bytes,
    /// Memory for more is running out.
    pub scarce: bool,
    /// When the delayed-ACK timer fires, if it runs.
    pub armed: Option<Instant>,
    /// The retransmission timeout.
    pub rto: Duration,
    pub srtt: Option<Duration>,
}

/// What the application asks for (a socket option; no RFC has it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPace {
    /// What has arrived is acknowledged as soon as it is read, and what comes as quickly as the policy allows.
    Quick,
    /// What has arrived is, and what comes then is delayed.
    QuickOnce,
    /// What comes is delayed, so that replies carry the ACKs.
    Delayed,
}

impl AckPolicy {
    /// A segment arrived that occupies sequence numbers: when to acknowledge.
    pub fn adapt(&mut self, config: &AckConfig, arrived: &Arriving) -> AckDecision {
        self.unacknowledged = self.unacknowledged.saturating_add(arrived.len);
        if arrived.len > 0 {
            self.measure(arrived);
        }
        match arrived.kind {
            Arrival::Duplicate => {
                // The ACK of the first copy was lost, or came too late.
                self.hurry(config, arrived.window, arrived.rmss);
                return AckDecision::Now;
            }
            Arrival::OutOfOrder | Arrival::FillsGap => return AckDecision::Now,
            Arrival::InOrder if arrived.len > 0 => self.learn(config, arrived),
            Arrival::InOrder => {}
        }
        // The ACK would offer at least the window that the last one did: what came meanwhile was read, or there is more room.
        let reopens = arrived.room >= arrived.window.saturating_add(self.unacknowledged);
        let several = self.unacknowledged > self.full_size(arrived.rmss);
        if several && arrived.scarce {
            // A sender that is hurried would only fill it sooner.
            self.quick_left = 0;
        }
        let more_than_one = several && reopens;
        if arrived.holes || more_than_one || (self.quick_left > 0 && !self.is_answered()) {
            return AckDecision::Now;
        }
        self.delay_from(config, arrived)
    }

    /// What counts as full-sized.
    fn full_size(&self, rmss: Bytes) -> Bytes {
        self.largest.max(SMALLEST_FULL_SIZE).min(rmss)
    }

    fn measure(&mut self, arrived: &Arriving) {
        let small = arrived.len < self.full_size(arrived.rmss);
        self.largest = self.largest.max(arrived.len.min(arrived.rmss));
        if small {
            self.adaptive.small = (self.adaptive.small + 1).min(2);
        } else if arrived.push {
            self.adaptive.small = self.adaptive.small.max(1);
        }
    }

    fn learn(&mut self, config: &AckConfig, arrived: &Arriving) {
        let now_ms = (arrived.now.as_nanos() / 1_000_000) as u32;
        let least = config.delay.as_millis();
        let delay = u64::from(self.adaptive.delay_ms);
        let interval = u64::from(now_ms.wrapping_sub(self.latest_ms));
        self.latest_ms = now_ms;
        if delay == 0 {
            self.quicken(config, arrived.window, arrived.rmss);
            self.set_delay(least);
        } else if interval <= least / 2 {
            self.set_delay(delay / 2 + least / 2);
        } else if interval < delay {
            self.set_delay((delay / 2 + interval).min(arrived.rto.as_millis()));
        } else if interval > arrived.rto.as_millis() && config.quick_again == QuickAgain::AfterIdle {
            // The sender should have begun with a small window again.
            self.quicken(config, arrived.window, arrived.rmss);
        }
    }

    fn set_delay(&mut self, ms: u64) {
        self.adaptive.delay_ms = u16::try_from(ms.max(1)).unwrap_or(u16::MAX);
    }

    /// One by one are acknowledged as many as make half a window, at least two and at most `quick_segments`.
    fn quicken(&mut self, config: &AckConfig, window: Bytes, rmss: Bytes) {
        let half_a_window = u16::try_from(window / (2 * self.full_size(rmss)).max(1)).unwrap_or(u16::MAX);
        let segments = if half_a_window == 0 { 2 } else { half_a_window };
        self.quick_left = self.quick_left.max(segments.min(quick(config)));
    }

    /// The peer seems to wait for ACKs: they leave at once for a while.
    pub fn hurry(&mut self, config: &AckConfig, window: Bytes, rmss: Bytes) {
        self.quicken(config, window, rmss);
        self.adaptive.replies = 0;
        self.set_delay(config.delay.as_millis());
    }

    /// Replies follow data, and carry the ACKs.
    fn is_answered(&self) -> bool {
        self.adaptive.replies > 0
    }

    fn delay_from(&mut self, config: &AckConfig, arrived: &Arriving) -> AckDecision {
        let mut delay = Duration::from_millis(u64::from(self.adaptive.delay_ms));
        if delay > config.delay {
            let interactive = self.is_answered() || self.adaptive.small > 0;
            let most = if interactive { config.delay_max } else { Duration::from_millis(500) };
            let round_trip = arrived.srtt.map_or(most, |srtt| srtt.max(config.delay));
            delay = delay.min(most).min(round_trip);
        }
        delay = delay.min(config.delay_max);
        self.waiting = Waiting::ForTimer;
        let at = arrived.now + delay;
        match arrived.armed {
            Some(armed) if armed <= arrived.now + delay.scale(1, 4) => AckDecision::Now,
            Some(armed) if armed <= at => AckDecision::Pending,
            _ if delay.is_zero() => AckDecision::Now,
            _ => AckDecision::After(at),
        }
    }

    /// The peer's SYN-ACK has arrived, and its acknowledgement may wait for data until the moment returned. Where the delay
    /// adapts, the SYN-ACK is the first data.
    pub fn on_syn_ack(&mut self, config: &AckConfig, now: Instant, window: Bytes, rmss: Bytes) -> Instant {
        if config.timer == AckTimer::Adaptive {
            self.latest_ms = (now.as_nanos() / 1_000_000) as u32;
            self.hurry(config, window, rmss);
        }
        self.waiting = Waiting::ForTimer;
        now + config.delay_max
    }

    /// The peer has closed, and we have not: the ACK waits for our reply like that of data.
    pub fn on_fin(&mut self) {
        self.adaptive.replies = self.adaptive.replies.max(1);
    }

    /// Data leaves: perhaps a reply.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        if self.adaptive.delay_ms > 0 {
            let now_ms = (now.as_nanos() / 1_000_000) as u32;
            if now_ms.wrapping_sub(self.latest_ms) < u32::from(self.adaptive.delay_ms) {
                self.adaptive.replies = self.adaptive.replies.saturating_add(1);
            }
        }
    }

    /// A segment leaves that acknowledges; called before the bytes it covers are forgotten.
    pub(super) fn count_quick_ack(&mut self, config: &AckConfig) {
        let covers = self.unacknowledged > 0 || self.waiting == Waiting::ForTimer;
        self.adaptive.small = 0;
        if covers && self.quick_left > 0 {
            self.quick_left -= 1;
            if self.quick_left == 0 {
                self.set_delay(config.delay.as_millis());
            }
        }
    }

    /// An ACK has to leave by itself: nothing came to carry it.
    pub(super) fn lengthen(&mut self, config: &AckConfig, rto: Duration) {
        if self.is_answered() {
            self.adaptive.replies = 0;
            self.set_delay(config.delay.as_millis());
        } else {
            self.set_delay((2 * u64::from(self.adaptive.delay_ms)).min(rto.as_millis()));
        }
    }

    /// The application has read, perhaps everything: does the ACK that waits leave now?
    pub fn on_read(&mut self, rmss: Bytes, all: bool) -> bool {
        let small = self.adaptive.small;
        self.waiting == Waiting::ForTimer
            && (self.unacknowledged > self.full_size(rmss)
                || (all && (small == 2 || (small == 1 && !self.is_answered()))))
    }

    /// The application asks for another pace. Returns whether the ACK that waits leaves now.
    pub fn set_pace(&mut self, pace: AckPace, rmss: Bytes, all_read: bool) -> bool {
        let mut now = false;
        if pace != AckPace::Delayed {
            self.adaptive.replies = 0;
            self.adaptive.small = self.adaptive.small.max(1);
            now = self.on_read(rmss, all_read);
        }
        if pace != AckPace::Quick {
            self.adaptive.replies = 1;
        }
        now
    }

    /// Whether ACKs leave quickly as far as replies are concerned: what the application asked for, or has shown since.
    pub fn pace(&self) -> AckPace {
        if self.is_answered() { AckPace::Delayed } else { AckPace::Quick }
    }

    /// The delay in force.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(u64::from(self.adaptive.delay_ms))
    }
}

#[cfg(test)]
mod tests;
