//! Startup and Drain (draft §5.3.1, §5.3.2).

use super::Bbr3;
use super::loss::is_too_much;
use super::state::State;
use crate::sample::{AckSample, EpisodeKind};
use base::Instant;

/// Rounds after which Drain ends even if a queue is left: it may be someone else's.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    /// Step 6: whether Startup is over, because the pipe is full or because it overflows.
    pub(super) fn leave_startup(&mut self, ack: &AckSample) {
        if self.state == State::Startup && !self.was_full && self.loses_much(ack) {
            self.undo_to(State::Startup);
            self.fill_pipe();
        }
        if self.state == State::Startup && self.was_full {
            self.state = State::Drain { since: self.rounds.count() };
            // From here on nothing is slow start: the window counts as used only if it is.
            self.window.set_ssthresh(0);
        }
    }

    /// Takes the pipe for full, because it overflows: it carries no more than now.
    pub(super) fn fill_pipe(&mut self) {
        self.was_full = true;
        self.inflight_long = self.bdp().max(self.latest.inflight());
    }

    /// Returns whether the round that ends now was one of fast recovery and lost much, in many places.
    fn loses_much(&self, ack: &AckSample) -> bool {
        let Some(sample) = ack.rate.as_ref() else { return false };
        let (lost, share) = (sample.lost + u64::from(ack.newly_lost), self.config.startup_loss);
        let many = !self.probing.selective() || self.latest.ranges() >= self.config.startup_loss_ranges;
        let much = if self.probing.selective() { is_too_much(lost, sample.pipe_at_send, share) } else { lost > 0 };
        self.latest.starts() && ack.episode == EpisodeKind::Recovery && many && much
    }

    /// Begins Startup, or begins it again.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.window.set_ssthresh(crate::window::Window::UNKNOWN);
    }

    /// Step 7: whether the queue of Startup is gone.
    pub(super) fn leave_drain(&mut self, now: Instant) {
        let State::Drain { since } = self.state else { return };
        if self.pipe <= self.inflight_at((1, 1)) || self.rounds.count() >= since + DRAIN_ROUNDS {
            self.enter_down(now);
        }
    }
}
