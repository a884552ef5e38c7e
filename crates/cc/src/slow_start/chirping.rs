//! Paced Chirping measures the path with short trains whose gaps shrink, instead of filling its queue (Misund and Briscoe, "Paced
//! Chirping", 2019; the numbers and the order of events are those of its kernel prototype).
//!
//! A *chirp* is a train of up to sixteen segments. It begins slower than the estimate of the path's rate and ends faster, so the
//! place in it where delay begins to rise shows the rate ([`analysis`]). After a chirp comes a pause in which the queue empties. As
//! many chirps leave in a round trip as the round allows, and each round allows twice as many. When those that have left in one round
//! would fill a round trip end to end, the path is full at the estimated rate: segments leave at that rate for one more round trip, and
//! what is then in flight becomes the window.
//!
//! Meanwhile the window is what is in flight and what the round still allows, so it stops a round that has sent everything.
//!
//! Where the prototype is silent, or stands on its kernel, this file decides. All of it is *assumed*:
//!
//! * Gaps are those with which segments left, not those that were planned, and the next one counts from the last departure.
//! * A gap beyond twice the longest planned one is the application's or a late driver's: the chirp begins again. After eight such chirps
//!   slow start continues without chirps, also after a signal that was undone.
//! * A round that did not send all its chirps is not followed by a larger one.
//! * A chirp without a rise of delay shows its last gap, a chirp whose ACKs were out of order shows nothing.
//! * An ACK of several segments gives all of them the delay of the newest; acknowledging each segment gives better estimates.
//! * An application that sends little at the end leaves no window below the initial one.

mod analysis;
mod config;
mod train;

pub use config::ChirpingConfig;

use super::limit::AckLimit;
use super::{ExitCause, SlowStart, Step};
use crate::control::{CcPhase, Pacing};
use crate::sample::{AckSample, SentSample};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate};
use train::{Begun, Trains};

/// Slow start by chirps.
#[derive(Clone, Debug)]
pub struct Chirping {
    limit: AckLimit,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Boxed, because no connection has it for long.
    Chirping(Box<Trains>),
    /// The rate is found: it is sent until then, with this window.
    Filling { rate: Option<Rate>, window: Bytes, until: Instant },
    /// Slow start without chirps.
    Plain,
}

impl Chirping {
    /// Creates the policy of a connection's first slow start.
    pub fn new(config: &ChirpingConfig) -> Self {
        Self { limit: AckLimit::new(config.limit_segments), phase: Phase::Chirping(Box::new(Trains::new(config))) }
    }

    /// Returns the present estimate of the mean gap between two segments.
    #[cfg(test)]
    fn gap(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Chirping(trains) => Some(trains.gap()),
            Phase::Filling { .. } | Phase::Plain => None,
        }
    }
}

/// Begins to send at the estimated rate: for one round trip without a queue, with a window of two.
fn fill(gap: Duration, ack: &AckSample, smss: Bytes) -> Phase {
    let rtt = ack.min_rtt.or(ack.srtt).unwrap_or(Duration::ZERO);
    let segments = u32::try_from((rtt * 2).as_nanos() / gap.as_nanos().max(1)).unwrap_or(u32::MAX);
    let window = segments.max(ChirpingConfig::FIRST_FLIGHT_SEGMENTS).saturating_mul(smss);
    Phase::Filling { rate: Rate::from_delivery(smss.into(), gap), window, until: ack.now + rtt }
}

impl SlowStart for Chirping {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_flight_start(&mut self, srtt: Option<Duration>, _window: &Window) {
        if let Phase::Chirping(trains) = &mut self.phase {
            trains.on_flight_start(srtt);
        }
    }

    fn on_sent(&mut self, sent: &SentSample) {
        if let Phase::Chirping(trains) = &mut self.phase
            && trains.on_sent(sent) == Begun::TooOften
        {
            self.phase = Phase::Plain;
        }
    }

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        let smss = window.smss();
        match &mut self.phase {
            Phase::Plain => Step::Grow(self.limit.bytes(ack, window)),
            Phase::Chirping(trains) => {
                if trains.on_ack(ack) {
                    self.phase = fill(trains.gap(), ack, smss);
                    return self.on_ack(ack, window);
                }
                Step::Set(ack.pipe.saturating_add(trains.allowed().saturating_mul(smss)))
            }
            Phase::Filling { window, until, .. } if ack.now < *until => Step::Set(*window),
            Phase::Filling { .. } => {
                self.phase = Phase::Plain;
                let least = ChirpingConfig::FIRST_FLIGHT_SEGMENTS.saturating_mul(smss);
                Step::Exit { window: ack.pipe.max(least), cause: ExitCause::Chirps }
            }
        }
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Plain);
    }

    fn on_undo(&mut self) {
        self.phase = Phase::Plain;
    }

    fn pacing(&self, window: &Window) -> Option<Pacing> {
        match &self.phase {
            Phase::Chirping(trains) => Some(Pacing::Departure(trains.next())),
            Phase::Filling { rate, .. } => rate.map(|rate| Pacing::Rate { rate, quantum: window.smss() }),
            Phase::Plain => None,
        }
    }

    fn boxed_size(&self) -> usize {
        match &self.phase {
            Phase::Chirping(trains) => trains.size(),
            Phase::Filling { .. } | Phase::Plain => 0,
        }
    }
}

#[cfg(test)]
mod tests;
