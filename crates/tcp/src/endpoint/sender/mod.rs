//! The send half of a connection: written data, which part of it has left, and how much the peer and the path allow to leave.
//!
//! Owns SND.UNA and SND.NXT, the bytes, the scoreboard with all recovery state, the congestion window and its usage. It knows no
//! timers: each call returns what other parts of the connection need, and the endpoint applies it.

mod ack;
mod chunks; // variant: chunks
mod cwnd_use;
mod departure;
mod episode;
mod loss_timer;
mod plan;
mod prepare;
mod prober;
mod record;
mod recovery_side;
mod room;
mod round_trip;
mod segmenter;
mod source;
mod space;
mod syn_data;

pub(super) use ack::{Blocks, Overtaken, Progress};
pub(super) use departure::Held;
pub(super) use episode::{Losses, Reaction};
pub(super) use loss_timer::TimerCx;
pub(super) use plan::{Ask, Departure, HeldBy, NewData, TailProbe, View};
pub(super) use round_trip::RttCx;
pub(super) use segmenter::{Released, Train, TurnCx};
pub use source::{Boundary, Source};

use crate::config::SegmenterConfig; // variant: chunks
use crate::config::{Config, CorkConfig, NagleConfig, SendConfig, ValidConfig, WindowProbe};
use crate::send::{CwndUsage, Pacer, SendBuffer};
use base::{Duration, Instant, SeqNum};
use cc::CongestionControl;
use chunks::Chunked; // variant: chunks
use recovery::{Delivered, Scoreboard};
use recovery_side::RecoverySide;
use space::SendSpace;

/// How written data becomes segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Segmenter {
    /// A stream, cut into segments as it leaves, a frame at a time.
    BySegment,
    // variant: chunks {
    /// Chunks, each of which leaves in bursts of its own.
    ByChunk,
    // variant: chunks }
}

impl Segmenter {
    /// Returns the segmenter for a device that takes several segments at once.
    pub fn for_bursts(send: &SendConfig) -> Self {
        // variant: chunks {
        if let SegmenterConfig::Chunks(_) = send.segmenter {
            return Self::ByChunk;
        }
        // variant: chunks }
        Self::BySegment
    }

    /// Returns whether written data is kept in pieces whose memory counts against the send buffer.
    pub fn counts_pieces(self) -> bool {
        match self {
            Self::BySegment => false,
            Self::ByChunk => true, // variant: chunks
        }
    }
}

/// The send half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(super) space: SendSpace,
    pub(super) buffer: SendBuffer,
    pub(super) rec: RecoverySide,
    pub(super) cc: Box<dyn CongestionControl>,
    pub(super) usage: CwndUsage,
    /// Present if the controller paces.
    pub(super) pacer: Option<Box<Pacer>>,
    segmenter: Segmenter,
    window_probe: WindowProbe,
    chunked: Chunked, // variant: chunks
}

impl Sender {
    /// Creates an empty sender. Our SYN announces `mss`; the controller is built for segments of `smss` bytes.
    pub fn new(cfg: &ValidConfig, iss: SeqNum, mss: u16, smss: u32, now: Instant) -> Self {
        let first = iss + 1;
        Self {
            space: SendSpace::new(iss, u32::from(mss)),
            buffer: SendBuffer::new(cfg.send.buffer),
            rec: RecoverySide::new(cfg, first, now),
            cc: cc::build(&cfg.cc, smss, iss),
            usage: CwndUsage::new(cfg.cc.validation, first, now),
            pacer: None,
            segmenter: Segmenter::BySegment,
            window_probe: cfg.send.window_probe,
            chunked: Chunked::default(), // variant: chunks
        }
    }

    /// Returns whether our SYN is unacknowledged: it has a sequence number, but no place in the stream.
    pub fn syn_is_out(&self) -> bool {
        self.space.una() == self.space.iss() && self.buffer.start_offset() == 0
    }

    /// Selects the segmenter for a device that takes several segments at once.
    pub fn send_bursts(&mut self, cfg: &ValidConfig) {
        self.segmenter = Segmenter::for_bursts(&cfg.send);
    }

    /// Adopts the settings of `cfg` in place of `before`. Returns whether to wake a writer that waits.
    pub fn reconfigure(&mut self, before: &SendConfig, cfg: &Config, urgent: bool) -> bool {
        let send = &cfg.send;
        self.window_probe = send.window_probe;
        if (send.buffer, send.growth) != (before.buffer, before.growth) {
            self.buffer.set_capacity(send.buffer);
        }
        let no_delay = send.nagle == NagleConfig::Off;
        let uncorked = before.cork == CorkConfig::On && send.cork == CorkConfig::Off;
        if no_delay && (uncorked || before.nagle != NagleConfig::Off) {
            self.push_pending();
        } else if uncorked {
            self.look_again(send, urgent);
        }
        self.buffer.writer_waits() && self.wake_writer(cfg)
    }

    /// Keeps the list of delivered segments for the next ACK of the flight. If this ACK `ended` a flight, the next one uses its
    /// memory, until [`Self::release_kept`].
    #[inline]
    pub fn keep_delivered(&mut self, mut delivered: Box<Delivered>, ended: bool) {
        if self.rec.board.is_empty() {
            if !ended {
                return;
            }
            delivered.shrink();
        }
        self.rec.delivered = Some(delivered);
    }

    /// Returns whether memory is kept for the next flight; frees it as far as it would be much.
    pub fn keeps_memory(&mut self) -> bool {
        self.buffer.shrink_if_empty();
        self.rec.board.is_empty() && self.rec.delivered.is_some()
    }

    /// Frees the memory that is kept for the next flight, unless there has been one in the last `quiet` time. Returns whether it is
    /// still kept.
    pub fn release_kept(&mut self, now: Instant, quiet: Duration) -> bool {
        if !self.rec.board.is_empty() || self.rec.delivered.is_none() {
            return false;
        }
        let keeps = now < self.rec.rto_base() + quiet;
        if !keeps {
            self.rec.delivered = None;
            self.buffer.release_if_empty();
        }
        keeps
    }

    /// Frees the buffer's memory if it holds nothing.
    pub fn release_if_empty(&mut self) {
        self.buffer.release_if_empty();
    }

    /// Notes that the writer was cut short, and waits for room.
    pub fn expect_writer(&mut self) {
        self.buffer.set_writer_waits(true);
    }

    /// Frees every buffer: no more data is sent.
    pub fn compact(&mut self) {
        self.drop_bytes();
        self.rec.board = Scoreboard::new(self.space.nxt());
        self.rec.delivered = None;
        self.rec.undo = None;
    }

    /// Notes that the application has written, and whether the write was cut short.
    #[inline]
    pub fn on_write(&mut self, cut_short: bool) {
        self.buffer.set_writer_waits(cut_short);
    }
}

#[cfg(test)]
mod tests;
