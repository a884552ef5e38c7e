//! The receive half of a connection: what arrived, where it is kept, how much more may come, and whether an ACK is due.
//!
//! Owns RCV.NXT, the bytes, the window, the pending ACK and the urgent mark. It knows neither timers nor events: each call
//! returns what other parts of the connection need, and the endpoint applies it.

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
    AckConfig, AckPolicy, Assembler, AutoTune, BLOCK_BYTES, Memory, PagePool, ReceiveBuffer, ReceiveWindow, sack_blocks,
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
    /// Limit of out-of-order blocks, which overrides the configuration.
    blocks_max: u32,
    /// The host has no memory for arriving data.
    memory_full: bool,
    /// Largest segment seen from the peer, at least 536: the ACK policy's measure of "full-sized".
    rmss: Bytes,
    rare: Option<Box<Rare>>,
}

/// State that most connections never need.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// The unread frames, where their memory counts.
    memory: Option<Memory>,
    /// Where urgent data ends.
    mark: Option<Mark>,
    /// Bytes of the peer's SYN that are in the buffer, its FIN included, until the connection is established.
    syn_data: Option<SeqRange>,
}

/// The last urgent byte to be received, until the reader passes it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Number of stream bytes before it.
    offset: u64,
    /// The application has fetched it out of band.
    fetched: bool,
}

/// Returns the initial receive window for segments of `mss` bytes.
fn first_window(cfg: &ValidConfig, mss: Bytes) -> Bytes {
    let window = cfg.receive.window.initial();
    let whole = window - window % mss.max(1);
    if cfg.receive.rounding == WindowRounding::SegmentsFromSyn && whole > 0 { whole } else { window }
}

impl Receiver {
    /// Creates a receiver that knows nothing of the peer yet; the peer's SYN replaces most of it.
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

    /// Returns the bytes of its separate boxes.
    pub fn heap_size(&self) -> usize {
        self.rare.as_deref().map_or(0, size_of_val)
    }

    #[inline]
    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the sequence number of the peer's SYN.
    pub fn irs(&self) -> SeqNum {
        self.irs
    }

    /// Returns the next sequence number expected.
    #[inline]
    pub fn rcv_nxt(&self) -> SeqNum {
        self.assembler.rcv_nxt()
    }

    /// Returns the right edge up to which bytes are accepted: the largest one ever offered.
    #[inline]
    pub fn right_edge(&self) -> SeqNum {
        self.window.right_edge()
    }

    /// Returns whether a segment that occupies `range` is acceptable (RFC 9293 §3.10.7.4, table 6).
    #[inline]
    pub fn accepts(&self, range: SeqRange) -> bool {
        self.window.accepts(range, self.rcv_nxt())
    }

    /// Returns whether everything up to and including the peer's FIN has been received.
    #[inline]
    pub fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt().after(fin))
    }

    /// Returns the bytes that the application can read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.buffer.readable()
    }

    /// Returns the bytes that have arrived in order since the stream began, read or not.
    #[inline]
    pub fn received(&self) -> u64 {
        self.buffer.received()
    }

    /// Returns the number of bytes that differ from the pattern at their position.
    pub fn mismatches(&self) -> u64 {
        self.buffer.mismatches()
    }

    /// Returns whether an ACK must leave at the next opportunity.
    #[inline]
    pub fn owes_ack(&self) -> bool {
        self.ack.is_due()
    }

    /// Makes an ACK due.
    #[inline]
    pub fn due_ack(&mut self) {
        self.ack.require_if(true);
    }

    /// Makes an ACK due if the condition holds; an ACK that was due stays due.
    #[inline]
    pub fn due_ack_if(&mut self, owed: bool) {
        self.ack.require_if(owed);
    }

    /// Clears the due ACK: none can leave, or the connection has ended.
    pub fn forget_due_ack(&mut self) {
        self.ack.cancel();
    }

    /// Handles the delayed-ACK timer, at a retransmission timeout of `rto`: the ACK that waited for it is due.
    pub fn on_ack_timer(&mut self, config: &AckConfig, rto: Duration) {
        let waited = self.policy.on_timer(config, rto);
        self.due_ack_if(waited);
    }

    /// Notes that a data segment is about to leave, perhaps in reply to what arrived.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.policy.on_data_sent(now);
    }

    /// Notes that a segment with an ACK left. If it lacked room for all blocks, another one follows.
    #[inline]
    pub fn on_ack_sent(&mut self, config: &AckConfig, reported_all: bool) {
        self.ack.on_sent(reported_all);
        self.policy.on_ack_sent(config);
    }

    /// Returns how many ranges an ACK has to report by SACK, at most `most`: a duplicate and out-of-order blocks.
    #[inline]
    pub fn ranges_to_report(&self, most: usize) -> u32 {
        // A block count beyond the option's capacity is limited here.
        let known = self.assembler.block_count().min(most) + usize::from(self.ack.has_duplicate());
        known.min(most) as u32
    }

    /// Returns the ranges of the ACK that leaves now, at most `most`. A duplicate among them counts as reported, and is returned.
    #[inline]
    pub fn take_report(&mut self, most: u32) -> (SackBlocks, Option<SeqRange>) {
        let duplicate = self.ack.take_duplicate();
        (sack_blocks(&self.assembler, duplicate, most as usize), duplicate)
    }

    /// Applies the limits of a single connection.
    pub fn guard(&mut self, guards: &GuardConfig) {
        self.blocks_max = guards.blocks_max;
    }

    /// Sets whether the host lacks memory for the data of the next segment.
    #[inline]
    pub fn set_memory_full(&mut self, full: bool) {
        self.memory_full = full;
    }

    /// Returns the memory of received data in bytes: unread bytes, out-of-order pages and the records of their blocks.
    #[inline]
    pub fn data_memory(&self) -> usize {
        self.buffer.memory() + self.assembler.block_count() * BLOCK_BYTES
    }

    /// Returns whether out-of-order data waits.
    #[inline]
    pub fn has_out_of_order(&self) -> bool {
        self.assembler.block_count() > 0
    }

    /// Discards the out-of-order block that arrived last, as RFC 2018 §8 allows: the peer sends it again after a timeout. One
    /// block at a time, so that no packet has to pay for all the blocks that many others have accumulated.
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

    /// Lends the stack's pages to the buffer, until [`Self::take_back`]; they hold the `arriving` bytes, too.
    #[inline]
    pub fn lend(&mut self, pool: &mut PagePool, arriving: bool) {
        self.buffer.lend(pool, arriving);
    }

    /// Takes lent pages back, with those that became free.
    #[inline]
    pub fn take_back(&mut self, pool: &mut PagePool) {
        self.buffer.take_back(pool);
    }

    /// Frees every buffer: no more data is delivered.
    pub fn compact(&mut self) {
        self.assembler.discard_blocks();
        self.buffer.clear();
    }

    /// Swaps the bytes with those of `other`: a trial copy must not copy megabytes.
    pub fn exchange_bytes(&mut self, other: &mut ReceiveBuffer) {
        core::mem::swap(&mut self.buffer, other);
    }
}
