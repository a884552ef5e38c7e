//! HyStart: slow start that ends when the path seems full (Ha & Rhee, "Taming the elephants", 2011; RFC 9438 §4.10).
//!
//! Two detectors, each of which can be disabled: the ACK train and the delay increase. Either ends slow start at once, with the
//! current window as `ssthresh`, unless a train leaves some headroom: without pacing it is detected at a window of one to one and
//! a half bandwidth-delay products, less than the window at which a loss should occur. The delay of a round is compared with the
//! minimum of the whole connection, not with that of the last round as in HyStart++. Below a minimum window neither counts,
//! although both measure.
//!
//! Only a connection's first slow start uses the detectors; after a congestion signal the window just grows to `ssthresh`.
//!
//! Deviations: the margin test is "at least" as in HyStart++; a train may begin below the minimum window.

use super::ack_train::{AckTrain, TrainTest};
use super::delay_increase::{DelayIncrease, DelayIncreaseConfig};
use super::limit::AckLimit;
use super::round::{Round, RoundRtt, RttMicros};
use super::{ExitCause, SlowStart, Step};
use crate::control::CcPhase;
use crate::sample::AckSample;
use crate::window::Window;
use base::{Bytes, Duration, SeqNum};

/// HyStart's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HystartConfig {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// Window in segments below which the detectors do not count.
    pub low_window_segments: u32,
    /// The delay detector's margin.
    pub delay: DelayIncreaseConfig,
    /// Whether an increased delay ends slow start.
    pub delay_increase: Detection,
    /// Whether a long train of ACKs ends slow start.
    pub ack_train: Detection,
    /// Largest spacing of ACKs within a train.
    pub ack_delta: Duration,
    /// How a sender that paces distinguishes the path's spacing of ACKs from its own.
    pub paced_train: PacedTrain,
    /// How far slow start continues after a train was found, in percent of the window at that moment: 100 ends it at once.
    pub train_exit_percent: u8,
    /// Rounds whose delay is not judged after an episode proved spurious, including the interrupted one.
    pub unjudged_rounds: u8,
}

/// Whether a detector is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// It is left out.
    Off,
    /// It may end slow start.
    On,
}

/// The reference to which a sender that paces compares an ACK train ([`ack_train`](super::ack_train)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacedTrain {
    /// With the whole of the smallest round trip.
    WholeRtt,
    /// The time in which the flight left.
    Stretched,
}

impl PacedTrain {
    pub(crate) const fn test(self) -> TrainTest {
        match self {
            Self::WholeRtt => TrainTest::WholeRtt,
            Self::Stretched => TrainTest::Stretched,
        }
    }
}

impl Default for HystartConfig {
    /// Both detectors from 16 segments on, ACKs at most 2 ms apart, each acknowledged segment opens the window by one.
    fn default() -> Self {
        Self {
            limit_segments: None,
            low_window_segments: 16,
            delay: DelayIncreaseConfig::default(),
            delay_increase: Detection::On,
            ack_train: Detection::On,
            ack_delta: Duration::from_millis(2),
            paced_train: PacedTrain::WholeRtt,
            train_exit_percent: 100,
            unjudged_rounds: 0,
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
    train: Train,
    paced_train: PacedTrain,
    train_exit_percent: u8,
    unjudged_rounds: u8,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Train {
    /// The policy does not look for a train.
    Ignored,
    Sought(AckTrain),
    /// Slow start ends at this window, bytes.
    Found(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Probing,
    Done,
}

impl Hystart {
    /// Creates the policy of a connection's first slow start, whose first byte of data is `first`.
    pub fn new(config: &HystartConfig, first: SeqNum, test: TrainTest) -> Self {
        let train = match config.ack_train {
            Detection::Off => Train::Ignored,
            Detection::On => Train::Sought(AckTrain::new(config.ack_delta, test)),
        };
        Self {
            limit: AckLimit::new(config.limit_segments),
            low_window_segments: config.low_window_segments,
            round: RoundRtt::new(first, config.delay.rtt_samples),
            delay: (config.delay_increase == Detection::On).then(|| DelayIncrease::new(&config.delay)),
            train,
            paced_train: config.paced_train,
            train_exit_percent: config.train_exit_percent,
            unjudged_rounds: config.unjudged_rounds,
            phase: Phase::Probing,
        }
    }

    /// Measures, and returns why slow start should end, if it should.
    fn detect(&mut self, ack: &AckSample, window: &Window) -> Option<ExitCause> {
        if self.round.on_ack(ack) == Round::New
            && let Train::Sought(train) = &mut self.train
        {
            train.begin(ack.now);
        }
        let min_rtt = RttMicros::of(ack.min_rtt?);
        let long = match &mut self.train {
            Train::Sought(train) => ack.acked > 0 && train.fires(ack.now, ack.rtt, self.round.least(), min_rtt),
            Train::Ignored | Train::Found(_) => false,
        };
        if window.cwnd() < self.low_window_segments.saturating_mul(window.smss()) {
            return None;
        }
        if long {
            self.train = Train::Found(self.train_exit(window));
        }
        if let Train::Found(full) = self.train {
            // From here on the delay is expected to rise, so only the window counts.
            return (window.cwnd() >= full).then_some(ExitCause::AckTrain);
        }
        let current = self.round.current()?;
        self.delay.as_ref()?.fires(current, min_rtt).then_some(ExitCause::DelayIncrease)
    }

    /// Returns the window in bytes at which slow start ends after a train was found.
    fn train_exit(&self, window: &Window) -> Bytes {
        let full = u64::from(window.cwnd()) * u64::from(self.train_exit_percent) / 100;
        Bytes::try_from(full).unwrap_or(Bytes::MAX)
    }
}

impl SlowStart for Hystart {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        if self.phase == Phase::Probing
            && let Some(cause) = self.detect(ack, window)
        {
            self.phase = Phase::Done;
            return Step::Exit { window: window.cwnd(), cause };
        }
        Step::Grow(self.limit.bytes(ack, window))
    }

    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn on_jump(&mut self) {
        if let Train::Sought(train) = &mut self.train {
            train.judge_by(self.paced_train.test());
        }
    }

    fn on_undo(&mut self) {
        // A train in progress has a gap by now.
        self.round.forget();
        self.round.pass_over(self.unjudged_rounds);
    }
}

#[cfg(test)]
mod tests;
