//! The bottleneck: a link behind a drop-tail buffer, in one hop.
//!
//! First in, first out, with no decision on leaving: the exit time of a packet is known on entry, so a packet needs no event
//! here, whether the link has a fixed rate (`serialiser.rs`) or a trace of opportunities (`delivery_trace.rs`).

pub mod changing;
pub mod delivery_trace;
pub mod managed;
pub mod serialiser;

use crate::hop::{DropCause, Hop, HopKind, Offer, Packet};
use crate::queue::droptail::{Buffer, DropTail};
use base::{Instant, Rate, Rng};
use serialiser::{Serialiser, Service};

/// A link with a bounded FIFO buffer in front; the packet in service counts towards the bound, whole.
#[derive(Debug)]
pub struct Bottleneck<S = Serialiser> {
    link: S,
    queue: DropTail,
}

impl Bottleneck {
    /// A link that passes `rate` and holds `buffer`.
    pub fn new(rate: Rate, buffer: Buffer) -> Self {
        Self::of(Serialiser::new(rate), buffer)
    }
}

impl<S: Service> Bottleneck<S> {
    /// This link, which holds `buffer`.
    pub fn of(link: S, buffer: Buffer) -> Self {
        Self { link, queue: DropTail::new(buffer) }
    }
}

impl<P: Packet, S: Service> Hop<P> for Bottleneck<S> {
    fn begin(&mut self, at: Instant) {
        self.link.begin(at);
    }
    fn offer(&mut self, now: Instant, packet: P, _rng: &mut Rng) -> Offer<P> {
        let len = packet.wire_len();
        if !self.queue.has_room(now, len) {
            return Offer::Dropped(packet, DropCause::Tail);
        }
        let exit = self.link.exit(now, len);
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
            self.link.start_behind(exit);
            self.queue.push(exit, len);
        }
    }
    fn kind(&self) -> HopKind {
        HopKind::Rate
    }
}

#[cfg(test)]
mod tests;
