//! From a scenario to nodes and paths: here two nodes with one path each way.
//!
//! Every random stream is forked from the seed by a separate label (`link/a→b/loss`, `node/a/stack`), so that additions to a
//! scenario do not shift what others draw, and two scenarios that differ only in their endpoints meet the same random conditions.

use crate::access::{Access, FIRST_PORT, flow_of};
use crate::device::Merging;
use crate::node::Node;
use crate::outcome::SecondOutcome;
use crate::packet::Parcel;
use crate::pause::Pauses;
use crate::scenario::{Carriage, Direction, FlowSpec, IpVersion, Scenario, Workload};
use crate::tandem::Tandem;
use crate::waits::Waits;
use crate::watch::{Delays, PerFlow};
use crate::workload::{App, Receiver, Requester, Responder, Sender, Sink, Source};
use base::{Duration, Instant, Rng};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use netem::{DropCause, HopKind, Moved, Path, PathSpec};
use tcp::CloseReason;

/// Index of the node that the clients of forward flows are on, and the servers of those back.
pub(crate) const CLIENTS: usize = 0;
/// Index of the other one.
pub(crate) const SERVERS: usize = 1;

/// Returns the port that the server of a scenario's flow listens on, flows counted from zero.
///
/// # Panics
/// If a scenario cannot have so many flows.
pub fn server_port(flow: usize) -> u16 {
    assert!(flow < MAX_FLOWS, "a scenario has at most {MAX_FLOWS} flows");
    FIRST_PORT + flow as u16
}

/// Most flows of a scenario; their ports must stay clear of the ephemeral ones.
const MAX_FLOWS: usize = 10_000;
/// Old duplicates of SYNs may open connections in addition to the intended one.
const BACKLOG: u32 = 1024;

/// A path and the nodes it joins.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) path: Path<Parcel>,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// How long the device at its end may hold packets before it delivers them.
    pub(crate) hold: Duration,
    /// Whether it is its path and nothing of what follows.
    is_plain: bool,
    /// A second bottleneck.
    tandem: Option<Box<Tandem>>,
    /// The flows' own parts of the way.
    access: Option<Access>,
    waits: Option<Waits>,
}

/// The location of a flow's two applications.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnds {
    /// Node and index among its applications.
    pub(crate) sender: (usize, usize),
    /// Node and index among its applications.
    pub(crate) receiver: (usize, usize),
}

/// Everything that takes part in a run.
#[derive(Debug)]
pub(crate) struct Topology {
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<FlowEnds>,
}

impl Link {
    /// A packet enters at `now`.
    #[inline]
    pub(crate) fn offer<F: FnMut(Parcel, HopKind, DropCause)>(
        &mut self,
        now: Instant,
        mut packet: Parcel,
        dropped: &mut F,
    ) {
        packet.entered = now;
        match &mut self.tandem {
            Some(tandem) => tandem.offer((&mut self.path, &mut self.waits), packet, dropped),
            None => self.path.offer(now, packet, dropped),
        }
    }

    /// Returns the bytes queued at `now`, and which hop moved the packet that was offered last.
    pub(crate) fn entered(&self, now: Instant) -> (u64, Option<(HopKind, Moved)>) {
        let Some(tandem) = &self.tandem else { return (self.path.backlog(now), self.path.moved()) };
        let moved = if tandem.is_own() { self.path.moved() } else { tandem.path.moved() };
        (self.path.backlog(now) + tandem.path.backlog(now), moved)
    }

    /// Returns what became of packets at the second bottleneck; `None` if there is none.
    pub(crate) fn second(&self) -> Option<SecondOutcome> {
        Some(self.tandem.as_ref()?.outcome())
    }

    /// Returns when its end needs to be served: the device may hold arrived packets for a while.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Instant {
        let mut next = self.path.next_deadline().unwrap_or(Instant::MAX);
        if !self.is_plain {
            let tandem = self.tandem.as_ref().map_or(Instant::MAX, |tandem| tandem.next_deadline());
            next = next.min(tandem).min(self.access.as_ref().map_or(Instant::MAX, Access::next_deadline));
        }
        if next == Instant::MAX { next } else { next + self.hold }
    }

    /// Returns a packet that has arrived by `now`, and when it did.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        dropped: &mut impl FnMut(Parcel, HopKind, DropCause),
    ) -> Option<(Instant, Parcel)> {
        if self.is_plain {
            return self.path.poll(now, dropped);
        }
        self.poll_further(now, dropped)
    }

    fn poll_further(
        &mut self,
        now: Instant,
        dropped: &mut impl FnMut(Parcel, HopKind, DropCause),
    ) -> Option<(Instant, Parcel)> {
        while let Some((at, packet)) = self.poll_shared(now, dropped) {
            match &mut self.access {
                Some(access) => access.enter(at, packet),
                None => return Some((at, packet)),
            }
        }
        self.access.as_mut()?.poll(now)
    }

    /// Returns a packet that has left the bottlenecks.
    fn poll_shared(
        &mut self,
        now: Instant,
        dropped: &mut impl FnMut(Parcel, HopKind, DropCause),
    ) -> Option<(Instant, Parcel)> {
        if let Some(tandem) = &mut self.tandem {
            return tandem.poll((&mut self.path, &mut self.waits), now, dropped);
        }
        let left = self.path.poll(now, dropped)?;
        if let Some(waits) = &mut self.waits {
            waits.note(left.0, &left.1);
        }
        Some(left)
    }

    /// Packets inside.
    pub(crate) fn in_flight(&self) -> usize {
        let tandem = self.tandem.as_ref().map_or(0, |tandem| tandem.in_flight());
        self.path.in_flight() + tandem + self.access.as_ref().map_or(0, Access::in_flight)
    }

    /// How long packets of a flow waited at each bottleneck, if that is watched.
    pub(crate) fn delays_of(&self, flow: usize) -> Delays {
        let of = |waits: &Option<Waits>| waits.as_ref().and_then(|waits| waits.of_flow.get(flow)).cloned();
        let mut delays = of(&self.waits).unwrap_or_default();
        if let Some(second) = self.tandem.as_ref().and_then(|tandem| of(&tandem.waits)) {
            delays.merge(&second);
        }
        delays
    }

    /// How long packets waited in the shared path, if that is watched.
    pub(crate) fn delays(&self) -> Delays {
        self.waits.as_ref().map_or_else(Delays::default, |waits| waits.delays.clone())
    }
}

impl Topology {
    /// Builds what `scenario` describes.
    ///
    /// # Panics
    /// If the scenario has more than 10,000 flows, loses segments by ambiguous positions, or merges datagrams.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        assert!(scenario.flows.len() + scenario.datagrams.len() <= MAX_FLOWS, "at most {MAX_FLOWS} flows");
        assert!(positions_are_known(scenario), "losses by position need a single flow whose bytes are described");
        let rng = Rng::new(scenario.seed);
        let addresses = addresses(scenario.ip);
        let devices = [scenario.client_device, scenario.server_device];
        let is_merging = devices.iter().any(|device| device.merging != Merging::Off);
        assert!(scenario.datagrams.is_empty() || !is_merging, "datagrams are not merged");
        let mut nodes = [(CLIENTS, "node/a"), (SERVERS, "node/b")]
            .map(|(index, label)| Node::new(addresses[index], devices[index], &rng.fork(label)));
        nodes[CLIENTS].pauses = Pauses::new(&scenario.client_pauses);
        nodes[SERVERS].pauses = Pauses::new(&scenario.server_pauses);
        let links = vec![
            link(scenario, "link/a→b", [CLIENTS, SERVERS], &rng),
            link(scenario, "link/b→a", [SERVERS, CLIENTS], &rng),
        ];
        for (index, link) in links.iter().enumerate() {
            nodes[link.from].routes.push((addresses[link.to], index));
            nodes[link.to].incoming.push(index);
        }
        let mut flows = Vec::with_capacity(scenario.flows.len());
        for (index, flow) in scenario.flows.iter().enumerate() {
            let port = FIRST_PORT + index as u16;
            let (from, to) = match flow.direction {
                Direction::Forward => (CLIENTS, SERVERS),
                Direction::Back => (SERVERS, CLIENTS),
            };
            let bin = scenario.watch.map(|watch| watch.bin);
            // Who asks connects to where the data is.
            let listens = if matches!(flow.workload, Workload::Requests { .. }) { from } else { to };
            nodes[listens].stack.listen(port, BACKLOG, &flow.server).expect("each flow has a port of its own");
            let remote = SocketAddr::new(addresses[listens], port);
            let [source, sink] = applications(flow, remote, &rng.fork(&format!("flow/{index}")), bin);
            nodes[from].apps.push(source);
            nodes[to].apps.push(sink);
            let [sender, receiver] = [from, to].map(|node| (node, nodes[node].apps.len() - 1));
            flows.push(FlowEnds { sender, receiver });
        }
        Self { nodes: nodes.into(), links, flows }
    }

    /// The sending application of a flow.
    pub(crate) fn sender(&self, flow: usize) -> &dyn Source {
        let (node, app) = self.flows[flow].sender;
        self.nodes[node].apps[app].source().expect("the sender of a flow sends")
    }

    /// The receiving application of a flow.
    pub(crate) fn receiver(&self, flow: usize) -> &dyn Sink {
        let (node, app) = self.flows[flow].receiver;
        self.nodes[node].apps[app].sink().expect("the receiver of a flow reads")
    }

    /// Returns whether a flow has come to its end.
    pub(crate) fn has_ended(&self, flow: usize) -> bool {
        let FlowEnds { sender, receiver } = self.flows[flow];
        let app = |(node, app): (usize, usize)| &self.nodes[node].apps[app];
        let (sender, receiver) = (app(sender), app(receiver));
        let (client, server) = if sender.connects_to().is_some() { (sender, receiver) } else { (receiver, sender) };
        match (client.end().closed(), server.end().closed()) {
            (Some(CloseReason::Normal), None) => server.end().is_unused(),
            // A server may never learn that its client gave up, and then waits indefinitely.
            (Some(_), _) => true,
            (None, _) => false,
        }
    }
}

/// Builds the link between two nodes.
fn link(scenario: &Scenario, label: &str, [from, to]: [usize; 2], rng: &Rng) -> Link {
    let own_of_datagrams = scenario.datagrams.iter().map(|flow| flow.own_rtt);
    let own = scenario.flows.iter().map(|flow| flow.own_rtt).chain(own_of_datagrams);
    let is_forward = from == CLIENTS;
    let spec = if is_forward { &scenario.forward } else { &scenario.reverse };
    let flows = scenario.flows.len() + scenario.datagrams.len();
    let waits = |spec: &PathSpec| scenario.watch.filter(|_| is_forward).map(|watch| Waits::new(watch, spec, flows));
    let tandem = scenario.second.as_ref().map(|second| {
        let spec = if is_forward { &second.forward } else { &second.reverse };
        let path = path(spec, &rng.fork(&format!("{label}/second")), scenario.queues);
        let of_datagrams = scenario.datagrams.iter().map(|flow| flow.hops);
        let of_flow = scenario.flows.iter().map(|flow| flow.hops).chain(of_datagrams).collect();
        Box::new(Tandem::new(path, waits(spec), is_forward, of_flow))
    });
    let access = match from {
        CLIENTS => Access::new(own.map(|rtt| rtt / 2), FIRST_PORT),
        _ => Access::new(own.map(|rtt| rtt.saturating_sub(rtt / 2)), FIRST_PORT),
    };
    let waits = waits(spec);
    Link {
        path: path(spec, &rng.fork(label), scenario.queues),
        from,
        to,
        hold: [scenario.client_device, scenario.server_device][to].merging.hold(),
        is_plain: tandem.is_none() && access.is_none() && waits.is_none(),
        tandem,
        access,
        waits,
    }
}

fn path(spec: &PathSpec, rng: &Rng, queues: PerFlow) -> Path<Parcel> {
    let mut path = spec.build(rng);
    if queues == PerFlow::On {
        path.meter(|packet| flow_of(packet, FIRST_PORT));
    }
    path
}

/// The two applications of a flow, of which one listens at `remote`: where its data comes from, and what reads it.
fn applications(flow: &FlowSpec, remote: SocketAddr, rng: &Rng, bin: Option<Duration>) -> [App; 2] {
    match flow.workload {
        Workload::Requests { sizes, think } => {
            assert_eq!(flow.carriage, Carriage::Described, "answers are described");
            let requester = Requester::new(flow, (sizes, think), remote, rng, bin);
            [App::Responder(Responder::new(flow, sizes, remote.port(), rng)), App::Requester(requester)]
        }
        _ => [App::Sender(Sender::new(flow, remote, rng)), App::Receiver(Receiver::new(flow, remote.port(), bin))],
    }
}

/// Returns whether nothing is lost by position, or a position names the data of one flow.
fn positions_are_known(scenario: &Scenario) -> bool {
    let asked_for = !(scenario.forward.drops.is_empty() && scenario.reverse.drops.is_empty());
    let is_one = matches!(&scenario.flows[..], [flow] if flow.carriage == Carriage::Described);
    !asked_for || is_one && scenario.datagrams.is_empty()
}

/// Addresses of the nodes.
pub(crate) fn addresses(ip: IpVersion) -> [IpAddr; 2] {
    match ip {
        IpVersion::V4 => [Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into()],
        IpVersion::V6 => [1, 2].map(|host| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host).into()),
    }
}

#[cfg(test)]
mod tests;
