//! The seam of queues that manage themselves, and what they share: a FIFO with arrival times, and the list of decisions.

use crate::hop::{DropCause, Packet};
use crate::queue::droptail::Buffer;
use base::{Duration, Instant, Rng};
use core::fmt::Debug;
use std::collections::VecDeque;

/// Bytes of a full IP packet. Algorithms that speak of an MTU mean this; hops count IP bytes, so it has no link-layer header.
pub(crate) const FULL_PACKET: u64 = 1_500;

/// How a queue manager signals congestion to an ECN-capable flow; other flows always meet drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// By a drop, as to any other.
    Drop,
    /// By a congestion-experienced mark (RFC 3168 §5).
    Mark,
}

/// A queue in front of a link.
///
/// The link asks for the next packet when it is idle. Time does not decrease between calls. Packets of one flow leave in the
/// order of their arrival.
pub(crate) trait Queue<P>: Debug + Send {
    /// A packet arrives: it waits, or is dropped, or others are.
    fn enqueue(&mut self, now: Instant, packet: P, rng: &mut Rng, decided: &mut Decided<P>);
    /// Returns the packet that the link sends next; `None` if none is left.
    fn dequeue(&mut self, now: Instant, rng: &mut Rng, decided: &mut Decided<P>) -> Option<P>;
    /// Returns the number of packets that wait.
    fn packets(&self) -> usize;
    /// Returns the bytes that wait.
    fn bytes(&self) -> u64;
}

/// Decisions of a queue manager.
#[derive(Debug)]
pub(crate) struct Decided<P> {
    /// Packets that it dropped and that have not been collected.
    pub(crate) dropped: VecDeque<(P, DropCause)>,
    /// Packets that it marked.
    pub(crate) marks: u64,
}

impl<P: Packet> Decided<P> {
    pub(crate) fn new() -> Self {
        Self { dropped: VecDeque::new(), marks: 0 }
    }

    pub(crate) fn drop(&mut self, packet: P, cause: DropCause) {
        self.dropped.push_back((packet, cause));
    }

    /// Signals congestion by this packet; returns it if it goes on, with a mark.
    pub(crate) fn signal(&mut self, mut packet: P, how: Signal) -> Option<P> {
        if how == Signal::Mark && packet.mark_ce() {
            self.marks += 1;
            return Some(packet);
        }
        self.drop(packet, DropCause::Aqm);
        None
    }
}

/// Packets in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<(Instant, P)>,
    bytes: u64,
}

impl<P: Packet> Fifo<P> {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn push(&mut self, now: Instant, packet: P) {
        self.bytes += u64::from(packet.wire_len());
        self.packets.push_back((now, packet));
    }

    /// Removes the head; returns it with the time it has waited.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Duration, P)> {
        let (arrived, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.wire_len());
        Some((now.since(arrived), packet))
    }

    /// Returns how long the head has waited; zero if there is none.
    pub(crate) fn head_wait(&self, now: Instant) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |(arrived, _)| now.since(*arrived))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

/// Returns whether another packet fits beside those that wait.
pub(crate) fn has_room(room: Buffer, packets: usize, bytes: u64, packet: &impl Packet) -> bool {
    match room {
        Buffer::Bytes(limit) => bytes + u64::from(packet.wire_len()) <= limit,
        Buffer::Packets(limit) => packets < limit as usize,
        Buffer::Unlimited => true,
    }
}
