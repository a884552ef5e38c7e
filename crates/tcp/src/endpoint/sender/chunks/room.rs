//! Room for chunks: when a new one may start, and when a release of chunks wakes a writer that waits.

use super::super::Sender;
use crate::config::Config;
use base::Instant;

impl Sender {
    /// Returns whether a new chunk may start.
    pub fn has_room(&self, cfg: &Config) -> bool {
        let waits = cfg.send.notsent_lowat.is_some_and(|lowat| self.unreleased() >= lowat);
        !waits && self.queued_memory(cfg) < self.buffer.capacity()
    }

    /// Returns the segments in flight, including those that were released.
    pub fn segments_in_flight(&self) -> u32 {
        let board = &self.rec.board;
        let departed = board.departed_bytes() / self.space.smss();
        (board.outstanding_segments() + self.planned_segments_of_chunks()).saturating_sub(departed)
    }

    /// Makes room for a waiting writer: grows the buffer unless the congestion window is full. Returns whether to wake the
    /// writer.
    pub fn make_room(&mut self, cfg: &Config, now: Instant) -> bool {
        if self.segments_in_flight() < self.cc.window().cwnd() / self.space.smss() {
            self.grow_buffer(cfg);
            self.usage.restart(now);
        }
        self.wake_writer(cfg)
    }
}
