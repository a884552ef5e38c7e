//! The result of a run: the numbers for measurements, or a failure with a name.

use crate::budget::Resource;
use crate::scenario::Hops;
use crate::watch::Delays;
use base::{Duration, Instant};
use core::fmt;
use netem::{PathStats, Peak};
use tcp::{CloseReason, TcpInfo};
use trace::ConnId;

/// A finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In the order of the scenario.
    pub flows: Vec<FlowOutcome>,
    /// Datagrams, in the order of the scenario.
    pub datagrams: Vec<DatagramOutcome>,
    /// The path from the clients to the servers: data, mostly.
    pub forward: PathStats,
    /// The path back: acknowledgements, mostly.
    pub reverse: PathStats,
    /// How long packets on the way from the clients to the servers waited; empty unless watched.
    pub delays: Delays,
    /// The second bottleneck, there and back; `None` if there is none.
    pub second: Option<[SecondOutcome; 2]>,
    /// Times a node was served.
    pub steps: u64,
    /// Virtual time of the last event.
    pub virtual_time: Duration,
}

impl Outcome {
    /// Packets that endpoints offered to the paths, data and acknowledgements.
    pub fn packets(&self) -> u64 {
        let apart = self.second.iter().flatten().map(|second| second.apart).sum::<u64>();
        self.forward.offered + self.reverse.offered + apart
    }

    /// What all bottlenecks on the way from the clients to the servers did together.
    pub fn along(&self) -> PathStats {
        let Some([SecondOutcome { path, .. }, _]) = &self.second else { return self.forward };
        let (dropped, marked) = (self.forward.dropped.plus(path.dropped), self.forward.marked + path.marked);
        PathStats { dropped, marked, ..self.forward }
    }
}

/// What became of packets at a second bottleneck, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondOutcome {
    /// Its statistics.
    pub path: PathStats,
    /// How long packets waited there; empty unless watched.
    pub delays: Delays,
    /// Packets that crossed this one alone.
    pub apart: u64,
    /// Packets that came from one to the other.
    pub passed: u64,
    /// Packets that left the way between the two.
    pub between: u64,
}

/// One flow of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Departure of the first SYN.
    pub started: Instant,
    /// When the receiving application read its last byte so far; `None` if it read none.
    pub last_read: Option<Instant>,
    /// Payload bytes that the sending application handed over.
    pub bytes_written: u64,
    /// Payload bytes that the receiving application read.
    pub bytes_read: u64,
    /// The same by bins of time from the start of the run ([`Watch`](crate::Watch)); later ones are zero.
    pub bins: Vec<u64>,
    /// What of it was asked for apart: a workload of so many bytes is one piece, as are a repetition and a request.
    pub pieces: Vec<Piece>,
    /// Its packets that the paths dropped, in either direction.
    pub dropped: u64,
    /// Each moment at which the bottleneck held more of its data than before, if that is watched
    /// ([`PerFlow`](crate::PerFlow)); what other flows have there is not counted.
    pub queue: Vec<Peak>,
    /// How long its packets on the way from the clients to the servers waited, if that is watched ([`Watch`](crate::Watch)).
    pub waits: Delays,
    /// The sending end.
    pub sender: EndOutcome,
    /// The receiving end.
    pub receiver: EndOutcome,
}

impl FlowOutcome {
    /// Returns the time from the first SYN sent to the last byte read: the divisor of goodput.
    pub fn elapsed(&self) -> Option<Duration> {
        Some(self.last_read?.since(self.started))
    }
    /// Returns whether everything written was read and both directions ended normally.
    pub fn is_complete(&self) -> bool {
        let normal = |end: &EndOutcome| end.closed == Some(CloseReason::Normal);
        self.bytes_read == self.bytes_written && normal(&self.sender) && normal(&self.receiver)
    }
}

/// A part of a flow that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When it was due: the first SYN's departure, a repetition's time, a request's.
    pub asked: Instant,
    /// Its payload.
    pub bytes: u64,
    /// When its last byte was read; `None` if the run did not see that.
    pub done: Option<Instant>,
}

/// What came of a flow of datagrams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatagramOutcome {
    /// Which bottlenecks they crossed.
    pub hops: Hops,
    /// Datagrams sent.
    pub sent: u64,
    /// Those that arrived; of pings, those whose echo did.
    pub received: u64,
    /// Packets that the paths dropped, echoes included.
    pub dropped: u64,
    /// Payload received by bins of time ([`Watch`](crate::Watch)); none for pings.
    pub bins: Vec<u64>,
    /// Round trips of pings beyond delays and their own transmission; of those sent in the time that is watched, if any is.
    pub waits: Delays,
}

/// One end of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndOutcome {
    /// Its connection as traces name it; `None` if it never existed.
    pub conn: Option<ConnId>,
    /// How it ended; `None` if it never existed, for example a server whose client did not get through.
    pub closed: Option<CloseReason>,
    /// Its state when it ended, totals included.
    pub info: Option<TcpInfo>,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client.
    Sender,
    /// The server.
    Receiver,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}

/// A run stopped by a checker or the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} at {at} of virtual time, seed {seed}: {cause}", name = cause.name())]
pub struct Failure {
    /// Seed of the scenario.
    pub seed: u64,
    /// Virtual time.
    pub at: Instant,
    /// What went wrong.
    pub cause: Cause,
}

/// The error found. Nodes are numbered as in traces: 0 is the clients', 1 the servers'.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A node was served repeatedly at one instant without progress.
    #[error("node {node} was served twice at one instant without progress")]
    Livelock {
        /// Which.
        node: usize,
    },
    /// Nothing was delivered for too long.
    #[error("flow {flow} read no byte for {idle}, after {bytes_read} bytes in all")]
    Stalled {
        /// Which.
        flow: usize,
        /// Since the last byte.
        idle: Duration,
        /// Bytes read before.
        bytes_read: u64,
    },
    /// No event is left, but a flow has not ended.
    #[error("flow {flow} has not ended after {bytes_read} bytes, and no packet or timer is left that could end it")]
    Deadlock {
        /// Which.
        flow: usize,
        /// Bytes read before.
        bytes_read: u64,
    },
    /// The receiver read other data than the sender wrote.
    #[error("flow {flow}: {problem}")]
    Stream {
        /// Which.
        flow: usize,
        /// How the two differ.
        problem: String,
    },
    /// An invariant of an endpoint is violated.
    #[error("flow {flow}, {side}: {problem}")]
    Accounting {
        /// Which flow.
        flow: usize,
        /// Which end.
        side: Side,
        /// What the audit found.
        problem: String,
    },
    /// A sender released more at once than its limit allows ([`Scenario::burst_limit`](crate::Scenario::burst_limit)).
    #[error("flow {flow}: {problem}")]
    Burst {
        /// Which.
        flow: usize,
        /// By how much.
        problem: String,
    },
    /// A deadline was missed.
    #[error("node {node} has a deadline at {deadline}, which is in the past")]
    TimerInPast {
        /// Which.
        node: usize,
        /// The deadline.
        deadline: Instant,
    },
    /// The budget is exhausted.
    #[error("the budget of {what} is spent")]
    BudgetExhausted {
        /// Which of them.
        what: Resource,
    },
}

impl Cause {
    /// The failure's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Livelock { .. } => "Livelock",
            Self::Stalled { .. } => "Stalled",
            Self::Deadlock { .. } => "Deadlock",
            Self::Stream { .. } => "Stream",
            Self::Accounting { .. } => "Accounting",
            Self::Burst { .. } => "Burst",
            Self::TimerInPast { .. } => "TimerInPast",
            Self::BudgetExhausted { .. } => "BudgetExhausted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_when_and_which_seed() {
        let cause = Cause::Stalled { flow: 2, idle: Duration::from_secs(300), bytes_read: 17 };
        let failure = Failure { seed: 9, at: Instant::from_nanos(5), cause };
        assert_eq!(
            failure.to_string(),
            "Stalled at 5ns of virtual time, seed 9: flow 2 read no byte for 300s, after 17 bytes in all"
        );
    }
}
