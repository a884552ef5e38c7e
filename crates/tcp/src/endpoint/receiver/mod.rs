//! The receive half of a connection: what arrived, where it is kept, how much more may come, and whether the peer is owed an
//! answer.
//!
//! Owns RCV.NXT, the bytes, the window, the ACK that is due and the urgent mark. It knows neither timers nor events: a call
//! returns what crosses to other parts of the connection, and the endpoint applies it.

mod arrival;
mod opening;
mod pending_ack;
mod read;
mod urgent;
mod window;

pub(super) use arrival::{Around, Received};
pub(super) use opening::FirstSizes;

use crate::config::{GuardConfig, ValidConfig, WindowRounding};
use crate::recv::{
    AckConfig, AckPolicy, Assembler, AutoTune, BLOCK_BYTES, Memory, ReceiveBuffer, ReceiveWindow, sack_blocks,
};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use pending_ack::PendingAck;
use wire::SackBlocks;

/// The receive half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    irs: SeqNum,
    assembler: Assembler,
    buffer: ReceiveBuffer,
    window: ReceiveWindow,
    policy: AckPolicy,
    autotune: AutoTune,
    ack: PendingAck,
    /// Sequence number of the peer's FIN, once seen inside the window.
    fin: Option<SeqNum>,
    /// Most blocks of data out of order, whatever the configuration says.
    blocks_max: u32,
    /// The host has no memory for what arrives.
    memory_full: bool,
    /// Largest segment seen from the peer, at least 536: what "full-sized" means to the ACK policy.
    rmss: Bytes,
    rare: Option<Box<Rare>>,
}

/// What most connections never need.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// The frames that wait to be read, where their memory counts.
    memory: Option<Memory>,
    /// Where urgent data ends.
    mark: Option<Mark>,
    /// Bytes of the peer's SYN that are in the buffer, its FIN included, until the connection is established.
    syn_data: Option<SeqRange>,
}

/// The last urgent byte to be received, until it is passed.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Bytes of the stream before it.
    offset: u64,
    /// The application has fetched it out of band.
    fetched: bool,
}

/// The receive window to begin with, for segments of `mss` bytes.
fn first_window(cfg: &ValidConfig, mss: Bytes) -> Bytes {
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
            ack: PendingAck::default(),
            fin: None,
            blocks_max: u32::MAX,
            memory_full: false,
            rmss: 536,
            rare: None,
        }
    }

    /// Bytes of boxes that it has beside itself.
    pub fn heap_size(&self) -> usize {
        self.rare.as_deref().map_or(0, size_of_val)
    }

    #[inline]
    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The number of the peer's SYN.
    pub fn irs(&self) -> SeqNum {
        self.irs
    }

    /// The next sequence number expected.
    #[inline]
    pub fn rcv_nxt(&self) -> SeqNum {
        self.assembler.rcv_nxt()
    }

    /// The right edge up to which bytes are taken: the largest one ever promised.
    #[inline]
    pub fn right_edge(&self) -> SeqNum {
        self.window.right_edge()
    }

    /// Whether a segment that occupies `range` is acceptable (RFC 9293 §3.10.7.4, table 6).
    #[inline]
    pub fn accepts(&self, range: SeqRange) -> bool {
        self.window.accepts(range, self.rcv_nxt())
    }

    /// Everything up to and including the peer's FIN has been received.
    #[inline]
    pub fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt().after(fin))
    }

    /// Bytes the application can read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.buffer.readable()
    }

    /// Bytes that have arrived in order since the stream began, read or not.
    #[inline]
    pub fn received(&self) -> u64 {
        self.buffer.received()
    }

    /// Bytes that were not what the pattern has at their place.
    pub fn mismatches(&self) -> u64 {
        self.buffer.mismatches()
    }

    /// Whether an ACK must leave with the next opportunity.
    #[inline]
    pub fn owes_ack(&self) -> bool {
        self.ack.is_due()
    }

    /// The peer is owed an ACK.
    #[inline]
    pub fn due_ack(&mut self) {
        self.ack.require_if(true);
    }

    /// The peer is owed an ACK if this holds; what it was owed before, it still is.
    #[inline]
    pub fn due_ack_if(&mut self, owed: bool) {
        self.ack.require_if(owed);
    }

    /// The peer will get no ACK: none can leave, or the connection is over.
    pub fn forget_due_ack(&mut self) {
        self.ack.cancel();
    }

    /// The delayed-ACK timer fired, while the retransmission timeout is `rto`: the ACK that waited for it is due.
    pub fn on_ack_timer(&mut self, config: &AckConfig, rto: Duration) {
        let waited = self.policy.on_timer(config, rto);
        self.due_ack_if(waited);
    }

    /// A data segment is about to leave, perhaps in reply to what arrived.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.policy.on_data_sent(now);
    }

    /// A segment with an ACK left. One that had no room for all that there is to report is followed by another.
    #[inline]
    pub fn on_ack_sent(&mut self, config: &AckConfig, reported_all: bool) {
        self.ack.on_sent(reported_all);
        self.policy.on_ack_sent(config);
    }

    /// Number of ranges that an ACK has to report by SACK, `most` at most: a duplicate and blocks out of order.
    #[inline]
    pub fn ranges_to_report(&self, most: usize) -> u32 {
        // A block count beyond the option's is cut here.
        let known = self.assembler.block_count().min(most) + usize::from(self.ack.has_duplicate());
        known.min(most) as u32
    }

    /// The ranges of the ACK that leaves now, `most` at most. A duplicate among them is reported with it, and returned.
    #[inline]
    pub fn take_report(&mut self, most: u32) -> (SackBlocks, Option<SeqRange>) {
        let duplicate = self.ack.take_duplicate();
        (sack_blocks(&self.assembler, duplicate, most as usize), duplicate)
    }

    /// Takes over what bounds a single connection.
    pub fn guard(&mut self, guards: &GuardConfig) {
        self.blocks_max = guards.blocks_max;
    }

    /// Says whether the host has no memory for the data of the segment that comes next.
    #[inline]
    pub fn set_memory_full(&mut self, full: bool) {
        self.memory_full = full;
    }

    /// Memory of received data, in bytes: unread bytes, pages out of order and the records of their blocks.
    #[inline]
    pub fn data_memory(&self) -> usize {
        self.buffer.memory() + self.assembler.block_count() * BLOCK_BYTES
    }

    /// Whether data waits out of order.
    #[inline]
    pub fn has_out_of_order(&self) -> bool {
        self.assembler.block_count() > 0
    }

    /// Forgets the last block that has arrived out of order, as RFC 2018 §8 allows: the peer sends it again after a timeout. One
    /// block at a time, so that no packet has to pay for all that many others have piled up.
    pub fn discard_last_block(&mut self) {
        let left = self.assembler.discard_last();
        let ahead = left.distance_from(self.rcv_nxt());
        self.buffer.release_pages_behind(ahead);
        self.ack.forget_duplicate();
        if !self.fin_received() {
            self.fin = self.fin.filter(|fin| fin.before(left));
        }
        self.discard_frames_behind(ahead);
    }

    /// Frees every buffer: no more data is delivered.
    pub fn compact(&mut self) {
        self.assembler.discard_blocks();
        self.buffer.clear();
    }

    /// Exchanges the bytes with those of `other`: a copy that is made for a trial shall not copy megabytes.
    pub fn exchange_bytes(&mut self, other: &mut ReceiveBuffer) {
        core::mem::swap(&mut self.buffer, other);
    }
}
