//! The bottleneck behind a queue that manages itself: a link that takes its next packet when it can send one.
//!
//! Such a queue decides when a packet leaves, so each packet that waits costs an event, at the moment it begins to leave. It is
//! then handed on with the time at which its last bit will have left. A packet that meets an idle link costs none. The link runs
//! at exactly its rate over any number of packets, as behind the drop-tail buffer.

use crate::hop::{Hop, HopKind, Left, Offer, Packet};
use crate::queue::QueueSpec;
use crate::queue::droptail::{Buffer, DropTail};
use crate::queue::seam::{Decided, Queue};
use crate::rate::serialiser::{Serialiser, Service};
use base::{Instant, Rng};

/// A link with a managed queue in front. The packet in service has left the queue; the backlog counts it whole.
#[derive(Debug)]
pub struct ManagedBottleneck<P, S = Serialiser> {
    link: S,
    queue: Box<dyn Queue<P>>,
    decided: Decided<P>,
    /// When the last bit of the packet in service has left, and its bytes.
    in_service: (Instant, u32),
    /// When the next packet can begin to leave.
    ready: Instant,
    /// Packets of a bottleneck that this one replaced; they still occupy the link.
    ahead: DropTail,
    max_bytes: u64,
    /// Whether another bottleneck has replaced this one, and counts what waits here.
    is_replaced: bool,
}

impl<P: Packet + Send + 'static, S: Service> ManagedBottleneck<P, S> {
    /// Creates a bottleneck of this link behind a queue with `room` for waiting packets; `None` for drop-tail, which has a hop of
    /// its own. `rng` is for what the queue draws once.
    pub fn new(link: S, queue: &QueueSpec, room: Buffer, rng: &Rng) -> Option<Self> {
        Some(Self {
            link,
            queue: queue.build(room, rng)?,
            decided: Decided::new(),
            in_service: (Instant::ZERO, 0),
            ready: Instant::ZERO,
            ahead: DropTail::new(Buffer::Unlimited),
            max_bytes: 0,
            is_replaced: false,
        })
    }

    /// Takes the next packet off the queue at `now`, when the link can send; `exit` returns when its last bit has left.
    fn serve(&mut self, now: Instant, rng: &mut Rng, exit: impl Fn(&mut S, u32) -> Instant) -> Option<(Instant, P)> {
        let packet = self.queue.dequeue(now, rng, &mut self.decided)?;
        let exit = exit(&mut self.link, packet.wire_len());
        self.in_service = (exit, packet.wire_len());
        self.ready = self.link.begins(exit);
        Some((exit, packet))
    }

    fn bytes(&self, now: Instant) -> u64 {
        let (exit, bytes) = self.in_service;
        self.queue.bytes() + self.ahead.bytes(now) + if now < exit { u64::from(bytes) } else { 0 }
    }
}

impl<P: Packet + Send + 'static, S: Service> Hop<P> for ManagedBottleneck<P, S> {
    fn begin(&mut self, at: Instant) {
        self.link.begin(at);
    }

    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        if self.queue.packets() == 0 {
            self.ready = self.link.begins(now.max(self.in_service.0));
        }
        self.queue.enqueue(now, packet, rng, &mut self.decided);
        let served = if self.ready <= now { self.serve(now, rng, |link, len| link.exit(now, len)) } else { None };
        self.ahead.forget(now);
        self.max_bytes = self.max_bytes.max(self.bytes(now));
        match served {
            Some((exit, packet)) => Offer::Forwards(exit, packet),
            None => Offer::Queued,
        }
    }

    /// Returns when the link can send the next packet, if one waits for that.
    fn next_deadline(&self) -> Option<Instant> {
        (self.queue.packets() > 0).then_some(self.ready)
    }

    fn poll(&mut self, now: Instant, rng: &mut Rng) -> Option<Left<P>> {
        if let Some((packet, cause)) = self.decided.dropped.pop_front() {
            return Some(Left::Dropped(packet, cause));
        }
        if self.queue.packets() == 0 || self.ready > now {
            return None;
        }
        let ready = self.ready;
        match self.serve(ready, rng, |link, len| link.follow(ready, len)) {
            Some((exit, packet)) => Some(Left::Leaves(exit, packet)),
            None => self.decided.dropped.pop_front().map(|(packet, cause)| Left::Dropped(packet, cause)),
        }
    }

    fn backlog(&self, now: Instant) -> u64 {
        if self.is_replaced { 0 } else { self.bytes(now) }
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
        self.is_replaced = true;
        let mut waiting = self.ahead.take();
        waiting.push(self.in_service);
        let queued = u32::try_from(self.queue.bytes()).unwrap_or(u32::MAX);
        if queued > 0 {
            waiting.push((self.link.clone().follow(self.ready, queued), queued));
        }
        waiting
    }

    fn take_over(&mut self, waiting: &[(Instant, u32)]) {
        for &(exit, len) in waiting {
            self.link.start_behind(exit);
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
