//! The bottleneck: a serialiser of fixed rate behind a drop-tail buffer, in one hop.
//!
//! First in, first out, with no decision on leaving: the exit time of a packet is known on entry, so a packet needs no event
//! here. The serialiser keeps the fraction of a nanosecond by which an exit time is rounded up, so that a busy link runs at
//! exactly its rate over any number of packets; a single exit is late by less than a nanosecond, never early.

pub mod managed;

use crate::hop::{DropCause, Hop, HopKind, Offer, Packet};
use crate::queue::droptail::{Buffer, DropTail};
use base::{Instant, Rate, Rng};

/// 8 bits per byte, 10⁹ nanoseconds per second: `bytes × BIT_NANOS / bits per second` is a time in nanoseconds.
const BIT_NANOS: u64 = 8_000_000_000;

/// A link of fixed rate with a bounded FIFO buffer in front; the packet in service counts towards the bound, whole.
#[derive(Debug)]
pub struct Bottleneck {
    serialiser: Serialiser,
    queue: DropTail,
}

impl Bottleneck {
    /// A link that passes `rate` and holds `buffer`.
    pub fn new(rate: Rate, buffer: Buffer) -> Self {
        Self { serialiser: Serialiser::new(rate), queue: DropTail::new(buffer) }
    }
}

impl<P: Packet> Hop<P> for Bottleneck {
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let len = packet.wire_len();
        if !self.queue.has_room(now, len) {
            return Offer::Dropped(packet, DropCause::Tail);
        }
        let exit = self.serialiser.exit(now, len);
        self.queue.push(exit, len);
        Offer::Forwards(exit, packet)
    }
    fn backlog(&self, now: Instant) -> u64 {
        self.queue.bytes(now)
    }
    fn max_backlog(&self) -> u64 {
        self.queue.max_bytes()
    }
    fn hand_over(&mut self) -> Vec<(Instant, u32)> {
        self.queue.take()
    }
    fn take_over(&mut self, waiting: &[(Instant, u32)]) {
        for &(exit, len) in waiting {
            self.serialiser.idle_from_ns = exit.as_nanos();
            self.queue.push(exit, len);
        }
    }
    fn kind(&self) -> HopKind {
        HopKind::Rate
    }
}

/// Virtual time of a link: when its last bit leaves, exactly.
#[derive(Clone, Debug)]
struct Serialiser {
    rate: Rate,
    /// The whole nanosecond of that moment …
    idle_from_ns: u64,
    /// … and the rest, in units of 1 / (bits per second) of a nanosecond; less than the rate.
    fraction: u64,
}

impl Serialiser {
    fn new(rate: Rate) -> Self {
        Self { rate, idle_from_ns: 0, fraction: 0 }
    }

    /// Returns when the last bit of `len` bytes that arrive at `now` has left, rounded up to a nanosecond.
    #[inline]
    fn exit(&mut self, now: Instant, len: u32) -> Instant {
        if now.as_nanos() > self.idle_from_ns {
            (self.idle_from_ns, self.fraction) = (now.as_nanos(), 0);
        }
        let bps = self.rate.bits_per_sec();
        let (whole, fraction) = match u64::from(len).checked_mul(BIT_NANOS).and_then(|n| n.checked_add(self.fraction)) {
            Some(scaled) => (scaled / bps, scaled % bps),
            None => self.divide_wide(len),
        };
        self.idle_from_ns = self.idle_from_ns.saturating_add(whole);
        self.fraction = fraction;
        Instant::from_nanos(self.idle_from_ns.saturating_add(u64::from(fraction > 0)))
    }

    #[cold]
    fn divide_wide(&self, len: u32) -> (u64, u64) {
        let bps = u128::from(self.rate.bits_per_sec());
        let scaled = u128::from(len) * u128::from(BIT_NANOS) + u128::from(self.fraction);
        // The quotient is below 2^32 · 8·10^9 / bps + 1 and the remainder below `bps`; only the slowest rates saturate.
        (u64::try_from(scaled / bps).unwrap_or(u64::MAX), (scaled % bps) as u64)
    }
}

#[cfg(test)]
mod tests;
