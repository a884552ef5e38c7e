//! The model: a rate, a drop-tail buffer in front of it, and a delay behind it.

use crate::clock::SECOND;
use std::collections::VecDeque;

/// One direction. Times are nanoseconds.
#[derive(Debug)]
pub(crate) struct Line {
    /// Bits in a second; none for no bottleneck.
    rate: Option<u64>,
    delay: u64,
    /// Bytes that the buffer holds, including those of the packet in service.
    buffer: usize,
    /// When the last packet in the buffer will have left it, and the departure time and size of each.
    leaving: VecDeque<(u64, usize)>,
    backlog: usize,
}

impl Line {
    /// An empty line.
    pub(crate) fn new(rate: Option<u64>, delay: u64, buffer: usize) -> Self {
        Self { rate, delay, buffer, leaving: VecDeque::new(), backlog: 0 }
    }

    /// A packet of this size arrives at `at`. Returns when it is delivered, or `None` if the buffer is full.
    pub(crate) fn offer(&mut self, at: u64, len: usize) -> Option<u64> {
        let Some(rate) = self.rate else { return Some(at + self.delay) };
        while let Some((left, len)) = self.leaving.front().filter(|(left, _)| *left <= at) {
            let _ = left;
            self.backlog -= len;
            self.leaving.pop_front();
        }
        if self.backlog + len > self.buffer {
            return None;
        }
        let begins = self.leaving.back().map_or(at, |(left, _)| *left).max(at);
        let leaves = begins + (len as u64 * 8 * SECOND).div_ceil(rate);
        self.leaving.push_back((leaves, len));
        self.backlog += len;
        Some(leaves + self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_at_the_rate_and_arrive_after_the_delay() {
        // 12 Mbit/s: a packet of 1500 bytes takes a millisecond.
        let mut line = Line::new(Some(12_000_000), 5_000_000, 4_500);
        assert_eq!(line.offer(0, 1500), Some(6_000_000));
        assert_eq!(line.offer(0, 1500), Some(7_000_000));
        assert_eq!(line.offer(0, 1500), Some(8_000_000));
        assert_eq!(line.offer(0, 1500), None, "three packets fill the buffer");
        assert_eq!(line.offer(999_999, 1500), None, "the packet in service is in the buffer");
        assert_eq!(line.offer(1_000_000, 1500), Some(9_000_000));
        assert_eq!(line.offer(50_000_000, 1500), Some(56_000_000), "an idle line saves nothing up");
    }

    #[test]
    fn without_a_rate_there_is_the_delay_alone() {
        let mut line = Line::new(None, 7, 0);
        assert_eq!(line.offer(1, 9000), Some(8));
    }
}
