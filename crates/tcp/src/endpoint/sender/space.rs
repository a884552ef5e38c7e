//! The send sequence space and the peer's window (RFC 9293 §3.3.1). The fields are private, so this file controls every change.

use crate::endpoint::SendSide;
use crate::send::nagle::Outstanding;
use base::{Bytes, SeqNum};

/// The send half's sequence variables.
#[derive(Clone, Debug)]
pub(in crate::endpoint) struct SendSpace {
    iss: SeqNum,
    una: SeqNum,
    nxt: SeqNum,
    wnd: Bytes,
    wl1: SeqNum,
    wl2: SeqNum,
    max_wnd: Bytes,
    /// Effective send MSS: options that every segment carries are deducted.
    smss: Bytes,
    side: SendSide,
    /// Size of the largest segment known to have arrived, in bytes.
    largest_delivered: u16,
    /// End of the last segment sent that was smaller than `smss` (Minshall's rule); `una` if that is later, so that a comparison
    /// with it means something after two gigabytes of full segments, too.
    small_end: SeqNum,
}

impl SendSpace {
    /// Creates the space before anything has left.
    pub fn new(iss: SeqNum, smss: u32) -> Self {
        Self {
            iss,
            una: iss,
            nxt: iss,
            wnd: 0,
            wl1: SeqNum(0),
            wl2: iss,
            max_wnd: 0,
            smss,
            side: SendSide::Open,
            largest_delivered: 0,
            small_end: iss + 1,
        }
    }

    /// Returns the sequence number of our SYN.
    #[inline]
    pub fn iss(&self) -> SeqNum {
        self.iss
    }

    /// Returns the first unacknowledged number.
    #[inline]
    pub fn una(&self) -> SeqNum {
        self.una
    }

    /// Returns the next number to be sent for the first time.
    #[inline]
    pub fn nxt(&self) -> SeqNum {
        self.nxt
    }

    /// Returns the peer's window, in bytes from `una` on.
    #[inline]
    pub fn wnd(&self) -> Bytes {
        self.wnd
    }

    /// Returns the largest window that the peer has offered.
    #[inline]
    pub fn max_wnd(&self) -> Bytes {
        self.max_wnd
    }

    /// Returns the bytes beyond `nxt` that the peer's window takes.
    #[inline]
    pub fn usable(&self) -> Bytes {
        let edge = self.una + self.wnd;
        if edge.after(self.nxt) { edge.distance_from(self.nxt) } else { 0 }
    }

    /// Returns the effective send MSS: options that every segment carries are deducted.
    #[inline]
    pub fn smss(&self) -> Bytes {
        self.smss
    }

    /// Returns how far our direction is closed.
    #[inline]
    pub fn side(&self) -> SendSide {
        self.side
    }

    /// Returns the bytes of the largest segment known to have arrived; zero before the first.
    pub fn largest_delivered(&self) -> u16 {
        self.largest_delivered
    }

    /// Returns the sequence numbers sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight_size(&self) -> Bytes {
        self.nxt.distance_from(self.una)
    }

    /// Returns the unacknowledged data before `nxt`, for the rules that hold small segments back.
    pub fn outstanding(&self, nxt: SeqNum) -> Outstanding {
        if self.una == nxt {
            Outstanding::Nothing
        } else if self.small_end.after(self.una) {
            Outstanding::Small
        } else {
            Outstanding::Full
        }
    }

    /// Sets the segment size, after the SYNs have agreed on it or the path has changed.
    pub fn set_smss(&mut self, smss: Bytes) {
        self.smss = smss;
    }

    /// Closes this direction: a FIN follows the last byte.
    pub fn queue_fin(&mut self) {
        self.side = SendSide::FinQueued;
    }

    /// Records that the FIN left for the first time, with the number before `nxt`.
    pub fn on_fin_sent(&mut self) {
        self.side = SendSide::FinSent;
    }

    /// Records that a segment smaller than `smss` left, or is about to; it ends at `end`.
    #[inline]
    pub fn on_small_segment(&mut self, end: SeqNum) {
        self.small_end = end;
    }

    /// Records that a segment of `len` bytes has arrived.
    #[inline]
    pub fn on_delivered(&mut self, len: Bytes) {
        self.largest_delivered = self.largest_delivered.max(len as u16);
    }

    /// Limits the largest size known to have arrived to the segment size, because the path has become narrower.
    pub fn forget_larger(&mut self) {
        self.largest_delivered = self.largest_delivered.min(self.smss as u16);
    }

    /// Records that a SYN left, with `len` bytes of data.
    pub fn on_syn_sent(&mut self, len: Bytes) {
        self.nxt = self.nxt.max(self.iss + 1 + len);
    }

    /// Moves past the SYN, but not past data that it may have carried.
    pub fn on_syn_acked(&mut self) {
        self.una = self.iss + 1;
        self.nxt = self.nxt.max(self.una);
    }

    /// Records that new data left, up to `end`.
    #[inline]
    pub fn on_sent(&mut self, end: SeqNum) {
        self.nxt = end;
    }

    /// Records that everything before `una` is acknowledged.
    #[inline]
    pub fn on_acked(&mut self, una: SeqNum) {
        self.una = una;
        self.small_end = self.small_end.max(una);
    }

    /// Updates the peer's window without recording which segment brought it.
    pub fn on_window(&mut self, wnd: Bytes) {
        self.wnd = wnd;
        self.max_wnd = self.max_wnd.max(wnd);
    }

    /// Records the sequence number of the peer's SYN, and its window as the first one.
    pub fn on_peer_syn(&mut self, seq: SeqNum, wnd: Bytes) {
        self.wl1 = seq;
        self.on_window(wnd);
    }

    /// Drops the window of a SYN, which does not show what the peer will offer.
    pub fn forget_max_wnd(&mut self) {
        self.max_wnd = 0;
    }

    /// Returns whether a segment with this number and acknowledgement may update the window (RFC 9293 §3.10.7.4, fifth).
    #[inline]
    pub fn is_news(&self, seq: SeqNum, ack: SeqNum) -> bool {
        ack.after(self.una) || self.wl1.before(seq) || self.repeats(seq) && self.wl2.at_or_before(ack)
    }

    /// Returns whether the segment that last updated the window had this number.
    #[inline]
    pub fn repeats(&self, seq: SeqNum) -> bool {
        self.wl1 == seq
    }

    /// Updates the window from the segment with this number and acknowledgement.
    #[inline]
    pub fn take_window(&mut self, wnd: Bytes, seq: SeqNum, ack: SeqNum) {
        self.on_window(wnd);
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// Lets segments from this number on update the window again, even if one with a larger number has.
    pub fn believe_from(&mut self, seq: SeqNum) {
        self.wl1 = self.wl1.min(seq);
    }
}
