//! What must hold in every run, whatever the scenario: five checkers, each in a file of its own.
//!
//! They see the world after each step and stop the run with a [`Cause`] when it is wrong. A step costs each of them a
//! constant; what costs more is done on the [`AuditSchedule`].

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

/// The checkers that look at the world between two steps; [`Timers`] looks at each turn.
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

    /// The clock has come to `now`, and nothing has happened there yet.
    #[inline]
    pub(crate) fn before_step(&mut self, topology: &Topology, now: Instant) -> Result<(), Cause> {
        self.liveness.before_step(topology, now)
    }

    /// `node` has been served at `now`.
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
