//! The drop-tail queue of a FIFO link whose exit times are known on entry.
//!
//! Stores only bookkeeping, not the packets: a ring of (exit time, length), emptied lazily. A packet is inside from its arrival
//! until its last bit has left; the packet in service therefore counts whole. One that leaves at the very nanosecond at which
//! another arrives counts as gone.

use base::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// How much a bottleneck holds, including the packet in service.
///
/// The bound is strict: a packet longer than the whole buffer never passes, not even an idle link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffer {
    /// This many bytes of IP packets.
    Bytes(u64),
    /// This many packets of any size.
    Packets(u32),
    /// Whatever comes.
    #[default]
    Unlimited,
}

impl Buffer {
    /// One bandwidth-delay product: the whole bytes that pass at `rate` within `rtt`.
    pub fn bdp(rate: Rate, rtt: Duration) -> Self {
        Self::Bytes(rate.bytes_in(rtt))
    }
}

/// The contents of a FIFO link, exact for packets of mixed sizes.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: Buffer,
    /// Exit time and bytes of every packet not yet known to have left, oldest first.
    inside: VecDeque<(Instant, u32)>,
    bytes: u64,
    max_bytes: u64,
}

impl DropTail {
    pub(crate) fn new(limit: Buffer) -> Self {
        Self { limit, inside: VecDeque::new(), bytes: 0, max_bytes: 0 }
    }

    /// Whether `len` more bytes fit in at `now`.
    #[inline]
    pub(crate) fn has_room(&mut self, now: Instant, len: u32) -> bool {
        self.forget(now);
        match self.limit {
            Buffer::Bytes(limit) => self.bytes + u64::from(len) <= limit,
            Buffer::Packets(limit) => self.inside.len() < limit as usize,
            Buffer::Unlimited => true,
        }
    }

    /// Forgets packets that have left by `now`.
    #[inline]
    pub(crate) fn forget(&mut self, now: Instant) {
        while let Some(&(exit, gone)) = self.inside.front()
            && exit <= now
        {
            self.bytes -= u64::from(gone);
            self.inside.pop_front();
        }
    }

    /// Adds a packet that `has_room` admitted and that leaves at `exit`, not before its predecessor.
    #[inline]
    pub(crate) fn push(&mut self, exit: Instant, len: u32) {
        self.inside.push_back((exit, len));
        self.bytes += u64::from(len);
        self.max_bytes = self.max_bytes.max(self.bytes);
    }

    /// Bytes inside at `now`, which may be later than the last arrival.
    pub(crate) fn bytes(&self, now: Instant) -> u64 {
        let gone = self.inside.iter().take_while(|(exit, _)| *exit <= now);
        self.bytes - gone.map(|(_, len)| u64::from(*len)).sum::<u64>()
    }

    /// Removes and returns the contents.
    pub(crate) fn take(&mut self) -> Vec<(Instant, u32)> {
        self.bytes = 0;
        self.inside.drain(..).collect()
    }

    /// The most bytes that were ever inside at once.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(100_000_000, 25, 312_500)]
    #[test_case(100_000_000, 200, 2_500_000)]
    #[test_case(34_500_000, 1, 4_312; "rounded down to whole bytes")]
    fn one_bdp(bps: u64, rtt_ms: u64, bytes: u64) {
        let rate = Rate::from_bits_per_sec(bps).unwrap();
        assert_eq!(Buffer::bdp(rate, Duration::from_millis(rtt_ms)), Buffer::Bytes(bytes));
    }

    #[test]
    fn a_packet_counts_until_its_last_bit_has_left() {
        let (mut queue, at) = (DropTail::new(Buffer::Bytes(1_000)), Instant::from_nanos);
        assert!(queue.has_room(at(0), 1_000));
        queue.push(at(50), 1_000);
        assert_eq!((queue.bytes(at(49)), queue.bytes(at(50))), (1_000, 0));
        assert!(!queue.has_room(at(49), 1));
        assert!(queue.has_room(at(50), 1_000));
        assert_eq!(queue.max_bytes(), 1_000);
    }

    #[test_case(Buffer::Bytes(999), 1_000, false; "longer than the whole buffer")]
    #[test_case(Buffer::Bytes(1_000), 1_000, true; "exactly full")]
    #[test_case(Buffer::Packets(0), 1, false; "no room at all")]
    #[test_case(Buffer::Packets(1), 1_000_000, true; "packets have no size")]
    #[test_case(Buffer::Unlimited, u32::MAX, true)]
    fn first_packet(limit: Buffer, len: u32, fits: bool) {
        assert_eq!(DropTail::new(limit).has_room(Instant::ZERO, len), fits);
    }
}
