//! The table of sockets and flows: who has which address, and which flow was idle the longest.
//!
//! A full table ends the flow that was idle the longest for a new one, if that was for [`FLOW_KEPT`]; otherwise the new datagram is dropped.
//! Strangers can begin flows at will: where the oldest always gave way, they would end those in use. A query that was answered
//! leaves a flow that is idle from then on, so a table that only grew full gets room within seconds.

use crate::event::SocketId;
use crate::socket::{Address, Flow, Kind, Pair, Socket, socket_addr};
use base::{Duration, Instant};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, BTreeSet};

/// For how long an idle flow keeps its place in a full table.
pub const FLOW_KEPT: Duration = Duration::from_secs(10);

/// Bytes that a flow takes at most, beside the datagrams in its queues: its entries in the tables, with their share of the nodes, its
/// events, and the queue when it is empty.
pub const FLOW_BYTES: usize = 2_048;

/// Sockets and flows.
#[derive(Debug, Default)]
pub(crate) struct Table {
    sockets: BTreeMap<SocketId, Socket>,
    /// By port first: sockets of one port stand side by side.
    bound: BTreeMap<(u16, IpAddr), SocketId>,
    flows: BTreeMap<Pair, SocketId>,
    /// Flows by the time of their last datagram.
    by_idle: BTreeSet<(Instant, SocketId)>,
    /// Flows that the application does not know yet.
    offered: BTreeSet<SocketId>,
    next: u64,
}

impl Table {
    fn insert(&mut self, kind: Kind) -> SocketId {
        let id = SocketId(self.next);
        self.next += 1;
        self.sockets.insert(id, Socket::new(kind));
        id
    }

    /// Binds a socket to a free address.
    pub fn bind(&mut self, at: Address) -> SocketId {
        let id = self.insert(Kind::Bound { at, recent: Default::default() });
        self.bound.insert((at.1, at.0), id);
        id
    }

    /// Returns whether a socket has the address, or one of both is unspecified.
    pub fn is_bound(&self, (ip, port): Address) -> bool {
        self.on_port(port, ip).any(|other| other == ip || other.is_unspecified() || ip.is_unspecified())
    }

    /// Returns whether a socket has the port, at any address of that version.
    pub fn has_port(&self, port: u16, version_of: IpAddr) -> bool {
        self.on_port(port, version_of).next().is_some()
    }

    fn on_port(&self, port: u16, version_of: IpAddr) -> impl Iterator<Item = IpAddr> {
        let first = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let last = IpAddr::V6(Ipv6Addr::from_bits(u128::MAX));
        let sockets = self.bound.range((port, first)..=(port, last));
        sockets.map(|((_, ip), _)| *ip).filter(move |ip| ip.is_ipv4() == version_of.is_ipv4())
    }

    /// Begins a flow, which does not exist yet; `is_known` says that the application does it.
    pub fn begin(&mut self, pair: Pair, now: Instant, is_known: bool) -> SocketId {
        let id = self.insert(Kind::Flow { pair, last: now, is_known });
        self.flows.insert(pair, id);
        self.by_idle.insert((now, id));
        if !is_known {
            self.offered.insert(id);
        }
        id
    }

    /// Returns the flow between these ends.
    pub fn flow(&self, pair: &Pair) -> Option<SocketId> {
        self.flows.get(pair).copied()
    }

    /// Returns whether a flow has this local end.
    pub fn has_flow_from(&self, local: Address) -> bool {
        let least = Pair { local, remote: (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0) };
        self.flows.range(least..).next().is_some_and(|(pair, _)| pair.local == local)
    }

    /// Returns whom a datagram is for: its flow, else the socket of its destination, else, if the destination is our own, the socket of
    /// the unspecified address.
    pub fn find(&self, pair: &Pair, is_own: bool) -> Option<SocketId> {
        let (ip, port) = pair.local;
        let bound = |ip| self.bound.get(&(port, ip));
        let anywhere = || bound(unspecified(ip)).filter(|_| is_own);
        self.flow(pair).or_else(|| bound(ip).or_else(anywhere).copied())
    }

    /// Notes a datagram of a flow.
    pub fn touch(&mut self, id: SocketId, now: Instant) {
        let Some(Socket { kind: Kind::Flow { last, .. }, .. }) = self.sockets.get_mut(&id) else { return };
        if *last < now {
            self.by_idle.remove(&(*last, id));
            self.by_idle.insert((now, id));
            *last = now;
        }
    }

    /// Returns the flow that was idle the longest, and since when.
    pub fn most_idle(&self) -> Option<(Instant, SocketId)> {
        self.by_idle.first().copied()
    }

    /// Returns whether there is a flow that the application does not know.
    pub fn has_offers(&self) -> bool {
        !self.offered.is_empty()
    }

    /// Returns the oldest flow that the application does not know, which it does from now on.
    pub fn poll_flow(&mut self) -> Option<Flow> {
        let id = self.offered.pop_first()?;
        let Kind::Flow { pair, is_known, .. } = &mut self.sockets.get_mut(&id)?.kind else { return None };
        *is_known = true;
        Some(Flow { id, local: socket_addr(pair.local), remote: socket_addr(pair.remote) })
    }

    /// Forgets a socket or a flow and returns what it held.
    pub fn remove(&mut self, id: SocketId) -> Option<Socket> {
        let socket = self.sockets.remove(&id)?;
        match &socket.kind {
            Kind::Bound { at: (ip, port), .. } => {
                self.bound.remove(&(*port, *ip));
            }
            Kind::Flow { pair, last, .. } => {
                self.flows.remove(pair);
                self.by_idle.remove(&(*last, id));
                self.offered.remove(&id);
            }
        }
        Some(socket)
    }

    pub fn get(&self, id: SocketId) -> Option<&Socket> {
        self.sockets.get(&id)
    }

    pub fn get_mut(&mut self, id: SocketId) -> Option<&mut Socket> {
        self.sockets.get_mut(&id)
    }

    /// Returns the number of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}

/// The unspecified address of the same version.
pub(crate) fn unspecified(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::BYTES_PER_SOCKET;
    use crate::socket::{Held, PLACES_KEPT};

    #[test]
    fn a_flow_is_within_its_bound() {
        // A node of a tree is at least half full; keys and values take their share twice.
        let entries = size_of::<(SocketId, Socket)>()
            + size_of::<(Pair, SocketId)>()
            + size_of::<(Instant, SocketId)>()
            + 2 * size_of::<SocketId>()
            + BYTES_PER_SOCKET;
        let most = 2 * entries + PLACES_KEPT * size_of::<Held>();
        assert!(most <= FLOW_BYTES, "{most} bytes");
    }
}
