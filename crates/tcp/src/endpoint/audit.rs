//! Invariants that must hold between any two calls, recomputed from scratch. Checkers call it; it costs O(window).

use super::{Endpoint, State};
use recovery::Episode;

impl Endpoint {
    /// Octets this endpoint occupies, without the application's data: itself, its boxes, and the books of what is in
    /// flight, which an idle one does not have.
    pub fn state_size(&self) -> usize {
        let reduction = self.snd.rec.reduction.as_ref().map_or(0, |reduction| reduction.state_size());
        let boxes = self.snd.cc.state_size() + self.snd.rec.detector.state_size() + reduction;
        let delivered = self.snd.rec.delivered.as_deref().map_or(0, |d| size_of_val(d) + d.heap_size());
        let undo = self.snd.rec.undo.as_deref().map_or(0, |undo| size_of_val(undo) + undo.heap_size());
        let extras = self.extras.as_deref().map_or(0, size_of_val);
        let pacer = self.snd.pacer.as_deref().map_or(0, size_of_val);
        size_of::<Self>()
            + self.snd.rec.rtt.heap_size()
            + extras
            + self.rcv.heap_size()
            + pacer
            + self.snd.buffer.chunks_size()
            + undo
            + boxes
            + self.snd.rec.board.heap_size()
            + delivered
    }
    /// Scoreboard records touched since the connection began; tests bound its growth per ACK.
    pub fn records_visited(&self) -> u64 {
        self.snd.rec.board.visited()
    }
    /// Checks the connection's books.
    ///
    /// # Errors
    /// Says which invariant is broken and with which numbers.
    pub fn audit(&self) -> Result<(), String> {
        let (pipe, recount) = (self.snd.rec.board.pipe(), self.snd.rec.board.recount_pipe());
        let smss = self.snd.space.smss();
        let cwnd = self.snd.cc.window().cwnd();
        let (flight, buffered) = (self.snd.space.flight_size(), self.snd.buffer.len());
        let synchronized = self.life.state().is_synchronized();
        let watched =
            self.life.state() == State::Closed || self.snd.rec.board.is_empty() || !self.life.state().may_send();
        let recovering = match self.snd.rec.episode {
            Episode::Recovery { .. } => true,
            // The configuration says whether a reduction follows a mark.
            Episode::Cwr { .. } => self.snd.rec.reduction.is_some(),
            Episode::Open | Episode::Loss { .. } => false,
        };
        let timer_runs = self.timers.next().is_some();
        // Numbers are put into words only when an invariant is broken.
        let problem = if pipe != recount {
            format!("pipe is {pipe} but the scoreboard adds up to {recount}")
        } else if self.snd.space.una().after(self.snd.space.nxt()) {
            "SND.UNA is beyond SND.NXT".to_owned()
        } else if pipe > flight && self.snd.space.una() != self.snd.space.iss() {
            format!("pipe {pipe} exceeds the flight {flight}")
        } else if synchronized && cwnd < smss {
            format!("cwnd {cwnd} is below one segment of {smss}")
        } else if synchronized && flight > buffered + 1 {
            format!("{flight} octets are in flight but only {buffered} are buffered")
        } else if recovering != self.snd.rec.reduction.is_some() {
            format!("a reduction rules is {} in the episode {}", !recovering, self.snd.rec.episode.name())
        } else if self.life.state() == State::Closed && timer_runs {
            "a timer runs in CLOSED".to_owned()
        } else if !watched && !timer_runs {
            "data is in flight and no timer runs".to_owned()
        } else {
            return Ok(());
        };
        Err(format!(
            "{problem} (state {}, una {}, nxt {})",
            self.life.state().name(),
            self.snd.space.una(),
            self.snd.space.nxt()
        ))
    }
}
