//! The send half of a connection: what was written, what of it has left, what the peer and the path let leave.
//!
//! Owns SND.UNA and SND.NXT, the octets, the scoreboard with everything recovery remembers, the congestion window and how much
//! of it was used. It knows no timers: a call returns what crosses to other parts of the connection, and the endpoint applies it.

mod ack;
mod chunks;
mod cwnd_use;
mod departure;
mod episode;
mod loss_timer;
mod recovery_side;
mod room;
mod round_trip;
mod space;

pub(super) use ack::Progress;
pub(super) use chunks::ChunkCx;
pub(super) use episode::{Losses, Reaction};
pub(super) use loss_timer::TimerCx;
pub(super) use round_trip::RttCx;

use crate::config::ValidConfig;
use crate::send::{CwndUsage, Pacer, SendBuffer};
use base::{Instant, SeqNum};
use cc::{CongestionControl, CwndValidation};
use recovery_side::RecoverySide;
use space::SendSpace;

/// What the device takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frames {
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
    pub frames: Frames,
    pub write_blocked: bool,
    /// A segment has arrived since nothing more could leave the last time: a writer may have room.
    pub heard: bool,
    /// An empty segment that the peer must answer is due: it asks whether the peer, or its window, is still there.
    pub bare_probe_due: bool,
}

impl Sender {
    /// Nothing was written. Our SYN announces `mss`; the controller is made for segments of `smss` octets.
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
}
