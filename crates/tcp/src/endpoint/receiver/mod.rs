//! The receive half: what arrived, what it may be, and whether the peer is owed an answer.

use crate::config::{ValidConfig, WindowRounding};
use crate::recv::{AckPolicy, Assembler, AutoTune, ReceiveBuffer, ReceiveWindow};
use base::{Bytes, SeqNum, SeqRange};

/// The receive half.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub irs: SeqNum,
    pub assembler: Assembler,
    pub buffer: ReceiveBuffer,
    pub window: ReceiveWindow,
    pub policy: AckPolicy,
    pub autotune: AutoTune,
    /// An ACK must leave with the next opportunity.
    ack_due: bool,
    /// Duplicate range to be reported by the next ACK, once.
    pub dsack: Option<SeqRange>,
    /// Sequence number of the peer's FIN, once seen inside the window.
    pub fin: Option<SeqNum>,
    /// Most blocks of data out of order, whatever the configuration says.
    pub blocks_max: u32,
    /// The host has no memory for what arrives.
    pub memory_full: bool,
    /// Largest segment seen from the peer, at least 536: what "full-sized" means to the ACK policy.
    pub rmss: Bytes,
}

/// The receive window to begin with, for segments of `mss` octets.
pub(super) fn first_window(cfg: &ValidConfig, mss: Bytes) -> Bytes {
    let window = cfg.receive.window.initial();
    let whole = window - window % mss.max(1);
    if cfg.receive.rounding == WindowRounding::SegmentsFromSyn && whole > 0 { whole } else { window }
}

impl Receiver {
    /// Nothing is known of the peer yet; its SYN replaces most of this.
    pub fn new(cfg: &ValidConfig, mss: u16) -> Self {
        Self {
            irs: SeqNum(0),
            assembler: Assembler::new(SeqNum(0)),
            buffer: ReceiveBuffer::new(),
            window: ReceiveWindow::new(SeqNum(0), first_window(cfg, mss.into()), 0),
            policy: AckPolicy::new(&cfg.ack),
            autotune: AutoTune::new(&cfg.receive.window),
            ack_due: false,
            dsack: None,
            fin: None,
            blocks_max: u32::MAX,
            memory_full: false,
            rmss: 536,
        }
    }

    /// Whether an ACK must leave with the next opportunity.
    #[inline]
    pub fn owes_ack(&self) -> bool {
        self.ack_due
    }

    /// The peer is owed an ACK.
    #[inline]
    pub fn due_ack(&mut self) {
        self.ack_due = true;
    }

    /// The peer is owed an ACK if this holds; what it was owed before, it still is.
    #[inline]
    pub fn due_ack_if(&mut self, owed: bool) {
        self.ack_due |= owed;
    }

    /// A segment with an ACK left. One that had no room for all that there is to report is followed by another.
    #[inline]
    pub fn on_ack_sent(&mut self, reported_all: bool) {
        self.ack_due &= !reported_all;
    }

    /// The peer will get no ACK: none can leave, or the connection is over.
    pub fn forget_due_ack(&mut self) {
        self.ack_due = false;
    }
}
