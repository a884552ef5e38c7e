//! A captured connection as a trace, for readers of traces: what the packets show of both ends, and the derived state of the
//! sending one.
//!
//! Times are those at which packets passed the capture, for both ends; if it was made at the sender, these are the sender's own.
//! Nothing is invented that no packet shows, with one exception: the trace's congestion window is the data in flight, which it
//! was never below.

use super::distribution::Samples;
use super::flow::Flow;
use super::headers::Segment;
use super::retransmission::Episode;
use super::stream::{Counts, Stream};
use super::window::Doing;
use super::{Only, Unreadable, follow};
use crate::{End, Meta, Record, Trace};
use base::{Bytes, Duration, Instant, SeqRange};
use std::io::Read;
use trace::{BlockClass, ConnId, EpisodeCause, Event, FlagLetters, Limit, SendCause, TimerKind};
use wire::Flags;

/// Reads a capture again for one of its flows, by the number that [`super::analyze_only`] assigned with the same choice; returns `None` if the flow does
/// not exist. The end that sends more comes first.
///
/// # Errors
/// As [`super::analyze`].
pub fn records(file: impl Read, only: &Only, flow: u64) -> Result<Option<Trace>, Unreadable> {
    let mut writer = Writer::default();
    let analysis = follow(file, only, |table, at, segment| {
        if let Some(one) = table.newest().filter(|one| one.id == flow) {
            writer.on_segment(at, one, segment);
        }
    })?;
    let Some(report) = analysis.flows.iter().find(|report| report.flow == flow) else { return Ok(None) };
    let mut ends = [(0, &report.client), (1, &report.server)].map(|(conn, name)| End { conn, name: name.clone() });
    if report.sender == "server" {
        ends.reverse();
    }
    let meta = Meta {
        vocabulary: trace::VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arm: format!("flow {flow}: {} to {}", ends[0].name, ends[1].name),
        iteration: 1,
        ends: ends.to_vec(),
        ..Meta::default()
    };
    Ok(Some(Trace { meta, records: writer.records }))
}

/// What was known of a stream at the last packet.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    counts: Counts,
    samples: u64,
    doing: Doing,
    episode: Episode,
    in_flight: u64,
}

impl Known {
    fn of(stream: &Stream) -> Self {
        Self {
            counts: stream.counts,
            samples: stream.rtt.count(),
            doing: stream.window.shares.doing(),
            episode: stream.episode(),
            in_flight: stream.in_flight(),
        }
    }
}

#[derive(Debug, Default)]
struct Writer {
    records: Vec<Record>,
    began: Option<u64>,
    known: [Known; 2],
}

impl Writer {
    fn on_segment(&mut self, at: u64, flow: &Flow, segment: &Segment) {
        let began = *self.began.get_or_insert(at);
        let at = Instant::from_nanos(at.saturating_sub(began));
        let side = flow.side(segment);
        let now = [0, 1].map(|side: usize| Known::of(&flow.streams[side]));
        let tcp = &segment.tcp;
        let (flags, blocks) = (FlagLetters::of(tcp.control_bits()), tcp.options.sack.as_slice());
        let is_fin = tcp.flags.contains(Flags::FIN);
        let window = flow.streams[1 - side].window.now.min(u64::from(Bytes::MAX)) as Bytes;
        let (cause, retransmit) = cause(&self.known[side], &now[side], segment);
        let reported = now[1 - side].counts.dsacks > self.known[1 - side].counts.dsacks;
        let dsack = blocks.first().copied().filter(|_| reported);
        let (seq, ack, count) = (tcp.seq, tcp.ack, blocks.len() as u8);
        let len = segment.payload_len + u32::from(is_fin);
        let sent = Event::SegmentSent { seq, len, flags, ack, window, cause, retransmit, blocks: count, dsack };
        let received = Event::SegmentReceived { seq, len: segment.payload_len, flags, ack, window, blocks: count };
        self.push(at, side, sent);
        self.episode(at, side, &now[side]);
        self.push(at, 1 - side, received);
        self.acknowledged(at, 1 - side, segment, dsack, &now[1 - side], &flow.streams[1 - side].rtt);
        for side in [0, 1] {
            if now[side].doing != self.known[side].doing {
                self.push(at, side, Event::Limited { by: limit(now[side].doing) });
            }
        }
        self.known = now;
    }

    fn push(&mut self, at: Instant, side: usize, event: Event) {
        self.records.push(Record { at, conn: ConnId(side as u32), event });
    }

    /// Handles a retransmission that begins a recovery, perhaps because a timer fired.
    fn episode(&mut self, at: Instant, side: usize, now: &Known) {
        let before = self.known[side];
        if now.counts.timeouts > before.counts.timeouts {
            self.push(at, side, Event::TimerFired { kind: TimerKind::Retransmit });
        }
        let label = |episode| match episode {
            Episode::None => trace::Episode::Open,
            Episode::Fast { .. } => trace::Episode::Recovery,
            Episode::Timeout { .. } => trace::Episode::Loss,
        };
        let (from, to) = (label(before.episode), label(now.episode));
        if from != to && now.episode != Episode::None {
            let by_timeout = to == trace::Episode::Loss;
            let cause = if by_timeout { EpisodeCause::Timeout } else { EpisodeCause::DupThresh };
            self.push(at, side, Event::EpisodeChanged { from, to, cause, point: None });
        }
    }

    /// What an acknowledgement says to the end that it reaches.
    fn acknowledged(
        &mut self,
        at: Instant,
        side: usize,
        segment: &Segment,
        dsack: Option<SeqRange>,
        now: &Known,
        rtt: &Samples,
    ) {
        let Some(ack) = segment.tcp.ack else { return };
        let before = self.known[side];
        for (index, &range) in segment.tcp.options.sack.as_slice().iter().enumerate() {
            let class = if index == 0 && dsack.is_some() { BlockClass::Dsack } else { BlockClass::Sack };
            self.push(at, side, Event::BlockReceived { range, class });
        }
        let sample = (now.samples > before.samples).then(|| Duration::from_nanos(rtt.latest()));
        let bytes = |bytes: u64| bytes.min(u64::from(Bytes::MAX)) as Bytes;
        let acked = bytes(before.in_flight.saturating_sub(now.in_flight));
        if acked > 0 || sample.is_some() || dsack.is_some() {
            let pipe = bytes(now.in_flight);
            let done = Event::AckProcessed { ack, acked, sacked: 0, lost: 0, dsack, rtt: sample, pipe, cwnd: pipe };
            self.push(at, side, done);
        }
        if let (Some(sample), Some(srtt), Some(min)) = (sample, rtt.smoothed(), rtt.min()) {
            let [srtt, rttvar, min_rtt] = [srtt, rtt.variation(), min].map(Duration::from_nanos);
            let rto = srtt + rttvar * 4;
            self.push(at, side, Event::RttUpdated { sample, srtt, rttvar, rto, min_rtt });
        }
        if before.episode != Episode::None && now.episode == Episode::None {
            let is_fast = matches!(before.episode, Episode::Fast { .. });
            let from = if is_fast { trace::Episode::Recovery } else { trace::Episode::Loss };
            let cause = EpisodeCause::Acknowledged;
            self.push(at, side, Event::EpisodeChanged { from, to: trace::Episode::Open, cause, point: None });
        }
    }
}

/// Returns why a segment left, in the trace's terms, and whether it repeats earlier data.
fn cause(before: &Known, now: &Known, segment: &Segment) -> (SendCause, u8) {
    let (was, is) = (&before.counts, &now.counts);
    let is_first = before.episode == Episode::None;
    let rose = |count: fn(&Counts) -> u64| count(is) > count(was);
    match () {
        () if segment.tcp.flags.contains(Flags::RST) => (SendCause::Reset, 0),
        () if segment.tcp.flags.contains(Flags::SYN) => (SendCause::Syn, 0),
        () if rose(|counts| counts.fast) => {
            (if is_first { SendCause::FastRetransmit } else { SendCause::SackRetransmit }, 1)
        }
        () if rose(|counts| counts.tail_probes) => (SendCause::TailProbe, 1),
        () if rose(|counts| counts.timeouts) || rose(|counts| counts.after_timeouts) => (SendCause::Timeout, 1),
        () if rose(|counts| counts.window_probes) => (SendCause::WindowProbe, 1),
        () if rose(|counts| counts.unexplained) => (SendCause::Additional, 1),
        () if rose(|counts| counts.keep_alives) => (SendCause::KeepAlive, 0),
        () if rose(|counts| counts.data_packets) => (SendCause::New, 0),
        () => (SendCause::Ack, 0),
    }
}

fn limit(doing: Doing) -> Limit {
    match doing {
        Doing::WindowLimited | Doing::WindowClosed => Limit::Rwnd,
        Doing::Recovering | Doing::WaitingForTimer => Limit::Recovery,
        Doing::Idle => Limit::Application,
        // The congestion window, pacing or the application: packets do not show which.
        Doing::Sending => Limit::Undetermined,
        Doing::Nothing => Limit::Nothing,
    }
}
