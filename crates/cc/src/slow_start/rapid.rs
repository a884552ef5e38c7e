//! Rapid Start triples the window each round trip while the path has no queue; a recovery of its own repairs the overshoot
//! (draft-kazuho-ccwg-rapid-start-02).
//!
//! The first flight is larger than usual and leaves spread over a whole round trip. After it an acknowledged byte opens the window by
//! two more while the shortest round trip of about the last round shows no queue ([`floor`](super::floor)), else by one.
//!
//! The window at the first loss may be thrice what the path holds, so the loss is not answered by a fixed factor: [`Settling`]
//! lowers the window by what arrives and by what is lost, and what remains is the usual share of what arrived. `ssthresh` is set at
//! its end. While it lasts the window alone says what leaves, and further losses are part of it.
//!
//! Only a connection's first slow start is rapid.

use super::floor::RttFloor;
use super::limit::AckLimit;
use super::settling::Settling;
use super::{RecoveryStep, SlowStart, Step};
use crate::avoidance::{is_open, ratio};
use crate::control::{CcPhase, Pacing};
use crate::sample::{AckSample, LossSample};
use crate::window::Window;
use base::{Bytes, Duration, Rate, Ratio};

/// Rapid Start's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RapidConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// Segments of the first flight, in place of the initial window's; it leaves over one round trip.
    pub first_flight_segments: u32,
    /// A round trip longer than the shortest one by this much shows a queue, ...
    pub queue_delay: Duration,
    /// ... and so does one of this percentage of the shortest one; the smaller margin counts. At least 100.
    pub queue_percent: u32,
    /// K: which share of the usual reduction the window bears in proportion to what arrives, between 0 and 1; the rest it bears at
    /// once.
    pub recovery_share: Ratio,
}

impl Default for RapidConfig {
    /// The draft's numbers: twice the usual first flight, 4 ms or a tenth, two thirds.
    fn default() -> Self {
        Self {
            limit_segments: None,
            first_flight_segments: 20,
            queue_delay: Duration::from_millis(4),
            queue_percent: 110,
            recovery_share: ratio(2, 3),
        }
    }
}

impl RapidConfig {
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let least = self.first_flight_segments;
        need(least >= 1, "cc.slow_start.first_flight_segments", "must be at least 1");
        let what = "must be between 1us and 10s";
        let spans = Duration::from_micros(1)..=Duration::from_secs(10);
        need(spans.contains(&self.queue_delay), "cc.slow_start.queue_delay", what);
        let what = "must be between 100 and 1000";
        need((100..=1_000).contains(&self.queue_percent), "cc.slow_start.queue_percent", what);
        let what = "must lie between 0 and 1, neither included, with at most six decimals";
        need(is_open(self.recovery_share), "cc.slow_start.recovery_share", what);
    }
}

/// Slow start that triples.
#[derive(Clone, Debug)]
pub struct Rapid {
    limit: AckLimit,
    queue_delay: Duration,
    queue_percent: u32,
    recovery_share: Ratio,
    /// Bytes lost since the connection began.
    lost: Bytes,
    floor: RttFloor,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Before the first acknowledgement; the pace of the first flight, once the round trip is known.
    First(Option<Rate>),
    Searching,
    Settling(Settling),
    Done,
}

impl Rapid {
    /// Creates the policy of a connection's first slow start.
    pub const fn new(config: &RapidConfig) -> Self {
        Self {
            limit: AckLimit::new(config.limit_segments),
            queue_delay: config.queue_delay,
            queue_percent: config.queue_percent,
            recovery_share: config.recovery_share,
            lost: 0,
            floor: RttFloor::NONE,
            phase: Phase::First(None),
        }
    }

    /// Returns the round trip that shows a queue if none of the last ones was shorter or as short.
    fn queued_from(&self, min_rtt: Duration) -> Duration {
        (min_rtt + self.queue_delay).min(min_rtt.scale(u64::from(self.queue_percent), 100))
    }
}

impl SlowStart for Rapid {
    const PHASE: CcPhase = CcPhase::SlowStart;
    const RECOVERS: bool = true;

    fn on_flight_start(&mut self, srtt: Option<Duration>, window: &Window) {
        if let (Phase::First(pace), Some(rtt)) = (&mut self.phase, srtt) {
            *pace = Rate::from_delivery(window.cwnd().into(), rtt);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        let bytes = self.limit.bytes(ack, window);
        match self.phase {
            Phase::First(_) => self.phase = Phase::Searching,
            Phase::Searching => {}
            Phase::Settling(_) | Phase::Done => return Step::Grow(bytes),
        }
        let Some(min_rtt) = ack.min_rtt else { return Step::Grow(bytes) };
        let floor = self.floor.on_ack(ack.now, ack.rtt, min_rtt);
        let queue = floor.is_none_or(|floor| floor > self.queued_from(min_rtt));
        Step::Grow(if queue { bytes } else { bytes.saturating_mul(2) })
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.lost = self.lost.saturating_add(lost.bytes);
        if let Phase::Settling(settling) = &mut self.phase {
            settling.on_lost(lost.bytes);
        }
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn takes_over(&mut self, prior: Bytes, reduced: Bytes) -> Option<Bytes> {
        let settling = match self.phase {
            Phase::Done => return None,
            Phase::Settling(settling) => settling.prolonged(),
            Phase::First(_) | Phase::Searching => {
                let mut settling = Settling::new(prior, reduced, self.recovery_share);
                settling.on_lost(self.lost);
                settling
            }
        };
        let window = settling.window();
        self.limit = AckLimit::AFTER_CONGESTION;
        self.phase = Phase::Settling(settling);
        Some(window)
    }

    fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Settling(_))
    }

    fn recover(&mut self, ack: &AckSample) -> RecoveryStep {
        let Phase::Settling(settling) = &mut self.phase else { return RecoveryStep::Window(0) };
        if settling.on_ack(ack) {
            return self.end_recovery();
        }
        RecoveryStep::Window(settling.window())
    }

    fn end_recovery(&mut self) -> RecoveryStep {
        let Phase::Settling(settling) = core::mem::replace(&mut self.phase, Phase::Done) else {
            return RecoveryStep::Window(0);
        };
        RecoveryStep::Over { capacity: settling.capacity() }
    }

    fn pacing(&self, window: &Window) -> Option<Pacing> {
        match self.phase {
            Phase::First(pace) => pace.map(|rate| Pacing::Rate { rate, quantum: window.smss() }),
            Phase::Searching | Phase::Settling(_) | Phase::Done => None,
        }
    }
}

#[cfg(test)]
mod tests;
