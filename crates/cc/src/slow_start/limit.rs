//! How far one ACK may open the window in slow start: RFC 3465's `L`, in every policy (RFC 3465 §2.2, RFC 9406 §4.2).
//!
//! RFC 5681 alone is `L = 1`, RFC 3465 allows 2, RFC 9406 asks for 8 from senders that do not pace and for no limit from those
//! that do. After a congestion signal `L` is 1 whatever the configuration (RFC 3465 §2.3): slow start then follows a timeout, and
//! one ACK may cover much that had arrived earlier and says nothing about the current rate.

use crate::sample::AckSample;
use crate::window::Window;
use base::Bytes;

/// `L`, in segments.
#[derive(Clone, Copy, Debug)]
pub struct AckLimit {
    segments: u32,
}

impl AckLimit {
    //= specs/rfc5682.md#basic-algorithm
    //# A timeout found genuine at the second ACK leaves a window of at most three segments.
    /// After a congestion signal.
    pub const AFTER_CONGESTION: Self = Self { segments: 1 };

    //= specs/rfc9406.md#growth
    //# A sender that paces sets no limit L.
    /// Creates the limit for a connection's first slow start; `None` for no limit.
    pub const fn new(limit_segments: Option<u32>) -> Self {
        // This many segments exceed every window, so the value means no limit.
        Self {
            segments: match limit_segments {
                Some(segments) => segments,
                None => u32::MAX,
            },
        }
    }

    //= specs/rfc9406.md#growth
    //# In slow start an ACK opens the window by the bytes it acknowledges, but by no more than L segments.
    /// Returns the bytes by which this ACK may open the window.
    #[inline]
    pub const fn bytes(self, ack: &AckSample, window: &Window) -> Bytes {
        let limit = self.segments.saturating_mul(window.smss());
        if ack.acked < limit { ack.acked } else { limit }
    }
}
