//! Which pieces of a stream a reader has completed: all of it, where it has a size, or what is repeated.

use crate::outcome::Piece;
use crate::scenario::{FlowSpec, Workload};
use base::{Duration, Instant};

/// The pieces of a stream, all of one size, and when each was complete.
#[derive(Debug)]
pub(super) struct Repetitions {
    start: Instant,
    /// Bytes of a piece; zero if the stream has none.
    bytes: u64,
    /// Time between two; `None` for a single one.
    every: Option<Duration>,
    /// No more become due from then on.
    until: Instant,
    /// Position in the stream where the next one is complete.
    next_end: u64,
    done: Vec<Instant>,
}

impl Repetitions {
    pub(super) fn new(flow: &FlowSpec) -> Self {
        let (bytes, every) = match flow.workload {
            Workload::Bytes(bytes) => (bytes, None),
            Workload::Repeated { bytes, every } => (bytes, Some(every)),
            Workload::For(_) | Workload::OnOff { .. } | Workload::Requests { .. } => (0, None),
        };
        Self {
            start: Instant::ZERO + flow.start,
            bytes,
            every,
            until: flow.stop.map_or(Instant::MAX, |stop| Instant::ZERO + stop),
            next_end: if bytes == 0 { u64::MAX } else { bytes },
            done: Vec::new(),
        }
    }

    /// This many bytes have been read by `now`.
    #[inline]
    pub(super) fn note(&mut self, now: Instant, bytes_read: u64) {
        while bytes_read >= self.next_end {
            self.done.push(now);
            self.next_end = if self.every.is_some() { self.next_end + self.bytes } else { u64::MAX };
        }
    }

    /// Returns those that were due by `now`.
    pub(super) fn pieces(&self, now: Instant) -> Vec<Piece> {
        let due_by = |at: &Instant| *at <= now && *at < self.until;
        let all = core::iter::successors(Some(self.start), |at| Some(*at + self.every?)).take_while(due_by);
        let all = all.take(if self.bytes == 0 { 0 } else { usize::MAX });
        let piece = |(index, asked)| Piece { asked, bytes: self.bytes, done: self.done.get(index).copied() };
        all.enumerate().map(piece).collect()
    }
}
