//! Round-trip times as seen from a capture point: from a segment to its acknowledgement, and from a timestamp to its echo (RFC
//! 7323 §4.1).
//!
//! Each measurement covers the round trip from here to one end and back. The sum of both ends' is the path's.

use std::collections::VecDeque;

/// Time stamps that may be on their way.
const STAMPS: usize = 512;

/// Timestamps that one end has sent and the other has not echoed yet, each with the time it was first seen.
///
/// Includes only segments that have to be acknowledged. The timestamp of a bare ACK is echoed when the other application sends
/// data, which may take minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    waiting: VecDeque<(u32, u64)>,
    /// If the path is shorter than a tick of a millisecond clock, segments after the echo carry the same timestamp. Counting it
    /// as a new one would measure less than the path.
    newest: Option<u32>,
}

impl Stamps {
    /// One end sends `tsval`.
    #[inline]
    pub fn sent(&mut self, at: u64, tsval: u32) {
        if self.newest.is_none_or(|newest| is_after(tsval, newest)) {
            self.newest = Some(tsval);
            if self.waiting.len() == STAMPS {
                self.waiting.pop_front();
            }
            self.waiting.push_back((tsval, at));
        }
    }

    /// Handles an echo: returns how long ago the timestamp was seen, at its first echo.
    #[inline]
    pub fn echoed(&mut self, at: u64, tsecr: u32) -> Option<u64> {
        while let Some(&(tsval, sent)) = self.waiting.front() {
            if is_after(tsval, tsecr) {
                break;
            }
            self.waiting.pop_front();
            if tsval == tsecr {
                return Some(at.saturating_sub(sent));
            }
        }
        None
    }
}

/// Returns whether one timestamp is later than another, modulo 2^32.
#[inline]
pub(super) fn is_after(this: u32, that: u32) -> bool {
    this.wrapping_sub(that) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_that_is_sent_on_behind_its_echo_measures_nothing() {
        let mut stamps = Stamps::default();
        stamps.sent(0, 5);
        assert_eq!(stamps.echoed(250, 5), Some(250));
        // The clock has not ticked, and an echo of the first segments is still on its way.
        stamps.sent(260, 5);
        assert_eq!(stamps.echoed(262, 5), None);
        stamps.sent(1000, 6);
        assert_eq!(stamps.echoed(1250, 6), Some(250));
    }

    #[test]
    fn a_stamp_counts_once_and_across_the_wrap() {
        let mut stamps = Stamps::default();
        stamps.sent(10, u32::MAX);
        stamps.sent(11, u32::MAX);
        stamps.sent(20, 1);
        assert_eq!(stamps.echoed(40, u32::MAX), Some(30));
        assert_eq!(stamps.echoed(41, u32::MAX), None);
        assert_eq!(stamps.echoed(50, 0), None);
        assert_eq!(stamps.echoed(60, 1), Some(40));
    }
}
