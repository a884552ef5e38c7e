//! The send urgent pointer (RFC 9293 §3.8.5, RFC 6093). The receiver owns the mark in received data.
//!
//! New programs should use neither (SHLD-13).

use crate::config::{ReceiveConfig, UrgentPointer};
use base::SeqNum;

/// The urgent mark in the sent stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentMark {
    /// One past the last urgent byte written, until it is acknowledged.
    end: Option<SeqNum>,
}

impl SentMark {
    /// Returns whether written urgent data is still unacknowledged.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.end.is_some()
    }

    /// Notes that the application has written urgent data up to `end`.
    pub fn set(&mut self, end: SeqNum) {
        self.end = Some(end);
    }

    /// Handles an advance of SND.UNA to `una`, perhaps past the last urgent byte.
    pub fn on_acked(&mut self, una: SeqNum) {
        self.end = self.end.filter(|end| end.after(una));
    }

    //= specs/rfc9293.md#urgent-data
    //# The pointer that is sent names the byte behind the last urgent one.
    //= specs/rfc9293.md#urgent-data
    //# Urgent data is supported in both directions.
    /// Returns the urgent pointer of a segment that begins at `seq`, if it carries one: every segment does that begins before the
    /// end of the urgent data, with or without data. If the distance exceeds the field, the pointer holds the largest value, and
    /// later segments give the exact one.
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
