//! Converts the events of a trace to the content of the lanes.
//!
//! Shows one end's sending, that of the first end named in the trace; of the other end only what it alone knows. Of several flows each
//! has lanes of its own. Times are counted from the first record, of several flows from the run's start; sequence numbers from the
//! sender's first one and without wrapping.

use crate::facts::{Facts, limit_name};
use crate::flows::{Delivered, Flow, flows};
use crate::model::Unit::{self, Bytes, Count, Micros, Rate, Seq, Text, Time};
use crate::model::{Run, Table};
use crate::throughput;
use base::{Instant, SeqNum, SeqRange};
use std::collections::BTreeMap;
use trace::{BlockClass, Episode, EpisodeCause, Limit, Observer, SendCause, TimerKind};
use trace_io::summary::Summarizer;
use trace_io::{Event, Record, Trace};

/// What each of several flows gets.
const SHARE: &str = "share";
/// Rate by acknowledgements alone.
const ACKED: &str = "acked";

/// Every table of the viewer, by name, with its columns beside `t`.
const TABLES: &[(&str, &[(&str, Unit)])] = &[
    ("sent", &[("seq", Seq), ("end", Seq), ("kind", Text), ("cause", Text), ("sent before", Count)]),
    ("acks", &[("ack", Seq)]),
    ("window", &[("edge", Seq)]),
    ("sacks", &[("lo", Seq), ("hi", Seq)]),
    ("drops", &[("lo", Seq), ("hi", Seq), ("hop", Text), ("cause", Text)]),
    ("cwnd", &[("v", Bytes)]),
    ("ssthresh", &[("v", Bytes)]),
    ("pipe", &[("v", Bytes)]),
    ("snd_wnd", &[("v", Bytes)]),
    ("rtt", &[("v", Micros)]),
    ("srtt", &[("v", Micros)]),
    ("min_rtt", &[("v", Micros)]),
    ("reo_wnd", &[("v", Micros)]),
    ("rate", &[("v", Rate)]),
    (ACKED, &[("v", Rate)]),
    (SHARE, &[("v", Rate)]),
    ("queue", &[("v", Bytes)]),
    ("exit", &[("cause", Text), ("cwnd", Bytes)]),
    ("limits", &[("until", Time), ("cause", Text)]),
    ("row/reordered", &[("seq", Seq), ("len", Bytes), ("how", Text), ("hop", Text)]),
    ("row/early", &[("by", Text), ("recovery point", Seq)]),
    ("row/fast", &[("seq", Seq), ("len", Bytes), ("sent before", Count)]),
    ("row/sack", &[("seq", Seq), ("len", Bytes), ("sent before", Count)]),
    ("row/timeout", &[("seq", Seq), ("len", Bytes), ("sent before", Count)]),
    ("row/expire", &[("timer", Text)]),
    ("row/dsack", &[("lo", Seq), ("hi", Seq)]),
    ("row/lost", &[("lo", Seq), ("hi", Seq), ("by", Text), ("retransmitted before", Count), ("sent ago", Micros)]),
    ("row/sack_reordering", &[("extent", Bytes), ("max_extent", Bytes), ("fack", Seq), ("end", Seq)]),
    (
        "row/reo_wnd",
        &[("reo_wnd", Micros), ("multiplier", Count), ("persist", Count), ("reordering seen", Text), ("D-SACK", Text)],
    ),
];

/// What the viewer shows of a trace: a run for each flow.
pub fn from_trace(trace: &Trace) -> Vec<Run> {
    flows(trace).into_iter().map(|flow| of_flow(trace, flow)).collect()
}

fn of_flow(trace: &Trace, flow: Flow) -> Run {
    let mut collector = Collector::new(trace, flow);
    for record in &trace.records {
        collector.record(record);
    }
    collector.finish(trace)
}

/// Unwraps sequence numbers: each is taken as the one nearest to the highest so far.
#[derive(Debug, Default)]
struct Stream {
    highest: Option<(SeqNum, u64)>,
}

impl Stream {
    fn place(&mut self, seq: SeqNum) -> u64 {
        let (anchor, at) = *self.highest.get_or_insert((seq, 0));
        let away = i64::from(seq.0.wrapping_sub(anchor.0) as i32);
        let place = at.saturating_add_signed(away);
        if place > at {
            self.highest = Some((seq, place));
        }
        place
    }

    fn range(&mut self, range: SeqRange) -> [u64; 2] {
        [self.place(range.start), self.place(range.end)]
    }
}

struct Collector {
    flow: Flow,
    began: Instant,
    /// Microseconds since then.
    now: u64,
    stream: Stream,
    tables: BTreeMap<&'static str, Table>,
    /// What limits the sender, and since when.
    limit: Option<(Limit, u64)>,
    facts: Facts,
    delivered: Delivered,
    summarizer: Summarizer,
}

impl Collector {
    fn new(trace: &Trace, flow: Flow) -> Self {
        let first = trace.records.first().filter(|_| flow.name.is_none());
        let thinks = |record: &Record| matches!(record.event, Event::CcSnapshot { .. });
        let from_packets = trace.meta.network.is_none() && !trace.records.iter().any(thinks);
        Self {
            began: first.map_or(Instant::ZERO, |record| record.at),
            now: 0,
            stream: Stream::default(),
            tables: TABLES.iter().map(|&(name, columns)| (name, Table::new(columns))).collect(),
            limit: None,
            facts: Facts { from_packets, ..Facts::default() },
            delivered: Delivered::default(),
            summarizer: Summarizer::new(flow.sender, flow.receiver.unwrap_or(flow.sender)),
            flow,
        }
    }

    fn record(&mut self, record: &Record) {
        // A file may contain any times; the page's time never decreases.
        self.now = self.now.max(record.at.since(self.began).as_micros());
        if let Event::HopQueued { backlog } = record.event
            && self.flow.queue_before == 0
            && self.flow.queue_of.contains(&record.conn)
        {
            self.step("queue", backlog);
        }
        let (is_sender, is_receiver) = (record.conn == self.flow.sender, Some(record.conn) == self.flow.receiver);
        if self.flow.name.is_some() && !is_sender && !is_receiver {
            return;
        }
        self.facts.began.get_or_insert(self.now);
        self.summarizer.record(record.at, record.conn, record.event);
        if is_sender {
            self.of_sender(&record.event, record.at);
        } else if is_receiver && let Event::SegmentReceived { len: 1.., .. } = record.event {
            self.facts.last_data = self.now;
        }
    }

    fn table(&mut self, name: &'static str) -> &mut Table {
        self.tables.get_mut(name).expect("every table is in the list")
    }

    /// A line's next value.
    fn step(&mut self, name: &'static str, value: impl Into<u64>) {
        let now = self.now;
        self.table(name).step(now, [value.into()]);
    }

    fn of_sender(&mut self, event: &Event, at: Instant) {
        match *event {
            Event::SegmentSent { seq, len, cause, retransmit, .. } if len > 0 => self.sent(seq, len, cause, retransmit),
            Event::SegmentReceived { ack: Some(ack), window, .. } => self.acknowledged(ack, window),
            Event::BlockReceived { range, class } => self.block(range, class),
            Event::AckProcessed { pipe, cwnd, .. } => {
                self.step("pipe", pipe);
                if !self.facts.from_packets {
                    self.step("cwnd", cwnd);
                }
            }
            Event::CcSnapshot { cwnd, ssthresh, pipe, snd_wnd, .. } => {
                self.step("cwnd", cwnd);
                self.step("pipe", pipe);
                self.step("snd_wnd", snd_wnd);
                if ssthresh < u32::MAX >> 1 {
                    self.step("ssthresh", ssthresh);
                }
            }
            Event::RttUpdated { sample, srtt, min_rtt, .. } => {
                let now = self.now;
                self.table("rtt").push(now, [sample.as_micros().into()]);
                self.step("srtt", srtt.as_micros());
                self.step("min_rtt", min_rtt.as_micros());
            }
            Event::RateSampled { rate, .. } => self.step("rate", rate),
            Event::SlowStartExited { cause, cwnd } => {
                let now = self.now;
                self.table("exit").push(now, [cause.name().into(), u64::from(cwnd).into()]);
            }
            Event::Limited { by } => self.limited(by),
            _ => self.row(event, at),
        }
    }

    fn sent(&mut self, seq: SeqNum, len: u32, cause: SendCause, copies: u8) {
        let (now, at) = (self.now, self.stream.place(seq));
        let end = self.stream.place(seq + len);
        let (kind, row) = match cause {
            SendCause::FastRetransmit => ("fast", Some("row/fast")),
            SendCause::SackRetransmit | SendCause::Additional => ("sack", Some("row/sack")),
            SendCause::TailProbe | SendCause::WindowProbe | SendCause::KeepAlive => ("probe", None),
            _ if copies > 0 => ("timeout", Some("row/timeout")),
            _ => ("new", None),
        };
        let copies = u64::from(copies);
        self.table("sent").push(now, [at.into(), end.into(), kind.into(), cause.name().into(), copies.into()]);
        if let Some(row) = row {
            self.table(row).push(now, [at.into(), u64::from(len).into(), copies.into()]);
        }
    }

    fn acknowledged(&mut self, ack: SeqNum, window: u32) {
        let ack = self.stream.place(ack);
        if self.table("acks").column("ack").and_then(|acks| acks.values.last()).is_none_or(|&last| ack > last) {
            self.delivered.add(self.now, ack.saturating_sub(self.facts.acked));
            (self.facts.acked, self.facts.last_ack) = (ack, self.now);
            self.step("acks", ack);
        }
        self.step("window", ack + u64::from(window));
        if self.facts.from_packets {
            self.step("snd_wnd", window);
        }
    }

    fn block(&mut self, range: SeqRange, class: BlockClass) {
        let (now, [lo, hi]) = (self.now, self.stream.range(range));
        let table = match class {
            BlockClass::Dsack => "row/dsack",
            BlockClass::Sack => "sacks",
            _ => return,
        };
        self.table(table).push(now, [lo.into(), hi.into()]);
    }

    fn limited(&mut self, by: Limit) {
        let now = self.now;
        if let Some((cause, since)) = self.limit.replace((by, now)) {
            self.spent(cause, since, now);
        }
    }

    fn spent(&mut self, cause: Limit, since: u64, until: u64) {
        if let Some(name) = limit_name(cause)
            && until > since
        {
            self.table("limits").push(since, [until.into(), name.into()]);
        }
    }

    /// What has a row of its own.
    fn row(&mut self, event: &Event, at: Instant) {
        let now = self.now;
        match *event {
            Event::HopReordered { hop, how, seq, len } => {
                let seq = self.stream.place(seq);
                self.table("row/reordered")
                    .push(now, [seq.into(), u64::from(len).into(), how.name().into(), hop.name().into()]);
            }
            Event::HopDropped { hop, cause, seq, len } => {
                let lo = self.stream.place(seq);
                let hi = lo + u64::from(len);
                self.table("drops").push(now, [lo.into(), hi.into(), hop.name().into(), cause.name().into()]);
            }
            Event::EpisodeChanged { to: Episode::Recovery, cause, point, .. } if cause != EpisodeCause::DupThresh => {
                let point = point.map_or(0, |point| self.stream.place(point));
                self.table("row/early").push(now, [cause.name().into(), point.into()]);
            }
            Event::TimerFired { kind: kind @ TimerKind::Retransmit } => {
                self.table("row/expire").push(now, [kind.name().into()]);
            }
            Event::SegmentLost { range, sent_at, retransmits, by } => {
                let [lo, hi] = self.stream.range(range);
                let ago = at.since(sent_at).as_micros();
                let cells = [lo.into(), hi.into(), by.name().into(), u64::from(retransmits).into(), ago.into()];
                self.table("row/lost").push(now, cells);
            }
            Event::ReorderingSeen { extent, max_extent, fack, end } => {
                let (fack, end) = (self.stream.place(fack), self.stream.place(end));
                let cells = [u64::from(extent).into(), u64::from(max_extent).into(), fack.into(), end.into()];
                self.table("row/sack_reordering").push(now, cells);
            }
            Event::ReorderingWindow { reo_wnd, multiplier, persist, seen, dsack, .. } => {
                let width = reo_wnd.as_micros();
                self.step("reo_wnd", width);
                let numbers = [width, multiplier.into(), persist.into()].map(Into::into);
                let [width, multiplier, persist] = numbers;
                let cells = [width, multiplier, persist, yes_no(seen).into(), yes_no(dsack).into()];
                self.table("row/reo_wnd").push(now, cells);
            }
            _ => {}
        }
    }

    fn finish(mut self, trace: &Trace) -> Run {
        if let Some((cause, since)) = self.limit.take() {
            self.spent(cause, since, self.facts.last_ack);
        }
        let Self { now, mut tables, facts, summarizer, flow, delivered, .. } = self;
        match (&flow.name, tables.get_mut(SHARE)) {
            (Some(_), Some(share)) => delivered.fill(now, share),
            _ => drop(tables.remove(SHARE)),
        }
        let round_trip = tables["min_rtt"].column("v").and_then(|rtt| rtt.values.last().copied()).unwrap_or(0);
        if let Some(mut acked) = tables.remove(ACKED) {
            throughput::fill(&tables["acks"], round_trip, now, &mut acked);
            tables.insert(ACKED, acked);
        }
        let mut run = Run { end: now.max(1), tables, queue_before: flow.queue_before, ..Run::default() };
        facts.describe(&trace.meta, &summarizer.finish(), &mut run);
        if let Some(name) = flow.name {
            run.name = name;
        }
        if run.queue_before > 0 {
            run.why_empty.remove("queue");
        }
        run
    }
}

const fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[cfg(test)]
mod tests;
