//! HyStart: slow start that ends when the path seems full (Ha & Rhee, "Taming the elephants", 2011; RFC 9438 §4.10).
//!
//! Two detectors, each of which can be left out: the train of ACKs and the increase of the delay. Either ends slow start at
//! once, with the present window as `ssthresh`. The delay of a round is compared with the smallest of the whole connection,
//! not with that of the last round as HyStart++ does. Below a minimal window neither counts, although both are measured.
//!
//! Only a connection's first slow start is searched; after a congestion signal the window just grows to `ssthresh`.
//!
//! Deviations: the margin is tested with "or more" as in HyStart++; a train may begin below the minimal window.

use super::ack_train::{AckTrain, TrainSpan};
use super::delay_increase::{DelayIncrease, DelayIncreaseConfig};
use super::limit::AckLimit;
use super::round::{Round, RoundRtt, RttMicros};
use super::{ExitCause, SlowStart, Step};
use crate::sample::AckSample;
use crate::window::Window;
use base::{Duration, SeqNum};

/// HyStart's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HystartConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// Segments below which the detectors do not count.
    pub low_window_segments: u32,
    /// The delay detector's margin.
    pub delay: DelayIncreaseConfig,
    /// Whether an increased delay ends slow start.
    pub delay_increase: Detection,
    /// Whether a long train of ACKs ends slow start.
    pub ack_train: Detection,
    /// Largest spacing of ACKs within a train.
    pub ack_delta: Duration,
}

/// Whether a detector is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// It is left out.
    Off,
    /// It may end slow start.
    On,
}

impl Default for HystartConfig {
    /// Both detectors from 16 segments on, ACKs at most 2 ms apart, each segment acknowledged opens one.
    fn default() -> Self {
        Self {
            limit_segments: None,
            low_window_segments: 16,
            delay: DelayIncreaseConfig::default(),
            delay_increase: Detection::On,
            ack_train: Detection::On,
            ack_delta: Duration::from_millis(2),
        }
    }
}

/// Slow start with HyStart's detectors.
#[derive(Clone, Debug)]
pub struct Hystart {
    limit: AckLimit,
    low_window_segments: u32,
    round: RoundRtt,
    delay: Option<DelayIncrease>,
    train: Option<AckTrain>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Probing,
    Done,
}

impl Hystart {
    /// A connection's first slow start, whose first octet of data is `first`.
    pub fn new(config: &HystartConfig, first: SeqNum, span: TrainSpan) -> Self {
        let used = |detection| detection == Detection::On;
        Self {
            limit: AckLimit::new(config.limit_segments),
            low_window_segments: config.low_window_segments,
            round: RoundRtt::new(first, config.delay.rtt_samples),
            delay: used(config.delay_increase).then(|| DelayIncrease::new(&config.delay)),
            train: used(config.ack_train).then(|| AckTrain::new(config.ack_delta, span)),
            phase: Phase::Probing,
        }
    }

    /// Measures, and says why slow start should end.
    fn detect(&mut self, ack: &AckSample, window: &Window) -> Option<ExitCause> {
        if self.round.on_ack(ack) == Round::New
            && let Some(train) = &mut self.train
        {
            train.begin(ack.now);
        }
        let min_rtt = RttMicros::of(ack.min_rtt?);
        let long = ack.acked > 0 && self.train.as_mut().is_some_and(|train| train.fires(ack.now, min_rtt));
        if window.cwnd() < self.low_window_segments.saturating_mul(window.smss()) {
            return None;
        }
        if long {
            return Some(ExitCause::AckTrain);
        }
        let current = self.round.current()?;
        self.delay.as_ref()?.fires(current, min_rtt).then_some(ExitCause::DelayIncrease)
    }
}

impl SlowStart for Hystart {
    const NAME: &'static str = "slow_start";

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        if self.phase == Phase::Probing
            && let Some(cause) = self.detect(ack, window)
        {
            self.phase = Phase::Done;
            return Step::Exit { window: window.cwnd(), cause };
        }
        Step::Grow(self.limit.octets(ack, window))
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn on_undo(&mut self) {
        // A train that was under way has its gap by now.
        self.round.forget();
    }
}

#[cfg(test)]
mod tests;
