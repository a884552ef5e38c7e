//! The loop of virtual time: takes the next event, sets the clock, runs one turn of its node and its applications, then the
//! checkers and the budget.
//!
//! A node's entry in the queue is the earliest of the deadlines of its stack and applications and the arrivals on its incoming
//! paths. All packets that arrive at one instant enter one turn together. The applications' actions after a turn may require
//! another one, at the same instant.

use crate::budget::Budget;
use crate::checker::{Checkers, Progress, Timers};
use crate::datagrams::Datagrams;
use crate::device::{self, Merging};
use crate::gone::{Gone, Lost};
use crate::labels::{cause_label, hop_label, moved_label};
use crate::node::{Node, NodeView, Served, global};
use crate::outcome::{Cause, EndOutcome, Failure, FlowOutcome, Outcome};
use crate::packet::{Entry, PacketPool, Parcel};
use crate::queue::EventQueue;
use crate::scenario::{Scenario, Until};
use crate::topology::Topology;
use base::{Bytes, Instant, SeqNum};
use core::cell::RefCell;
use netem::{HopKind, Moved, Packet};
use tcp::{Sent, StackCx};
use trace::{ConnId, Event, Observer};

/// Runs a scenario to its end. Events go to `observer`; connection ids are distinguished by node
/// ([`CONN_IDS_PER_NODE`](crate::CONN_IDS_PER_NODE)).
///
/// # Errors
/// If a checker finds an error or the budget is exhausted.
pub fn run<O: Observer>(scenario: &Scenario, observer: &mut O) -> Result<Outcome, Failure> {
    run_in(Topology::new(scenario), scenario, observer)
}

fn run_in<O: Observer>(topology: Topology, scenario: &Scenario, observer: &mut O) -> Result<Outcome, Failure> {
    let mut world = World::new(topology, scenario, observer);
    let result = world.run();
    result.map_err(|cause| Failure { seed: scenario.seed, at: world.now, cause })
}

/// A packet that entered the network, kept until the observer can receive the report.
struct Entered {
    link: usize,
    /// Bytes in the link's queues after that.
    backlog: u64,
    moved: Option<(HopKind, Moved)>,
    tag: Tag,
}

/// What to report about a packet in flight.
struct Tag {
    seq: SeqNum,
    len: Bytes,
    ports: [u16; 2],
}

impl Tag {
    fn of(packet: &Parcel) -> Self {
        Self { seq: packet.seq(), len: packet.wire_len() as Bytes, ports: packet.ports() }
    }

    fn conn(&self, sender: &Node) -> Option<ConnId> {
        sender.conn_id_between(self.ports)
    }
}

struct World<'a, O> {
    topology: Topology,
    queue: EventQueue,
    now: Instant,
    pool: PacketPool,
    /// Packets that enter the present turn.
    arrivals: Vec<(Instant, Parcel)>,
    entered: Vec<Entered>,
    gone: Gone,
    datagrams: Option<Datagrams>,
    /// All flows before this one have ended.
    first_open: usize,
    timers: Timers,
    checkers: Checkers,
    budget: Budget,
    until: Until,
    observer: &'a mut O,
}

impl<'a, O: Observer> World<'a, O> {
    fn new(topology: Topology, scenario: &Scenario, observer: &'a mut O) -> Self {
        let mut queue = EventQueue::new(topology.nodes.len());
        for (index, node) in topology.nodes.iter().enumerate() {
            queue.arm(index, node.wake_at());
        }
        let datagrams = Datagrams::new(scenario);
        for (index, _) in topology.nodes.iter().enumerate() {
            queue.arm_earlier(index, datagrams.as_ref().map_or(Instant::MAX, |datagrams| datagrams.wake_at(index)));
        }
        Self {
            queue,
            now: Instant::ZERO,
            pool: PacketPool::default(),
            arrivals: Vec::new(),
            entered: Vec::new(),
            gone: Gone::new(topology.flows.len() + scenario.datagrams.len()),
            datagrams,
            first_open: 0,
            timers: Timers::new(topology.nodes.len()),
            checkers: Checkers::new(&topology, scenario),
            budget: Budget::new(scenario.budget),
            until: scenario.until,
            topology,
            observer,
        }
    }

    fn run(&mut self) -> Result<Outcome, Cause> {
        self.run_with(|_| {})
    }

    /// Runs to the end; `tamper` may break something after each step, to verify that a checker notices.
    fn run_with(&mut self, mut tamper: impl FnMut(&mut Topology)) -> Result<Outcome, Cause> {
        let end = if let Until::At(span) = self.until { Instant::ZERO + span } else { Instant::MAX };
        while let Some((at, node)) = self.queue.pop() {
            assert!(at >= self.now, "an event in the past");
            if at > end {
                self.now = end;
                break;
            }
            self.now = at;
            if let Some(end) = self.topology.nodes[node].pauses.end(at) {
                self.queue.arm(node, end);
                continue;
            }
            self.checkers.before_step(&self.topology, at)?;
            let served = self.step(node)?;
            self.checkers.after_step(&self.topology, node, at)?;
            tamper(&mut self.topology);
            let links = &self.topology.links;
            let in_flight = || links.iter().map(|link| link.in_flight()).max().unwrap_or(0);
            self.budget.spend(at, in_flight).map_err(|what| Cause::BudgetExhausted { what })?;
            if served.closings > 0 && self.ends_with_flows() && self.open_flow().is_none() {
                break;
            }
        }
        if self.now != end
            && let Some(flow) = self.open_flow()
        {
            let bytes_read = self.topology.receiver(flow).reading().bytes();
            return Err(Cause::Deadlock { flow, bytes_read });
        }
        Checkers::at_end(&self.topology)?;
        Ok(self.outcome())
    }

    /// Returns whether the run is over when all flows have ended.
    fn ends_with_flows(&self) -> bool {
        match self.until {
            Until::Closed => true,
            Until::At(_) => self.datagrams.is_none(),
            Until::Quiet => false,
        }
    }

    /// Returns a flow that has not ended. An end is final, so that those before it need not be asked again.
    fn open_flow(&mut self) -> Option<usize> {
        let open = (self.first_open..self.topology.flows.len()).find(|flow| !self.topology.has_ended(*flow));
        self.first_open = open.unwrap_or(self.topology.flows.len());
        open
    }

    /// Serves one node at the present instant.
    fn step(&mut self, index: usize) -> Result<Served, Cause> {
        self.take_arrivals(index);
        if self.datagrams.is_some() {
            self.serve_datagrams(index);
        }
        let mut total = Served { calls: 0, closings: 0 };
        let node = &self.topology.nodes[index];
        if !self.arrivals.is_empty() || node.wake_at() <= self.now {
            loop {
                let moved = self.arrivals.len() + self.turn(index);
                let node = &mut self.topology.nodes[index];
                let observer = RefCell::new(&mut *self.observer);
                let mut view = NodeView { inner: &observer, node: index };
                let served = node.serve_apps(&mut StackCx::new(self.now, &mut view));
                let deadline = node.stack.next_deadline();
                node.deadline = deadline.unwrap_or(Instant::MAX);
                let progress = if moved + served.calls > 0 { Progress::Made } else { Progress::None };
                self.timers.after_turn(index, self.now, progress, deadline)?;
                total = Served { calls: total.calls + served.calls, closings: total.closings + served.closings };
                if !node.stack.has_ready() {
                    break;
                }
            }
        }
        if !self.gone.reports.is_empty() {
            self.send_reports();
        }
        #[cfg(not(longhaul_unwatched))]
        if O::ENABLED {
            self.report_entered();
            self.report_lost();
        }
        self.queue.arm(index, self.next_event_of(index));
        Ok(total)
    }

    #[inline]
    fn next_event_of(&self, index: usize) -> Instant {
        let node = &self.topology.nodes[index];
        let links = node.incoming.iter().map(|link| self.topology.links[*link].next_deadline());
        let next = links.fold(node.wake_at(), Instant::min);
        self.datagrams.as_ref().map_or(next, |datagrams| next.min(datagrams.wake_at(index)))
    }

    /// Lets the datagrams of a node arrive and leave.
    #[inline(never)]
    fn serve_datagrams(&mut self, index: usize) {
        let Self { topology: Topology { nodes, links, .. }, pool, gone, arrivals, now, queue, .. } = self;
        let [(_, route)] = nodes[index].routes[..] else { panic!("each node has one path") };
        let link = &mut links[route];
        let send = |pool: &mut PacketPool, packet: Parcel| {
            let mut on_drop = |packet, hop, cause| gone.discard::<O>(pool, Lost { link: route, hop, cause, packet });
            link.offer(*now, packet, &mut on_drop);
            queue.arm_earlier(link.to, link.next_deadline().max(*now));
        };
        let datagrams = self.datagrams.as_mut().expect("the caller saw them");
        datagrams.serve((index, *now), arrivals, pool, send);
    }

    /// Collects everything that reaches the node by now.
    #[inline]
    fn take_arrivals(&mut self, index: usize) {
        let Self { topology: Topology { nodes, links, .. }, pool, gone, arrivals, now, .. } = self;
        for &link in &nodes[index].incoming {
            let mut on_drop = |packet, hop, cause| gone.discard::<O>(pool, Lost { link, hop, cause, packet });
            while let Some(arrival) = links[link].poll(*now, &mut on_drop) {
                arrivals.push(arrival);
            }
        }
        if nodes[index].pauses.resumes(*now) {
            arrivals.iter_mut().for_each(|(at, _)| *at = *now);
        }
        if nodes[index].merging != Merging::Off {
            device::merge(*now, arrivals, pool);
        }
    }

    /// Runs one turn; returns how many frames left in it. Consumes the arrivals.
    #[inline]
    fn turn(&mut self, index: usize) -> usize {
        let Self {
            topology: Topology { nodes, links, .. }, pool, gone, entered, arrivals, now, observer, queue, ..
        } = self;
        let Node { stack, routes, .. } = &mut nodes[index];
        let observer = RefCell::new(&mut **observer);
        let mut view = NodeView { inner: &observer, node: index };
        let mut cx = StackCx::new(*now, &mut view);
        let mut sent = 0;
        let mut send = |frame: tcp::TxFrame<'_>| {
            let route = Node::route(routes, frame.header);
            let link = &mut links[route];
            let mut entry = Entry::of(&frame);
            while let Some(packet) = pool.next_packet(&frame, &mut entry) {
                if O::PACKETS {
                    observer.borrow_mut().packet(*now, &packet.as_sent(index));
                }
                #[cfg(not(longhaul_unwatched))]
                let tag = if O::ENABLED { Some(Tag::of(&packet)) } else { None };
                let mut on_drop =
                    |packet, hop, cause| gone.discard::<O>(pool, Lost { link: route, hop, cause, packet });
                link.offer(*now, packet, &mut on_drop);
                #[cfg(not(longhaul_unwatched))]
                if let Some(tag) = tag {
                    let (backlog, moved) = link.entered(*now);
                    if backlog > 0 || moved.is_some() {
                        entered.push(Entered { link: route, backlog, moved, tag });
                    }
                }
            }
            // What waits for a host that pauses arrived in the past.
            queue.arm_earlier(link.to, link.next_deadline().max(*now));
            sent += 1;
            Sent::Accepted
        };
        let frames = arrivals.iter().map(|(at, packet)| packet.as_frame(*at));
        tcp::turn(stack, &mut cx, frames, &mut send, tcp::Budget::UNLIMITED);
        for (_, packet) in arrivals.drain(..) {
            pool.put_back(packet);
        }
        sent
    }

    /// Sends routers' reports: they take the way back of the packets that they are about.
    #[cold]
    fn send_reports(&mut self) {
        let Self { topology: Topology { links, .. }, pool, gone, now, queue, .. } = self;
        for (from, report) in core::mem::take(&mut gone.reports) {
            let back = links.iter().position(|link| link.from == links[from].to).expect("there is a way back");
            let link = &mut links[back];
            let mut on_drop = |packet, hop, cause| gone.discard::<O>(pool, Lost { link: back, hop, cause, packet });
            link.offer(*now, report, &mut on_drop);
            queue.arm_earlier(link.to, link.next_deadline().max(*now));
        }
    }

    /// Reports queues that a packet has entered, and packets that were moved, to the observer.
    fn report_entered(&mut self) {
        for Entered { link, backlog, moved, tag } in self.entered.drain(..) {
            let sender = self.topology.links[link].from;
            let Some(conn) = tag.conn(&self.topology.nodes[sender]) else { continue };
            if backlog > 0 {
                self.observer.record(self.now, global(sender, conn), Event::HopQueued { backlog });
            }
            if let Some((hop, moved)) = moved {
                let event =
                    Event::HopReordered { hop: hop_label(hop), how: moved_label(moved), seq: tag.seq, len: tag.len };
                self.observer.record(self.now, global(sender, conn), event);
            }
        }
    }

    /// Reports packets lost in the network to the observer, under the connections that sent them.
    fn report_lost(&mut self) {
        for Lost { link, hop, cause, packet } in self.gone.lost.drain(..) {
            if packet.is_datagram() || packet.is_report() {
                self.pool.put_back(packet);
                continue;
            }
            let sender = self.topology.links[link].from;
            let conn = self.topology.nodes[sender].conn_id_between(packet.ports()).unwrap_or(ConnId(0));
            let (seq, len) = (packet.seq(), packet.wire_len() as Bytes);
            let event = Event::HopDropped { hop: hop_label(hop), cause: cause_label(cause), seq, len };
            self.observer.record(self.now, global(sender, conn), event);
            self.pool.put_back(packet);
        }
    }

    fn outcome(&self) -> Outcome {
        let topology = &self.topology;
        let flows = (0..topology.flows.len())
            .map(|flow| flow_outcome(topology, flow, self.now, self.gone.of_flow[flow]))
            .collect();
        let delays = topology.links[0].delays();
        let second = topology.links[0].second().zip(topology.links[1].second()).map(|(there, back)| [there, back]);
        let [forward, reverse] = [0, 1].map(|link: usize| topology.links[link].path.stats());
        let virtual_time = self.now.since(Instant::ZERO);
        let of_datagrams = &self.gone.of_flow[topology.flows.len()..];
        let datagrams = self.datagrams.as_ref().map_or(Vec::new(), |datagrams| datagrams.outcomes(of_datagrams));
        Outcome { flows, datagrams, forward, reverse, delays, second, steps: self.budget.steps(), virtual_time }
    }
}

fn flow_outcome(topology: &Topology, flow: usize, now: Instant, dropped: u64) -> FlowOutcome {
    let (sender, receiver, ends) = (topology.sender(flow), topology.receiver(flow), topology.flows[flow]);
    let outcome = |end: &crate::workload::End, node: usize| -> EndOutcome {
        let outcome = end.outcome(&topology.nodes[node].stack);
        EndOutcome { conn: outcome.conn.map(|conn| global(node, conn)), ..outcome }
    };
    FlowOutcome {
        pieces: receiver.pieces(now),
        started: sender.started(),
        last_read: receiver.reading().last(),
        bytes_written: sender.written(),
        bytes_read: receiver.reading().bytes(),
        bins: receiver.reading().bins().to_vec(),
        dropped,
        waits: topology.links[0].delays_of(flow),
        queue: topology
            .links
            .iter()
            .filter(|link| link.from == ends.sender.0)
            .flat_map(|link| link.path.peaks(flow))
            .copied()
            .collect(),
        sender: outcome(sender.end(), ends.sender.0),
        receiver: outcome(receiver.end(), ends.receiver.0),
    }
}

#[cfg(test)]
mod tests;
