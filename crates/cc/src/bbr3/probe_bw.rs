//! ProbeBW: when to probe for bandwidth, how to raise what may be in flight, and when a probe has learned enough (draft §5.3.3).

use super::Bbr3;
use super::cycle::Feedback;
use super::loss::is_too_high;
use super::state::{State, UNBOUNDED};
use crate::sample::AckSample;
use base::{Bytes, Duration, Instant, RateSample};

/// Rounds between two probes at most, so that a Reno flow beside this one gets its share.
const RENO_ROUNDS: Bytes = 63;
/// Least time between two probes that the clock sets off, and the range of what is added at random.
const WAIT: Duration = Duration::from_secs(2);
const WAIT_RANDOM_NS: u64 = 1_000_000_000;
impl Bbr3 {
    /// Enters Down: another cycle begins.
    pub(super) fn enter_down(&mut self, now: Instant) {
        self.latest.forget();
        let rounds = self.rng.below(2) as u32;
        let wait = WAIT + Duration::from_nanos(self.rng.below(WAIT_RANDOM_NS));
        self.probing.begin(rounds, now + wait);
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    /// Enters Cruise.
    pub(super) fn enter_cruise(&mut self) {
        self.state = State::Cruise;
    }

    /// Enters Refill: a round at the bandwidth and without the bounds of the short term, so that the probe begins with a full pipe.
    pub(super) fn enter_refill(&mut self) {
        self.short = Default::default();
        self.probing.refill();
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    pub(super) fn enter_up(&mut self, sample: Option<&RateSample>) {
        self.probing.start();
        self.rounds.restart(self.delivered);
        self.judge_pipe_anew(sample);
        self.state = State::Up;
        self.steepen();
    }

    /// Step 8: advances the cycle.
    pub(super) fn advance_probe(&mut self, ack: &AckSample) {
        if !self.was_full {
            return;
        }
        let before = self.state;
        self.learn_from_probe(ack);
        match self.state {
            // A probe that repeats has a round of its own to refill.
            state if state != before => {}
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.enter_refill(),
            State::Down if self.is_drained() => self.enter_cruise(),
            State::Refill if self.rounds.starts() => self.enter_up(ack.rate.as_ref()),
            State::Up => self.leave_up_in_time(ack),
            _ => {}
        }
    }

    /// Follows the ACKs of a probe, and raises the long-term bound if little was lost.
    fn learn_from_probe(&mut self, ack: &AckSample) {
        if self.rounds.starts() && self.probing.on_round() == Feedback::Complete {
            self.end_probe(ack.rate.as_ref());
        }
        let Some(sample) = ack.rate.as_ref() else { return };
        let lost = sample.lost + u64::from(ack.newly_lost);
        if self.inflight_long == UNBOUNDED || is_too_high(lost, sample.pipe_at_send) {
            return;
        }
        self.inflight_long = self.inflight_long.max(sample.pipe_at_send);
        if self.state == State::Up {
            self.raise_inflight(ack);
        }
    }

    /// Handles the last ACKs of a probe: what it saw counts for a whole cycle from now on.
    fn end_probe(&mut self, sample: Option<&RateSample>) {
        if !self.state.probes_bandwidth() {
            return;
        }
        if sample.is_some_and(|sample| !sample.app_limited) {
            self.max_bandwidth.advance();
        }
        if self.probing.may_repeat() {
            self.enter_refill();
        }
    }

    pub(super) fn is_time_to_probe(&self, now: Instant) -> bool {
        let target = self.bdp().min(self.window.cwnd()).max(self.least_cwnd());
        let rounds = (target / self.smss()).min(RENO_ROUNDS);
        self.probing.is_over(now, rounds)
    }

    /// Returns whether Down has made room: for others below the long-term bound, and in the queue.
    fn is_drained(&self) -> bool {
        self.pipe <= self.inflight_with_headroom() && self.pipe <= self.inflight_of(self.max_bandwidth.get(), (1, 1))
    }

    /// Leaves Up once the probe has learned enough; loss ends it when it is found.
    fn leave_up_in_time(&mut self, ack: &AckSample) {
        // A probe that follows one that lost too much stops short of that.
        let precautionary = self.probing.was_too_high() && self.pipe >= self.inflight_long;
        if !precautionary && self.is_held_by_long_term(ack) {
            // The rate cannot grow before the bound does.
            self.judge_pipe_anew(ack.rate.as_ref());
        }
        if precautionary || self.full_pipe.is_full() {
            self.probing.succeed(precautionary);
            self.enter_down(ack.now);
        }
    }

    /// Returns whether the long-term bound, and nothing else, keeps more from being in flight.
    fn is_held_by_long_term(&self, ack: &AckSample) -> bool {
        ack.cwnd_limited && self.window.cwnd() >= self.inflight_long
    }

    /// Raises the long-term bound as the growth of this round says.
    pub(super) fn raise_inflight(&mut self, ack: &AckSample) {
        if self.is_held_by_long_term(ack) {
            let gained = self.probing.grow(ack.delivered).saturating_mul(self.smss());
            self.inflight_long = self.inflight_long.saturating_add(gained).min(UNBOUNDED - 1);
        }
        if self.rounds.starts() {
            self.steepen();
        }
    }

    /// Doubles the growth: a segment in the first round of a probe, two in the second.
    pub(super) fn steepen(&mut self) {
        self.probing.steepen(self.window.cwnd(), self.window.smss());
    }
}
