//! What the parts of the composite share: the window, and which of them decides about it.

use crate::avoidance::Avoidance;
use crate::control::CcNote;
use crate::sample::{AckSample, CongestionEvent};
use crate::slow_start::{ExitCause, RecoveryStep, SlowStart, Step};
use crate::window::Window;
use base::{Bytes, Instant};

/// A change of slow start between two ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreported {
    /// A signal ended it.
    Exited,
    /// The reported end was undone.
    Resumed,
}

/// All that a reduction changes and an undo restores.
#[derive(Clone, Debug)]
pub(super) struct State<S, A> {
    pub window: Window,
    pub slow_start: S,
    pub avoidance: A,
    pub avoiding: Avoiding,
    /// To be reported with the next ACK, because handling a signal returns nothing. (It is in this struct because it fits its
    /// padding.)
    pub unreported: Option<Unreported>,
}

/// Whether avoidance has begun since the last congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Avoiding {
    NotYet,
    /// It has begun, and slow start continues beside it, above `ssthresh`.
    Contending,
    Begun,
}

impl<S: SlowStart, A: Avoidance> State<S, A> {
    //= specs/rfc9438.md#slow-start
    //# A slow start algorithm governs the window while it is below `ssthresh`.
    /// Handles an ACK that may grow the window.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        if self.window.in_slow_start() {
            return self.on_ack_in_slow_start(ack);
        }
        match self.avoiding {
            Avoiding::Begun => {}
            Avoiding::NotYet if self.slow_start.contends() => {
                self.become_avoiding(Avoiding::Contending, ack.now);
                return self.on_ack_beside_slow_start(ack);
            }
            Avoiding::NotYet => self.become_avoiding(Avoiding::Begun, ack.now),
            Avoiding::Contending => return self.on_ack_beside_slow_start(ack),
        }
        let growth = self.avoidance.on_ack(ack, &self.window);
        self.grow(ack, growth, Window::MAX);
        self.withdraw();
        None
    }

    /// Lowers the window by what avoidance takes off it: to no less than two segments, unless it is smaller.
    #[inline]
    fn withdraw(&mut self) {
        if A::SHRINKS {
            let (present, least) = (self.window.cwnd(), self.window.smss().saturating_mul(2));
            let lowered = present.saturating_sub(self.avoidance.withdrawn()).max(least);
            self.window.set_cwnd(lowered.min(present));
            // A window that avoidance lowered is not slow start's.
            self.window.set_ssthresh(self.window.ssthresh().min(self.window.cwnd()));
        }
    }

    /// Returns whether the slow-start policy opens the window.
    #[inline]
    pub fn slow_starting(&self) -> bool {
        self.window.in_slow_start() || self.avoiding == Avoiding::Contending && self.slow_start.competes()
    }

    /// A separate function, so that the usual path through slow start stays straight.
    #[inline(never)]
    fn on_ack_beside_slow_start(&mut self, ack: &AckSample) -> Option<CcNote> {
        self.on_ack_in_slow_start(ack)
    }

    //= specs/rfc9406.md#conservative-slow-start
    //# Congestion avoidance that follows CSS begins with an `ssthresh` of the present window.
    #[inline]
    fn on_ack_in_slow_start(&mut self, ack: &AckSample) -> Option<CcNote> {
        let mut note = None;
        let mut cause = ExitCause::Threshold;
        match self.slow_start.on_ack(ack, &self.window) {
            Step::Grow(bytes) => self.grow(ack, bytes, self.window.ssthresh()),
            Step::Turn(bytes) => {
                self.grow(ack, bytes, self.window.ssthresh());
                note = Some(self.phase_note());
            }
            Step::Set(bytes) => self.window.set_cwnd(bytes),
            Step::TurnTo(bytes) => {
                self.window.set_cwnd(bytes);
                note = Some(self.phase_note());
            }
            Step::Contend(bytes) => return self.contend(ack, bytes),
            Step::Exit { window, cause: why } => {
                // A window below the floor of `ssthresh` has not reached it yet.
                self.window.set_ssthresh(window);
                self.window.set_cwnd(window);
                cause = why;
            }
        }
        if self.window.in_slow_start() {
            return note;
        }
        self.become_avoiding(Avoiding::Begun, ack.now);
        Some(CcNote::SlowStartExited(cause))
    }

    /// Runs slow start beside avoidance. The window at the start becomes `ssthresh`.
    fn contend(&mut self, ack: &AckSample, bytes: Bytes) -> Option<CcNote> {
        if self.avoiding == Avoiding::Contending {
            let growth = self.avoidance.on_ack(ack, &self.window).max(bytes);
            self.grow(ack, growth, Window::MAX);
            self.withdraw();
            return None;
        }
        self.grow(ack, bytes, self.window.ssthresh());
        self.window.set_ssthresh(self.window.cwnd());
        self.become_avoiding(Avoiding::Contending, ack.now);
        Some(self.phase_note())
    }

    #[cold]
    pub fn report(&mut self) -> Option<CcNote> {
        self.unreported.take().map(|unreported| match unreported {
            Unreported::Exited => CcNote::SlowStartExited(ExitCause::Congestion),
            Unreported::Resumed => self.phase_note(),
        })
    }

    /// Returns a note of the slow-start policy's current phase.
    pub fn phase_note(&self) -> CcNote {
        let phase = self.slow_start.phase();
        if phase == S::PHASE { CcNote::ReturnedToSlowStart } else { CcNote::PhaseChanged(phase) }
    }

    //= specs/rfc9438.md#multiplicative-decrease
    //# A sender that applies β to the window does not let a window grow that is not in use.
    //= specs/rfc9438.md#application-limit
    //# The window of a flow that does not use it does not grow.
    #[inline]
    fn grow(&mut self, ack: &AckSample, bytes: Bytes, up_to: Bytes) {
        if ack.cwnd_limited {
            self.window.grow(bytes.min(up_to.saturating_sub(self.window.cwnd())));
        }
    }

    #[cold]
    fn become_avoiding(&mut self, how: Avoiding, now: Instant) {
        if self.avoiding == Avoiding::NotYet {
            self.avoidance.on_enter(&self.window, now);
        }
        self.avoiding = how;
    }

    //= specs/rfc9406.md#congestion
    //# Loss or a congestion mark in slow start or in CSS ends both.
    //= specs/rfc5682.md#basic-algorithm
    //# A timeout found genuine at the second ACK leaves a window of at most three segments.
    //= specs/rfc9438.md#multiplicative-decrease
    //# Loss reduces `cwnd` and `ssthresh` as soon as recovery begins.
    //= specs/rfc9438.md#multiplicative-decrease
    //# After a loss the window is at least two segments.
    //= specs/rfc9438.md#multiplicative-decrease
    //# ECN echoes reduce the window until it is one segment.
    //= specs/rfc9438.md#timeout
    //# A timeout leaves a window of one segment, and an `ssthresh` by β as after a loss.
    //= specs/rfc5681.md#response-to-a-timeout
    //# After a timeout the window is one segment.
    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# When recovery is over, the window is `ssthresh`.
    pub fn reduce(&mut self, event: &CongestionEvent, now: Instant) {
        if S::RECOVERS && self.policy_answers(event, now) {
            return;
        }
        match *event {
            CongestionEvent::Loss { .. } => {
                self.lower_ssthresh(event, now);
                self.window.set_cwnd(self.window.ssthresh());
            }
            CongestionEvent::Ecn { least_segments, .. } => {
                let reduced = self.lower_ssthresh(event, now);
                self.window.set_cwnd(reduced.max(self.window.smss().saturating_mul(least_segments)));
            }
            CongestionEvent::Timeout { flight_size, .. } => {
                if speaks_of_capacity(event) {
                    self.lower_ssthresh(event, now);
                }
                self.window.set_cwnd(self.window.smss());
                if flight_size == 0 {
                    return;
                }
            }
        }
        self.slow_start.on_congestion();
        self.avoiding = Avoiding::NotYet;
    }

    /// Returns whether a recovery of the slow-start policy answers the signal: one that begins with it, or the present one.
    #[cold]
    fn policy_answers(&mut self, event: &CongestionEvent, now: Instant) -> bool {
        let (CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. }) = *event else {
            return false;
        };
        if !self.slow_starting() && !self.slow_start.is_recovering() {
            return false;
        }
        let prior = flight_size.min(self.window.cwnd());
        let mut full = self.window.clone();
        full.set_cwnd(prior);
        // A copy: the avoidance itself learns of the signal at the end.
        let reduced = self.avoidance.clone().on_congestion(&full, &event.at(prior), now);
        let Some(window) = self.slow_start.takes_over(prior, reduced) else { return false };
        self.avoiding = Avoiding::NotYet;
        // A timeout with nothing in flight may have restarted the window of a recovery that goes on.
        self.window.set_ssthresh(window.min(self.window.cwnd()));
        self.window.set_cwnd(self.window.ssthresh());
        true
    }

    /// Applies a step of a recovery of the policy's own.
    #[cold]
    pub fn recover(&mut self, step: RecoveryStep, now: Instant) {
        match step {
            RecoveryStep::Window(window) => self.lower_both(window),
            RecoveryStep::Over { capacity } => {
                self.answer(capacity, now);
                self.lower_both(self.window.ssthresh());
            }
            RecoveryStep::Resume { capacity } => {
                self.answer(capacity, now);
                self.window.set_cwnd(self.window.cwnd().min(self.window.ssthresh()));
            }
        }
    }

    /// Lets avoidance choose `ssthresh` as if a loss had been detected at a window of `capacity` bytes.
    fn answer(&mut self, capacity: Bytes, now: Instant) {
        let present = self.window.cwnd();
        self.window.set_cwnd(capacity);
        self.lower_ssthresh(&CongestionEvent::Loss { flight_size: capacity }, now);
        self.window.set_cwnd(present);
    }

    /// Lowers the window, and `ssthresh` to it: it counts as avoidance.
    fn lower_both(&mut self, window: Bytes) {
        let lowered = window.min(self.window.cwnd());
        self.window.set_ssthresh(lowered);
        self.window.set_cwnd(lowered.max(self.window.smss().saturating_mul(2)).min(self.window.cwnd()));
    }

    //= specs/rfc5681.md#response-to-a-timeout
    //# A first timeout sets `ssthresh` to half the FlightSize, but to no less than two segments.
    /// Returns the value that avoidance requested, before the floor of two segments.
    fn lower_ssthresh(&mut self, event: &CongestionEvent, now: Instant) -> Bytes {
        let reduced = self.avoidance.on_congestion(&self.window, event, now);
        self.window.set_ssthresh(reduced);
        reduced
    }
}

//= specs/rfc5681.md#response-to-a-timeout
//# A repeated timeout of the same segment leaves `ssthresh` as it is.
/// Whether `ssthresh` is to be lowered. A repeated timeout says nothing new (RFC 5681 §3.1), and one with nothing in flight
/// is not about data.
pub(super) const fn speaks_of_capacity(event: &CongestionEvent) -> bool {
    match *event {
        CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => true,
        CongestionEvent::Timeout { flight_size, first } => first && flight_size > 0,
    }
}
