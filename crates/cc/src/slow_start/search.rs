//! SEARCH: slow start that ends when less arrives than was sent a round trip before (draft-chung-ccwg-search-09).
//!
//! While the path has room, a window of time delivers what was sent in the same window one round trip earlier. Once it has none,
//! delivery stays at its rate and what was sent keeps doubling; a shortfall of a fixed share ends slow start. Round trips only
//! place the look-back, so that jitter disturbs less than it does HyStart. [`bins`](super::bins) keeps the totals.
//!
//! The earlier drafts (up to -08) compare with twice of what was *delivered* a round trip before, with another threshold.
//!
//! Only a connection's first slow start searches; after a congestion signal the window just grows to `ssthresh`.

use super::bins::{Bins, Expected};
use super::drain::{Drain, ExitWindow};
use super::limit::AckLimit;
use super::{ExitCause, SlowStart, Step};
use crate::avoidance::{is_open, ratio};
use crate::control::CcPhase;
use crate::sample::AckSample;
use crate::window::Window;
use base::{Bytes, Ratio};

/// SEARCH's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// With what delivery is compared.
    pub expected: Expected,
    /// The share that is missing when slow start ends, between 0 and 1.
    pub threshold: Ratio,
    /// The window of time that is compared, in percent of the first round trip; from 100 to 1000.
    pub window_percent: u32,
    /// Whether an unused window makes the measurement start over.
    pub unused: Unused,
    /// What becomes of the window.
    pub exit: ExitWindow,
}

/// What an ACK of a flight that did not use the window does to the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Nothing: less is expected, too.
    Measured,
    /// It starts over.
    StartsOver,
}

impl SearchConfig {
    /// Delivery is compared with what was sent; the window drains.
    pub const SENT: Self = Self {
        limit_segments: None,
        expected: Expected::Sent,
        threshold: ratio(13, 50),
        window_percent: 350,
        unused: Unused::Measured,
        exit: ExitWindow::Drained,
    };
    /// Delivery is compared with earlier delivery; the window stays.
    pub const DELIVERED: Self = Self {
        expected: Expected::TwiceDelivered,
        threshold: ratio(7, 20),
        unused: Unused::StartsOver,
        exit: ExitWindow::Kept,
        ..Self::SENT
    };

    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let what = "must lie between 0 and 1, neither included, with at most six decimals";
        need(is_open(self.threshold), "cc.slow_start.threshold", what);
        let what = "must be between 100 and 1000";
        need((100..=1_000).contains(&self.window_percent), "cc.slow_start.window_percent", what);
    }
}

/// Slow start with SEARCH.
#[derive(Clone, Debug)]
pub struct Search {
    limit: AckLimit,
    config: SearchConfig,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Measuring. Boxed, because all but the first seconds of a connection go without.
    Searching(Option<Box<Bins>>),
    Draining(Drain),
    Done,
}

impl Search {
    /// Creates the policy of a connection's first slow start.
    pub const fn new(config: &SearchConfig) -> Self {
        Self { limit: AckLimit::new(config.limit_segments), config: *config, phase: Phase::Searching(None) }
    }

    /// Measures; returns the window that was delivered in the last round trip, bytes, if the path is full.
    fn measure(&mut self, ack: &AckSample) -> Option<Bytes> {
        let Phase::Searching(bins) = &mut self.phase else { return None };
        if self.config.unused == Unused::StartsOver && !ack.cwnd_limited {
            if let Some(bins) = bins {
                bins.start_over(ack);
            }
            return None;
        }
        let Some(bins) = bins else {
            *bins = Bins::new(ack, self.config.window_percent, self.config.expected).map(Box::new);
            return None;
        };
        if !bins.on_ack(ack) {
            return None;
        }
        let (expected, delivered) = bins.expected_and_delivered(ack.rtt?)?;
        let missing = u128::from(expected.saturating_sub(delivered)) * u128::from(self.config.threshold.den());
        let enough = u128::from(expected) * u128::from(self.config.threshold.num());
        (expected > 0 && missing >= enough).then(|| bins.delivered_in_a_round_trip())
    }
}

impl SlowStart for Search {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        if let Phase::Draining(drain) = &mut self.phase {
            let step = drain.on_ack(ack.acked, window, ExitCause::Shortfall);
            if matches!(step, Step::Exit { .. }) {
                self.phase = Phase::Done;
            }
            return step;
        }
        let Some(target) = self.measure(ack) else { return Step::Grow(self.limit.bytes(ack, window)) };
        match self.config.exit {
            ExitWindow::Drained => {
                self.phase = Phase::Draining(Drain::to(target));
                Step::Turn(0)
            }
            ExitWindow::Kept => {
                self.phase = Phase::Done;
                Step::Exit { window: window.cwnd(), cause: ExitCause::Shortfall }
            }
        }
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn on_undo(&mut self) {
        if let Phase::Searching(bins) = &mut self.phase {
            *bins = None;
        }
    }

    fn phase(&self) -> CcPhase {
        match self.phase {
            Phase::Searching(_) | Phase::Done => Self::PHASE,
            Phase::Draining(_) => CcPhase::Draining,
        }
    }

    fn boxed_size(&self) -> usize {
        match &self.phase {
            Phase::Searching(Some(bins)) => size_of_val(&**bins),
            Phase::Searching(None) | Phase::Draining(_) | Phase::Done => 0,
        }
    }
}

#[cfg(test)]
mod tests;
