//! The send half of a connection: what was written, what of it has left, what the peer and the path let leave.
//!
//! Owns SND.UNA and SND.NXT, the bytes, the scoreboard with everything recovery remembers, the congestion window and how much
//! of it was used. It knows no timers: a call returns what crosses to other parts of the connection, and the endpoint applies it.

mod ack;
mod chunks;
mod cwnd_use;
mod departure;
mod episode;
mod loss_timer;
mod plan;
mod prepare;
mod record;
mod recovery_side;
mod room;
mod round_trip;
mod space;

pub(super) use ack::Progress;
pub(super) use chunks::ChunkCx;
pub(super) use episode::{Losses, Reaction};
pub(super) use loss_timer::TimerCx;
pub(super) use plan::{Ask, Departure, HeldBy, NewData, TailProbe, View};
pub(super) use round_trip::RttCx;

use crate::config::ValidConfig;
use crate::send::{CwndUsage, Pacer, SendBuffer};
use base::{Instant, SeqNum};
use cc::{CongestionControl, CwndValidation};
use recovery_side::RecoverySide;
use space::SendSpace;

/// What the device takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frames {
    /// One segment.
    Segments,
    /// Several, which it cuts: it is worth while to keep chunks.
    Bursts,
}

/// The send half.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub space: SendSpace,
    pub buffer: SendBuffer,
    pub rec: RecoverySide,
    pub cc: Box<dyn CongestionControl>,
    pub usage: CwndUsage,
    /// Where the controller paces.
    pub pacer: Option<Box<Pacer>>,
    frames: Frames,
    write_blocked: bool,
    /// A segment has arrived since nothing more could leave the last time: a writer may have room.
    heard: bool,
    /// An empty segment that the peer must answer is due: it asks whether the peer, or its window, is still there.
    bare_probe_due: bool,
}

impl Sender {
    /// Nothing was written. Our SYN announces `mss`; the controller is made for segments of `smss` bytes.
    pub fn new(cfg: &ValidConfig, iss: SeqNum, mss: u16, smss: u32, now: Instant) -> Self {
        let first = iss + 1;
        Self {
            space: SendSpace::new(iss, u32::from(mss)),
            buffer: SendBuffer::new(cfg.send.buffer),
            rec: RecoverySide::new(cfg, first, now),
            cc: cc::build(&cfg.cc, smss, iss),
            usage: CwndUsage::new(CwndValidation::HalfUsed, first, now),
            pacer: None,
            frames: Frames::Segments,
            write_blocked: false,
            heard: false,
            bare_probe_due: false,
        }
    }

    /// Whether the application waits for word that it may write.
    #[inline]
    pub fn is_write_blocked(&self) -> bool {
        self.write_blocked
    }

    /// The application has written, and was cut short or not.
    #[inline]
    pub fn on_write(&mut self, cut_short: bool) {
        self.write_blocked = cut_short;
    }

    /// A segment has arrived.
    #[inline]
    pub fn on_heard(&mut self) {
        self.heard = true;
    }

    /// Whether an empty segment that the peer must answer is due.
    #[inline]
    pub fn owes_bare_probe(&self) -> bool {
        self.bare_probe_due
    }

    /// An empty segment that the peer must answer is due.
    pub fn require_bare_probe(&mut self) {
        self.bare_probe_due = true;
    }

    /// The empty segment leaves.
    #[inline]
    pub fn take_bare_probe(&mut self) {
        self.bare_probe_due = false;
    }
}
