//! How long packets wait on their way from the clients to the servers.

use crate::access::{FIRST_PORT, flow_of};
use crate::packet::Parcel;
use crate::watch::{Delays, PerFlow, Watch};
use base::{Duration, Instant};
use netem::PathSpec;

/// How long packets wait in a path.
#[derive(Debug)]
pub(crate) struct Waits {
    watch: Watch,
    spec: PathSpec,
    pub(crate) delays: Delays,
    /// The same of each flow, if that is watched.
    pub(crate) of_flow: Vec<Delays>,
}

impl Waits {
    /// Nothing has been watched yet of a path, and of so many flows apart.
    pub(crate) fn new(watch: Watch, spec: &PathSpec, flows: usize) -> Self {
        let delay = spec.delays.as_ref().map_or(spec.delay, |course| course.least_delay(spec.delay));
        let of_flow = match watch.waits {
            PerFlow::Off => Vec::new(),
            PerFlow::On => vec![Delays::default(); flows],
        };
        Self { watch, spec: PathSpec { delay, ..spec.clone() }, delays: Delays::default(), of_flow }
    }

    /// A packet left the path at `at`.
    pub(crate) fn note(&mut self, at: Instant, packet: &Parcel) {
        let time = at.since(Instant::ZERO);
        if (self.watch.from..self.watch.until).contains(&time) {
            let serialised =
                self.spec.rate.map_or(Duration::ZERO, |rate| rate.time_for(u64::from(netem::Packet::wire_len(packet))));
            let least = self.spec.delay + serialised;
            let wait = at.since(packet.entered).saturating_sub(least);
            self.delays.add(wait);
            if !self.of_flow.is_empty() {
                self.of_flow[flow_of(packet, FIRST_PORT)].add(wait);
            }
        }
    }
}
