//! Probes of a closed window (RFC 9293 §3.8.6.1): when the persist timer runs, and when an open window ends it. A connection
//! sends one of two kinds of probe, and only this file distinguishes them.

use super::Sender;
use super::plan::Ask;
use crate::config::{Config, WindowProbe};
use crate::endpoint::Probing;
use base::{Bytes, Duration, Instant};

impl Sender {
    /// Handles new data that waits for the peer's window, or for more of it. If nothing is in flight whose ACK could open the
    /// window, the persist timer probes it. Returns whether to start that timer.
    pub fn wait_for_window(&mut self, early: bool) -> bool {
        let starts = self.rec.board.is_empty() && self.rec.probing() == Probing::Idle && !early;
        if starts {
            self.rec.set_probing(Probing::Waiting(0));
        }
        starts
    }

    //= specs/rfc9293.md#windows
    //# The first probe leaves after one timeout, and the interval grows exponentially.
    /// Returns how long the persist timer waits after this many probes.
    pub fn persist_interval(&self, cfg: &Config, probes: u32) -> Duration {
        let unsent = self.data_end().distance_from(self.space.nxt());
        // Data that the window takes but another rule holds, such as a cork, waits for a timeout.
        let taken = unsent > 0 && self.space.usable() >= unsent.min(self.full_size());
        // A probe that carries bytes uses what a narrow window takes, and the silly-window rules set its time.
        if self.space.wnd() > 0 && !taken && !self.probes_are_empty() {
            return cfg.send.sws_override;
        }
        let doubled = self.rec.rto.current().duration().scale(1 << probes.min(16), 1);
        doubled.min(cfg.send.persist_max)
    }

    /// Returns whether probes are empty segments; otherwise they carry a byte beyond the closed window.
    pub(super) fn probes_are_empty(&self) -> bool {
        self.window_probe == WindowProbe::Empty
    }

    /// Returns whether a closed window holds the FIN, which has a sequence number. Where probes carry bytes, a FIN can be the
    /// probe.
    pub(super) fn fin_has_to_wait(&self) -> bool {
        self.space.usable() == 0 && self.probes_are_empty()
    }

    /// Records that a probe leaves.
    pub fn on_window_probe(&mut self, ask: Ask) {
        let Probing::Due(sent) = self.rec.probing() else { return };
        // Where probes are empty, bytes that the window takes are not a probe but data, and their ACK reports the window.
        let is_data = self.probes_are_empty() && ask != Ask::Empty;
        self.rec.set_probing(if is_data { Probing::Idle } else { Probing::Waiting(sent.saturating_add(1)) });
    }

    /// Drops a due probe that has nothing left to send.
    #[inline]
    pub fn forget_empty_probes(&mut self) {
        if self.rec.tail.is_due() {
            self.rec.tail.reset();
        }
        if let Probing::Due(_) = self.rec.probing() {
            self.rec.set_probing(Probing::Idle);
        }
    }

    /// Returns whether an empty probe waits for its turn: an answer restarts the wait.
    pub fn waits_with_empty_probe(&self) -> bool {
        matches!(self.rec.probing(), Probing::Waiting(_)) && self.rec.board.is_empty() && self.probes_are_empty()
    }

    /// Returns whether the window is too narrow for the next segment, where probes are empty: it then counts as closed, and
    /// probes continue unchanged.
    fn is_still_too_narrow(&self, size: Bytes) -> bool {
        let unsent = self.data_end().distance_from(self.space.nxt());
        self.probes_are_empty() && self.space.wnd() < unsent.min(size)
    }

    //= specs/rfc9293.md#windows
    //# A window that the peer takes back does not harm the connection.
    /// Stops probing if the peer's window has grown while the persist timer ran: the retransmission timer covers the flight
    /// again, and bytes that a probe carried beyond a closed window are due at once, without counting as a loss. Returns whether
    /// it stopped; full segments have `size` bytes.
    pub fn stop_probing_if_opened(&mut self, now: Instant, wnd_before: Bytes, size: Bytes) -> bool {
        if self.space.wnd() <= wnd_before || self.is_still_too_narrow(size) {
            return false;
        }
        self.rec.set_probing(Probing::Idle);
        self.rec.forget_retries();
        self.rec.restart_rto(now);
        if wnd_before == 0
            && let Some(probe) = self.rec.board.oldest_sent()
        {
            self.rec.board.mark_lost(probe.id);
            self.rec.board.clear_lost_log();
            self.rec.force(true);
        }
        true
    }
}
