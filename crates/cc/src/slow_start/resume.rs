//! Careful Resume: a connection begins with half of what an earlier one found on the same path (RFC 9959).
//!
//! It wraps another slow start, which governs before and after. *Reconnaissance*: the first flight is acknowledged, and its round
//! trips resemble the remembered one. *Unvalidated*: the window jumps to half of the remembered one and leaves spread over a round
//! trip. *Validating*: the path is seen to carry it, while the window grows as usual. A loss in either of the last two is answered
//! by the *Safe Retreat*: half of what is known to have arrived, and no growth, until the last unvalidated byte is acknowledged. *Regrowth*
//! follows, up to the share that avoidance leaves of what the path carried.
//!
//! This file keeps no store: the caller passes what it remembers at construction, and forgets it after a retreat.
//!
//! A path whose shortest round trip exceeds the remembered one by RFC 9406's margin (§4.3) has a queue already: others fill it, and a jump
//! would be at their expense. RFC 9959 forbids it after signs of congestion and names losses and marks as examples; delay as a third
//! one is this file's reading.
//!
//! So is a fourth: no jump is made if the acknowledgements of the first flight come further apart than at the jump's rate. The flight leaves
//! at once, so that they come as fast as the path forwards, beside whatever others send.
//!
//! For the same reason the window does not grow while it is validated over a queue of that length: the jump has filled the path, and
//! each further byte is lost. Regrowth is paced by the window it leads to, so that a short queue survives it.
//!
//! Deviation: phases change with ACKs only. The beginning of a pause in the middle of a jump is therefore seen with the ACK after it.

mod spread;

use self::spread::Spread;
use super::delay_increase::{DelayIncrease, DelayIncreaseConfig};
use super::round::RttMicros;
use super::{ExitCause, RecoveryStep, SlowStart, Step};
use crate::control::{CcPhase, Pacing, Resumption};
use crate::sample::{AckSample, LossSample, SentSample};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate, SeqNum};

/// A path that round trips of more than this many times the remembered one show to be another.
const OTHER_PATH: u32 = 10;

/// What an earlier connection found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPath {
    /// Bytes acknowledged in a round trip.
    pub cwnd: Bytes,
    /// Shortest round trip.
    pub rtt: Duration,
}

/// A slow start that may jump.
#[derive(Clone, Debug)]
pub struct Resuming<S> {
    inner: S,
    saved: SavedPath,
    /// The initial window, bytes.
    initial: Bytes,
    /// One past the initial window.
    initial_end: SeqNum,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Reconnaissance(Spread),
    Unvalidated {
        jump: Jump,
        rate: Option<Rate>,
        until: Instant,
    },
    Validating {
        jump: Jump,
        ended: Option<(Bytes, ExitCause)>,
    },
    Retreat {
        jump: Jump,
        /// One past the last byte that had left when it began.
        end: Option<SeqNum>,
    },
    /// Slow start up to a share of what the path was seen to carry.
    Regrowth {
        /// The round trip before the jump.
        rtt: Duration,
    },
    /// Slow start as usual, after this.
    Normal(Resumption),
}

impl Phase {
    /// What a congestion signal makes of it.
    fn ended(self) -> Resumption {
        match self {
            Self::Reconnaissance(_) => Resumption::Declined,
            Self::Unvalidated { .. } | Self::Validating { .. } | Self::Retreat { .. } | Self::Regrowth { .. } => {
                Resumption::Retreated
            }
            Self::Normal(after) => after,
        }
    }
}

/// What is known of a jump.
#[derive(Clone, Copy, Debug)]
struct Jump {
    /// The flight before it, bytes.
    flight: Bytes,
    /// The round trip before it.
    rtt: Duration,
    /// The first unvalidated byte.
    first: SeqNum,
    /// One past the last unvalidated byte, once all of them have left.
    end: Option<SeqNum>,
    /// SND.UNA.
    una: SeqNum,
    /// Unvalidated bytes that were lost.
    lost: Bytes,
}

impl Jump {
    /// Returns the bytes that the path is known to carry while no loss is acknowledged (the RFC's PipeSize).
    fn pipe_size(&self) -> Bytes {
        self.flight.saturating_add(self.acked(self.una))
    }

    /// Returns the bytes before `una` that left since the jump.
    fn acked(&self, una: SeqNum) -> Bytes {
        if una.after(self.first) { una.distance_from(self.first) } else { 0 }
    }

    /// Returns the same when every unvalidated byte is acknowledged. A byte that was lost arrived in another round trip, when the path
    /// had drained, and so did those that left after the jump: they do not show that the path carries them beside the others.
    fn capacity(&self) -> Bytes {
        let unvalidated = self.end.map_or(self.una, |end| end.min(self.una));
        self.flight.saturating_add(self.acked(unvalidated).saturating_sub(self.lost))
    }

    /// Counts a loss. A retransmission that is lost, too, counts again: the capacity is rather too small.
    fn on_lost(&mut self, lost: &LossSample) {
        if lost.range.start.at_or_after(self.first) && self.end.is_none_or(|end| lost.range.start.before(end)) {
            self.lost = self.lost.saturating_add(lost.bytes);
        }
    }
}

/// Returns whether a round trip exceeds the shortest one by RFC 9406's margin (§4.3).
fn queued(rtt: Duration, least: Duration) -> bool {
    DelayIncrease::new(&DelayIncreaseConfig::default()).fires(RttMicros::of(rtt), RttMicros::of(least))
}

impl<S: SlowStart> Resuming<S> {
    /// Wraps the slow start of a connection whose first byte of data is `first`, and which may send `initial` bytes at first.
    pub fn new(inner: S, saved: &SavedPath, initial: Bytes, first: SeqNum) -> Self {
        Self {
            inner,
            saved: *saved,
            initial,
            initial_end: first + initial,
            phase: Phase::Reconnaissance(Spread::default()),
        }
    }

    /// Returns whether the path resembles the remembered one, without a queue; `None` while nothing is known.
    fn resembles(&self, ack: &AckSample) -> Option<bool> {
        let least = ack.min_rtt?;
        let current = ack.rtt.unwrap_or(least);
        let other = least <= self.saved.rtt.scale(1, 2) || current > self.saved.rtt * OTHER_PATH;
        Some(!other && !queued(least, self.saved.rtt))
    }

    /// Looks for the moment to jump.
    fn reconnoitre(&mut self, ack: &AckSample, window: &Window) -> Step {
        let step = self.inner.on_ack(ack, window);
        let Phase::Reconnaissance(spread) = &mut self.phase else { return step };
        let jump = self.saved.cwnd / 2;
        if let Some(rate) = Rate::from_delivery(jump.into(), self.saved.rtt) {
            spread.on_ack(ack, rate, self.initial);
        }
        let is_too_slow = spread.is_too_slow();
        let resembles = self.resembles(ack);
        if resembles == Some(false) || !matches!(step, Step::Grow(_) | Step::Set(_)) {
            self.phase = Phase::Normal(Resumption::Declined);
            return step;
        }
        if jump <= window.cwnd() {
            self.phase = Phase::Normal(Resumption::Unused);
            return step;
        }
        if resembles.is_none() || ack.snd_una.before(self.initial_end) || !ack.cwnd_limited {
            return step;
        }
        if is_too_slow {
            self.phase = Phase::Normal(Resumption::Declined);
            return step;
        }
        let rtt = ack.srtt.or(ack.rtt).unwrap_or(self.saved.rtt);
        self.phase = Phase::Unvalidated {
            jump: Jump { flight: ack.pipe, rtt, first: ack.snd_nxt, end: None, una: ack.snd_una, lost: 0 },
            rate: Rate::from_delivery(jump.into(), rtt),
            until: ack.now + rtt,
        };
        self.inner.on_jump();
        Step::TurnTo(jump)
    }

    /// Judges what has left of the jump.
    fn check(&mut self, jump: Jump, ack: &AckSample, window: &Window) -> Step {
        // The wrapped policy has not seen the ACKs since.
        self.inner.on_undo();
        if ack.pipe < self.initial || ack.pipe <= jump.pipe_size() {
            self.phase = Phase::Normal(Resumption::Unused);
            return Step::TurnTo(jump.pipe_size().max(self.initial).min(window.cwnd()));
        }
        self.phase = Phase::Validating { jump: Jump { end: Some(ack.snd_nxt), ..jump }, ended: None };
        Step::TurnTo(ack.pipe.min(window.cwnd()))
    }

    /// Grows as usual. A slow start that ends meanwhile rests until the last unvalidated byte has arrived, so that a loss before is still
    /// answered by the retreat.
    fn validate(&mut self, ack: &AckSample, window: &Window) -> Step {
        let Phase::Validating { jump, ended } = &mut self.phase else { return Step::Grow(0) };
        jump.una = ack.snd_una;
        let step = match *ended {
            Some((window, cause)) => Step::Exit { window, cause },
            None => self.inner.on_ack(ack, window),
        };
        if jump.end.is_some_and(|end| ack.snd_una.at_or_after(end)) {
            self.phase = Phase::Normal(Resumption::Confirmed);
        } else if let Step::Exit { window, cause } = step {
            *ended = Some((window, cause));
            return Step::Set(window);
        }
        match (step, ack.rtt.zip(ack.min_rtt)) {
            (Step::Grow(_), Some((current, least))) if queued(current, least) => Step::Grow(0),
            _ => step,
        }
    }
}

impl<S: SlowStart> SlowStart for Resuming<S> {
    const PHASE: CcPhase = S::PHASE;
    const RECOVERS: bool = true;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        match &mut self.phase {
            Phase::Reconnaissance(_) => self.reconnoitre(ack, window),
            Phase::Unvalidated { jump, until, .. } => {
                jump.una = ack.snd_una;
                let (jump, until) = (*jump, *until);
                let full = ack.pipe.saturating_add(window.smss()) >= window.cwnd();
                if full || ack.snd_una.after(jump.first) || ack.now > until {
                    return self.check(jump, ack, window);
                }
                Step::Grow(0)
            }
            Phase::Validating { .. } => self.validate(ack, window),
            // In the lower half the pacer keeps up with a window that doubles.
            Phase::Regrowth { .. } if window.cwnd() < window.ssthresh() / 2 => Step::Grow(ack.acked),
            Phase::Retreat { .. } | Phase::Regrowth { .. } | Phase::Normal(_) => self.inner.on_ack(ack, window),
        }
    }

    fn contends(&self) -> bool {
        self.inner.contends()
    }

    fn competes(&self) -> bool {
        self.inner.competes()
    }

    fn on_flight_start(&mut self, srtt: Option<Duration>, window: &Window) {
        self.inner.on_flight_start(srtt, window);
    }

    fn on_sent(&mut self, sent: &SentSample) {
        self.inner.on_sent(sent);
        if let Phase::Reconnaissance(spread) = &mut self.phase {
            spread.on_sent(sent.now);
        }
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.inner.on_lost(lost);
        if let Phase::Unvalidated { jump, .. } | Phase::Validating { jump, .. } | Phase::Retreat { jump, .. } =
            &mut self.phase
        {
            jump.on_lost(lost);
        }
    }

    fn on_congestion(&mut self) {
        self.inner.on_congestion();
        self.phase = Phase::Normal(self.phase.ended());
    }

    fn on_undo(&mut self) {
        self.inner.on_undo();
    }

    fn takes_over(&mut self, prior: Bytes, reduced: Bytes) -> Option<Bytes> {
        let (jump, end) = match self.phase {
            Phase::Unvalidated { jump, .. } | Phase::Validating { jump, .. } => (jump, None),
            Phase::Retreat { jump, end } => (jump, end),
            Phase::Reconnaissance(_) | Phase::Regrowth { .. } | Phase::Normal(_) => {
                self.phase = Phase::Normal(self.phase.ended());
                return self.inner.takes_over(prior, reduced);
            }
        };
        self.inner.on_congestion();
        self.phase = Phase::Retreat { jump, end };
        Some((jump.pipe_size() / 2).max(self.initial))
    }

    fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Retreat { .. }) || self.inner.is_recovering()
    }

    fn recover(&mut self, ack: &AckSample) -> RecoveryStep {
        let Phase::Retreat { jump, end } = &mut self.phase else { return self.inner.recover(ack) };
        jump.una = ack.snd_una;
        jump.end.get_or_insert(ack.snd_nxt);
        let end = *end.get_or_insert(ack.snd_nxt);
        if !ack.snd_una.before(end) {
            return self.end_recovery();
        }
        RecoveryStep::Window((jump.pipe_size() / 2).max(self.initial))
    }

    fn end_recovery(&mut self) -> RecoveryStep {
        let Phase::Retreat { jump, .. } = self.phase else { return self.inner.end_recovery() };
        self.phase = Phase::Regrowth { rtt: jump.rtt };
        RecoveryStep::Resume { capacity: jump.capacity() }
    }

    fn phase(&self) -> CcPhase {
        match self.phase {
            Phase::Unvalidated { .. } => CcPhase::Jump,
            _ => self.inner.phase(),
        }
    }

    fn pacing(&self, window: &Window) -> Option<Pacing> {
        let at = |rate: Option<Rate>| rate.map(|rate| Pacing::Rate { rate, quantum: window.smss() });
        match self.phase {
            Phase::Unvalidated { rate, .. } => at(rate),
            Phase::Regrowth { rtt } => at(Rate::from_delivery(window.ssthresh().into(), rtt)),
            Phase::Reconnaissance(_) | Phase::Validating { .. } | Phase::Retreat { .. } | Phase::Normal(_) => {
                self.inner.pacing(window)
            }
        }
    }

    fn resumption(&self) -> Option<Resumption> {
        Some(match self.phase {
            Phase::Reconnaissance(_) => Resumption::Waiting,
            Phase::Unvalidated { .. } | Phase::Validating { .. } => Resumption::Jumped,
            Phase::Retreat { .. } | Phase::Regrowth { .. } => Resumption::Retreated,
            Phase::Normal(after) => after,
        })
    }

    fn boxed_size(&self) -> usize {
        self.inner.boxed_size()
    }
}

#[cfg(test)]
mod tests;
