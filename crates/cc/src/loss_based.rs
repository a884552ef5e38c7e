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
//! * A slow-start policy that competes with avoidance does so above `ssthresh`, until the next congestion signal or, as it decides,
//!   behind that, too.
//! * A timeout with nothing in flight (a lost SYN) restarts the window but says nothing about the path: the rest of the state
//!   stays, and the first slow start is still the first.
//! * A slow-start policy may answer the signal that ends it by a recovery of its own. Until that is over, avoidance rests, further
//!   signals but a timeout are part of it, and `ssthresh` follows the window.
//! * Undo restores everything saved before the first reduction of the episode, except that a window that has meanwhile grown
//!   beyond the saved one stays (RFC 9438 §4.9). If it has also outgrown the slow start that was interrupted, only `ssthresh` is
//!   restored, and avoidance continues unchanged. A mark is never undone, and since undoing an earlier loss would undo it too, a
//!   mark discards the saved state. An avoidance that starts over after an undo keeps its state from after the signal.

mod state;

use crate::avoidance::Avoidance;
use crate::control::{CcNote, CongestionControl, Pacing, Resumption, Snapshot};
use crate::pacing::WindowPacing;
use crate::sample::{AckSample, CongestionEvent, EpisodeKind, FlightStart, LossSample, SentSample};
use crate::slow_start::SlowStart;
use crate::window::Window;
use base::{Bytes, Duration, Instant};
use state::{Avoiding, State, Unreported, speaks_of_capacity};

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
            _ if S::RECOVERS && self.state.slow_start.is_recovering() => {
                let step = self.state.slow_start.recover(ack);
                self.state.recover(step, ack.now);
                None
            }
            EpisodeKind::Open | EpisodeKind::Loss => self.state.on_ack(ack),
            EpisodeKind::Recovery => None,
        };
        // A delay of the handshake, or of ACKs, stays in the mean for long although it is not the path's.
        let longest = ack.min_rtt.map_or(Duration::MAX, |least| least * LONGEST_RTT);
        self.repace(ack.srtt.map(|srtt| srtt.min(longest)));
        if self.state.unreported.is_some() { self.state.report() } else { note }
    }

    #[inline]
    fn on_sent(&mut self, sent: &SentSample) {
        self.state.slow_start.on_sent(sent);
    }

    fn on_flight_start(&mut self, start: &FlightStart) {
        self.state.slow_start.on_flight_start(start.srtt, &self.state.window);
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.state.slow_start.on_lost(lost);
    }

    fn governs_recovery(&self) -> bool {
        S::RECOVERS && self.state.slow_start.is_recovering()
    }

    fn on_congestion(&mut self, event: &CongestionEvent, now: Instant) {
        self.save(event);
        if self.state.slow_starting() && speaks_of_capacity(event) {
            self.state.unreported = Some(Unreported::Exited);
        }
        self.state.reduce(event, now);
        self.repace(None);
    }

    fn on_recovery_exit(&mut self, now: Instant) {
        if S::RECOVERS && self.state.slow_start.is_recovering() {
            let step = self.state.slow_start.end_recovery();
            self.state.recover(step, now);
        }
        if let Some(prior) = &mut self.prior {
            prior.of = EpisodeOf::Past;
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

    fn resumption(&self) -> Option<Resumption> {
        self.state.slow_start.resumption()
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
