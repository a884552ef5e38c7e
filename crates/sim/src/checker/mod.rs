//! What must hold in every run, whatever the scenario: five checkers, each in a separate file.
//!
//! They inspect the world after each step and stop the run with a [`Cause`] on an error. Each costs a step constant time; more
//! expensive checks follow the [`AuditSchedule`].

mod accounting;
mod departures;
mod liveness;
mod stream;
mod timers;

use crate::outcome::Cause;
use crate::scenario::Scenario;
use crate::topology::Topology;
use accounting::Accounting;
use base::Instant;
use departures::Departures;
use liveness::Liveness;
pub(crate) use timers::{Progress, Timers};

/// The checkers that inspect the world between two steps; [`Timers`] inspects each turn.
#[derive(Debug)]
pub(crate) struct Checkers {
    accounting: Accounting,
    departures: Departures,
    liveness: Liveness,
}

impl Checkers {
    pub(crate) fn new(topology: &Topology, scenario: &Scenario) -> Self {
        Self {
            accounting: Accounting::new(topology, scenario.audit),
            departures: Departures::new(topology, scenario.burst_limit),
            liveness: Liveness::new(topology, scenario.stall_after),
        }
    }

    /// Checks when the clock has advanced to `now`, before anything happens there.
    #[inline]
    pub(crate) fn before_step(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        self.liveness.before_step(topology, now)
    }

    /// Checks after `node` was served at `now`.
    #[inline]
    pub(crate) fn after_step(&mut self, topology: &Topology, node: usize, now: Instant) -> Result<(), Cause> {
        self.departures.after_step(topology, node, now)?;
        self.accounting.after_step(topology, node)
    }

    /// The run is over.
    pub(crate) fn at_end(topology: &Topology) -> Result<(), Cause> {
        (0..topology.flows.len()).try_for_each(|flow| {
            accounting::audit_flow(topology, flow)?;
            stream::at_end(topology, flow)
        })
    }
}
