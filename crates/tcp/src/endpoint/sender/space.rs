//! The send sequence space and the peer's window (RFC 9293 §3.3.1). Who may move what is decided here: the numbers are private.

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
    /// Most bytes of one segment that have arrived, as far as they fit.
    largest_delivered: u16,
    /// End of the last segment sent that was smaller than `smss` (Minshall's rule).
    small_end: SeqNum,
}

impl SendSpace {
    /// Nothing has left yet.
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

    /// The number of our SYN.
    #[inline]
    pub fn iss(&self) -> SeqNum {
        self.iss
    }

    /// The first number that is not acknowledged.
    #[inline]
    pub fn una(&self) -> SeqNum {
        self.una
    }

    /// The next number to be sent for the first time.
    #[inline]
    pub fn nxt(&self) -> SeqNum {
        self.nxt
    }

    /// The peer's window, bytes from `una` on.
    #[inline]
    pub fn wnd(&self) -> Bytes {
        self.wnd
    }

    /// The largest window that the peer has offered.
    #[inline]
    pub fn max_wnd(&self) -> Bytes {
        self.max_wnd
    }

    /// Bytes behind `nxt` that the peer's window takes.
    #[inline]
    pub fn usable(&self) -> Bytes {
        let edge = self.una + self.wnd;
        if edge.after(self.nxt) { edge.distance_from(self.nxt) } else { 0 }
    }

    /// Effective send MSS: options that every segment carries are deducted.
    #[inline]
    pub fn smss(&self) -> Bytes {
        self.smss
    }

    /// How far our direction is closed.
    #[inline]
    pub fn side(&self) -> SendSide {
        self.side
    }

    /// Bytes of the largest segment that is known to have arrived; zero before the first.
    pub fn largest_delivered(&self) -> u16 {
        self.largest_delivered
    }

    /// Numbers that were sent and are not cumulatively acknowledged.
    #[inline]
    pub fn flight_size(&self) -> Bytes {
        self.nxt.distance_from(self.una)
    }

    /// What is unacknowledged before `nxt`, for the rules that hold small segments back.
    pub fn outstanding(&self, nxt: SeqNum) -> Outstanding {
        if self.una == nxt {
            Outstanding::Nothing
        } else if self.small_end.after(self.una) {
            Outstanding::Small
        } else {
            Outstanding::Full
        }
    }

    /// Segments have this size from now on: the SYNs have agreed on it, or the path takes no other.
    pub fn set_smss(&mut self, smss: Bytes) {
        self.smss = smss;
    }

    /// The application closes this direction: a FIN follows the last byte.
    pub fn queue_fin(&mut self) {
        self.side = SendSide::FinQueued;
    }

    /// The FIN left for the first time, with the number before `nxt`.
    pub fn on_fin_sent(&mut self) {
        self.side = SendSide::FinSent;
    }

    /// A segment smaller than `smss` left, or is about to, that ends at `end`.
    #[inline]
    pub fn on_small_segment(&mut self, end: SeqNum) {
        self.small_end = end;
    }

    /// A segment of `len` bytes has arrived.
    #[inline]
    pub fn on_delivered(&mut self, len: Bytes) {
        self.largest_delivered = self.largest_delivered.max(len as u16);
    }

    /// The path has become narrower: what larger segments have shown is over.
    pub fn forget_larger(&mut self) {
        self.largest_delivered = self.largest_delivered.min(self.smss as u16);
    }

    /// A SYN left, with `len` bytes of data.
    pub fn on_syn_sent(&mut self, len: Bytes) {
        self.nxt = self.nxt.max(self.iss + 1 + len);
    }

    /// The SYN is behind us, with all that it may have carried still ahead.
    pub fn on_syn_acked(&mut self) {
        self.una = self.iss + 1;
        self.nxt = self.nxt.max(self.una);
    }

    /// What is new left, up to `end`.
    #[inline]
    pub fn on_sent(&mut self, end: SeqNum) {
        self.nxt = end;
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_acked(&mut self, una: SeqNum) {
        self.una = una;
    }

    /// The peer says how wide its window is, in a segment that says no more of what is new.
    pub fn on_window(&mut self, wnd: Bytes) {
        self.wnd = wnd;
        self.max_wnd = self.max_wnd.max(wnd);
    }

    /// The peer's SYN has this number, and its window is the first.
    pub fn on_peer_syn(&mut self, seq: SeqNum, wnd: Bytes) {
        self.wl1 = seq;
        self.on_window(wnd);
    }

    /// What a SYN said of the window says nothing of what the peer will offer.
    pub fn forget_max_wnd(&mut self) {
        self.max_wnd = 0;
    }

    /// Whether a segment with this number and acknowledgement speaks of the window as it is now (RFC 9293 §3.10.7.4, fifth).
    #[inline]
    pub fn is_news(&self, seq: SeqNum, ack: SeqNum) -> bool {
        ack.after(self.una) || self.wl1.before(seq) || self.repeats(seq) && self.wl2.at_or_before(ack)
    }

    /// Whether the segment that spoke of the window last had this number.
    #[inline]
    pub fn repeats(&self, seq: SeqNum) -> bool {
        self.wl1 == seq
    }

    /// The segment with this number and acknowledgement moves the window.
    #[inline]
    pub fn take_window(&mut self, wnd: Bytes, seq: SeqNum, ack: SeqNum) {
        self.on_window(wnd);
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// A segment whose number is at least this speaks of the window again, even if one with a larger number has.
    pub fn believe_from(&mut self, seq: SeqNum) {
        self.wl1 = self.wl1.min(seq);
    }
}
