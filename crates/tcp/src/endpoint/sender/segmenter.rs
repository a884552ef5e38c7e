//! How what was written becomes segments. A connection has one of two segmenters, chosen once for the device it sends through, and
//! this is the only file that asks which.

use super::chunks::Chunked; // variant: chunks
use super::{Boundary, HeldBy, Segmenter, Sender, Source, View};
use crate::config::{Config, SendConfig};
use base::{Bytes, Duration, Instant, SeqNum};
use recovery::SentSegment;

/// Segments that are retransmitted together, as one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Train {
    /// There is no such burst, or it continues.
    No,
    /// The segment is the last one.
    Ends,
}

/// What the turn of new data depends on beside the sender's own state.
#[derive(Clone, Copy)]
pub(crate) struct TurnCx<'a> {
    pub cfg: &'a Config,
    /// Payload bytes of a full segment.
    pub size: Bytes,
    pub now: Instant,
    /// How long ago data left last.
    pub idle: Duration,
    /// The state lets data leave.
    pub open: bool,
    /// Urgent data is outstanding.
    pub urgent: bool,
    /// Whether what leaves next is to be a probe of the path's MTU, or to wait for one.
    pub probes_path: &'a dyn Fn(&Sender) -> bool,
}

/// What came of a write, or of the turn of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Released {
    /// What holds back the next part of what was written, if it was looked at.
    pub held: Option<HeldBy>,
    /// Only the answer to a probe can report a wider window.
    pub waits_for_window: bool,
    /// A writer that waited may go on.
    pub woken: bool,
}

impl Sender {
    /// Bytes of memory that the segmenter takes beside what was written.
    pub fn segmenter_heap_size(&self) -> usize {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.chunked.heap_size(), // variant: chunks
        }
    }

    /// Pieces of what was written and is not acknowledged, each of which takes memory beside its bytes.
    pub fn pieces(&self) -> u32 {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.chunked.get().map_or(0, |chunks| chunks.count()), // variant: chunks
        }
    }

    /// Takes as much of `source` as there is room for. Returns how much, and what may leave at once because of it.
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

    /// What was written is settled: small segments at its end need not wait for more.
    #[inline]
    pub fn end_waiting(&mut self) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.release_small_chunks(), // variant: chunks
        }
    }

    /// The same, also for what is written from now on.
    pub fn push_pending(&mut self) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.urge_chunks(), // variant: chunks
        }
    }

    /// Something happened that may let more leave: a segment came, settings changed, the pacer's time has come.
    #[inline]
    pub fn look_again(&mut self, send: &SendConfig, urgent: bool) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.look_at_chunks(send, urgent), // variant: chunks
        }
    }

    /// Whether [`Self::prepare_new`] has anything to do.
    #[inline]
    pub fn must_prepare_new(&self) -> bool {
        match self.segmenter {
            Segmenter::BySegment => self.rec.board.is_empty() && self.space.usable() > 0,
            Segmenter::ByChunk => self.chunked.get().is_some_and(|chunks| chunks.due.is_some()), // variant: chunks
        }
    }

    /// It is the turn of new data: a pause may have closed the congestion window, and bursts are cut.
    pub fn prepare_new(&mut self, turn: &TurnCx<'_>) -> Released {
        match self.segmenter {
            Segmenter::BySegment => {
                self.restart_if_idle(turn.cfg, turn.now, turn.idle);
                Released::default()
            }
            Segmenter::ByChunk => self.release_due_chunks(turn), // variant: chunks
        }
    }

    /// How much of `unsent` bytes leaves in the next frame.
    #[inline(always)]
    pub fn next_len(&self, cfg: &Config, view: &View, unsent: Bytes) -> Result<Bytes, HeldBy> {
        match self.segmenter {
            Segmenter::BySegment => self.next_segments(cfg, view, unsent),
            Segmenter::ByChunk => self.next_of_burst(*view), // variant: chunks
        }
    }

    /// Bytes that were released and have not left.
    #[inline]
    pub fn planned(&self) -> Bytes {
        match self.segmenter {
            Segmenter::BySegment => 0,
            Segmenter::ByChunk => self.planned_chunks(), // variant: chunks
        }
    }

    /// `len`, or less if what leaves together ends before.
    #[inline]
    pub fn up_to_boundary(&self, len: Bytes) -> Bytes {
        match self.segmenter {
            Segmenter::BySegment => len,
            Segmenter::ByChunk => self.up_to_chunk_end(len), // variant: chunks
        }
    }

    /// A probe of the peer's window takes `len` bytes of what was written, in segments of `size`.
    pub fn on_probe(&mut self, len: Bytes, size: Bytes) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.commit_probe(len, size), // variant: chunks
        }
    }

    /// Everything before `end` has left, whoever chose it.
    #[inline]
    pub fn cover(&mut self, end: SeqNum) {
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.cover_chunks(end), // variant: chunks
        }
    }

    /// The first `bytes` of what was written are acknowledged.
    #[inline]
    pub fn on_bytes_acked(&mut self, bytes: Bytes) {
        self.buffer.ack(bytes);
        match self.segmenter {
            Segmenter::BySegment => {}
            Segmenter::ByChunk => self.chunked.on_acked(self.buffer.start_offset()), // variant: chunks
        }
    }

    /// Drops everything that was written.
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

    /// Whether `segment`, which was just booked as sent again, ends a train of such segments.
    #[inline]
    pub fn train_at(&mut self, cfg: &Config, now: Instant, segment: &SentSegment) -> Train {
        match self.segmenter {
            Segmenter::BySegment => Train::No,
            Segmenter::ByChunk => self.train_of_chunks(cfg, now, segment), // variant: chunks
        }
    }

    /// Bytes were acknowledged. Returns whether a writer that waits may go on.
    #[inline]
    pub fn wakes_on_ack(&mut self, cfg: &Config) -> bool {
        match self.segmenter {
            Segmenter::BySegment => self.buffer.writer_waits() && self.wake_writer(cfg),
            Segmenter::ByChunk => false, // variant: chunks
        }
    }

    /// Nothing more can leave for now, and a segment has arrived since that was so last. Returns whether a writer that waits
    /// may go on.
    pub fn wakes_on_held(&mut self, cfg: &Config, now: Instant) -> bool {
        match self.segmenter {
            Segmenter::BySegment => false,
            Segmenter::ByChunk => self.buffer.writer_waits() && self.make_room(cfg, now), // variant: chunks
        }
    }
}
