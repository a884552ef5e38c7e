//! Episodes: what an episode of recovery or a timeout changes, and how it is undone (draft §5.6.4.4, §5.5.11).

use super::state::State;
use super::undo::Undo;
use super::{Bbr3, MarkMeaning};
use crate::sample::CongestionEvent;
use base::Bytes;

impl Bbr3 {
    /// Saves the state at the first loss of an episode.
    pub(super) fn save_for_undo(&mut self) {
        if self.undo.as_ref().is_none_or(|undo| !undo.present) {
            let (state, short, inflight_long) = (self.state, self.short.clone(), self.inflight_long);
            self.undo = Some(Undo { state, short, inflight_long, present: true });
        }
    }

    /// Makes an undo return to `state`, which a loss has just ended.
    pub(super) fn undo_to(&mut self, state: State) {
        if let Some(undo) = &mut self.undo {
            undo.state = state;
        }
    }

    /// Returns the window to return to: the larger one, if one is saved already.
    pub(super) fn cwnd_to_save(&self) -> Bytes {
        if self.recovering || self.state == State::ProbeRtt {
            self.prior_cwnd.max(self.window.cwnd())
        } else {
            self.window.cwnd()
        }
    }

    /// Returns to the saved window, which is kept while an episode or a ProbeRTT still needs it.
    pub(super) fn restore_cwnd(&mut self) {
        self.window.set_cwnd(self.window.cwnd().max(self.prior_cwnd));
        if !self.recovering && self.state != State::ProbeRtt {
            self.prior_cwnd = 0;
        }
    }

    pub(super) fn begin_episode(&mut self, event: &CongestionEvent) {
        match *event {
            CongestionEvent::Ecn { .. } => {
                self.undo = None;
                if self.config.marks == MarkMeaning::Loss {
                    self.latest.on_mark(self.delivered);
                }
                return;
            }
            // A lost SYN says nothing about the path.
            CongestionEvent::Timeout { flight_size: 0, .. } => return self.window.set_cwnd(self.smss()),
            CongestionEvent::Loss { .. } | CongestionEvent::Timeout { .. } => {}
        }
        self.save_for_undo();
        self.prior_cwnd = self.cwnd_to_save();
        self.recovering = true;
        if let CongestionEvent::Timeout { .. } = event {
            self.window.set_cwnd(self.pipe.saturating_add(self.smss()));
        }
    }

    pub(super) fn end_episode(&mut self) {
        self.recovering = false;
        if let Some(undo) = &mut self.undo {
            undo.present = false;
        }
        self.restore_cwnd();
    }

    /// Undoes an episode of which everything was delivered. Returns whether there was one.
    pub(super) fn undo_episode(&mut self) -> bool {
        let Some(undo) = self.undo.take() else { return false };
        self.restore_cwnd();
        self.latest.take_loss();
        self.judge_pipe_anew(None);
        self.short.raise_to(&undo.short);
        self.inflight_long = self.inflight_long.max(undo.inflight_long);
        match undo.state {
            _ if self.state == State::ProbeRtt || self.state == undo.state => {}
            State::Startup => {
                self.was_full = false;
                self.enter_startup();
            }
            State::Up => self.enter_refill(),
            _ => {}
        }
        true
    }
}
