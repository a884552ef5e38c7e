//! Datagrams beside the connections: streams of constant rate, which nothing slows down, and pings, whose echoes say how long a round
//! trip takes. No stack handles them; their packets have UDP's ports, so that queues tell them from other flows.

use crate::access::FIRST_PORT;
use crate::outcome::DatagramOutcome;
use crate::packet::{PacketPool, Parcel};
use crate::scenario::{DatagramSpec, Direction, Scenario, Sends};
use crate::topology::{CLIENTS, SERVERS, addresses};
use crate::watch::{Bins, Watch};
use base::{Duration, Instant};
use core::net::IpAddr;
use netem::PathSpec;
use std::collections::BTreeSet;
use tcp::{ChecksumState, Payload, TxFrame};
use wire::{Ecn, Fragmentation, IpRepr};

/// All flows of datagrams of a run.
#[derive(Debug)]
pub(crate) struct Datagrams {
    flows: Vec<Flow>,
    /// Port of the first one.
    first_port: u16,
    /// When each sends next, by node.
    due: [BTreeSet<(Instant, usize)>; 2],
}

#[derive(Debug)]
struct Flow {
    spec: DatagramSpec,
    from: usize,
    /// Headers of a datagram and of its echo.
    headers: [Vec<u8>; 2],
    /// What a ping takes on empty paths.
    least: Duration,
    watch: Option<Watch>,
    bins: Bins,
    outcome: DatagramOutcome,
}

/// Other ports are above those of all flows, and below the ephemeral ones.
const CLIENT_PORT: u16 = 20_000;
/// Sizes that every IP version's headers fit into, and every path carries.
const SIZES: core::ops::RangeInclusive<u32> = 64..=1_500;
/// The UDP header.
const UDP_HEADER: usize = 8;

impl Datagrams {
    /// Creates the flows that `scenario` describes; `None` if there are none.
    ///
    /// # Panics
    /// If a size is out of bounds, or pings have no distance.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        let first_port = FIRST_PORT + scenario.flows.len() as u16;
        let (mut flows, mut due) = (Vec::new(), [BTreeSet::new(), BTreeSet::new()]);
        for (index, spec) in scenario.datagrams.iter().enumerate() {
            let flow = Flow::new(scenario, spec, first_port + index as u16);
            due[flow.from].insert((Instant::ZERO + spec.start, index));
            flows.push(flow);
        }
        (!flows.is_empty()).then_some(Self { flows, first_port, due })
    }

    /// Returns when a node sends next; [`Instant::MAX`] for never.
    pub(crate) fn wake_at(&self, node: usize) -> Instant {
        self.due[node].first().map_or(Instant::MAX, |(at, _)| *at)
    }

    /// Takes the datagrams out of what arrived at `node`, and sends what is due by `now`: echoes, and datagrams of its own. Returns how
    /// many packets it moved.
    pub(crate) fn serve(
        &mut self,
        (node, now): (usize, Instant),
        arrivals: &mut Vec<(Instant, Parcel)>,
        pool: &mut PacketPool,
        mut send: impl FnMut(&mut PacketPool, Parcel),
    ) -> usize {
        let mut moved = 0;
        for (at, packet) in arrivals.extract_if(.., |(_, packet)| packet.is_datagram()) {
            moved += 1;
            let [source, destination] = packet.ports();
            let flow = &mut self.flows[usize::from(source.min(destination) - self.first_port)];
            if let Some(echo) = flow.on_arrival(node, at, &packet, pool) {
                send(pool, echo);
            }
            pool.put_back(packet);
        }
        while let Some((at, index)) = self.due[node].first().copied().filter(|(at, _)| *at <= now) {
            self.due[node].remove(&(at, index));
            let flow = &mut self.flows[index];
            if flow.spec.stop.is_some_and(|stop| at >= Instant::ZERO + stop) {
                continue;
            }
            flow.outcome.sent += 1;
            let datagram = flow.packet(0, at, pool);
            send(pool, datagram);
            self.due[node].insert((flow.next(), index));
            moved += 1;
        }
        moved
    }

    /// What came of each; `dropped` are the drops of each.
    pub(crate) fn outcomes(&self, dropped: &[u64]) -> Vec<DatagramOutcome> {
        let outcome = |(flow, dropped): (&Flow, &u64)| DatagramOutcome {
            dropped: *dropped,
            bins: flow.bins.bytes().to_vec(),
            ..flow.outcome.clone()
        };
        self.flows.iter().zip(dropped).map(outcome).collect()
    }
}

impl Flow {
    fn new(scenario: &Scenario, spec: &DatagramSpec, port: u16) -> Self {
        assert!(SIZES.contains(&spec.size), "datagrams have {SIZES:?} bytes");
        assert!(spec.sends != Sends::Pings(Duration::ZERO), "pings have a distance");
        let (from, to) = match spec.direction {
            Direction::Forward => (CLIENTS, SERVERS),
            Direction::Back => (SERVERS, CLIENTS),
        };
        let addresses = addresses(scenario.ip);
        let (here, there) = ((addresses[from], CLIENT_PORT), (addresses[to], port));
        let least =
            |path: &PathSpec| path.delay + path.rate.map_or(Duration::ZERO, |rate| rate.time_for(spec.size.into()));
        Self {
            from,
            headers: [header(here, there, spec.size), header(there, here, spec.size)],
            least: scenario.paths(spec.hops).fold(spec.own_rtt, |sum, path| sum + least(path)),
            watch: scenario.watch,
            bins: Bins::new(scenario.watch.map(|watch| watch.bin)),
            outcome: DatagramOutcome { hops: spec.hops, ..DatagramOutcome::default() },
            spec: spec.clone(),
        }
    }

    /// When the next one leaves.
    fn next(&self) -> Instant {
        let (start, sent) = (Instant::ZERO + self.spec.start, self.outcome.sent);
        match self.spec.sends {
            Sends::Rate(rate) => start + rate.time_for(sent * u64::from(self.spec.size)),
            Sends::Pings(every) => start + Duration::from_nanos(every.as_nanos() * sent),
        }
    }

    /// A datagram that left at `sent`, or its echo: the position of its payload is that time.
    fn packet(&self, which: usize, sent: Instant, pool: &mut PacketPool) -> Parcel {
        let header = &self.headers[which];
        let payload = Payload::Pattern { offset: sent.as_nanos(), len: self.spec.size - header.len() as u32 };
        pool.packet(&TxFrame { header, payload, gso_size: None, checksum: ChecksumState::Unneeded })
    }

    /// One arrived at `node`; returns its echo.
    fn on_arrival(&mut self, node: usize, at: Instant, packet: &Parcel, pool: &mut PacketPool) -> Option<Parcel> {
        let sent = Instant::from_nanos(packet.position());
        match self.spec.sends {
            Sends::Rate(_) => {
                self.outcome.received += 1;
                self.bins.add(at, packet.payload_len().into());
                None
            }
            Sends::Pings(_) if node != self.from => Some(self.packet(1, sent, pool)),
            Sends::Pings(_) => {
                self.outcome.received += 1;
                let time = sent.since(Instant::ZERO);
                if self.watch.is_none_or(|watch| (watch.from..watch.until).contains(&time)) {
                    self.outcome.waits.add(at.since(sent).saturating_sub(self.least));
                }
                None
            }
        }
    }
}

/// IP and UDP header of a packet of this size.
fn header((src, src_port): (IpAddr, u16), (dst, dst_port): (IpAddr, u16), size: u32) -> Vec<u8> {
    let ip = IpRepr { src, dst, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden };
    let len = if src.is_ipv4() { 20 } else { 40 } + UDP_HEADER;
    let mut packet = Vec::new();
    wire::udp::emit(&ip, src_port, dst_port, &vec![0; size as usize - len], &mut packet);
    packet.truncate(len);
    packet
}
