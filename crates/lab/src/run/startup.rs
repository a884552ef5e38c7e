//! What the start of a flow does to the path: its deepest queue and its losses before the first avoidance, its bursts, and how soon it
//! fills the path. The queue is the bottleneck's own account; the rest needs an observer, which costs a third of the speed, so that these
//! figures are measured on request only.
//!
//! In whole numbers, so that results are the same everywhere.

use crate::run::applications::results;
use crate::run::ideal::{IDEAL_PACKET, IDEAL_PAYLOAD};
use crate::spec::{Figure, Point};
use base::{Duration, Instant};
use serde::{Deserialize, Serialize};
use sim::{FlowOutcome, Outcome, PerFlow, Scenario};
use std::collections::{BTreeMap, VecDeque};
use trace::{ConnId, DropCause, Episode, Event, Observer, PacketSent, Phase};

/// Per cent of the window for each smoothed round trip at which the bucket of bursts fills: in slow start, and otherwise.
const FILLS: [u128; 2] = [200, 125];
/// Tokens per byte.
const FINE: u128 = 1 << 20;
/// Per cent of what full packets carry that count as the path's rate.
const FULL: u64 = 95;
/// Full packets that a measurement of the rate takes at least.
const FEWEST: u64 = 10;

results! {
    /// What the starts of the arm's flows did to the path; each is `None` where it did not happen or is unknown.
    StartUpResult "startup_"
    until_ns "From the first SYN sent until the first avoidance; of several flows the longest, `None` if one of them had none.";
    queue_bytes "Most bytes of one flow's packets that the bottleneck held before that; of several flows the most.";
    queue_packets "The flow's packets inside at that moment.";
    lost_bytes "Bytes of their packets that the path dropped before that, together.";
    burst_bytes "Largest excess over a bucket that fills at the sender's own pace, in the whole run; of several flows the largest.";
    full_rate_ns "From the first SYN sent until the path's rate is reached; of one flow alone.";
}

/// Returns whether the window grows with every acknowledgement, to find the path's rate, or what that has queued drains.
const fn is_slow_start(phase: Phase) -> bool {
    match phase {
        Phase::SlowStart | Phase::Jump | Phase::Css | Phase::Lss | Phase::Draining | Phase::Startup | Phase::Drain => {
            true
        }
        Phase::Reno | Phase::Cubic | Phase::Compound | Phase::Outside => false,
        Phase::ProbeDown | Phase::ProbeCruise | Phase::ProbeRefill | Phase::ProbeUp | Phase::ProbeRtt => false,
    }
}

/// Makes a run, and what was asked for of its start.
pub(crate) struct Watched<'o, O> {
    inner: &'o mut O,
    conns: BTreeMap<ConnId, Start>,
    /// Span and bytes of a measurement of the rate.
    rate: Option<(Duration, u64)>,
}

/// One end of a connection so far.
#[derive(Debug)]
struct Start {
    in_slow_start: bool,
    episode: Episode,
    avoidance: Option<Instant>,
    lost: u64,
    bucket: Bucket,
    arrivals: Arrivals,
}

impl Default for Start {
    fn default() -> Self {
        let (bucket, arrivals) = (Bucket::default(), Arrivals::default());
        Self { in_slow_start: true, episode: Episode::Open, avoidance: None, lost: 0, bucket, arrivals }
    }
}

/// What left beyond a sender's own pace: filled by what leaves, emptied at the pace.
#[derive(Debug, Default)]
struct Bucket {
    /// In units of 1 / [`FINE`] of a byte.
    level: u128,
    most: u128,
    at: Instant,
    cwnd: u64,
    srtt: Option<Duration>,
}

impl Bucket {
    /// Empties it until `now`, at the pace that was valid until then.
    fn drain(&mut self, now: Instant, in_slow_start: bool) {
        let Some(srtt) = self.srtt else { return };
        let percent = if in_slow_start { FILLS[0] } else { FILLS[1] };
        let elapsed = u128::from(now.since(self.at).as_nanos());
        let left = u128::from(self.cwnd) * percent * elapsed * FINE / (100 * u128::from(srtt.as_nanos().max(1)));
        self.level = self.level.saturating_sub(left);
        self.at = now;
    }

    /// Notes departing data. Before the first round-trip sample the sender has no pace.
    fn fill(&mut self, bytes: u32) {
        if self.srtt.is_some() {
            self.level += u128::from(bytes) * FINE;
            self.most = self.most.max(self.level);
        }
    }
}

/// What arrived within a span that ends now.
#[derive(Debug, Default)]
struct Arrivals {
    within: VecDeque<(Instant, u32)>,
    bytes: u64,
    full: Option<Instant>,
}

impl Arrivals {
    fn add(&mut self, now: Instant, len: u32, (span, enough): (Duration, u64)) {
        if self.full.is_some() {
            return;
        }
        self.within.push_back((now, len));
        self.bytes += u64::from(len);
        while let Some((_, gone)) = self.within.pop_front_if(|(at, _)| now.since(*at) >= span) {
            self.bytes -= u64::from(gone);
        }
        if self.bytes >= enough {
            self.full = Some(now);
        }
    }
}

impl Start {
    fn note(&mut self, now: Instant, event: &Event, rate: Option<(Duration, u64)>) {
        match *event {
            Event::SegmentSent { len, .. } if len > 0 => {
                self.bucket.drain(now, self.in_slow_start);
                self.bucket.fill(len);
            }
            Event::SegmentReceived { len, .. } if len > 0 => {
                if let Some(rate) = rate {
                    self.arrivals.add(now, len, rate);
                }
            }
            Event::HopDropped { len, cause, .. } if cause != DropCause::Thinned && self.avoidance.is_none() => {
                self.lost += u64::from(len);
            }
            Event::RttUpdated { srtt, .. } => {
                self.bucket.drain(now, self.in_slow_start);
                if self.bucket.srtt.replace(srtt).is_none() {
                    self.bucket.at = now;
                }
            }
            Event::CcSnapshot { phase, cwnd, .. } => {
                self.bucket.drain(now, self.in_slow_start);
                self.bucket.cwnd = u64::from(cwnd);
                self.in_slow_start = is_slow_start(phase);
                self.look(now);
            }
            Event::EpisodeChanged { to, .. } => {
                self.episode = to;
                self.look(now);
            }
            _ => {}
        }
    }

    /// Avoidance begins when slow start is over and no recovery is under way: one that ends slow start belongs to the start.
    fn look(&mut self, now: Instant) {
        if self.avoidance.is_none() && !self.in_slow_start && self.episode == Episode::Open {
            self.avoidance = Some(now);
        }
    }
}

impl<O: Observer> Observer for Watched<'_, O> {
    const PACKETS: bool = O::PACKETS;

    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.conns.entry(conn).or_default().note(at, &event, self.rate);
        if O::ENABLED && self.inner.is_on() {
            self.inner.record(at, conn, event);
        }
    }

    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        self.inner.packet(at, packet);
    }
}

/// Makes a run of the simulator, and measures the start of its flows, each by its index, if the cell asks for that.
pub(crate) fn run<O: Observer>(
    (scenario, point): (&Scenario, &Point),
    of_arm: impl Fn(usize) -> bool,
    observer: &mut O,
) -> Result<(Outcome, Option<StartUpResult>), sim::Failure> {
    if point.startup == Figure::Unknown {
        return Ok((sim::run(scenario, observer)?, None));
    }
    let scenario = Scenario { queues: PerFlow::On, ..scenario.clone() };
    let mut watched = Watched { inner: observer, conns: BTreeMap::new(), rate: full_rate(point) };
    let outcome = sim::run(&scenario, &mut watched)?;
    let each = outcome.flows.iter().enumerate().filter(|(index, _)| of_arm(*index));
    let each = each.map(|(_, flow)| watched.of_flow(flow)).reduce(|one, other| one.beside(&other));
    Ok((outcome, each))
}

/// Returns the span of a measurement of the rate, and the payload that has to arrive in it. A round trip, but at least the time of some
/// packets; `None` where the rate changes with time or several flows share it.
fn full_rate(point: &Point) -> Option<(Duration, u64)> {
    let is_steady = point.trace.is_none() && point.life.model.is_none() && !point.life.changes.of_rate();
    let span = point.rtt.max(point.rate.time_for(FEWEST * IDEAL_PACKET));
    let bytes = point.rate.bytes_in(span) / IDEAL_PACKET * IDEAL_PAYLOAD / 100 * FULL;
    (is_steady && point.company.is_empty()).then_some((span, bytes))
}

impl<O> Watched<'_, O> {
    fn of_flow(&self, flow: &FlowOutcome) -> StartUpResult {
        let of_end = |end: &sim::EndOutcome| end.conn.and_then(|conn| self.conns.get(&conn));
        let Some((sender, receiver)) = of_end(&flow.sender).zip(of_end(&flow.receiver)) else {
            return StartUpResult::default();
        };
        let since_start = |at: Instant| at.since(flow.started).as_nanos();
        let in_start = |at: Instant| sender.avoidance.is_none_or(|end| at <= end);
        let peak = flow.queue.iter().rev().find(|peak| in_start(peak.at));
        StartUpResult {
            until_ns: sender.avoidance.map(since_start),
            queue_bytes: Some(peak.map_or(0, |peak| peak.bytes)),
            queue_packets: Some(peak.map_or(0, |peak| peak.packets.into())),
            lost_bytes: Some(sender.lost),
            burst_bytes: Some(u64::try_from(sender.bucket.most / FINE).unwrap_or(u64::MAX)),
            full_rate_ns: receiver.arrivals.full.map(since_start),
        }
    }
}

impl StartUpResult {
    /// That of two flows; one that did not get through has nothing to say.
    fn beside(self, other: &Self) -> Self {
        if self.lost_bytes.is_none() {
            return *other;
        }
        if other.lost_bytes.is_none() {
            return self;
        }
        let deeper = if other.queue_bytes > self.queue_bytes { *other } else { self };
        Self {
            until_ns: self.until_ns.zip(other.until_ns).map(|(one, other)| one.max(other)),
            lost_bytes: self.lost_bytes.zip(other.lost_bytes).map(|(one, other)| one + other),
            burst_bytes: self.burst_bytes.max(other.burst_bytes),
            full_rate_ns: None,
            ..deeper
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SeqNum;
    use trace::{EpisodeCause, Hop, Phase};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn snapshot(phase: Phase, cwnd: u32) -> Event {
        Event::CcSnapshot { phase, cwnd, ssthresh: 0, pipe: 0, snd_wnd: 0, pacing: None }
    }

    fn rtt(ms: u64) -> Event {
        let span = Duration::from_millis(ms);
        Event::RttUpdated { sample: span, srtt: span, rttvar: span, rto: span, min_rtt: span }
    }

    fn episode(from: Episode, to: Episode) -> Event {
        Event::EpisodeChanged { from, to, cause: EpisodeCause::Timeout, point: None }
    }

    fn dropped(cause: DropCause) -> Event {
        Event::HopDropped { hop: Hop::Rate, cause, seq: SeqNum(0), len: 1_500 }
    }

    fn played(events: &[(u64, Event)]) -> Start {
        let mut start = Start::default();
        events.iter().for_each(|(ms, event)| start.note(at(*ms), event, None));
        start
    }

    #[test]
    fn a_recovery_that_ends_slow_start_belongs_to_the_start_and_so_do_its_losses() {
        let start = played(&[
            (0, snapshot(Phase::SlowStart, 10_000)),
            (10, dropped(DropCause::Tail)),
            (11, dropped(DropCause::Thinned)),
            (20, episode(Episode::Open, Episode::Recovery)),
            (20, snapshot(Phase::Cubic, 7_000)),
            (30, dropped(DropCause::Tail)),
            (40, episode(Episode::Recovery, Episode::Open)),
            (50, dropped(DropCause::Tail)),
        ]);
        assert_eq!((start.avoidance, start.lost), (Some(at(40)), 3_000));
    }

    #[test]
    fn a_timeout_in_slow_start_and_careful_phases_prolong_the_start() {
        let start = played(&[
            (0, snapshot(Phase::Css, 10_000)),
            (10, episode(Episode::Open, Episode::Loss)),
            (10, snapshot(Phase::SlowStart, 1_000)),
            (20, episode(Episode::Loss, Episode::Open)),
            (30, snapshot(Phase::Cubic, 9_000)),
        ]);
        assert_eq!(start.avoidance, Some(at(30)));
    }

    #[test]
    fn a_burst_is_what_exceeds_the_pace() {
        let mut bucket = Bucket::default();
        let send = |bucket: &mut Bucket, ms: u64, bytes: u32, in_slow_start: bool| {
            bucket.drain(at(ms), in_slow_start);
            bucket.fill(bytes);
            (bucket.level / FINE, bucket.most / FINE)
        };
        assert_eq!(
            send(&mut bucket, 0, 9_000, true),
            (0, 0),
            "the sender has no pace before its first round-trip sample"
        );
        (bucket.cwnd, bucket.srtt) = (10_000, Some(Duration::from_millis(100)));
        assert_eq!(send(&mut bucket, 0, 10_000, true), (10_000, 10_000));
        // 200 bytes a millisecond in slow start, 125 otherwise.
        assert_eq!(send(&mut bucket, 20, 1_000, true), (7_000, 10_000));
        assert_eq!(send(&mut bucket, 40, 6_500, false), (11_000, 11_000));
        assert_eq!(send(&mut bucket, 400, 500, false), (500, 11_000), "a bucket holds nothing below zero");
    }

    #[test]
    fn a_pace_counts_until_the_next_one_is_known() {
        let mut start = played(&[(0, snapshot(Phase::SlowStart, 10_000)), (0, rtt(100))]);
        start.bucket.fill(10_000);
        // 20 ms at 200 bytes each, 20 ms at 400.
        start.note(at(20), &rtt(50), None);
        start.note(at(40), &snapshot(Phase::Reno, 1), None);
        assert_eq!(start.bucket.level / FINE, 0);
        assert_eq!(start.bucket.most / FINE, 10_000);
    }

    #[test]
    fn the_rate_is_reached_when_enough_arrives_within_the_span() {
        let mut arrivals = Arrivals::default();
        let rate = (Duration::from_millis(10), 3_000);
        for ms in [0, 5, 10, 15, 19, 20] {
            arrivals.add(at(ms), 1_000, rate);
        }
        // Within ten milliseconds before 15 ms only two arrived: a span is open at its beginning.
        assert_eq!(arrivals.full, Some(at(19)));
    }

    #[test]
    fn of_several_flows_the_worst_counts_and_losses_add_up() {
        let flow = |until, queue, lost, burst| StartUpResult {
            until_ns: until,
            queue_bytes: Some(queue),
            queue_packets: Some(queue / 1_000),
            lost_bytes: Some(lost),
            burst_bytes: Some(burst),
            full_rate_ns: Some(1),
        };
        let (one, other) = (flow(Some(5), 3_000, 10, 70), flow(Some(9), 8_000, 20, 60));
        let both = StartUpResult { full_rate_ns: None, ..flow(Some(9), 8_000, 30, 70) };
        assert_eq!(one.beside(&other), both);
        assert_eq!(other.beside(&one), both);
        assert_eq!(one.beside(&flow(None, 1, 1, 1)).until_ns, None, "one of them is not over");
        assert_eq!((one.beside(&StartUpResult::default()), StartUpResult::default().beside(&one)), (one, one));
    }
}
