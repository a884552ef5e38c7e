//! HyStart++: slow start that becomes careful when a round takes longer than the last one (RFC 9406; its early drafts).
//!
//! The detector is the same in all versions; a [`Tail`] follows it: conservative slow start in the RFC ([`Css`]), limited slow
//! start in the earlier drafts ([`Lss`]). A tail may find that the detector was wrong, or end slow start.
//!
//! Only a connection's first slow start uses the detector (RFC 9406 §4.3); after a congestion signal the window just grows to
//! `ssthresh`. Undoing a reduction restores the search, in its earlier phase, but without the round in progress: later rounds are
//! not compared with measurements from before the episode.
//!
//! [`Css`]: super::tail::Css
//! [`Lss`]: super::tail::Lss

use super::delay_increase::{DelayIncrease, DelayIncreaseConfig};
use super::limit::AckLimit;
use super::round::RoundRtt;
use super::tail::{CssConfig, LssConfig, Tail, TailAck, TailStep};
use super::{SlowStart, Step};
use crate::control::CcPhase;
use crate::sample::AckSample;
use crate::window::Window;
use base::{Bytes, SeqNum};

/// HyStart++'s parameters, and those of its tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HystartPpConfig<T> {
    /// RFC 3465's `L`, in segments, until the first congestion signal; `None` for no limit, for paced senders.
    pub limit_segments: Option<u32>,
    /// The detector's margin.
    pub delay: DelayIncreaseConfig,
    /// The phase after the detector fires.
    pub tail: T,
}

impl Default for HystartPpConfig<CssConfig> {
    //= specs/rfc9406.md#growth
    //# A sender that does not pace uses an L of 8.
    /// RFC 9406 §4.3, for a sender that does not pace.
    fn default() -> Self {
        Self { limit_segments: Some(8), delay: DelayIncreaseConfig::default(), tail: CssConfig::default() }
    }
}

impl Default for HystartPpConfig<LssConfig> {
    /// The drafts' numbers; `L` as in RFC 9406 §4.3.
    fn default() -> Self {
        Self { limit_segments: Some(8), delay: DelayIncreaseConfig::default(), tail: LssConfig::default() }
    }
}

//= specs/rfc9438.md#slow-start
//# The slow start is HyStart++.
/// Slow start with HyStart++'s detector and the tail `T`.
#[derive(Clone, Debug)]
pub struct HystartPp<T: Tail> {
    limit: AckLimit,
    round: RoundRtt,
    delay: DelayIncrease,
    tail: T,
    phase: Phase<T::Phase>,
}

#[derive(Clone, Debug)]
enum Phase<P> {
    /// Slow start with an active detector.
    Probing,
    /// The detector fired.
    Tail(P),
    /// The search has ended.
    Done,
}

impl<T: Tail> HystartPp<T> {
    /// Creates the policy of a connection's first slow start, whose first byte of data is `first`.
    pub fn new(config: &HystartPpConfig<T::Config>, first: SeqNum) -> Self {
        Self {
            limit: AckLimit::new(config.limit_segments),
            round: RoundRtt::new(first, config.delay.rtt_samples),
            delay: DelayIncrease::new(&config.delay),
            tail: T::new(&config.tail),
            phase: Phase::Probing,
        }
    }

    //= specs/rfc9406.md#delay-increase
    //# The delay is judged only with eight samples in the round and a minimum of the round before.
    //= specs/rfc9406.md#delay-increase
    //# CSS begins when the round's minimum is the last round's plus the threshold, or more.
    fn probe(&mut self, bytes: Bytes, window: &Window) -> Step {
        if let (Some(current), Some(last)) = (self.round.current(), self.round.last())
            && self.delay.fires(current, last)
            && self.tail.is_eligible(window)
        {
            self.phase = Phase::Tail(self.tail.enter(current));
            return T::entered(bytes);
        }
        Step::Grow(bytes)
    }
}

impl<T: Tail> SlowStart for HystartPp<T> {
    const PHASE: CcPhase = CcPhase::SlowStart;

    //= specs/rfc9406.md#conservative-slow-start
    //# Resumed slow start may enter CSS again.
    //= specs/rfc9406.md#conservative-slow-start
    //# Congestion avoidance that follows CSS begins with an `ssthresh` of the present window.
    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        let bytes = self.limit.bytes(ack, window);
        if matches!(self.phase, Phase::Done) {
            return Step::Grow(bytes);
        }
        let round = self.round.on_ack(ack);
        let Phase::Tail(phase) = &mut self.phase else { return self.probe(bytes, window) };
        let seen = TailAck { acked: ack.acked, bytes, round, minimum: self.round.current(), window };
        match self.tail.on_ack(phase, &seen) {
            TailStep::Stay(step) => step,
            TailStep::Resume(bytes) => {
                self.phase = Phase::Probing;
                Step::Turn(bytes)
            }
            TailStep::Over(cause) => {
                self.phase = Phase::Done;
                Step::Exit { window: window.cwnd(), cause }
            }
        }
    }

    //= specs/rfc9406.md#congestion
    //# Loss or a congestion mark in slow start or in CSS ends both.
    //= specs/rfc9406.md#scope
    //# Only the initial slow start uses HyStart++; later ones are standard.
    fn on_congestion(&mut self) {
        (self.limit, self.phase) = (AckLimit::AFTER_CONGESTION, Phase::Done);
    }

    fn on_undo(&mut self) {
        self.round.forget();
    }

    fn phase(&self) -> CcPhase {
        match self.phase {
            Phase::Probing | Phase::Done => Self::PHASE,
            Phase::Tail(_) => T::PHASE,
        }
    }
}

#[cfg(test)]
mod tests;
