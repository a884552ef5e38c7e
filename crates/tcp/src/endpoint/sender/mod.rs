//! The send half of a connection: what was written, what of it has left, what the peer and the path let leave.
//!
//! Owns SND.UNA and SND.NXT, the bytes, the scoreboard with everything recovery remembers, the congestion window and how much
//! of it was used. It knows no timers: a call returns what crosses to other parts of the connection, and the endpoint applies it.

mod ack;
mod chunks; // variant: chunks
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
mod segmenter;
mod space;
mod syn_data;

pub(super) use ack::Progress;
pub(super) use departure::Held;
pub(super) use episode::{Losses, Reaction};
pub(super) use loss_timer::TimerCx;
pub(super) use plan::{Ask, Departure, HeldBy, NewData, TailProbe, View};
pub(super) use round_trip::RttCx;
pub(super) use segmenter::{Released, Train, TurnCx};

use crate::config::ValidConfig;
use crate::send::{CwndUsage, Pacer, SendBuffer};
use base::{Instant, SeqNum};
use cc::CongestionControl;
use chunks::Chunked; // variant: chunks
use recovery_side::RecoverySide;
use segmenter::Segmenter;
use space::SendSpace;

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
    segmenter: Segmenter,
    chunked: Chunked, // variant: chunks
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
            usage: CwndUsage::new(cfg.cc.validation, first, now),
            pacer: None,
            segmenter: Segmenter::BySegment,
            chunked: Chunked::default(), // variant: chunks
        }
    }

    /// The device takes several segments at once.
    pub fn send_bursts(&mut self, cfg: &ValidConfig) {
        self.segmenter = Segmenter::for_bursts(&cfg.send);
    }

    /// The application has written, and was cut short or not.
    #[inline]
    pub fn on_write(&mut self, cut_short: bool) {
        self.buffer.set_writer_waits(cut_short);
    }
}
