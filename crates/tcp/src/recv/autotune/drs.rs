//! Dynamic right-sizing as published and deployed (M. Fisk and W. Feng, "Dynamic Right-Sizing in TCP", 2001).
//!
//! Two quantities. The *buffer* is updated once per round trip: if the application took more than in any earlier one, it becomes
//! twice that plus 16 segments, and twice as much again in proportion to the increase. The *window* begins small and opens
//! towards the buffer by two segments for each well-filled one that arrives, so that a peer whose segments waste the memory that
//! holds them is not offered the memory such segments would need.
//!
//! Deviations from deployed forms: "well-filled" means half the largest segment size, where they measure the memory of a packet;
//! and smaller segments open nothing, where they open a little.

use super::config::{DrsConfig, FIRST_SPACE_SEGMENTS, Lent};
use base::Bytes;

/// Room beyond twice a round trip's bytes, in segments.
const MARGIN_SEGMENTS: u64 = 16;
/// The initial buffer: the largest window without a shift, enough for several round trips of slow start.
const FIRST_BUFFER: Bytes = 65_535;

/// Returns the buffer of a new connection.
pub(super) fn first_buffer(bounds: &DrsConfig) -> Bytes {
    bounds.initial.max(FIRST_BUFFER.min(bounds.max))
}

/// The buffer that a round trip asks for in which `copied` bytes were taken, and at most `space` in any before; zero when it
/// asks for nothing.
pub(super) fn buffer(lent: &Lent<'_>, max: Bytes, copied: Bytes, space: Bytes) -> Bytes {
    let space = u64::from(space).max(FIRST_SPACE_SEGMENTS * u64::from(lent.rmss));
    // Limiting `copied` to the largest size keeps the products below within 64 bits.
    let copied = u64::from(copied.min(max));
    if copied <= space {
        return 0;
    }
    let window = 2 * copied + MARGIN_SEGMENTS * u64::from(lent.rmss);
    let growth = window * (copied - space) / space;
    Bytes::try_from(window + 2 * growth).unwrap_or(Bytes::MAX).min(max)
}

/// Returns the window that a segment of `len` bytes opens, if it does.
#[inline]
pub(super) fn opened(lent: &Lent<'_>, buffer: Bytes, len: Bytes) -> Option<Bytes> {
    if lent.limit >= buffer || len < lent.rmss / 2 {
        return None;
    }
    // A frame of several segments counts as that number of segments.
    let step = len.max(lent.rmss).saturating_mul(2);
    Some(lent.limit.saturating_add(step).min(buffer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReceiveWindowConfig;
    use test_case::test_case;

    const RMSS: Bytes = 1460;

    fn lent(limit: Bytes) -> Lent<'static> {
        const CONFIG: ReceiveWindowConfig = ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED);
        Lent { config: &CONFIG, limit, rmss: RMSS }
    }

    // In segments; calculated by hand from the formula.
    #[test_case(10, 0 => 0; "no more than the first window")]
    #[test_case(5, 40 => 0; "less than before")]
    #[test_case(20, 0 => 56 + 2 * 56; "twice the first window")]
    #[test_case(40, 20 => 96 + 2 * 96; "twice as much as before")]
    #[test_case(50, 40 => 116 + 2 * 29; "a quarter more than before")]
    #[test_case(100_000, 40 => 6 * 1024 * 1024 / 1460; "never beyond the maximum")]
    fn segments_of_buffer(copied: Bytes, space: Bytes) -> Bytes {
        buffer(&lent(0), DrsConfig::DEPLOYED.max, copied * RMSS, space * RMSS) / RMSS
    }

    #[test_case(14_600, RMSS => Some(14_600 + 2 * RMSS); "a full segment")]
    #[test_case(14_600, 4 * RMSS => Some(14_600 + 8 * RMSS); "a frame of four")]
    #[test_case(14_600, 729 => None; "less than half a segment")]
    #[test_case(65_000, RMSS => Some(65_535); "up to the buffer")]
    #[test_case(65_535, RMSS => None; "which is reached")]
    fn a_segment_opens_the_window(limit: Bytes, len: Bytes) -> Option<Bytes> {
        opened(&lent(limit), first_buffer(&DrsConfig::DEPLOYED), len)
    }

    #[test_case(14_600, 6 << 20 => 65_535)]
    #[test_case(100_000, 6 << 20 => 100_000; "what is offered at first can be held")]
    #[test_case(1_000, 5_000 => 5_000; "the maximum is that")]
    fn buffer_of_a_new_connection(initial: Bytes, max: Bytes) -> Bytes {
        first_buffer(&DrsConfig { initial, max })
    }
}
