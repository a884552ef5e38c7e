//! Delayed ACKs that learn from the traffic ([`AckTimer::Adaptive`](super::config::AckTimer)): RFC 9293 §3.8.6.3 and RFC 5681
//! §4.2 bound the delay and the bytes without an ACK; the rest models observed systems.
//!
//! Owns the current delay and whether replies follow data. The delay begins at `delay`. An interval between arrivals that is
//! shorter moves it to the mean of both; an ACK that had to leave alone doubles it, up to the round trip or `delay_max`.
//! Deviation from RFC 5681 §4.2: the ACK of a second full-sized segment waits while the application does not read and the same
//! window cannot be offered again, because its reading will send the ACK.

use super::config::{AckConfig, QuickAgain};
use super::owed::{AckDecision, AckPace, Arriving, Owed, Waiting, ms, quick};
use crate::recv::Arrival;
use base::{Bytes, Duration, Instant};

/// Decides by a delay that adapts.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    /// The current delay, in milliseconds; zero before the first data.
    delay_ms: u16,
    /// Replies that followed data within the delay; saturates.
    replies: u8,
    small: Small,
}

/// Small segments since the last ACK, as far as the policy distinguishes their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Small {
    None,
    One,
    Several,
}

/// What the acknowledgement of a segment depends on beside the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// It carries PSH.
    pub push: bool,
    /// The window last advertised to the peer, less later arrivals.
    pub window: Bytes,
    /// The window that could be offered now.
    pub room: Bytes,
    /// Memory for more data is running out.
    pub scarce: bool,
    /// When the delayed-ACK timer fires, if it runs.
    pub armed: Option<Instant>,
    pub srtt: Option<Duration>,
}

impl Adaptive {
    /// For a new connection; when the first data comes it is decided how many segments are acknowledged one by one.
    pub fn new() -> Self {
        Self { delay_ms: 0, replies: 0, small: Small::None }
    }

    /// Decides when to acknowledge an arrived segment that occupies sequence numbers.
    pub fn on_data(
        &mut self,
        owed: &mut Owed,
        config: &AckConfig,
        arrived: &Arriving,
        around: &Surroundings,
    ) -> AckDecision {
        owed.unacknowledged = owed.unacknowledged.saturating_add(arrived.len);
        if arrived.len > 0 {
            self.measure(owed, arrived, around.push);
        }
        match arrived.kind {
            Arrival::Duplicate => {
                // The ACK of the first copy was lost, or was late.
                self.hurry(owed, config, around.window, arrived.rmss);
                return AckDecision::Now;
            }
            Arrival::OutOfOrder | Arrival::FillsGap => return AckDecision::Now,
            Arrival::InOrder if arrived.len > 0 => self.learn(owed, config, arrived, around.window),
            Arrival::InOrder => {}
        }
        // The ACK would offer at least the window of the last one: the data since was read, or there is more room.
        let reopens = around.room >= around.window.saturating_add(owed.unacknowledged);
        let several = owed.unacknowledged > owed.full_size(arrived.rmss);
        if several && around.scarce {
            // Faster ACKs would only make the sender fill it sooner.
            owed.quick_left = 0;
        }
        let more_than_one = several && reopens;
        if arrived.holes || more_than_one || (owed.quick_left > 0 && !self.is_answered()) {
            return AckDecision::Now;
        }
        self.delay_from(owed, config, arrived.now, around)
    }

    fn measure(&mut self, owed: &mut Owed, arrived: &Arriving, push: bool) {
        let small = arrived.len < owed.full_size(arrived.rmss);
        owed.largest = owed.largest.max(arrived.len.min(arrived.rmss));
        if small {
            self.small = if self.small == Small::None { Small::One } else { Small::Several };
        } else if push {
            self.small = self.small.max(Small::One);
        }
    }

    fn learn(&mut self, owed: &mut Owed, config: &AckConfig, arrived: &Arriving, window: Bytes) {
        let now_ms = ms(arrived.now);
        let least = config.delay.as_millis();
        let delay = u64::from(self.delay_ms);
        let interval = u64::from(now_ms.wrapping_sub(owed.latest_ms));
        owed.latest_ms = now_ms;
        if delay == 0 {
            self.quicken(owed, config, window, arrived.rmss);
            self.set_delay(least);
        } else if interval <= least / 2 {
            self.set_delay(delay / 2 + least / 2);
        } else if interval < delay {
            self.set_delay((delay / 2 + interval).min(arrived.rto.as_millis()));
        } else if interval > arrived.rto.as_millis() && config.quick_again == QuickAgain::AfterIdle {
            // The sender should have restarted with a small window.
            self.quicken(owed, config, window, arrived.rmss);
        }
    }

    fn set_delay(&mut self, ms: u64) {
        self.delay_ms = u16::try_from(ms.max(1)).unwrap_or(u16::MAX);
    }

    /// Acknowledges individually half a window of segments, at least two and at most `quick_segments`.
    fn quicken(&mut self, owed: &mut Owed, config: &AckConfig, window: Bytes, rmss: Bytes) {
        let half_a_window = u16::try_from(window / (2 * owed.full_size(rmss)).max(1)).unwrap_or(u16::MAX);
        let segments = if half_a_window == 0 { 2 } else { half_a_window };
        owed.quick_left = owed.quick_left.max(segments.min(quick(config)));
    }

    /// Makes ACKs leave at once for a while, because the peer seems to wait for them.
    pub fn hurry(&mut self, owed: &mut Owed, config: &AckConfig, window: Bytes, rmss: Bytes) {
        self.quicken(owed, config, window, rmss);
        self.replies = 0;
        self.set_delay(config.delay.as_millis());
    }

    /// Returns whether replies follow data and carry the ACKs.
    pub fn is_answered(&self) -> bool {
        self.replies > 0
    }

    fn delay_from(&mut self, owed: &mut Owed, config: &AckConfig, now: Instant, around: &Surroundings) -> AckDecision {
        let mut delay = Duration::from_millis(u64::from(self.delay_ms));
        if delay > config.delay {
            let interactive = self.is_answered() || self.small != Small::None;
            let most = if interactive { config.delay_max } else { Duration::from_millis(500) };
            let round_trip = around.srtt.map_or(most, |srtt| srtt.max(config.delay));
            delay = delay.min(most).min(round_trip);
        }
        delay = delay.min(config.delay_max);
        owed.waiting = Waiting::ForTimer;
        let at = now + delay;
        match around.armed {
            Some(armed) if armed <= now + delay.scale(1, 4) => AckDecision::Now,
            Some(armed) if armed <= at => AckDecision::Pending,
            _ if delay.is_zero() => AckDecision::Now,
            _ => AckDecision::After(at),
        }
    }

    /// The peer's SYN-ACK has arrived: it is the first data.
    pub fn on_syn_ack(&mut self, owed: &mut Owed, config: &AckConfig, now: Instant, window: Bytes, rmss: Bytes) {
        owed.latest_ms = ms(now);
        self.hurry(owed, config, window, rmss);
    }

    /// Handles the peer's FIN while our side is open: its ACK waits for our reply like an ACK of data.
    pub fn on_fin(&mut self) {
        self.replies = self.replies.max(1);
    }

    /// Notes that data leaves, perhaps as a reply.
    #[inline]
    pub fn on_data_sent(&mut self, owed: &Owed, now: Instant) {
        if self.delay_ms > 0 {
            let now_ms = ms(now);
            if now_ms.wrapping_sub(owed.latest_ms) < u32::from(self.delay_ms) {
                self.replies = self.replies.saturating_add(1);
            }
        }
    }

    /// A segment left that acknowledges everything received so far.
    pub fn on_ack_sent(&mut self, owed: &mut Owed, config: &AckConfig) {
        let covers = owed.unacknowledged > 0 || owed.waiting == Waiting::ForTimer;
        self.small = Small::None;
        if covers && owed.quick_left > 0 {
            owed.quick_left -= 1;
            if owed.quick_left == 0 {
                self.set_delay(config.delay.as_millis());
            }
        }
        owed.on_ack_sent();
    }

    /// Lengthens the delay after an ACK had to leave alone.
    pub fn lengthen(&mut self, config: &AckConfig, rto: Duration) {
        if self.is_answered() {
            self.replies = 0;
            self.set_delay(config.delay.as_millis());
        } else {
            self.set_delay((2 * u64::from(self.delay_ms)).min(rto.as_millis()));
        }
    }

    /// Handles a read, perhaps of all data: returns whether the waiting ACK leaves now.
    pub fn on_read(&self, owed: &Owed, rmss: Bytes, all: bool) -> bool {
        let small = self.small;
        owed.waiting == Waiting::ForTimer
            && (owed.unacknowledged > owed.full_size(rmss)
                || (all && (small == Small::Several || (small == Small::One && !self.is_answered()))))
    }

    /// Adopts the pace that the application requests. Returns whether the waiting ACK leaves now.
    pub fn set_pace(&mut self, owed: &Owed, pace: AckPace, rmss: Bytes, all_read: bool) -> bool {
        let mut now = false;
        if pace != AckPace::Delayed {
            self.replies = 0;
            self.small = self.small.max(Small::One);
            now = self.on_read(owed, rmss, all_read);
        }
        if pace != AckPace::Quick {
            self.replies = 1;
        }
        now
    }

    /// Returns the current pace: what the application requested, or what its replies have shown since.
    pub fn pace(&self) -> AckPace {
        if self.is_answered() { AckPace::Delayed } else { AckPace::Quick }
    }

    /// Returns the current delay.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(u64::from(self.delay_ms))
    }
}

#[cfg(test)]
mod tests;
