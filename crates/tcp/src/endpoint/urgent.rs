//! The send urgent pointer (RFC 9293 §3.8.5, RFC 6093). The mark in what is received is the receiver's.
//!
//! New programs should not use either (SHLD-13).

use crate::config::{ReceiveConfig, UrgentPointer};
use base::SeqNum;

/// The mark in the stream that is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentMark {
    /// One past the last urgent byte written, until it is acknowledged.
    end: Option<SeqNum>,
}

impl SentMark {
    /// Whether urgent data was written that is not acknowledged.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.end.is_some()
    }

    /// The application has written urgent data up to `end`.
    pub fn set(&mut self, end: SeqNum) {
        self.end = Some(end);
    }

    /// SND.UNA has advanced to `una`, perhaps over the last urgent byte.
    pub fn on_acked(&mut self, una: SeqNum) {
        self.end = self.end.filter(|end| end.after(una));
    }

    //= specs/rfc9293.md#urgent-data
    //# The pointer that is sent names the byte behind the last urgent one.
    //= specs/rfc9293.md#urgent-data
    //# Urgent data is supported in both directions.
    /// The urgent pointer of a segment that begins at `seq`, if it is to carry one: every segment does that begins before
    /// the end of the urgent data, whether it has data or not. What is further away than the field can say is said to be as
    /// far as it can, and more exactly by later segments.
    #[inline]
    pub fn pointer(&self, config: &ReceiveConfig, seq: SeqNum) -> Option<u16> {
        let end = self.end.filter(|end| end.after(seq))?;
        let distance = match config.urgent_pointer {
            UrgentPointer::Following => end.distance_from(seq),
            UrgentPointer::Last => end.distance_from(seq) - 1,
        };
        Some(u16::try_from(distance).unwrap_or(u16::MAX))
    }
}
