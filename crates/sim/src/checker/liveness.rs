//! Liveness checker: data keeps being read until the end of the stream.
//!
//! A flow whose reader gets no byte for [`Scenario::stall_after`](crate::Scenario) has stalled. Each flow is looked at only
//! when that time could be over, so that a step costs one comparison.

use crate::outcome::Cause;
use crate::topology::Topology;
use base::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Liveness {
    /// How long a flow may go without a byte being read.
    limit: Duration,
    /// No flow can have stalled before.
    look_at: Instant,
}

impl Liveness {
    pub(super) fn new(topology: &Topology, limit: Duration) -> Self {
        let first = (0..topology.flows.len()).map(|flow| topology.sender(flow).started()).min();
        Self { limit, look_at: first.map_or(Instant::MAX, |started| started + limit) }
    }

    #[inline]
    pub(super) fn before_step(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        if now < self.look_at { Ok(()) } else { self.look(topology, now) }
    }

    #[cold]
    fn look(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        self.look_at = Instant::MAX;
        for flow in 0..topology.flows.len() {
            let receiver = topology.receiver(flow);
            if receiver.saw_end() || topology.has_ended(flow) {
                continue;
            }
            let since = receiver.last_read().unwrap_or(topology.sender(flow).started());
            if now >= since + self.limit {
                return Err(Cause::Stalled { flow, idle: now.since(since), bytes_read: receiver.bytes_read() });
            }
            self.look_at = self.look_at.min(since + self.limit);
        }
        Ok(())
    }
}
