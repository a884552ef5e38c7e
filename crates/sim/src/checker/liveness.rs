//! Liveness checker: the reader makes progress until the end of the stream.
//!
//! A flow whose reader gets no byte for [`Scenario::stall_after`](crate::Scenario) has stalled. A writer that pauses after all it
//! wrote was read does not stall. The checker looks at a flow only when that time could have expired, so that a step costs one
//! comparison.

use crate::outcome::Cause;
use crate::topology::Topology;
use base::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Liveness {
    /// How long a flow may go without a byte being read.
    limit: Duration,
    /// No flow can have stalled before this moment.
    look_at: Instant,
    /// When each flow was last found to pause.
    paused: Vec<Instant>,
}

impl Liveness {
    pub(super) fn new(topology: &Topology, limit: Duration) -> Self {
        let first = (0..topology.flows.len()).map(|flow| topology.sender(flow).started()).min();
        let paused = vec![Instant::ZERO; topology.flows.len()];
        Self { limit, look_at: first.map_or(Instant::MAX, |started| started + limit), paused }
    }

    #[inline]
    pub(super) fn before_step(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        if now < self.look_at { Ok(()) } else { self.look(topology, now) }
    }

    #[cold]
    fn look(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        self.look_at = Instant::MAX;
        for flow in 0..topology.flows.len() {
            let (sender, receiver) = (topology.sender(flow), topology.receiver(flow));
            if receiver.reading().saw_end() || topology.has_ended(flow) {
                continue;
            }
            if sender.pauses() && receiver.reading().bytes() == sender.written() {
                self.paused[flow] = now;
            }
            let since = receiver.reading().last().unwrap_or(sender.started()).max(self.paused[flow]);
            if now >= since + self.limit {
                return Err(Cause::Stalled { flow, idle: now.since(since), bytes_read: receiver.reading().bytes() });
            }
            self.look_at = self.look_at.min(since + self.limit);
        }
        Ok(())
    }
}
