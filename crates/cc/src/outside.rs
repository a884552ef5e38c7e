//! A controller that a program brings along: the seam [`Advisor`], and the composite that applies what an advisor decides.
//!
//! An advisor is not asked with each ACK. It gets a [`Report`] once a round trip, with all samples since the last one, and one at once with
//! each congestion signal. It may answer with a [`Rule`], which sets the window and says how ACKs open it until another rule does. So an
//! advisor may be slow, or written in an interpreted language, and a window can nevertheless grow with each ACK.
//!
//! This file owns the window; an advisor never sees a segment or a timer, and deals in integers. Its rules:
//!
//! * A round ends with the ACK of all that was in flight when it began. None ends during fast recovery: reports go on after it.
//! * A window that a round's report raises opens with the ACKs of the next round, not in a burst.
//! * The window grows only outside fast recovery, and only if the window limited the sender; [`Report::acked`] counts those bytes alone.
//! * Growth below `ssthresh` stops there (RFC 5681 §3.1).
//! * An advisor that does not answer a signal gets the response of RFC 5681 §3.1: half of the outstanding data, and one segment after a
//!   timeout. A timeout with nothing in flight (a lost SYN) says nothing about the path, and is not reported.
//! * Undo restores window and rule from before the first reduction of an episode; a window that has grown beyond that stays.

mod batch;
mod rule;

pub use batch::{Cause, Report, Sample};
pub use rule::{Pace, Rule};

use crate::avoidance::{ratio, scaled};
use crate::control::{CcNote, CcPhase, CongestionControl, Pacing, Snapshot};
use crate::sample::{AckSample, CongestionEvent, EpisodeKind, FlightStart, LossSample};
use crate::slow_start::ExitCause;
use crate::window::Window;
use base::{Bytes, Duration, Instant, SeqNum};
use batch::Batch;
use core::fmt::Debug;
use rule::Installed;
use std::sync::Arc;

/// Decides for one connection. Equal reports have to get equal rules, or runs cannot be repeated.
///
/// An advisor that cannot go on unwinds; the run that asked it ends with what it threw.
pub trait Advisor: Debug + Send {
    /// Answers a report; `None` changes nothing.
    fn advise(&mut self, report: &Report<'_>) -> Option<Rule>;
    /// Returns a copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn Advisor>;
}

impl Clone for Box<dyn Advisor> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// Makes the advisors of an algorithm, one for each connection.
pub trait Advisors: Debug + Send + Sync {
    /// What the algorithm is called.
    fn name(&self) -> &str;
    /// A digest of everything that determines its decisions: two algorithms with one digest are the same.
    fn digest(&self) -> &str;
    /// Returns the advisor of a new connection.
    fn advisor(&self) -> Box<dyn Advisor>;
}

/// The algorithm of a configuration. Configurations are equal if name and digest are.
#[derive(Clone, Debug)]
pub struct OutsideConfig(Arc<dyn Advisors>);

impl OutsideConfig {
    /// Takes an algorithm.
    pub fn new(advisors: Arc<dyn Advisors>) -> Self {
        Self(advisors)
    }
    /// What it is called.
    pub fn name(&self) -> &str {
        self.0.name()
    }
    /// Its digest.
    pub fn digest(&self) -> &str {
        self.0.digest()
    }
}

impl PartialEq for OutsideConfig {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.digest()) == (other.name(), other.digest())
    }
}

impl Eq for OutsideConfig {}

/// The controller that applies an advisor's rules.
#[derive(Clone, Debug)]
pub struct Outside {
    advisor: Box<dyn Advisor>,
    seed: u32,
    state: State,
    prior: Option<Box<Prior>>,
    batch: Batch,
    /// The ACK of this byte ends the round; `None` while nothing is in flight.
    round_end: Option<SeqNum>,
    is_started: bool,
    /// Whether slow start was in progress, as far as notes say; and what ended it since.
    noted_slow_start: bool,
    cause: ExitCause,
}

/// What a reduction changes and an undo restores.
#[derive(Clone, Debug)]
struct State {
    window: Window,
    rule: Installed,
}

/// The state before a reduction, and whether its episode goes on.
#[derive(Clone, Debug)]
struct Prior {
    state: State,
    is_present: bool,
}

impl Outside {
    /// A new connection's controller. `seed` is the same in a run that is made again.
    pub fn new(config: &OutsideConfig, window: Window, seed: u32) -> Self {
        Self {
            advisor: config.0.advisor(),
            seed,
            state: State { window, rule: Installed::default() },
            prior: None,
            batch: Batch::default(),
            round_end: None,
            is_started: false,
            noted_slow_start: true,
            cause: ExitCause::Threshold,
        }
    }

    /// Reports to the advisor, and installs the rule that it returns.
    fn report(&mut self, cause: Cause, now: Instant) -> Option<Rule> {
        let report = self.batch.report(cause, now, self.seed, &self.state.window);
        let rule = self.advisor.advise(&report);
        self.batch.clear();
        self.state.rule.stop_opening();
        if let Some(rule) = &rule {
            self.state.rule.install(rule);
            if let Some(ssthresh) = rule.ssthresh {
                self.state.window.set_ssthresh(ssthresh);
            }
            match (rule.window, cause) {
                (Some(cwnd), Cause::Start | Cause::Round) if cwnd > self.state.window.cwnd() => {
                    // Before the first flight, what will be in flight is a window.
                    let span = if cause == Cause::Start { self.state.window.cwnd() } else { self.batch.pipe() };
                    self.state.rule.open(&self.state.window, cwnd.min(Window::MAX), span);
                }
                (Some(cwnd), _) => self.state.window.set_cwnd(cwnd),
                (None, _) => {}
            }
        }
        rule
    }

    /// Reports the beginning before anything else.
    fn start(&mut self, now: Instant) {
        if !self.is_started {
            self.is_started = true;
            self.report(Cause::Start, now);
        }
    }

    /// Saves the state unless an earlier reduction of the episode did. A mark is never undone.
    fn save(&mut self, event: &CongestionEvent) {
        match (event, &self.prior) {
            (CongestionEvent::Ecn { .. }, _) => self.prior = None,
            (_, Some(prior)) if prior.is_present => {}
            _ => self.prior = Some(Box::new(Prior { state: self.state.clone(), is_present: true })),
        }
    }

    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# Fast retransmit sets `ssthresh` to half the FlightSize, but to no less than two segments.
    //= specs/rfc5681.md#response-to-a-timeout
    //# After a timeout the window is one segment.
    /// Answers a signal by the advisor's rule, or by what stands for the parts that the rule leaves open.
    fn answer(&mut self, event: &CongestionEvent, now: Instant) {
        let half = |flight_size: Bytes| flight_size / 2;
        match *event {
            CongestionEvent::Loss { flight_size } => {
                let rule = self.report(Cause::Loss { flight_size }, now).unwrap_or_default();
                let ssthresh = rule.ssthresh.or(rule.window).unwrap_or_else(|| half(flight_size));
                self.state.window.set_ssthresh(ssthresh);
                self.state.window.set_cwnd(rule.window.unwrap_or_else(|| self.state.window.ssthresh()));
            }
            CongestionEvent::Ecn { flight_size, least_segments, .. } => {
                let rule = self.report(Cause::Mark { flight_size }, now).unwrap_or_default();
                let usual = || scaled(flight_size, event.factor(ratio(1, 2)));
                let reduced = rule.ssthresh.or(rule.window).unwrap_or_else(usual);
                self.state.window.set_ssthresh(reduced);
                let least = self.state.window.smss().saturating_mul(least_segments);
                self.state.window.set_cwnd(rule.window.unwrap_or(reduced).max(least));
            }
            CongestionEvent::Timeout { flight_size, first } => {
                let rule = self.report(Cause::Timeout { flight_size, first }, now).unwrap_or_default();
                if rule.ssthresh.is_none() && first {
                    self.state.window.set_ssthresh(half(flight_size));
                }
                self.state.window.set_cwnd(rule.window.unwrap_or_else(|| self.state.window.smss()));
            }
        }
    }

    /// Reports the end of slow start once.
    fn note(&mut self) -> Option<CcNote> {
        let is = self.state.window.in_slow_start();
        let was = core::mem::replace(&mut self.noted_slow_start, is);
        let cause = core::mem::replace(&mut self.cause, ExitCause::Threshold);
        (was && !is).then_some(CcNote::SlowStartExited(cause))
    }
}

impl CongestionControl for Outside {
    fn on_flight_start(&mut self, start: &FlightStart) {
        self.batch.note_srtt(start.srtt);
        self.start(start.now);
    }

    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote> {
        self.start(ack.now);
        let grows = ack.episode != EpisodeKind::Recovery && ack.cwnd_limited;
        self.batch.add(ack, grows);
        if grows {
            self.state.rule.grow(&mut self.state.window, ack.acked);
        }
        let end = *self.round_end.get_or_insert(ack.snd_nxt);
        if ack.episode != EpisodeKind::Recovery && !ack.snd_una.before(end) {
            self.round_end = (ack.snd_una != ack.snd_nxt).then_some(ack.snd_nxt);
            self.batch.count_round();
            self.report(Cause::Round, ack.now);
        }
        self.note()
    }

    fn on_lost(&mut self, lost: &LossSample) {
        self.batch.add_loss(lost);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, now: Instant) {
        if let CongestionEvent::Timeout { flight_size: 0, .. } = event {
            self.state.window.set_cwnd(self.state.window.smss());
            return;
        }
        self.start(now);
        self.save(event);
        self.cause = ExitCause::Congestion;
        self.answer(event, now);
    }

    fn on_recovery_exit(&mut self, _now: Instant) {
        if let Some(prior) = &mut self.prior {
            prior.is_present = false;
        }
    }

    fn on_idle_restart(&mut self, _idle: Duration) {}

    fn on_unused(&mut self, cwnd: Bytes) {
        let window = &mut self.state.window;
        let known = window.cwnd() / 2 + window.cwnd() / 4;
        window.set_ssthresh(window.ssthresh().max(known));
        window.set_cwnd(cwnd);
    }

    fn on_smss_change(&mut self, smss: Bytes) {
        self.state.window.set_smss(smss);
        if let Some(prior) = &mut self.prior {
            prior.state.window.set_smss(smss);
        }
    }

    fn undo(&mut self) -> bool {
        let Some(prior) = self.prior.take() else { return false };
        let present = self.state.window.cwnd();
        self.state = prior.state;
        self.state.window.set_cwnd(present.max(self.state.window.cwnd()));
        self.report(Cause::Undone, self.batch.now());
        true
    }

    #[inline]
    fn window(&self) -> &Window {
        &self.state.window
    }

    fn pacing(&self) -> Option<Pacing> {
        let Pace { rate, quantum } = self.state.rule.pace()?;
        Some(Pacing::Rate { rate, quantum: quantum.max(self.state.window.smss()) })
    }

    fn snapshot(&self) -> Snapshot {
        let window = &self.state.window;
        Snapshot {
            phase: if window.in_slow_start() { CcPhase::SlowStart } else { CcPhase::Outside },
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            values: [("rounds", self.batch.rounds()), ("", 0), ("", 0), ("", 0)],
        }
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    /// Without what the advisor keeps, which is the program's.
    fn state_size(&self) -> usize {
        size_of::<Self>() + self.prior.as_deref().map_or(0, size_of_val) + self.batch.boxed_size()
    }
}

#[cfg(test)]
mod tests;
