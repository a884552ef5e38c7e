//! Dynamic right-sizing (M. Fisk and W. Feng, "Dynamic Right-Sizing in TCP", 2001), made early: twice what was taken in a round
//! trip, so that the peer's next doubling fits; doubled again because that round trip may not be over; 16 segments more; and, if
//! one round trip brought more than any before, as much again in proportion to the increase.
//!
//! Deviations from the published scheme: the window grows as soon as the bytes of the current round trip require it, not only at
//! its end; and before the round-trip time is known, everything taken so far is the measure. A sender in slow start has at most
//! its initial window plus everything acknowledged in flight, so the window never limits it before the maximum, whatever the
//! round-trip time.

use super::config::{FIRST_SPACE_SEGMENTS, Lent};
use base::Bytes;

/// Multiple of a round trip's bytes that the buffer holds.
const ROUND_TRIPS: u64 = 4;
/// Room beyond that, in segments.
const MARGIN_SEGMENTS: u64 = 16;

/// Returns the new size if the gain is large enough; `copied` bytes were taken in this period so far, at most `space` in any
/// before.
#[inline]
pub(super) fn size(lent: &Lent<'_>, max: Bytes, copied: Bytes, space: Bytes, rtt_known: bool) -> Option<Bytes> {
    let target = target(lent.rmss, max, copied, space, rtt_known);
    // Steps of an eighth, so that slow start does not change the size with every segment.
    let worth_it = target >= lent.limit.saturating_add(lent.limit / 8) || (target == max && lent.limit < max);
    worth_it.then_some(target)
}

/// Returns the size that the bytes of the current period need; zero if they need no change.
#[inline]
fn target(rmss: Bytes, max: Bytes, copied: Bytes, space: Bytes, rtt_known: bool) -> Bytes {
    let space = u64::from(space).max(FIRST_SPACE_SEGMENTS * u64::from(rmss));
    // Limiting `copied` to the largest size keeps the products below within 64 bits.
    let copied = u64::from(copied.min(max));
    if copied <= space {
        return 0;
    }
    let window = ROUND_TRIPS * copied + MARGIN_SEGMENTS * u64::from(rmss);
    // A round trip that brought twice as much as any before is slow start at full speed; even more marks the end of a pause or a
    // filled gap, after which the window need not grow faster.
    let growth = if rtt_known { window * (copied - space).min(space) / space } else { 0 };
    Bytes::try_from(window + growth).unwrap_or(Bytes::MAX).min(max)
}
