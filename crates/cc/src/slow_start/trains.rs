//! Slow start by trains: each flight leaves much faster than the path is believed to carry it, so that its own acknowledgements show
//! the path's rate before the window fills the path. That a train of packets leaves a bottleneck at its rate is Keshav's, 1991, and
//! Dovrolis, Ramanathan and Moore's, 2001; the rules are this file's own.
//!
//! Pacing spreads a flight over a sixth of a round trip (`cc.pacing.slow_start_percent` = 600), so a flight of more than a sixth of
//! the bandwidth-delay product waits at the bottleneck, and its round trips grow from its beginning to its end. While they do not, the
//! flight *fits*, and the window triples. Once they do, acknowledgements come at the rate of the path, and the window becomes that rate
//! times the shortest round trip: no less than the last flight that fitted, and no more than tripling allows. What is missing leaves at
//! that rate.
//!
//! The measurement may be wrong, for hosts stall, links aggregate and jitter has every size. So slow start continues beside
//! avoidance: by a quarter of what is acknowledged, then a half, then all of it, as long as round trips show that the path has room
//! ([`Climb`]). It rests while they do not, and begins again when they do, also after losses that no queue explains.
//!
//! A train may overflow a small queue although the window would fit the path. Then the acknowledgements still show the path's rate,
//! and it is this rate times the round trip with a full queue to which avoidance applies its factor: slow start continues up to that,
//! at the path's rate.

mod climb;
mod flight;

use super::limit::AckLimit;
use super::{RecoveryStep, SlowStart, Step};
use crate::control::{CcPhase, Pacing};
use crate::sample::{AckSample, LossSample};
use crate::window::Window;
use base::{Bytes, Duration, Rate, SeqNum};
use climb::Climb;
use flight::{Completed, Flight};

/// Round trips that differ by less say nothing about a queue.
const LEAST_NOISE: Duration = Duration::from_millis(1);
/// A flight does not fit once its round trips have grown by this part of the shortest one: a sixteenth finds small queues too late, and
/// jitter has a margin of its own.
const STRETCH_DIVISOR: u64 = 32;
/// Jitter counts up to this part of the shortest round trip.
const NOISE_DIVISOR: u32 = 2;
/// Segments that may leave at once at a measured rate.
const QUANTUM: Bytes = 4;

/// The numbers of slow start by trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainsConfig {
    /// By how many percent of what is acknowledged the window opens while flights fit: 100 doubles it each round trip.
    pub growth_percent: u32,
}

impl Default for TrainsConfig {
    /// Tripling.
    fn default() -> Self {
        Self { growth_percent: 200 }
    }
}

impl TrainsConfig {
    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let what = "must be between 50 and 400";
        need((50..=400).contains(&self.growth_percent), "cc.slow_start.growth_percent", what);
    }
}

/// Slow start by trains.
#[derive(Clone, Debug)]
pub struct Trains {
    limit: AckLimit,
    growth_percent: u16,
    phase: Phase,
    flight: Flight,
    /// The largest flight that fitted, bytes.
    fitted: Bytes,
    /// The path's jitter: the most by which round trips of a flight rose and fell again, or by which the shortest one of a flight that
    /// fitted was longer than that of the connection.
    noise: Duration,
    climb: Climb,
    /// The window, and the connection's shortest round trip, at the last acknowledgement.
    last_window: Bytes,
    shortest: Option<Duration>,
    /// What was lost since the last signal, bytes.
    lost: Bytes,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Flights fit; whether this one queues, although not at a rate below what growth needs.
    Searching { queues: bool },
    /// This flight does not, and its end makes the measurement final. What leaves meanwhile does so at the measured rate.
    Measuring { rate: Rate },
    /// Beside avoidance.
    Climbing,
    /// After a loss of a train: this window, until all that was sent before `point` is acknowledged.
    Recovering { window: Bytes, capacity: Bytes, rate: Rate, point: Option<SeqNum> },
    /// After that: up to the share of the capacity that avoidance leaves, at the measured rate.
    Resuming { rate: Rate },
    /// After a congestion signal: up to what it leaves.
    Returning,
}

impl Trains {
    /// Creates the policy of a connection's first slow start; `first` is the first byte of data.
    pub fn new(config: &TrainsConfig, first: SeqNum) -> Self {
        Self {
            // Its departures are paced, however few ACKs arrive (RFC 9406 §4.2).
            limit: AckLimit::new(None),
            growth_percent: u16::try_from(config.growth_percent).unwrap_or(u16::MAX),
            phase: Phase::Searching { queues: false },
            flight: Flight::new(first),
            fitted: 0,
            noise: Duration::ZERO,
            climb: Climb::NEW,
            last_window: 0,
            shortest: None,
            lost: 0,
        }
    }

    /// Returns the window that growth makes of the present flight.
    fn grown(&self) -> Bytes {
        let percent = 100 + u64::from(self.growth_percent);
        u32::try_from(u64::from(self.flight.bytes()) * percent / 100).unwrap_or(u32::MAX)
    }

    /// Returns what the path holds without a queue, by the present flight's rate, within what fitted and what growth allows. With
    /// jitter the usual round trip is longer than the shortest one.
    fn held(&self, rate: Rate, min_rtt: Duration) -> Bytes {
        let held = u32::try_from(rate.bytes_in(min_rtt + self.noise)).unwrap_or(u32::MAX);
        held.min(self.grown()).max(self.fitted)
    }

    /// Takes an acknowledgement into the flight, and its jitter into that of the path.
    fn hear(&mut self, ack: &AckSample, window: &Window) -> Completed {
        let completed = self.flight.on_ack(ack, window.smss());
        self.note_jitter(self.flight.swing());
        completed
    }

    fn note_jitter(&mut self, jitter: Duration) {
        self.noise = self.noise.max(jitter).min(self.shortest.unwrap_or_default() / NOISE_DIVISOR);
    }

    fn climb(&mut self, ack: &AckSample, window: &Window) -> Step {
        let completed = self.hear(ack, window);
        let Some(shortest) = ack.min_rtt else { return Step::Contend(0) };
        self.climb.on_lost(core::mem::take(&mut self.lost), self.last_window, window.smss());
        match completed {
            Completed::Row { least, .. } => self.climb.on_row(least, shortest, self.noise),
            Completed::Flight { least: Some(least), .. } => self.climb.on_flight(least, shortest, self.noise),
            Completed::Flight { least: None, .. } | Completed::Nothing => {}
        }
        Step::Contend(self.climb.growth(self.limit.bytes(ack, window).min(window.cwnd())))
    }

    fn search(&mut self, ack: &AckSample, window: &Window) -> Step {
        let completed = self.hear(ack, window);
        // What is not judged grows no faster than by doubling.
        let percent = if self.flight.is_judged() { self.growth_percent } else { self.growth_percent.min(100) };
        let growth = u64::from(self.limit.bytes(ack, window)) * u64::from(percent) / 100;
        let grow = Step::Grow(u32::try_from(growth).unwrap_or(u32::MAX));
        match completed {
            Completed::Nothing => grow,
            Completed::Flight { bytes, least } => {
                if let (Phase::Searching { queues: false }, Some((least, shortest))) =
                    (&self.phase, least.zip(ack.min_rtt))
                {
                    self.note_jitter(least.saturating_sub(shortest));
                }
                self.fitted = self.fitted.max(bytes);
                self.phase = Phase::Searching { queues: false };
                grow
            }
            Completed::Row { stretch, .. } => self.stretched(ack, stretch, window).unwrap_or(grow),
        }
    }

    /// Begins to measure if round trips have grown and the path holds less than growth would make the window.
    fn stretched(&mut self, ack: &AckSample, stretch: Duration, window: &Window) -> Option<Step> {
        let min_rtt = ack.min_rtt?;
        let margin = min_rtt.scale(1, STRETCH_DIVISOR).max(LEAST_NOISE).max(self.noise);
        if stretch <= margin || !ack.cwnd_limited {
            return None;
        }
        self.phase = Phase::Searching { queues: true };
        let rate = self.flight.rate(ack)?;
        let held = self.held(rate, min_rtt);
        if held >= self.grown() {
            return None;
        }
        self.phase = Phase::Measuring { rate };
        Some(Step::Set(held.min(window.ssthresh())))
    }

    fn measure(&mut self, ack: &AckSample, window: &Window) -> Step {
        match self.hear(ack, window) {
            Completed::Nothing => Step::Set(window.cwnd()),
            Completed::Row { .. } => {
                let Some((rate, min_rtt)) = self.flight.rate(ack).zip(ack.min_rtt) else {
                    return Step::Set(window.cwnd());
                };
                self.phase = Phase::Measuring { rate };
                let most = if ack.cwnd_limited { window.ssthresh() } else { window.cwnd() };
                Step::Set(self.held(rate, min_rtt).min(most))
            }
            Completed::Flight { .. } => {
                self.phase = Phase::Climbing;
                Step::Contend(0)
            }
        }
    }
}

impl SlowStart for Trains {
    const PHASE: CcPhase = CcPhase::SlowStart;
    const RECOVERS: bool = true;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        self.shortest = ack.min_rtt;
        let step = match self.phase {
            Phase::Searching { .. } => self.search(ack, window),
            Phase::Measuring { .. } => self.measure(ack, window),
            // After a signal, and after a pause that shrank an unused window.
            _ if window.in_slow_start() => Step::Grow(self.limit.bytes(ack, window)),
            _ => {
                self.phase = Phase::Climbing;
                self.climb(ack, window)
            }
        };
        self.last_window = window.cwnd();
        step
    }

    fn phase(&self) -> CcPhase {
        match self.phase {
            Phase::Climbing => CcPhase::Lss,
            _ => CcPhase::SlowStart,
        }
    }

    fn pacing(&self, window: &Window) -> Option<Pacing> {
        let (Phase::Measuring { rate } | Phase::Recovering { rate, .. } | Phase::Resuming { rate }) = self.phase else {
            return None;
        };
        Some(Pacing::Rate { rate, quantum: window.smss().saturating_mul(QUANTUM) })
    }

    fn contends(&self) -> bool {
        true
    }

    fn competes(&self) -> bool {
        !self.climb.rests()
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.lost = self.lost.saturating_add(lost.bytes);
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase, self.lost) = (AckLimit::AFTER_CONGESTION, Phase::Returning, 0);
        self.flight.forget();
        if let Some(shortest) = self.shortest {
            self.climb.on_signal(shortest);
        }
    }

    fn on_undo(&mut self) {
        self.lost = 0;
        self.flight.forget();
    }

    fn takes_over(&mut self, prior: Bytes, reduced: Bytes) -> Option<Bytes> {
        match &mut self.phase {
            Phase::Recovering { window, capacity, point, .. } => {
                // Copies were lost, too: the path, or who polices it, holds less than its rate made believe.
                (*window, *capacity) = (reduced.min(*window), prior.min(*capacity));
                *point = None;
                return Some(*window);
            }
            Phase::Climbing if !self.climb.is_first_flight() => return None,
            Phase::Searching { queues: false } | Phase::Resuming { .. } | Phase::Returning => return None,
            Phase::Searching { queues: true } | Phase::Measuring { .. } | Phase::Climbing => {}
        }
        let (rate, full) = self.flight.full()?;
        let capacity = full.min(self.grown());
        if capacity <= reduced {
            return None;
        }
        self.limit = AckLimit::AFTER_CONGESTION;
        self.phase = Phase::Recovering { window: reduced, capacity, rate, point: None };
        Some(reduced)
    }

    fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovering { .. })
    }

    fn recover(&mut self, ack: &AckSample) -> RecoveryStep {
        let Phase::Recovering { window, point, .. } = &mut self.phase else { return RecoveryStep::Window(0) };
        if ack.snd_una.before(*point.get_or_insert(ack.snd_nxt)) {
            return RecoveryStep::Window(*window);
        }
        self.end_recovery()
    }

    fn end_recovery(&mut self) -> RecoveryStep {
        let Phase::Recovering { capacity, rate, .. } = self.phase else { return RecoveryStep::Window(0) };
        self.phase = Phase::Resuming { rate };
        self.climb.rest();
        RecoveryStep::Resume { capacity }
    }
}

#[cfg(test)]
mod tests;
