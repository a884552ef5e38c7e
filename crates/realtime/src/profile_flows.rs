//! Several flows of our own TCP: one stack in each namespace has an end of each.

use crate::course::Course;
use crate::flow_apps::{OwnFlow, Sinks, Sources};
use crate::profile_arm::{CLIENT, PORT, SERVER, Side, device};
use crate::trace_file::Traced;
use crate::watch::Watch;
use crate::world::{LINK_A, LINK_B, World};
use base::Rng;
use lab::RunFailure;
use lab::run::{PlainFlow, PlainOutcome, PlainTcp};
use net::Tun;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

/// Those flows of a run that are ours, and the devices of their stacks.
pub struct ProfileFlows {
    flows: Vec<OwnFlow>,
    client: Tun,
    server: Tun,
    rng: Rng,
}

/// Where the results of both stacks arrive.
pub struct Ends {
    sources: Receiver<Result<Sources, String>>,
    sinks: Receiver<Result<Sinks, String>>,
}

impl ProfileFlows {
    /// Creates a device in each namespace; returns `None` if no flow of the run is ours.
    ///
    /// # Errors
    /// If the system rejects one of them.
    pub fn open(world: &World, seed: u64, flows: &[PlainFlow]) -> Result<Option<Self>, RunFailure> {
        let own = |(place, flow): (usize, &PlainFlow)| match &flow.tcp {
            PlainTcp::Kernel(_) => None,
            PlainTcp::Profile(config) => {
                Some(OwnFlow { place, port: PORT + place as u16, plan: flow.clone(), config: config.clone() })
            }
        };
        let flows: Vec<OwnFlow> = flows.iter().enumerate().filter_map(own).collect();
        if flows.is_empty() {
            return Ok(None);
        }
        let failed = |error: Box<dyn std::error::Error>| RunFailure(error.to_string());
        let client = device(&world.a, CLIENT, LINK_B).map_err(failed)?;
        let server = device(&world.b, SERVER, LINK_A).map_err(failed)?;
        Ok(Some(Self { flows, client, server, rng: Rng::new(seed) }))
    }

    /// Starts a thread for each stack, and waits until the servers listen.
    ///
    /// # Errors
    /// If the run may not continue.
    pub fn spawn<'s>(
        self,
        scope: &'s Scope<'s, '_>,
        course: Course<'s>,
        trace: Option<&'s Traced>,
        watch: &mut Watch<'_>,
    ) -> Result<Ends, RunFailure> {
        let (listening, is_listening) = mpsc::channel();
        let (sources_ended, sources) = mpsc::channel();
        let (sinks_ended, sinks) = mpsc::channel();
        let server = Side { device: self.server, address: SERVER, rng: self.rng.fork("node/b"), stop: course.stop };
        let client = Side { device: self.client, address: CLIENT, rng: self.rng.fork("node/a"), stop: course.stop };
        let (source, sink) = (Sources::new(&self.flows, course), Sinks::new(&self.flows, course));
        // If the receiver of a message has gone, it is dropped.
        scope.spawn(move || {
            let started = || {
                let _ = listening.send(());
            };
            let _ = sinks_ended.send(server.serve(sink, trace, started));
        });
        watch.receive(&is_listening)?;
        scope.spawn(move || {
            let _ = sources_ended.send(client.serve(source, trace, || ()));
        });
        Ok(Ends { sources, sinks })
    }
}

impl Ends {
    /// Waits for the results, each with its place among all flows.
    ///
    /// # Errors
    /// If the run may not continue, a stack failed, or bytes were wrong.
    pub fn collect(&self, watch: &mut Watch<'_>) -> Result<Vec<(usize, PlainOutcome)>, RunFailure> {
        let sources = watch.receive(&self.sources)?.map_err(RunFailure)?;
        let sinks = watch.receive(&self.sinks)?.map_err(RunFailure)?;
        sources.outcomes(&sinks).map_err(RunFailure)
    }
}
