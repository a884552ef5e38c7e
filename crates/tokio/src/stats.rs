//! Numbers about a stack.

use crate::shared::Inner;
use datagram::DatagramCounters;
use pipe::PipeCounters;
use std::net::SocketAddr;
use std::ops::AddAssign;
use tcp::{Conn, Endpoint, GuardCounters, GuardedUsage, RequestCounters, StackCounters, State, TcpInfo};

/// Totals of a stack since it was built, and what it holds now.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Frames and what became of them.
    pub stack: StackCounters,
    /// Packets through the pipe, and why some did not go through.
    pub pipe: PipeCounters,
    /// Datagrams, echo requests and fragments; `None` on a stack without UDP.
    pub datagrams: Option<DatagramCounters>,
    /// Requests for connections.
    pub requests: RequestCounters,
    /// What the memory budget has evicted and refused.
    pub guards: GuardCounters,
    /// What counts against the budget now.
    pub usage: GuardedUsage,
    /// Connections in any state.
    pub connections: usize,
    /// Undecided requests.
    pub undecided: usize,
}

impl Stats {
    pub(crate) fn of(inner: &mut Inner) -> Self {
        let pipe = inner.runner.counters();
        let datagrams = inner.runner.datagrams().map(|datagrams| *datagrams.counters());
        let stack = inner.runner.stack();
        Self {
            stack: *stack.counters(),
            pipe,
            datagrams,
            requests: *stack.request_counters(),
            guards: *stack.guard_counters(),
            usage: stack.guarded_usage(),
            connections: stack.connections(),
            undecided: stack.undecided(),
        }
    }
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.stack += other.stack;
        self.pipe += other.pipe;
        // The first shard's alone.
        self.datagrams = self.datagrams.or(other.datagrams);
        self.requests += other.requests;
        self.guards += other.guards;
        self.usage += other.usage;
        self.connections += other.connections;
        self.undecided += other.undecided;
    }
}

/// One connection of a stack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// The shard that has it; zero without shards.
    pub shard: usize,
    /// Its number in that shard, as in traces; never used again.
    pub id: u32,
    /// This side.
    pub local: SocketAddr,
    /// The other side.
    pub remote: SocketAddr,
    /// Its state.
    pub state: State,
    /// Windows, times and totals.
    pub info: TcpInfo,
}

impl ConnectionInfo {
    pub(crate) fn of(shard: usize, conn: Conn, endpoint: &Endpoint) -> Self {
        let tuple = endpoint.tuple();
        Self {
            shard,
            id: conn.id().0,
            local: SocketAddr::new(tuple.local, tuple.local_port),
            remote: SocketAddr::new(tuple.remote, tuple.remote_port),
            state: endpoint.state(),
            info: endpoint.info(),
        }
    }
}
