//! How written data becomes segments. A connection has one of two segmenters, chosen once for the device that it sends through,
//! and only this file distinguishes them.

use super::chunks::Chunked; // variant: chunks
use super::{Boundary, HeldBy, Segmenter, Sender, Source, View};
use crate::config::{Config, SendConfig};
use base::{Bytes, Duration, Instant, SeqNum};
use recovery::SentSegment;

/// Segments that are retransmitted together, as one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Train {
    /// The retransmission belongs to no such burst, or the burst continues.
    No,
    /// The segment is the last one of the burst.
    Ends,
}

/// The input for the turn of new data, beyond the sender's own state.
#[derive(Clone, Copy)]
pub(crate) struct TurnCx<'a> {
    pub cfg: &'a Config,
    /// Payload bytes of a full segment.
    pub size: Bytes,
    pub now: Instant,
    /// Time since data last left.
    pub idle: Duration,
    /// The connection's state allows data to leave.
    pub open: bool,
    /// Urgent data is outstanding.
    pub urgent: bool,
    /// Returns whether a probe of the path's MTU has to leave next, or to be waited for.
    pub probes_path: &'a dyn Fn(&Sender) -> bool,
}

/// The outcome of a write, or of the turn of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Released {
    /// The limit that holds the next part of the written data back, if the chunks were checked.
    pub held: Option<HeldBy>,
    /// Only the answer to a probe can report a wider window.
    pub waits_for_window: bool,
    /// A writer that waited is to be woken.
    pub woken: bool,
}

impl Sender {
    /// Returns the memory of the segmenter in bytes, without the written data.
    pub fn segmenter_heap_size(&self) -> usize {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.chunked.heap_size(), // variant: chunks
        }
    }

    /// Returns the number of pieces of unacknowledged data that take memory beyond their bytes.
    pub fn pieces(&self) -> u32 {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.chunked.get().map_or(0, |chunks| chunks.count()), // variant: chunks
        }
    }

    /// Takes as much of `source` as there is room for. Returns how much, and which data may leave at once because of it.
    pub fn write(&mut self, turn: &TurnCx<'_>, source: Source<'_>, boundary: Boundary) -> (u64, Released) {
        match self.segmenter {
            Segmenter::BySegment => (self.write_stream(turn.cfg, source), Released::default()),
            Segmenter::ByChunk => self.write_chunks(turn, source, boundary), // variant: chunks
        }
    }

    fn write_stream(&mut self, cfg: &Config, source: Source<'_>) -> u64 {
        let len = self.below_lowat(cfg, source.len());
        let taken = match source {
            Source::Bytes(data) => self.buffer.write(&data[..len as usize]) as u64,
            Source::Pattern(_) => self.buffer.write_pattern(len),
        };
        self.on_write(taken < source.len());
        taken
    }

    /// Allows small segments at the end of the written data to leave without waiting for more.
    #[inline]
    pub fn end_waiting(&mut self) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.release_small_chunks(), // variant: chunks
        }
    }

    /// Does the same, also for data written from now on.
    pub fn push_pending(&mut self) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.urge_chunks(), // variant: chunks
        }
    }

    /// Makes the next turn of new data check what may leave: a segment came, settings changed, or the pacer's release time has
    /// come.
    #[inline]
    pub fn look_again(&mut self, send: &SendConfig, urgent: bool) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.look_at_chunks(send, urgent), // variant: chunks
        }
    }

    /// Returns whether [`Self::prepare_new`] has anything to do.
    #[inline]
    pub fn must_prepare_new(&self) -> bool {
        match self.segmenter {
            Segmenter::BySegment => self.rec.board.is_empty() && self.space.usable() > 0,
            Segmenter::ByChunk => self.chunked.get().is_some_and(|chunks| chunks.due.is_some()), // variant: chunks
        }
    }

    /// Prepares the turn of new data: reduces the congestion window after a pause, and releases bursts.
    pub fn prepare_new(&mut self, turn: &TurnCx<'_>) -> Released {
        match self.segmenter {
            Segmenter::BySegment => {
                self.restart_if_idle(turn.cfg, turn.now, turn.idle);
                Released::default()
            }
            Segmenter::ByChunk => self.release_due_chunks(turn), // variant: chunks
        }
    }

    /// Returns how many of `unsent` bytes leave in the next frame.
    #[inline(always)]
    pub fn next_len(&self, cfg: &Config, view: &View, unsent: Bytes) -> Result<Bytes, HeldBy> {
        match self.segmenter {
            Segmenter::BySegment => self.next_segments(cfg, view, unsent),
            Segmenter::ByChunk => self.next_of_burst(*view), // variant: chunks
        }
    }

    /// Returns the bytes that were released and have not left.
    #[inline]
    pub fn planned(&self) -> Bytes {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.planned_chunks(), // variant: chunks
        }
    }

    /// Returns `len`, or less if a chunk or burst ends earlier.
    #[inline]
    pub fn up_to_boundary(&self, len: Bytes) -> Bytes {
        match self.segmenter {
            Segmenter::BySegment => len,
            Segmenter::ByChunk => self.up_to_chunk_end(len), // variant: chunks
        }
    }

    /// Records that a probe of the peer's window takes `len` bytes of the written data, in segments of `size`.
    pub fn on_probe(&mut self, len: Bytes, size: Bytes) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.commit_probe(len, size), // variant: chunks
        }
    }

    /// Records that everything before `end` has left, whichever rule chose it.
    #[inline]
    pub fn cover(&mut self, end: SeqNum) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.cover_chunks(end), // variant: chunks
        }
    }

    /// Removes the first `bytes` of the written data, which were acknowledged.
    #[inline]
    pub fn on_bytes_acked(&mut self, bytes: Bytes) {
        self.buffer.ack(bytes);
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.chunked.on_acked(self.buffer.start_offset()), // variant: chunks
        }
    }

    /// Drops all written data.
    pub fn drop_bytes(&mut self) {
        self.buffer.clear();
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.chunked = Chunked::default(), // variant: chunks
        }
    }

    /// Returns the payload of a full segment without SACK option, in bytes.
    #[inline]
    pub fn full_size(&self) -> Bytes {
        match self.segmenter {
            Segmenter::BySegment => self.space.smss(),
            Segmenter::ByChunk => self.within_half_window(self.space.smss()), // variant: chunks
        }
    }

    //= specs/rfc9293.md#sending
    //# What an application has written leaves without waiting for more, and PSH is on its last segment.
    /// Returns whether a segment that ends at `end` carries PSH when it leaves, for the first time or again.
    #[inline]
    pub fn pushes(&self, cfg: &Config, end: SeqNum, retransmits: u8) -> bool {
        let last = end.at_or_after(self.data_end());
        match self.segmenter {
            Segmenter::BySegment => last,
            Segmenter::ByChunk => self.pushes_chunk(&cfg.send, end, retransmits).unwrap_or(last), // variant: chunks
        }
    }

    /// Returns whether `segment`, which was just recorded as retransmitted, ends a burst of such segments.
    #[inline]
    pub fn train_at(&mut self, cfg: &Config, now: Instant, segment: &SentSegment) -> Train {
        match self.segmenter {
            Segmenter::BySegment => Train::No,
            Segmenter::ByChunk => self.train_of_chunks(cfg, now, segment), // variant: chunks
        }
    }

    /// Returns whether to wake a waiting writer now that bytes were acknowledged.
    #[inline]
    pub fn wakes_on_ack(&mut self, cfg: &Config) -> bool {
        match self.segmenter {
            Segmenter::BySegment => self.buffer.writer_waits() && self.wake_writer(cfg),
            Segmenter::ByChunk => false, // variant: chunks
        }
    }

    /// Returns whether to wake a waiting writer when nothing more can leave, and a segment has arrived since that was last so.
    pub fn wakes_on_held(&mut self, cfg: &Config, now: Instant) -> bool {
        match self.segmenter {
            Segmenter::BySegment => false,
            Segmenter::ByChunk => self.buffer.writer_waits() && self.make_room(cfg, now), // variant: chunks
        }
    }
}
