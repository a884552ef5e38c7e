//! Events that wait to be taken: at most one of a kind for each socket, in the order in which they came about.

use core::net::SocketAddr;
use std::collections::BTreeMap;

/// Identifies a socket or a flow; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub(crate) u64);

/// What happened to a socket or a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramEvent {
    /// Datagrams came: read until [`crate::Datagrams::recv`] returns `None`.
    Readable(SocketId),
    /// After [`crate::SendError::Full`] there is room again.
    Writable(SocketId),
    /// The flow was idle, or gave way to another; its identifier is gone with all that was not read.
    Ended(SocketId),
    /// The peer's host reports that no socket has the port (RFC 1122 §4.1.3.3).
    Refused {
        /// Whose datagram it was.
        id: SocketId,
        /// Where it went.
        remote: SocketAddr,
    },
    /// A datagram was larger than a link on its path permits (RFC 1191 §4, RFC 8201 §4). Anybody who knows addresses and ports can send
    /// this: the application decides what it believes (RFC 8899).
    TooBig {
        /// Whose datagram it was.
        id: SocketId,
        /// Where it went.
        remote: SocketAddr,
        /// MTU of that link, IP header included; zero if the router did not report it.
        mtu: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Readable,
    Writable,
    Ended,
    Refused,
    TooBig,
}

impl DatagramEvent {
    /// Whom it concerns.
    pub const fn id(&self) -> SocketId {
        match self {
            Self::Readable(id) | Self::Writable(id) | Self::Ended(id) => *id,
            Self::Refused { id, .. } | Self::TooBig { id, .. } => *id,
        }
    }

    const fn kind(&self) -> Kind {
        match self {
            Self::Readable(_) => Kind::Readable,
            Self::Writable(_) => Kind::Writable,
            Self::Ended(_) => Kind::Ended,
            Self::Refused { .. } => Kind::Refused,
            Self::TooBig { .. } => Kind::TooBig,
        }
    }
}

/// Bytes that the events of one socket take at most.
#[cfg(test)]
pub(crate) const BYTES_PER_SOCKET: usize =
    5 * (size_of::<(u64, DatagramEvent)>() + size_of::<((SocketId, Kind), u64)>());

/// The events that wait.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// By number, so that the oldest comes first.
    queue: BTreeMap<u64, DatagramEvent>,
    by_socket: BTreeMap<(SocketId, Kind), u64>,
    next: u64,
    ended: usize,
}

impl Events {
    /// Adds an event, unless one of its kind waits.
    pub fn raise(&mut self, event: DatagramEvent) {
        let key = (event.id(), event.kind());
        if self.by_socket.contains_key(&key) {
            return;
        }
        self.by_socket.insert(key, self.next);
        self.queue.insert(self.next, event);
        self.next += 1;
        self.ended += usize::from(key.1 == Kind::Ended);
    }

    /// Forgets the events of a socket.
    pub fn forget(&mut self, id: SocketId) {
        while let Some((&key, &number)) = self.by_socket.range((id, Kind::Readable)..=(id, Kind::TooBig)).next() {
            self.by_socket.remove(&key);
            self.queue.remove(&number);
            self.ended -= usize::from(key.1 == Kind::Ended);
        }
    }

    /// Returns the oldest event.
    pub fn poll(&mut self) -> Option<DatagramEvent> {
        let (_, event) = self.queue.pop_first()?;
        self.by_socket.remove(&(event.id(), event.kind()));
        self.ended -= usize::from(event.kind() == Kind::Ended);
        Some(event)
    }

    /// Returns the number of flows that have ended and whose application does not know.
    pub fn ended(&self) -> usize {
        self.ended
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_order_and_one_of_a_kind_waits() {
        let mut events = Events::default();
        let (one, two) = (SocketId(1), SocketId(2));
        for event in [DatagramEvent::Readable(two), DatagramEvent::Ended(one), DatagramEvent::Readable(two)] {
            events.raise(event);
        }
        assert_eq!((events.len(), events.ended()), (2, 1));
        assert_eq!(events.poll(), Some(DatagramEvent::Readable(two)));
        events.raise(DatagramEvent::Readable(two));
        assert_eq!(events.poll(), Some(DatagramEvent::Ended(one)));
        assert_eq!((events.poll(), events.poll()), (Some(DatagramEvent::Readable(two)), None));
    }

    #[test]
    fn a_forgotten_socket_has_no_events() {
        let mut events = Events::default();
        let (one, two) = (SocketId(1), SocketId(2));
        for id in [one, two] {
            events.raise(DatagramEvent::Writable(id));
            events.raise(DatagramEvent::Ended(id));
        }
        events.forget(one);
        assert_eq!((events.len(), events.ended(), events.by_socket.len()), (2, 1, 2));
        events.forget(two);
        assert_eq!((events.poll(), events.ended()), (None, 0));
    }
}
