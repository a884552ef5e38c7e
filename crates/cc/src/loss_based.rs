//! The composite of a slow-start policy and an avoidance algorithm (RFC 5681 §3.1, RFC 9438 §4).
//!
//! It owns the window and is its only writer; the parts borrow it and return numbers. Its rules:
//!
//! * The window grows only outside fast recovery, and only if the window limited the sender. The parts see other ACKs too (they
//!   measure time and round trips), but the growth they request is not applied.
//! * The part of an ACK in slow start beyond `ssthresh` is dropped: it is less than one ACK's worth, and passing the rest to
//!   avoidance would require splitting a sample.
//! * Avoidance begins with the first ACK that may grow a window at or above `ssthresh`, which after an episode is the ACK that
//!   ended it, so that its clock does not run during recovery.
//! * A congestion mark may leave one segment if the sender requests it, a loss leaves at least two (RFC 9438 §4.6), a timeout
//!   one.
//! * A slow-start policy that competes with avoidance does so above `ssthresh`, until the next congestion signal.
//! * A timeout with nothing in flight (a lost SYN) restarts the window but says nothing about the path: the rest of the state
//!   stays, and the first slow start is still the first.
//! * Undo restores everything saved before the first reduction of the episode, except that a window that has meanwhile grown
//!   beyond the saved one stays (RFC 9438 §4.9). If it has also outgrown the slow start that was interrupted, only `ssthresh` is
//!   restored, and avoidance continues unchanged. A mark is never undone, and since undoing an earlier loss would undo it too, a
//!   mark discards the saved state. An avoidance that starts over after an undo keeps its state from after the signal.

use crate::avoidance::Avoidance;
use crate::control::{CcNote, CongestionControl, Pacing, Snapshot};
use crate::pacing::WindowPacing;
use crate::sample::{AckSample, CongestionEvent, EpisodeKind};
use crate::slow_start::{ExitCause, SlowStart, Step};
use crate::window::Window;
use base::{Bytes, Duration, Instant};

/// A pacing sender limits its round trip to this multiple of the minimum.
const LONGEST_RTT: u32 = 4;

/// A controller put together from a slow-start policy and an avoidance algorithm.
#[derive(Clone, Debug)]
pub struct LossBased<S: SlowStart, A: Avoidance> {
    state: State<S, A>,
    /// Boxed, because most connections do not use it: one that never lost a segment does not pay for it.
    prior: Option<Box<Prior<State<S, A>>>>,
    pacing: Option<Box<WindowPacing>>,
}

/// A change of slow start between two ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unreported {
    /// A signal ended it.
    Exited,
    /// The reported end was undone.
    Resumed,
}

/// All that a reduction changes and an undo restores.
#[derive(Clone, Debug)]
struct State<S, A> {
    window: Window,
    slow_start: S,
    avoidance: A,
    avoiding: Avoiding,
    /// To be reported with the next ACK, because handling a signal returns nothing. (It is in this struct because it fits its
    /// padding.)
    unreported: Option<Unreported>,
}

/// Whether avoidance has begun since the last congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Avoiding {
    NotYet,
    /// It has begun, and slow start continues beside it, above `ssthresh`.
    Contending,
    Begun,
}

/// The saved state, and whether its episode is still in progress: later reductions of it must not overwrite the state.
#[derive(Clone, Debug)]
struct Prior<T> {
    state: T,
    of: EpisodeOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EpisodeOf {
    Present,
    Past,
}

impl<S: SlowStart, A: Avoidance> State<S, A> {
    //= specs/rfc9438.md#slow-start
    //# A slow start algorithm governs the window while it is below `ssthresh`.
    /// Handles an ACK that may grow the window.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        if self.window.in_slow_start() {
            return self.on_ack_in_slow_start(ack);
        }
        match self.avoiding {
            Avoiding::Begun => {}
            Avoiding::NotYet => self.become_avoiding(Avoiding::Begun, ack.now),
            Avoiding::Contending => return self.on_ack_beside_slow_start(ack),
        }
        let growth = self.avoidance.on_ack(ack, &self.window);
        self.grow(ack, growth, Window::MAX);
        None
    }

    /// Returns whether to ask the slow-start policy.
    #[inline]
    fn slow_starting(&self) -> bool {
        self.window.in_slow_start() || self.avoiding == Avoiding::Contending
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
            return None;
        }
        self.grow(ack, bytes, self.window.ssthresh());
        self.window.set_ssthresh(self.window.cwnd());
        self.become_avoiding(Avoiding::Contending, ack.now);
        Some(self.phase_note())
    }

    #[cold]
    fn report(&mut self) -> Option<CcNote> {
        self.unreported.take().map(|unreported| match unreported {
            Unreported::Exited => CcNote::SlowStartExited(ExitCause::Congestion),
            Unreported::Resumed => self.phase_note(),
        })
    }

    /// Returns a note of the slow-start policy's current phase.
    fn phase_note(&self) -> CcNote {
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
    fn reduce(&mut self, event: &CongestionEvent, now: Instant) {
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
const fn speaks_of_capacity(event: &CongestionEvent) -> bool {
    match *event {
        CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => true,
        CongestionEvent::Timeout { flight_size, first } => first && flight_size > 0,
    }
}

impl<S: SlowStart, A: Avoidance> LossBased<S, A> {
    /// A new connection's controller.
    pub fn new(window: Window, slow_start: S, avoidance: A, pacing: Option<WindowPacing>) -> Self {
        let state = State { window, slow_start, avoidance, avoiding: Avoiding::NotYet, unreported: None };
        Self { state, prior: None, pacing: pacing.map(Box::new) }
    }

    //= specs/rfc9438.md#spurious-congestion-events
    //# What a reduction changes is saved before it.
    /// Saves the state unless an earlier reduction of the same episode did.
    fn save(&mut self, event: &CongestionEvent) {
        match (event, self.prior.as_ref().map(|prior| prior.of)) {
            (CongestionEvent::Ecn { .. }, _) => self.prior = None,
            (CongestionEvent::Timeout { flight_size: 0, .. }, _) | (_, Some(EpisodeOf::Present)) => {}
            _ => self.prior = Some(Box::new(Prior { state: self.state.clone(), of: EpisodeOf::Present })),
        }
    }

    #[inline]
    fn repace(&mut self, srtt: Option<Duration>) {
        if let Some(pacing) = &mut self.pacing {
            pacing.update(&self.state.window, srtt);
        }
    }
}

impl<S: SlowStart, A: Avoidance> CongestionControl for LossBased<S, A> {
    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        let note = match ack.episode {
            EpisodeKind::Open | EpisodeKind::Loss => self.state.on_ack(ack),
            EpisodeKind::Recovery => None,
        };
        // A delay of the handshake, or of ACKs, stays in the mean for long although it is not the path's.
        let longest = ack.min_rtt.map_or(Duration::MAX, |least| least * LONGEST_RTT);
        self.repace(ack.srtt.map(|srtt| srtt.min(longest)));
        if self.state.unreported.is_some() { self.state.report() } else { note }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, now: Instant) {
        self.save(event);
        if self.state.slow_starting() && speaks_of_capacity(event) {
            self.state.unreported = Some(Unreported::Exited);
        }
        self.state.reduce(event, now);
        self.repace(None);
    }

    fn on_recovery_exit(&mut self, _now: Instant) {
        if let Some(prior) = &mut self.prior {
            prior.of = EpisodeOf::Past;
        }
    }

    fn on_recovery_resumed(&mut self) {
        if let Some(prior) = &mut self.prior {
            prior.of = EpisodeOf::Present;
        }
    }

    fn on_idle_restart(&mut self, idle: Duration) {
        self.state.avoidance.on_idle(idle);
    }

    fn on_unused(&mut self, cwnd: Bytes) {
        let window = &mut self.state.window;
        let known = window.cwnd() / 2 + window.cwnd() / 4;
        window.set_ssthresh(window.ssthresh().max(known));
        window.set_cwnd(cwnd);
        self.repace(None);
    }

    fn on_smss_change(&mut self, smss: Bytes) {
        self.state.window.set_smss(smss);
        if let Some(prior) = &mut self.prior {
            prior.state.window.set_smss(smss);
        }
        self.repace(None);
    }

    //= specs/rfc5682.md#response
    //# A timeout that proves spurious is answered by a response that the IETF has specified, such as Eifel's.
    //= specs/rfc9438.md#spurious-congestion-events
    //# A reduction that proves spurious is taken back if the window is below what was saved.
    //= specs/rfc9438.md#spurious-congestion-events
    //# A window that has grown beyond what was saved stays as it is.
    fn undo(&mut self) -> bool {
        let Some(Prior { state: mut prior, .. }) = self.prior.take().map(|prior| *prior) else { return false };
        let present = &mut self.state;
        let larger = prior.window.cwnd().max(present.window.cwnd());
        let outgrown = larger > prior.window.cwnd();
        prior.window.set_cwnd(larger);
        if outgrown && !prior.slow_starting() {
            present.window.set_ssthresh(prior.window.ssthresh().max(present.window.ssthresh()));
        } else {
            let reported = present.unreported != Some(Unreported::Exited);
            prior.unreported = (reported && prior.slow_starting()).then_some(Unreported::Resumed);
            prior.slow_start.on_undo();
            if present.avoidance.begins_anew_after_undo() {
                prior.avoiding = Avoiding::NotYet;
                core::mem::swap(&mut prior.avoidance, &mut present.avoidance);
            }
            *present = prior;
        }
        self.repace(None);
        true
    }

    #[inline]
    fn window(&self) -> &Window {
        &self.state.window
    }

    #[inline]
    fn pacing(&self) -> Option<Pacing> {
        let window = &self.state.window;
        let policy = if self.state.slow_starting() { self.state.slow_start.pacing(window) } else { None };
        policy.or_else(|| self.pacing.as_ref()?.pacing(window))
    }

    fn snapshot(&self) -> Snapshot {
        let window = &self.state.window;
        let [first, second] = self.state.avoidance.values();
        Snapshot {
            phase: if self.state.slow_starting() { self.state.slow_start.phase() } else { A::PHASE },
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            values: [first, second, ("", 0), ("", 0)],
        }
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn state_size(&self) -> usize {
        let prior = self.prior.as_deref().map_or(0, size_of_val);
        let parts = prior + self.pacing.as_deref().map_or(0, size_of_val);
        size_of::<Self>() + parts + self.state.slow_start.boxed_size()
    }
}

#[cfg(test)]
mod tests;
