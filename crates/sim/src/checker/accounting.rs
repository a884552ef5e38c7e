//! Accounting checker: the invariants of every endpoint hold ([`tcp::Endpoint::audit`]).
//!
//! An audit iterates over the window. In tests it follows every step. In experiments it follows the edges of recovery episodes,
//! and otherwise comes once per window of packets, which makes its cost per packet constant. There a step looks at one end of a
//! flow, in rotation, so that many flows cost a step no more than one. Of many ends few are in the processor's cache: there only one
//! step in a few looks, and without an edge an audit comes once in as many windows.

use super::stream;
use crate::outcome::{Cause, Side};
use crate::scenario::AuditSchedule;
use crate::topology::Topology;
use tcp::{Conn, Counters, Endpoint};

/// Segments between two audits of an end with a small window.
const MIN_SEGMENTS: u64 = 64;

/// Ends of a node from which on they are many.
const MANY: usize = 64;
/// Steps to a look at one of many, and windows to an audit of it.
const SPARE: u32 = 8;

#[derive(Debug)]
pub(super) struct Accounting {
    schedule: AuditSchedule,
    /// Per node: the ends of its flows.
    nodes: Vec<Rotation>,
}

#[derive(Debug)]
struct Rotation {
    ends: Vec<End>,
    next: usize,
    /// Steps to a look, and windows to an audit: one, unless the ends are many.
    spare: u32,
    /// Steps until the next look.
    rest: u32,
}

#[derive(Debug)]
struct End {
    flow: usize,
    side: Side,
    app: usize,
    /// Number of episodes and timeouts at the last check.
    edges: u64,
    /// Segments sent and received at which the next audit is due.
    audit_at: u64,
}

impl Accounting {
    pub(super) fn new(topology: &Topology, schedule: AuditSchedule) -> Self {
        let rotation = || Rotation { ends: Vec::new(), next: 0, spare: 1, rest: 1 };
        let mut nodes: Vec<Rotation> = topology.nodes.iter().map(|_| rotation()).collect();
        for (flow, ends) in topology.flows.iter().enumerate() {
            for (side, (node, app)) in [(Side::Sender, ends.sender), (Side::Receiver, ends.receiver)] {
                nodes[node].ends.push(End { flow, side, app, edges: 0, audit_at: MIN_SEGMENTS });
            }
        }
        nodes.iter_mut().filter(|node| node.ends.len() >= MANY).for_each(|node| node.spare = SPARE);
        Self { schedule, nodes }
    }

    #[inline]
    pub(super) fn after_step(&mut self, topology: &Topology, node: usize) -> Result<(), Cause> {
        let rotation = &mut self.nodes[node];
        if self.schedule == AuditSchedule::EveryStep {
            return rotation.ends.iter().try_for_each(|end| audit(topology, node, end));
        }
        rotation.rest -= 1;
        if rotation.rest > 0 {
            return Ok(());
        }
        rotation.rest = rotation.spare;
        if rotation.next >= rotation.ends.len() {
            rotation.next = 0;
        }
        let Some(end) = rotation.ends.get_mut(rotation.next) else { return Ok(()) };
        rotation.next += 1;
        let Some(endpoint) = endpoint(topology, node, end.app) else { return Ok(()) };
        let counters = endpoint.counters();
        if edges(&counters) == end.edges && segments(&counters) < end.audit_at {
            return Ok(());
        }
        end.edges = edges(&counters);
        end.audit_at = segments(&counters) + window_in_segments(endpoint).max(MIN_SEGMENTS) * u64::from(rotation.spare);
        audit(topology, node, end)
    }
}

/// Audits both ends of a flow, and the data read so far.
pub(super) fn audit_flow(topology: &Topology, flow: usize) -> Result<(), Cause> {
    let ends = topology.flows[flow];
    for (side, (node, app)) in [(Side::Sender, ends.sender), (Side::Receiver, ends.receiver)] {
        audit(topology, node, &End { flow, side, app, edges: 0, audit_at: 0 })?;
    }
    Ok(())
}

#[cold]
fn audit(topology: &Topology, node: usize, end: &End) -> Result<(), Cause> {
    let &End { flow, side, app, .. } = end;
    if side == Side::Receiver {
        stream::so_far(topology, flow)?;
    }
    match endpoint(topology, node, app) {
        Some(endpoint) => endpoint.audit().map_err(|problem| Cause::Accounting { flow, side, problem }),
        None => Ok(()),
    }
}

#[inline]
fn endpoint(topology: &Topology, node: usize, app: usize) -> Option<&Endpoint> {
    let node = &topology.nodes[node];
    let conn: Conn = node.apps[app].end().conn()?;
    node.stack.endpoint(conn)
}

#[inline]
fn edges(counters: &Counters) -> u64 {
    [counters.episodes, counters.episodes_without_timeout, counters.timeouts].map(u64::from).iter().sum()
}

#[inline]
fn segments(counters: &Counters) -> u64 {
    counters.segments_sent + counters.segments_received
}

fn window_in_segments(endpoint: &Endpoint) -> u64 {
    let info = endpoint.info();
    u64::from(info.flight_size / info.smss.max(1))
}
