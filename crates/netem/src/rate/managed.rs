//! The bottleneck behind a queue that manages itself: a serialiser of fixed rate that takes its next packet when it is idle.
//!
//! Such a queue decides when a packet leaves, so each packet that waits costs an event, at the moment the link becomes idle. The
//! packet is then handed on with the time at which its last bit will have left. A packet that meets an idle link costs none. The
//! link runs at exactly its rate over any number of packets, as the drop-tail bottleneck does.

use super::Serialiser;
use crate::hop::{Hop, HopKind, Left, Offer, Packet};
use crate::queue::QueueSpec;
use crate::queue::droptail::{Buffer, DropTail};
use crate::queue::seam::{Decided, Queue};
use base::{Instant, Rate, Rng};

/// A link of fixed rate with a managed queue in front. The packet in service has left the queue; the backlog counts it whole.
#[derive(Debug)]
pub struct ManagedBottleneck<P> {
    serialiser: Serialiser,
    queue: Box<dyn Queue<P>>,
    decided: Decided<P>,
    /// When the last bit of the packet in service has left, and its bytes.
    in_service: (Instant, u32),
    /// Packets of a bottleneck that this one replaced; they still occupy the link.
    ahead: DropTail,
    max_bytes: u64,
}

impl<P: Packet + Send + 'static> ManagedBottleneck<P> {
    /// Creates a link that passes `rate` behind a queue with `room` for waiting packets; `None` for drop-tail, which has a hop of
    /// its own. `rng` is for what the queue draws once.
    pub fn new(rate: Rate, queue: &QueueSpec, room: Buffer, rng: &Rng) -> Option<Self> {
        Some(Self {
            serialiser: Serialiser::new(rate),
            queue: queue.build(room, rng)?,
            decided: Decided::new(),
            in_service: (Instant::ZERO, 0),
            ahead: DropTail::new(Buffer::Unlimited),
            max_bytes: 0,
        })
    }

    /// Puts the next packet of the queue into service at `now`, when the link is idle; returns it with its exit time. A packet
    /// that waited follows its predecessor without a gap, to the fraction of a nanosecond, if it `begins` at the start of time.
    fn serve(&mut self, now: Instant, begins: Instant, rng: &mut Rng) -> Option<(Instant, P)> {
        let packet = self.queue.dequeue(now, rng, &mut self.decided)?;
        let exit = self.serialiser.exit(begins, packet.wire_len());
        self.in_service = (exit, packet.wire_len());
        Some((exit, packet))
    }

    fn bytes(&self, now: Instant) -> u64 {
        let (exit, bytes) = self.in_service;
        self.queue.bytes() + self.ahead.bytes(now) + if now < exit { u64::from(bytes) } else { 0 }
    }
}

impl<P: Packet + Send + 'static> Hop<P> for ManagedBottleneck<P> {
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        self.queue.enqueue(now, packet, rng, &mut self.decided);
        let served = if self.in_service.0 <= now { self.serve(now, now, rng) } else { None };
        self.ahead.forget(now);
        self.max_bytes = self.max_bytes.max(self.bytes(now));
        match served {
            Some((exit, packet)) => Offer::Forwards(exit, packet),
            None => Offer::Queued,
        }
    }

    /// Returns when the link becomes idle, if a packet waits for that.
    fn next_deadline(&self) -> Option<Instant> {
        (self.queue.packets() > 0).then_some(self.in_service.0)
    }

    fn poll(&mut self, now: Instant, rng: &mut Rng) -> Option<Left<P>> {
        if let Some((packet, cause)) = self.decided.dropped.pop_front() {
            return Some(Left::Dropped(packet, cause));
        }
        let idle_from = self.in_service.0;
        if self.queue.packets() == 0 || idle_from > now {
            return None;
        }
        match self.serve(idle_from, Instant::ZERO, rng) {
            Some((exit, packet)) => Some(Left::Leaves(exit, packet)),
            None => self.decided.dropped.pop_front().map(|(packet, cause)| Left::Dropped(packet, cause)),
        }
    }

    fn backlog(&self, now: Instant) -> u64 {
        self.bytes(now)
    }

    fn max_backlog(&self) -> u64 {
        self.max_bytes
    }

    fn marks(&self) -> u64 {
        self.decided.marks
    }

    /// Deviation: the exit times are those without further drops, which the queue decides later; if it drops some, the hop that
    /// replaces this one starts a little later than it could.
    fn hand_over(&mut self) -> Vec<(Instant, u32)> {
        let mut waiting = self.ahead.take();
        waiting.push(self.in_service);
        let queued = u32::try_from(self.queue.bytes()).unwrap_or(u32::MAX);
        waiting.push((self.serialiser.clone().exit(Instant::ZERO, queued), queued));
        waiting
    }

    fn take_over(&mut self, waiting: &[(Instant, u32)]) {
        for &(exit, len) in waiting {
            self.serialiser.idle_from_ns = exit.as_nanos();
            self.in_service = (exit, 0);
            self.ahead.push(exit, len);
        }
    }

    fn kind(&self) -> HopKind {
        HopKind::Rate
    }
}

#[cfg(test)]
mod tests;
