//! The window we offer (RFC 9293 §3.8.6.2.2, RFC 7323 §2).
//!
//! Owns the right edge. The largest edge ever offered never moves left and stays valid indefinitely; the edge in an ACK can lie
//! up to one unit of the window scale left of it, because the field is rounded down (RFC 7323 §2.4). The edge moves in steps of a
//! segment or half the buffer, so that a reader of single bytes does not cause single-byte segments.

use base::{Bytes, SeqNum, SeqRange};

/// Largest value of the header field.
const FIELD_MAX: Bytes = 65_535;
/// Largest shift (RFC 7323 §2.3).
const SHIFT_MAX: u8 = 14;

/// The receive window.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// The right edge last advertised to the peer.
    shown: SeqNum,
    /// The largest right edge ever offered, up to which bytes are accepted.
    promised: SeqNum,
    /// Size of the buffer.
    limit: Bytes,
    /// The largest window that may be offered, whatever the buffer's size: the host may be short of memory.
    max: Bytes,
    shift: u8,
}

impl ReceiveWindow {
    /// Creates a window for a buffer of `limit` bytes, as the SYN has advertised it: unscaled, from `rcv_nxt` on. Later ones are
    /// scaled by `shift`, which must not exceed 14.
    pub fn new(rcv_nxt: SeqNum, limit: Bytes, shift: u8) -> Self {
        assert!(shift <= SHIFT_MAX, "window shift {shift} (RFC 7323 §2.3: at most 14)");
        let edge = rcv_nxt + limit.min(FIELD_MAX);
        Self { shown: edge, promised: edge, limit, max: Bytes::MAX, shift }
    }
    //= specs/rfc7323.md#window-scale
    //# A shift is at most 14, and a larger one that a peer sends is taken for 14.
    /// The smallest shift with which the field can express `largest` bytes (RFC 7323 §2.2).
    pub fn shift_for(largest: Bytes) -> u8 {
        (0..SHIFT_MAX).find(|&shift| FIELD_MAX << shift >= largest).unwrap_or(SHIFT_MAX)
    }
    /// Size of the buffer, in bytes.
    #[inline]
    pub fn limit(&self) -> Bytes {
        self.limit
    }
    /// Sets a larger buffer; it never shrinks, because offers stay valid.
    pub fn set_limit(&mut self, limit: Bytes) {
        self.limit = self.limit.max(limit);
    }
    /// Limits the windows offered from now on.
    #[inline]
    pub fn set_max(&mut self, max: Bytes) {
        self.max = max;
    }
    /// Returns the shift of the window field in later segments.
    #[inline]
    pub fn shift(&self) -> u8 {
        self.shift
    }
    /// The largest window that may be offered.
    #[inline]
    pub fn max(&self) -> Bytes {
        self.max
    }
    /// Returns the right edge up to which bytes are accepted: the largest one ever offered.
    #[inline]
    pub fn right_edge(&self) -> SeqNum {
        self.promised
    }
    /// Returns the window as the peer last saw it, less later arrivals; in bytes.
    #[inline]
    pub fn offered(&self, rcv_nxt: SeqNum) -> Bytes {
        SeqRange::new(rcv_nxt, self.shown).len()
    }
    //= specs/rfc7323.md#window-scale
    //# The window of a SYN or SYN-ACK is not scaled.
    /// Returns the field of a SYN or SYN-ACK, which is never scaled (RFC 7323 §2.2), before anything else was sent.
    pub fn syn_window(&self, rcv_nxt: SeqNum) -> u16 {
        self.offered(rcv_nxt) as u16
    }

    //= specs/rfc9293.md#windows
    //# The right edge of the window that is offered does not move left.
    //= specs/rfc7323.md#window-scale
    //# In all other segments the window field is shifted, to the right when sent and to the left when received.
    /// Returns the field of a segment that acknowledges `rcv_nxt` while `used` bytes in order wait to be read. Moves the edge if
    /// the gain is large enough.
    #[inline]
    pub fn advertise(&mut self, rcv_nxt: SeqNum, used: Bytes, rmss: Bytes) -> u16 {
        if let Some(window) = self.reopening(rcv_nxt, used, rmss) {
            self.promised = rcv_nxt + window;
        }
        let held = SeqRange::new(rcv_nxt, self.promised).len();
        // It was the field's value when it was offered, and has only shrunk since.
        let field = (held >> self.shift) as u16;
        self.shown = rcv_nxt + (u32::from(field) << self.shift);
        field
    }

    /// Returns the field for a window of `window` bytes from `rcv_nxt` on, which the caller has chosen.
    pub fn offer(&mut self, rcv_nxt: SeqNum, window: Bytes) -> u16 {
        let field = (window >> self.shift).min(FIELD_MAX);
        self.shown = rcv_nxt + (field << self.shift);
        self.promised = self.promised.max(self.shown);
        field as u16
    }

    /// Notes that bytes up to `end` were accepted, perhaps beyond the offer.
    pub fn reach(&mut self, end: SeqNum) {
        self.promised = self.promised.max(end);
    }

    //= specs/rfc9293.md#windows
    //# A reader of single bytes does not open the window by single bytes.
    /// Returns whether the application's reading has opened the window enough for an update that does not wait for an
    /// ACK: the window at least doubles, by two segments or half the buffer, or the peer sees too little for a full
    /// segment.
    #[inline]
    pub fn update_due(&self, rcv_nxt: SeqNum, used: Bytes, rmss: Bytes) -> bool {
        self.reopening(rcv_nxt, used, rmss).is_some_and(|window| {
            let seen = self.offered(rcv_nxt);
            let worth_it = (self.limit / 2).min(rmss.saturating_mul(2));
            seen < rmss || (window / 2 >= seen && window - seen >= worth_it)
        })
    }

    /// Returns the window that could be offered, if it exceeds the current offer by enough to move the edge.
    #[inline]
    fn reopening(&self, rcv_nxt: SeqNum, used: Bytes, rmss: Bytes) -> Option<Bytes> {
        let room = self.limit.saturating_sub(used).min(FIELD_MAX << self.shift).min(self.max);
        let room = room >> self.shift << self.shift;
        let held = SeqRange::new(rcv_nxt, self.promised).len();
        // To the peer, less than one unit of the field is a closed window.
        let held = if held >> self.shift == 0 { 0 } else { held };
        let step = (self.limit.min(self.max) / 2).min(rmss).max(1);
        (room >= held.saturating_add(step)).then_some(room)
    }

    //= specs/rfc7323.md#window-scale
    //# A segment inside a window that was ever offered is accepted, even when a later field shows a smaller one.
    /// Whether a segment that occupies `range` is acceptable (RFC 9293 §3.10.7.4, table 6), judged by the edge that
    /// is honoured.
    ///
    /// Deviation: a segment that begins before the window and ends behind it is accepted too, although neither its first nor its
    /// last byte lies inside: it brings exactly the missing data, and a sender that has segmented its data this way would never
    /// get through. And an empty segment may lie at the edge itself: a sender that has filled the window sends its
    /// acknowledgements from there.
    #[inline]
    pub fn accepts(&self, range: SeqRange, rcv_nxt: SeqNum) -> bool {
        let window = SeqRange::new(rcv_nxt, self.promised);
        if range.start == range.end {
            window.contains(range.start) || range.start == window.end.max(rcv_nxt)
        } else {
            !window.is_empty() && range.start.before(window.end) && range.end.after(window.start)
        }
    }
}

#[cfg(test)]
mod tests;
