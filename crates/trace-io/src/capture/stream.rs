//! The bytes that one end sends, and their acknowledgements.
//!
//! Owns the counts of one direction: data seen, acknowledged, retransmitted and reordered. Every packet of the flow updates two
//! streams: [`Stream::on_sent`] of its sender's, [`Stream::on_acknowledged`] of its receiver's.

mod acknowledged;
mod sent;

use super::covered::Covered;
use super::distribution::Samples;
use super::knowledge::Knowledge;
use super::pieces::Pieces;
use super::rates::Rates;
use super::reordering::{Deliveries, Extent};
use super::retransmission::{Episode, Repeats};
use super::rounds::Rounds;
use super::rtt::Stamps;
use super::window::{Sender, Window};

/// Base of widened sequence numbers, so that none below the first one seen is negative.
const ORIGIN: u64 = 1 << 40;
/// No window is wider, so that no step of a sequence number is.
const WIDEST: u64 = 1 << 30;
/// Assumed if neither a handshake nor a segment shows another size.
const USUAL_MSS: u64 = 1_460;

/// Bytes that time stamps take in every header (RFC 7323 §3.2, with padding).
const STAMPS: u64 = 12;

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub packets: u64,
    pub data_packets: u64,
    /// Bytes of payload, sent again or not.
    pub payload: u64,
    pub retransmissions: u64,
    pub retransmitted: u64,
    pub fast: u64,
    pub tail_probes: u64,
    pub timeouts: u64,
    pub after_timeouts: u64,
    /// Timeouts before the capture, visible by the packets that they made the sender send, and lose.
    pub timeouts_before: u64,
    pub window_probes: u64,
    pub unexplained: u64,
    /// Of these: what was acknowledged already when it passed here.
    pub already_acknowledged: u64,
    /// What had been sent again already.
    pub lost_retransmissions: u64,
    /// What was acknowledged sooner than a round trip after it was sent again: that was the original's acknowledgement.
    pub original_arrived: u64,
    pub dsacks: u64,
    pub proved_spurious: u64,
    pub dup_acks: u64,
    pub keep_alives: u64,
    /// Bytes that were acknowledged but never seen.
    pub unseen: u64,
    pub congestion_experienced: u64,
    /// Packets whose numbers belong to no window.
    pub strange: u64,
}

/// Counts of one direction.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub counts: Counts,
    pieces: Pieces,
    is_open: bool,
    /// First byte; first that is not acknowledged; behind the last that was sent; behind the last selectively acknowledged.
    first: u64,
    una: u64,
    max_end: u64,
    fack: u64,
    /// The FIN's place, behind the last byte.
    fin: Option<u64>,
    sacked: [(u64, u64); 4],
    order: u32,
    pub mss: Option<u16>,
    largest_payload: u32,
    dup_run: u32,
    /// Identification of the last packet, and of the next one if the sender counts them.
    last_id: u16,
    next_id: u16,
    /// The sender's newest time stamp.
    newest_stamp: Option<u32>,
    /// Times of the last segment with bytes, of the last acknowledgement, and of the first and last that brought the stream on.
    last_sent_at: u64,
    last_ack_at: u64,
    pub first_at: Option<u64>,
    pub last_at: u64,
    episode: Episode,
    has_probed: bool,
    pub has_sack: bool,
    repeats: Repeats,
    /// Time between a lost retransmission and the next one of the same bytes.
    pub lost_retransmissions: Covered,
    /// Times of D-SACKs.
    pub dsack_times: Samples,
    deliveries: Deliveries,
    pub before_capture: Extent,
    /// Round trips from here to the receiver, from sequence numbers and from time stamps.
    pub rtt: Samples,
    pub stamped: Samples,
    stamps: Stamps,
    /// Round trips from here to the sender, while it sends without a pause.
    pub returns: Samples,
    knowledge: Knowledge,
    pub rates: Rates,
    pub rounds: Rounds,
    pub window: Window,
}

impl Stream {
    /// Reordering between here and the receiver.
    pub fn behind_capture(&self) -> Extent {
        self.deliveries.extent
    }
    /// Bytes that the receiver has acknowledged; a FIN counts as none.
    pub fn delivered(&self) -> u64 {
        self.una.min(self.fin.unwrap_or(u64::MAX)).saturating_sub(self.first)
    }
    /// Bytes of the stream that were sent or acknowledged, each counted once.
    pub fn bytes(&self) -> u64 {
        self.max_end.min(self.fin.unwrap_or(u64::MAX)).saturating_sub(self.first)
    }
    /// Bytes sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.max_end - self.una
    }
    pub fn episode(&self) -> Episode {
        self.episode
    }
    /// Bytes of a full segment without options, or what is left of it beside time stamps.
    pub fn full(&self, has_stamps: bool) -> u64 {
        let stamps = if has_stamps && self.mss.is_some() { STAMPS } else { 0 };
        self.mss().saturating_sub(stamps).max(1)
    }
    pub fn mss(&self) -> u64 {
        self.mss.map_or(USUAL_MSS.min(self.largest_payload.max(1).into()), u64::from).max(1)
    }

    /// Begins the stream: after a SYN, or where the capture begins.
    pub fn open(&mut self, seq: u32) {
        if !self.is_open {
            let start = ORIGIN + u64::from(seq);
            (self.first, self.una, self.max_end, self.fack) = (start, start, start, start);
            self.is_open = true;
        }
    }

    /// Unwraps a sequence number.
    #[inline]
    fn wide(&self, seq: u32) -> u64 {
        let near = self.max_end;
        near.wrapping_add_signed(i64::from(seq.wrapping_sub(near as u32) as i32))
    }

    fn sender(&self, delay: u64) -> Sender {
        let is_recovering = self.episode != Episode::None;
        Sender { max_end: self.max_end, mss: self.mss(), has_begun: self.first_at.is_some(), is_recovering, delay }
    }

    /// Bytes of memory beside the stream itself, without its samples.
    pub fn heap(&self) -> usize {
        let of_path = self.knowledge.heap() + self.rates.heap() + self.rounds.heap();
        self.pieces.heap() + self.window.heap() + self.repeats.heap() + of_path
    }

    /// Releases memory: data in flight counts as seen and acknowledged.
    pub fn forget(&mut self) {
        self.pieces = Pieces::default();
        self.repeats = Repeats::default();
        self.knowledge = Knowledge::default();
        self.rates = Rates::default();
        self.rounds = Rounds::default();
        self.window.forget();
    }

    /// The capture ends.
    pub fn finish(&mut self, at: u64) {
        self.window.finish(at);
        self.rounds.finish(self.last_at, &self.window.shares);
    }
}

#[cfg(test)]
mod tests;
