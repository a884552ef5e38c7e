//! The applications of several flows of ours: one on each stack. Flows begin and end by the clock, and what is read counts by second of
//! the run.

use crate::apps::{Sink, Source};
use crate::course::{Course, count};
use crate::profile_arm::SERVER;
use base::{Duration, Instant};
use lab::run::{PlainFlow, PlainOutcome};
use lab::spec::Flow;
use net::{App, AppCx, StartError};
use std::net::SocketAddr;
use tcp::{CloseReason, StackEvent, ValidConfig};
use trace::Observer;

/// A flow of ours.
#[derive(Clone, Debug)]
pub struct OwnFlow {
    /// Its place among all flows of the run.
    pub place: usize,
    /// Of its server.
    pub port: u16,
    pub plan: PlainFlow,
    pub config: ValidConfig,
}

/// Something that happens at a time of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Start(usize),
    Stop(usize),
    End,
}

/// The senders.
#[derive(Debug)]
pub struct Sources {
    flows: Vec<(OwnFlow, Source)>,
    began: Instant,
    /// The last is the next.
    agenda: Vec<(Instant, Due)>,
    refused: Option<StartError>,
}

impl Sources {
    pub fn new(flows: &[OwnFlow], course: Course<'_>) -> Self {
        let at = |time: Duration| course.began + time;
        let mut agenda = vec![(at(course.until), Due::End)];
        for (index, OwnFlow { plan, .. }) in flows.iter().enumerate() {
            agenda.push((at(plan.start), Due::Start(index)));
            agenda.extend(plan.stop.map(|stop| (at(stop), Due::Stop(index))));
        }
        agenda.sort_unstable_by(|one, other| other.cmp(one));
        let source = |flow: &OwnFlow| {
            let remote = SocketAddr::new(SERVER, flow.port);
            // As much as it can is more than any run carries.
            Source::new(remote, flow.config.clone(), Flow::Bytes(flow.plan.bytes.unwrap_or(u64::MAX)))
        };
        let flows = flows.iter().map(|flow| (flow.clone(), source(flow))).collect();
        Self { flows, began: course.began, agenda, refused: None }
    }

    /// Returns what came of the flows, each with its place among all.
    ///
    /// # Errors
    /// If a connection could not be opened, or a flow brought wrong bytes.
    pub fn outcomes(&self, sinks: &Sinks) -> Result<Vec<(usize, PlainOutcome)>, String> {
        if let Some(error) = &self.refused {
            return Err(error.to_string());
        }
        self.flows.iter().zip(&sinks.sinks).map(|(source, sink)| self.outcome(source, sink)).collect()
    }

    fn outcome(
        &self,
        (flow, source): &(OwnFlow, Source),
        Counted { sink, bins }: &Counted,
    ) -> Result<(usize, PlainOutcome), String> {
        let ends = source.ending().zip(sink.ending());
        if let Some((_, receiver)) = ends.filter(|(_, receiver)| receiver.info.mismatches > 0) {
            return Err(format!("{} of {} bytes of a flow were wrong", receiver.info.mismatches, sink.read()));
        }
        let is_normal = |reason: CloseReason| reason == CloseReason::Normal;
        let outcome = PlainOutcome {
            started: source.began().since(self.began),
            last_read: (sink.read() > 0).then(|| sink.last_read().since(self.began)),
            written: source.written(),
            read: sink.read(),
            bins: bins.clone(),
            is_closed: ends.is_some_and(|(sender, receiver)| is_normal(sender.reason) && is_normal(receiver.reason)),
            ends: ends.map(|(sender, receiver)| [sender.info, receiver.info]),
        };
        Ok((flow.place, outcome))
    }

    fn handle<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, due: Due) {
        match due {
            Due::Start(index) => {
                let opened = self.flows[index].1.start(cx);
                self.refused = self.refused.or(opened.err());
            }
            Due::Stop(index) => self.flows[index].1.stop(cx),
            Due::End => self.on_stop(cx),
        }
    }
}

impl App for Sources {
    fn start<O: Observer>(&mut self, _: &mut AppCx<'_, O>) -> Result<(), StartError> {
        Ok(())
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        if let StackEvent::Conn { conn, .. } = event
            && let Some((_, source)) = self.flows.iter_mut().find(|(_, source)| source.has(conn))
        {
            source.on_event(cx, event);
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.agenda.clear();
        self.flows.iter_mut().for_each(|(_, source)| source.on_stop(cx));
    }

    fn due(&self) -> Option<Instant> {
        self.agenda.last().map(|(at, _)| *at)
    }

    fn on_time<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        let now = cx.now();
        while let Some((_, due)) = self.agenda.pop_if(|(at, _)| *at <= now) {
            self.handle(cx, due);
        }
    }

    /// A flow that has not started has not ended, unless the run is over.
    fn is_done(&self) -> bool {
        let is_over = self.agenda.is_empty();
        self.flows.iter().all(|(_, source)| source.is_done() || is_over && !source.is_open())
    }
}

/// A receiver, and what it read in each second.
#[derive(Debug)]
struct Counted {
    sink: Sink,
    bins: Vec<u64>,
}

/// The receivers.
#[derive(Debug)]
pub struct Sinks {
    sinks: Vec<Counted>,
    began: Instant,
    /// `None` once it has passed.
    end: Option<Instant>,
}

impl Sinks {
    pub fn new(flows: &[OwnFlow], course: Course<'_>) -> Self {
        let sink = |flow: &OwnFlow| Counted { sink: Sink::new(flow.port, flow.config.clone()), bins: course.bins() };
        Self { sinks: flows.iter().map(sink).collect(), began: course.began, end: Some(course.began + course.until) }
    }
}

impl App for Sinks {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        self.sinks.iter_mut().try_for_each(|counted| counted.sink.start(cx))
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let is_meant = |sink: &Sink| match event {
            StackEvent::Accepted { port, .. } => sink.listens_on(port),
            StackEvent::Conn { conn, .. } => sink.has(conn),
        };
        let Some(Counted { sink, bins }) = self.sinks.iter_mut().find(|counted| is_meant(&counted.sink)) else {
            return;
        };
        let before = sink.read();
        sink.on_event(cx, event);
        count(bins, cx.now().since(self.began), sink.read() - before);
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.end = None;
        self.sinks.iter_mut().for_each(|counted| counted.sink.on_stop(cx));
    }

    fn due(&self) -> Option<Instant> {
        self.end
    }

    fn on_time<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.on_stop(cx);
    }

    /// A server whose client did not come yet has not ended, unless the run is over.
    fn is_done(&self) -> bool {
        let is_over = self.end.is_none();
        self.sinks.iter().all(|Counted { sink, .. }| sink.is_done() || is_over && !sink.is_open())
    }
}
