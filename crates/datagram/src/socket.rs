//! A socket or a flow: its addresses, what it has received, how much of it waits to leave.

use crate::config::QueueConfig;
use crate::event::SocketId;
use base::Instant;
use core::net::{IpAddr, SocketAddr};
use std::collections::VecDeque;

/// What a datagram in a queue costs beside its bytes.
pub const DATAGRAM_BYTES: usize = 256;

/// Places for datagrams that an empty queue keeps. A queue that was long gives its places back: what a flow keeps must not depend on
/// how many datagrams once came in a burst.
pub(crate) const PLACES_KEPT: usize = 4;

/// An address and a port, without the scope and the flow label that `SocketAddr` compares for IPv6.
pub(crate) type Address = (IpAddr, u16);

/// The two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub local: Address,
    pub remote: Address,
}

/// A flow that a stranger's datagram began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Identifies it.
    pub id: SocketId,
    /// Where the datagram was sent.
    pub local: SocketAddr,
    /// Where it came from.
    pub remote: SocketAddr,
}

/// A datagram that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes in the buffer.
    pub len: usize,
    /// Bytes of the datagram; what exceeds `len` is discarded.
    pub full_len: usize,
    /// Where it came from.
    pub source: SocketAddr,
    /// Where it was sent.
    pub destination: SocketAddr,
}

/// A datagram in a socket's queue.
#[derive(Debug)]
pub(crate) struct Held {
    pub source: Address,
    pub destination: Address,
    pub payload: Box<[u8]>,
}

impl Held {
    pub fn cost(&self) -> usize {
        self.payload.len() + DATAGRAM_BYTES
    }
}

/// Destinations that a socket remembers, for errors about datagrams to them.
const RECENT: usize = 8;

/// What the two kinds do not share.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Receives from anyone.
    Bound {
        /// Its address, which may be unspecified, and port.
        at: Address,
        /// Destinations of its last datagrams, the oldest first.
        recent: VecDeque<Address>,
    },
    /// Has one peer.
    Flow {
        /// Its ends.
        pair: Pair,
        /// When its last datagram came or left.
        last: Instant,
        /// Whether the application has it.
        is_known: bool,
    },
}

/// How much of something waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub datagrams: usize,
    pub bytes: usize,
}

impl Load {
    pub fn add(&mut self, cost: usize) {
        self.datagrams += 1;
        self.bytes += cost;
    }

    pub fn remove(&mut self, cost: usize) {
        self.datagrams -= 1;
        self.bytes -= cost;
    }

    /// Returns whether one more of this cost is within the bound.
    pub fn has_room(&self, cost: usize, bound: &QueueConfig) -> bool {
        self.datagrams < bound.datagrams && self.bytes + cost <= bound.bytes
    }

    /// Returns whether at most half of the bound is taken.
    pub fn is_half_empty(&self, bound: &QueueConfig) -> bool {
        self.datagrams <= bound.datagrams / 2 && self.bytes <= bound.bytes / 2
    }
}

/// A socket or a flow.
#[derive(Debug)]
pub(crate) struct Socket {
    pub kind: Kind,
    queue: VecDeque<Held>,
    /// What the queue holds.
    received: Load,
    /// What waits to leave.
    pub unsent: Load,
    /// Its own bound refused a datagram.
    pub waits: bool,
}

impl Socket {
    pub fn new(kind: Kind) -> Self {
        Self { kind, queue: VecDeque::new(), received: Load::default(), unsent: Load::default(), waits: false }
    }

    /// Returns what the queue of received datagrams holds.
    pub fn received(&self) -> Load {
        self.received
    }

    /// Adds a datagram, for which there is room.
    pub fn push(&mut self, held: Held) {
        self.received.add(held.cost());
        self.queue.push_back(held);
    }

    /// Takes the oldest datagram.
    pub fn pop(&mut self) -> Option<Held> {
        let held = self.queue.pop_front()?;
        self.received.remove(held.cost());
        let places = self.queue.capacity();
        if places > PLACES_KEPT && self.queue.len() <= places / 4 {
            self.queue.shrink_to(PLACES_KEPT.max(places / 2));
        }
        Some(held)
    }

    /// Whether the application can have events of it.
    pub fn is_known(&self) -> bool {
        !matches!(self.kind, Kind::Flow { is_known: false, .. })
    }

    /// Remembers where a datagram went.
    pub fn remember(&mut self, to: Address) {
        let Kind::Bound { recent, .. } = &mut self.kind else { return };
        if recent.contains(&to) {
            return;
        }
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back(to);
    }

    /// Whether it may have sent a datagram there.
    pub fn has_sent_to(&self, remote: Address) -> bool {
        match &self.kind {
            Kind::Bound { recent, .. } => recent.contains(&remote),
            Kind::Flow { pair, .. } => pair.remote == remote,
        }
    }
}

/// Brings an address into the form in which addresses are compared.
pub(crate) fn plain(address: SocketAddr) -> Address {
    (address.ip(), address.port())
}

/// The reverse of [`plain`].
pub(crate) fn socket_addr((ip, port): Address) -> SocketAddr {
    SocketAddr::new(ip, port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_within_its_bound() {
        // A queue is at least a quarter full, and an allocation of its own has two words beside it.
        let most = 4 * size_of::<Held>() + 2 * size_of::<usize>();
        assert!(most <= DATAGRAM_BYTES, "{most} bytes");
    }

    #[test]
    fn a_queue_gives_its_places_back() {
        let address = (IpAddr::from([192, 0, 2, 1]), 53);
        let mut socket = Socket::new(Kind::Bound { at: address, recent: VecDeque::new() });
        let held = || Held { source: address, destination: address, payload: Box::new([]) };
        (0..1_000).for_each(|_| socket.push(held()));
        while socket.pop().is_some() {
            let (len, places) = (socket.queue.len(), socket.queue.capacity());
            assert!(places <= PLACES_KEPT.max(4 * (len + 1)), "{places} places for {len}");
        }
        assert!(socket.queue.capacity() <= PLACES_KEPT);
        socket.push(held());
        let places = socket.queue.capacity();
        socket.pop();
        assert_eq!(socket.queue.capacity(), places, "a few places stay: no allocation for each datagram");
    }

    #[test]
    fn a_socket_remembers_its_last_destinations() {
        let address = |last| (IpAddr::from([192, 0, 2, last]), 53);
        let kind = Kind::Bound { at: address(1), recent: VecDeque::new() };
        let mut socket = Socket::new(kind);
        for last in [1, 2, 2, 3, 4, 5, 6, 7, 8, 9] {
            socket.remember(address(last));
        }
        let known: Vec<u8> = (0..20).filter(|last| socket.has_sent_to(address(*last))).collect();
        assert_eq!(known, [2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
