//! Limits on what may leave now: the congestion window, the peer's window, rules for small segments and the pacer. Decides, and
//! sends nothing.

use super::Sender;
use crate::config::{Config, NagleConfig, SendConfig};
use crate::endpoint::SendSide;
use crate::send::nagle::{SmallSegment, Takes};
use base::{Bytes, Instant, SeqNum};
use recovery::{Episode, LimitedTransmit};

/// What limits the sender, for the time statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing is buffered: the application has nothing to send.
    #[default]
    Nothing,
    /// Data waits or is in flight, and none of the limits below applies.
    Busy,
    /// The peer's window.
    Window,
    /// The send buffer: everything in it was sent, the congestion window has room and the application wants to write.
    Buffer,
}

impl Sender {
    /// Returns the position one past the last byte that the application has written.
    #[inline]
    pub fn data_end(&self) -> SeqNum {
        self.space.una() + self.buffer.len()
    }

    //= specs/rfc9937.md#each-ack
    //# The window is what is in flight plus what may be sent.
    //= specs/rfc9937.md#relations
    //# Outside episodes nothing changes.
    //= specs/rfc8985.md#other-algorithms
    //# Proportional rate reduction decides what is sent after losses that RACK detects.
    //= specs/rfc6675.md#recovery
    //# Before recovery, a duplicate ACK lets new data leave if the window has room for a segment.
    /// Returns the bytes that congestion control allows to leave now. An empty pipe always admits one segment, including a FIN
    /// behind it: otherwise no acknowledgement would come.
    #[inline]
    pub fn allowance(&self, cfg: &Config) -> Bytes {
        let (window, pipe) = (self.cc.window().cwnd(), self.rec.board.pipe());
        let room = match (&self.rec.reduction, cfg.recovery.limited_transmit) {
            (Some(reduction), _) => reduction.quota(),
            (None, LimitedTransmit::Off) if !self.rec.episode().repairs() => {
                window.saturating_sub(self.space.flight_size())
            }
            (None, _) => window.saturating_sub(pipe),
        };
        if pipe == 0 { room.max(self.space.smss() + 1) } else { room }
    }

    /// Returns whether `len` of `unsent` bytes, less than a full segment, may leave. Nagle's rule does not delay urgent data.
    pub fn small_may_leave(&self, send: &SendConfig, urgent: bool, len: Bytes, unsent: Bytes) -> bool {
        let takes_all = match (len == unsent, self.space.side() == SendSide::FinQueued) {
            (true, true) => Takes::AllAndFin,
            (true, false) => Takes::All,
            (false, _) => Takes::Part,
        };
        let outstanding = self.space.outstanding(self.space.nxt());
        let nagle = if urgent { NagleConfig::Off } else { send.nagle };
        SmallSegment { len, takes_all, outstanding, max_wnd: self.space.max_wnd() }.may_leave(nagle)
    }

    /// Returns whether NextSeg rules 3 and 4 of RFC 6675 apply: the detector uses them, in fast recovery.
    pub fn has_unmarked(&self) -> bool {
        matches!(self.rec.episode(), Episode::Recovery { .. }) && self.rec.detector.fills_unmarked_holes()
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# Pacing spreads the burst that the end of an episode may allow.
    /// Returns until when the pacer holds all segments back, if it does so.
    #[inline(always)]
    pub fn paced_until(&mut self, cfg: &Config, now: Instant) -> Option<Instant> {
        // A connection whose controller does not pace has no pacer. The pacer is taken out while it decides, because the closure
        // borrows the whole sender.
        let mut pacer = match self.pacer.take() {
            Some(pacer) => pacer,
            None if self.cc.pacing().is_none() => return None,
            None => Box::default(),
        };
        let ready = || {
            // A FIN that was sent has a sequence number behind the data.
            let unsent = self.data_end().distance_from(self.space.nxt().min(self.data_end()));
            (self.rec.board.lost_bytes() + unsent).min(self.allowance(cfg))
        };
        let until = pacer.blocked_until(now, self.space.smss(), || self.cc.pacing(), ready);
        self.pacer = Some(pacer);
        until
    }

    /// Returns whether data or a FIN waits or is in flight.
    #[inline]
    pub fn has_work(&self) -> bool {
        let fin_waits = match self.space.side() {
            SendSide::Open => false,
            SendSide::FinQueued => true,
            SendSide::FinSent => self.space.una() != self.space.nxt(),
        };
        self.buffer.len() > 0 || fin_waits
    }

    /// Returns what limits a sender that has data or a FIN to send, when nothing more can leave, for the time statistics. Full
    /// segments have `size` bytes.
    #[inline]
    pub fn held(&self, size: Bytes) -> Held {
        let unsent = self.data_end().distance_from(self.space.nxt());
        let room = self.cc.window().cwnd().saturating_sub(self.rec.board.pipe());
        // Inside an episode the reduction decides, and the congestion window counts as the limit.
        if room < size.min(unsent.max(1)) || self.rec.episode() != Episode::Open {
            return Held::Busy;
        }
        if unsent > 0 && self.space.usable() < unsent.min(size) {
            Held::Window
        } else if unsent == 0 && self.buffer.writer_waits() {
            Held::Buffer
        } else {
            Held::Busy
        }
    }
}
