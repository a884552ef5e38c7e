//! The whole: reading and sending, time, and what leaves. [`crate::bind`] begins sockets, [`crate::input`] is what comes in.

use crate::allowance::Allowance;
use crate::config::{DatagramConfig, Destinations, QueueConfig};
use crate::counters::DatagramCounters;
use crate::error::SendError;
use crate::event::{DatagramEvent, Events, SocketId};
use crate::reassembly::Reassembly;
use crate::socket::{Address, Flow, Held, Kind, Received, Socket, plain, socket_addr};
use crate::table::{FLOW_KEPT, Table, unspecified};
use crate::transmit::Transmit;
use base::{Instant, Rng};
use core::net::{IpAddr, SocketAddr};
use std::collections::BTreeSet;
use wire::{Ecn, Fragmentation, IpRepr, is_unicast, udp};

/// UDP sockets and flows, echo replies and reassembly of one program.
#[derive(Debug)]
pub struct Datagrams {
    pub(crate) cfg: DatagramConfig,
    /// Those of the configuration, to be found quickly.
    own: BTreeSet<IpAddr>,
    pub(crate) rng: Rng,
    pub(crate) table: Table,
    pub(crate) events: Events,
    pub(crate) reassembly: Reassembly,
    pub(crate) transmit: Transmit,
    /// Bytes of all queues of received datagrams.
    pub(crate) received_bytes: usize,
    /// Sockets that the bound of all unsent datagrams has refused.
    waiting: BTreeSet<SocketId>,
    pub(crate) echoes: Allowance,
    pub(crate) unreachables: Allowance,
    /// The packet for [`Self::take_whole`].
    pub(crate) whole: Option<Vec<u8>>,
    pub(crate) counters: DatagramCounters,
}

/// What is kept at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Bytes of received datagrams, [`crate::DATAGRAM_BYTES`] for each included; at most half of [`DatagramConfig::memory_max`].
    pub received: usize,
    /// The same for datagrams that wait to leave.
    pub unsent: usize,
    /// The same for ICMP answers; at most [`crate::ReplyConfig::bytes_max`].
    pub replies: usize,
    /// Bytes of fragments; at most [`crate::ReassemblyConfig::bytes_max`].
    pub fragments: usize,
    /// Packets whose fragments are kept; at most [`crate::ReassemblyConfig::packets_max`].
    pub incomplete: usize,
    /// Flows, those included that have ended and whose event was not taken; each takes up to [`crate::FLOW_BYTES`].
    pub flows: usize,
    /// Events that were not taken: at most five for each socket and flow. Beside all this, one packet waits for
    /// [`Datagrams::take_whole`] at most.
    pub events: usize,
}

impl Datagrams {
    /// Begins without sockets. `rng` picks dynamic ports: strangers cannot guess them if they cannot guess its seed.
    ///
    /// # Panics
    /// If a queue has no place for a datagram: who waited to send would wait indefinitely.
    pub fn new(cfg: DatagramConfig, rng: Rng) -> Self {
        assert!(cfg.queue.datagrams > 0, "a queue holds at least one datagram");
        Self {
            own: cfg.addresses.iter().copied().collect(),
            rng,
            table: Table::default(),
            events: Events::default(),
            reassembly: Reassembly::new(cfg.reassembly),
            transmit: Transmit::new(cfg.replies),
            received_bytes: 0,
            waiting: BTreeSet::new(),
            echoes: Allowance::new(cfg.replies.echoes_per_second),
            unreachables: Allowance::new(cfg.replies.unreachables_per_second),
            whole: None,
            counters: DatagramCounters::default(),
            cfg,
        }
    }

    /// Returns the next flow that a stranger's datagram began ([`crate::Strangers::Offer`]). It holds at least one datagram: read until
    /// [`Self::recv`] returns `None`. Only from now on does it have events; one that ends before is never seen.
    pub fn poll_flow(&mut self) -> Option<Flow> {
        self.table.poll_flow()
    }

    /// Returns whether [`Self::poll_flow`] has a flow.
    pub fn has_flows(&self) -> bool {
        self.table.has_offers()
    }

    /// Reads the oldest datagram into `buf`; what does not fit is discarded. `None` if there is none, or the socket is gone.
    pub fn recv(&mut self, id: SocketId, buf: &mut [u8]) -> Option<Received> {
        let held = self.take_received(id)?;
        let (full_len, len) = (held.payload.len(), held.payload.len().min(buf.len()));
        buf[..len].copy_from_slice(&held.payload[..len]);
        Some(Received { len, full_len, source: socket_addr(held.source), destination: socket_addr(held.destination) })
    }

    /// Takes the oldest datagram of a socket's queue.
    pub(crate) fn take_received(&mut self, id: SocketId) -> Option<Held> {
        let held = self.table.get_mut(id)?.pop()?;
        self.received_bytes -= held.cost();
        Some(held)
    }

    /// Sends a datagram to `to`, of a flow to its peer. It leaves whole or not at all: IPv4's DF is set, and IPv6 knows nothing else.
    ///
    /// Without a `source` it comes from the local end of the flow, or the socket's address; a socket of the unspecified address uses the
    /// first own address of the destination's version. A `source` may be any address that the program stands for, and any port: a
    /// transparent proxy answers in the name of others.
    ///
    /// # Errors
    /// Every [`SendError`]; nothing was sent then.
    pub fn send(
        &mut self,
        now: Instant,
        id: SocketId,
        source: Option<SocketAddr>,
        to: SocketAddr,
        payload: &[u8],
    ) -> Result<(), SendError> {
        let to = plain(to);
        let socket = self.table.get(id).ok_or(SendError::Gone)?;
        let is_peer = !matches!(&socket.kind, Kind::Flow { pair, .. } if pair.remote != to);
        if !is_peer || to.1 == 0 || !is_unicast(to.0) {
            return Err(SendError::BadDestination);
        }
        let source = self.source(socket, source, to.0).ok_or(SendError::NoAddress)?;
        let headers = headers(to.0);
        let max = self.payload_max(headers);
        if payload.len() > max {
            return Err(SendError::TooLarge { max });
        }
        self.take_room(id, Transmit::cost(headers + payload.len()))?;
        let repr = IpRepr {
            src: source.0,
            dst: to.0,
            ttl: 64,
            dscp: 0,
            ecn: Ecn::NotEct,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut packet = Vec::with_capacity(headers + payload.len());
        udp::emit(&repr, source.1, to.1, payload, &mut packet);
        self.transmit.push(id, packet);
        self.table.touch(id, now);
        self.counters.sent += 1;
        if let Some(socket) = self.table.get_mut(id) {
            socket.remember(to);
        }
        Ok(())
    }

    /// Returns the bytes of the largest payload that fits behind `headers` into the MTU, a queue, and the memory for unsent datagrams:
    /// what is accepted here fits once the queues are empty.
    fn payload_max(&self, headers: usize) -> usize {
        let bounds = [self.cfg.queue.bytes, self.unsent_max()].map(|bytes| bytes.saturating_sub(Transmit::cost(0)));
        bounds.into_iter().fold(usize::from(self.cfg.mtu), usize::min).saturating_sub(headers)
    }

    /// Returns where a datagram to `to` comes from.
    fn source(&self, socket: &Socket, source: Option<SocketAddr>, to: IpAddr) -> Option<Address> {
        let (ip, port) = match (source, &socket.kind) {
            (Some(source), _) => plain(source),
            (None, Kind::Bound { at, .. }) => *at,
            (None, Kind::Flow { pair, .. }) => pair.local,
        };
        let ip = if ip.is_unspecified() { self.first_own(to)? } else { ip };
        (port != 0 && ip.is_ipv4() == to.is_ipv4() && self.stands_for(ip)).then_some((ip, port))
    }

    /// Takes room for an unsent datagram, or notes who waits for it.
    fn take_room(&mut self, id: SocketId, cost: usize) -> Result<(), SendError> {
        let has_memory = self.transmit.bytes() + cost <= self.unsent_max();
        let socket = self.table.get_mut(id).ok_or(SendError::Gone)?;
        if !socket.unsent.has_room(cost, &self.cfg.queue) {
            socket.waits = true;
            return Err(SendError::Full);
        }
        if !has_memory {
            self.waiting.insert(id);
            return Err(SendError::Full);
        }
        socket.unsent.add(cost);
        Ok(())
    }

    fn unsent_max(&self) -> usize {
        self.cfg.memory_max / 2
    }

    /// Closes a socket or ends a flow, without an event; what it has sent still leaves. Nothing happens if it is gone.
    pub fn close(&mut self, id: SocketId) {
        self.events.forget(id);
        self.discard(id);
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<DatagramEvent> {
        self.events.poll()
    }

    /// Returns the packet that leaves next. It stays until [`Self::pop_transmit`]: a device without room is offered it again.
    pub fn peek_transmit(&self) -> Option<&[u8]> {
        self.transmit.peek()
    }

    /// Takes the packet that leaves next, from its IP header on and with all checksums.
    pub fn pop_transmit(&mut self) -> Option<Vec<u8>> {
        let (of, packet) = self.transmit.pop()?;
        if let Some(id) = of
            && let Some(socket) = self.table.get_mut(id)
        {
            socket.unsent.remove(Transmit::cost(packet.len()));
            if socket.waits && socket.unsent.is_half_empty(&self.cfg.queue) {
                socket.waits = false;
                self.events.raise(DatagramEvent::Writable(id));
            }
        }
        // Each that waits was refused once: work in proportion to the calls of `send`.
        if self.transmit.bytes() <= self.unsent_max() / 2 {
            while let Some(id) = self.waiting.pop_first() {
                self.events.raise(DatagramEvent::Writable(id));
            }
        }
        Some(packet)
    }

    /// Returns when [`Self::handle_timers`] has something to do; `None` when nothing expires.
    pub fn next_deadline(&self) -> Option<Instant> {
        let flow = self.table.most_idle().map(|(last, _)| last + self.cfg.flow_idle);
        [flow, self.reassembly.next_deadline()].into_iter().flatten().min()
    }

    /// Ends flows that are idle and drops packets that are incomplete for too long.
    pub fn handle_timers(&mut self, now: Instant) {
        while let Some((_, id)) = self.table.most_idle().filter(|(last, _)| *last + self.cfg.flow_idle <= now) {
            self.counters.flows_idle += 1;
            self.end(id);
        }
        self.reassembly.expire(now, &mut self.counters);
    }

    /// Takes the packet that was put together last ([`crate::Fate::Whole`], [`crate::Fate::WholeOther`]).
    pub fn take_whole(&mut self) -> Option<Vec<u8>> {
        self.whole.take()
    }

    /// Changes the MTU, in bytes, for datagrams that are sent from now on.
    pub fn set_mtu(&mut self, mtu: u16) {
        self.cfg.mtu = mtu;
    }

    /// Returns the totals.
    pub fn counters(&self) -> &DatagramCounters {
        &self.counters
    }

    /// Returns the number of flows.
    pub fn flows(&self) -> usize {
        self.table.flows()
    }

    /// Returns what is kept at present.
    pub fn usage(&self) -> MemoryUsage {
        let (fragments, incomplete) = self.reassembly.usage();
        MemoryUsage {
            received: self.received_bytes,
            unsent: self.transmit.bytes(),
            replies: self.transmit.reply_bytes(),
            fragments,
            incomplete,
            flows: self.table.flows() + self.events.ended(),
            events: self.events.len(),
        }
    }

    /// Whether the address is one of ours, or any is.
    pub(crate) fn stands_for(&self, ip: IpAddr) -> bool {
        self.is_own(ip) || self.cfg.destinations == Destinations::Any && is_unicast(ip)
    }

    pub(crate) fn is_own(&self, ip: IpAddr) -> bool {
        self.own.contains(&ip)
    }

    pub(crate) fn first_own(&self, version_of: IpAddr) -> Option<IpAddr> {
        self.cfg.addresses.iter().copied().find(|own| unspecified(*own) == unspecified(version_of))
    }

    /// Makes a place for a new flow; returns whether there is one.
    pub(crate) fn make_place(&mut self, now: Instant) -> bool {
        // A flow that ended counts until the application knows: without its polling nothing grows.
        if self.table.flows() + self.events.ended() < self.cfg.flows_max {
            return true;
        }
        let Some((_, id)) = self.table.most_idle().filter(|(last, _)| now.since(*last) >= FLOW_KEPT) else {
            return false;
        };
        self.counters.flows_evicted += 1;
        self.end(id);
        self.table.flows() + self.events.ended() < self.cfg.flows_max
    }

    /// Ends a flow that the application may know.
    fn end(&mut self, id: SocketId) {
        let is_known = self.table.get(id).is_some_and(Socket::is_known);
        self.events.forget(id);
        self.discard(id);
        if is_known {
            self.events.raise(DatagramEvent::Ended(id));
        }
    }

    fn discard(&mut self, id: SocketId) {
        self.waiting.remove(&id);
        let Some(socket) = self.table.remove(id) else { return };
        let left = socket.received();
        self.received_bytes -= left.bytes;
        self.counters.unread += left.datagrams as u64;
    }

    /// The bound of one queue of received datagrams.
    pub(crate) fn queue(&self) -> &QueueConfig {
        &self.cfg.queue
    }
}

/// Bytes of the headers in front of a datagram's payload.
const fn headers(to: IpAddr) -> usize {
    let ip = if to.is_ipv4() { 20 } else { 40 };
    ip + udp::HEADER
}
