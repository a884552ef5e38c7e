//! What a run comes to: totals of one connection, and what limited its sender for how long.

use base::{Duration, Instant};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Display;
use trace::{ConnId, DropCause, Episode, Event, Limit, Moved, Observer, SendCause, State};

/// Totals of a transfer, as its two ends saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// From the first SYN to the last event, nanoseconds.
    pub observed_ns: u64,
    /// From the first SYN until the sender's connection was open, nanoseconds.
    pub handshake_ns: u64,
    /// What the sender sent, by what made it leave: see `cause` of `SegmentSent`.
    #[serde(serialize_with = "by_name")]
    pub sent: BTreeMap<SendCause, Count>,
    /// Of these, what was sent for a second time or more, by the same.
    #[serde(serialize_with = "by_name")]
    pub retransmitted: BTreeMap<SendCause, Count>,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u64,
    /// Recoveries that began without one.
    pub recoveries: u64,
    /// Episodes that were proven spurious and undone.
    pub undone: u64,
    /// Segments marked lost, and how many of them had been retransmitted before.
    pub lost: u64,
    /// Retransmissions among them.
    pub lost_again: u64,
    /// Round-trip times that the sender measured.
    pub rtt: Option<Spread>,
    /// Duplicate reports (D-SACK).
    pub dsacks: Dsacks,
    /// Times the sender saw reordering.
    pub reorderings: u64,
    /// Its largest extent, bytes.
    pub reordering_extent: u64,
    /// What the emulated network did to the sender's packets.
    pub network: NetworkCounts,
    /// What limited the sender, in order of weight.
    pub limited: Limited,
}

/// Segments and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub segments: u64,
    /// Sequence numbers they occupy.
    pub bytes: u64,
}

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub samples: u64,
    /// The least.
    pub min_ns: u64,
    /// Half of them are not longer, to a microsecond.
    pub median_ns: u64,
    /// The greatest.
    pub max_ns: u64,
}

/// Duplicate reports on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dsacks {
    /// Left the receiver.
    pub sent: u64,
    /// Recognised by the sender.
    pub recognised: u64,
}

/// The fate of packets in an emulated network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NetworkCounts {
    /// Dropped, by cause.
    #[serde(serialize_with = "by_name")]
    pub dropped: BTreeMap<DropCause, u64>,
    /// Reordered packets, by direction.
    #[serde(serialize_with = "by_name")]
    pub reordered: BTreeMap<Moved, u64>,
    /// Peak number of waiting bytes.
    pub max_backlog: u64,
}

/// What limited the sender from the opening of its connection until its last byte was acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limited {
    /// That time, nanoseconds.
    pub total_ns: u64,
    /// How much of it by what, in order of weight.
    pub shares: Vec<Share>,
}

/// A part of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// See `by` of `Limited`.
    #[serde(serialize_with = "name")]
    pub by: Limit,
    /// Nanoseconds.
    pub ns: u64,
    /// In per cent of the whole.
    pub percent: f64,
}

/// Writes a label by its name.
fn name<S: Serializer>(label: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(label)
}

/// Writes values under the names of their labels.
fn by_name<S: Serializer>(values: &BTreeMap<impl Display, impl Serialize>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(values.iter().map(|(label, value)| (label.to_string(), value)))
}

/// Observes a run and computes totals.
#[derive(Clone, Debug)]
pub struct Summarizer {
    sender: ConnId,
    receiver: ConnId,
    summary: Summary,
    began: Option<Instant>,
    last: Instant,
    opened: Option<Instant>,
    /// What limits the sender, and since when.
    limit: Option<(Limit, Instant)>,
    /// Time by limit up to the last acknowledgement of new data, and since then.
    settled: BTreeMap<Limit, Duration>,
    unsettled: Vec<(Limit, Duration)>,
    sent: Causes,
    again: Causes,
    /// Samples by microsecond.
    rtts: BTreeMap<u64, u64>,
}

/// A short list, so that a linear search is fast.
type Causes = Vec<(SendCause, Count)>;

impl Summarizer {
    /// For a transfer between two ends.
    pub fn new(sender: ConnId, receiver: ConnId) -> Self {
        Self {
            sender,
            receiver,
            summary: Summary::default(),
            began: None,
            last: Instant::ZERO,
            opened: None,
            limit: None,
            settled: BTreeMap::new(),
            unsettled: Vec::new(),
            sent: Vec::new(),
            again: Vec::new(),
            rtts: BTreeMap::new(),
        }
    }

    /// What it came to.
    pub fn finish(mut self) -> Summary {
        let began = self.began.unwrap_or(self.last);
        self.summary.observed_ns = self.last.since(began).as_nanos();
        self.summary.handshake_ns = self.opened.map_or(0, |opened| opened.since(began).as_nanos());
        self.summary.sent = self.sent.into_iter().collect();
        self.summary.retransmitted = self.again.into_iter().collect();
        if let Some(rtt) = &mut self.summary.rtt {
            rtt.median_ns = median_us(&self.rtts) * 1_000;
            rtt.median_ns = rtt.median_ns.clamp(rtt.min_ns, rtt.max_ns);
        }
        self.summary.limited = limited(&self.settled);
        self.summary
    }

    fn of_sender(&mut self, at: Instant, event: &Event) {
        let summary = &mut self.summary;
        match *event {
            Event::StateChanged { to: State::Established, .. } => {
                self.opened.get_or_insert(at);
                self.limit.get_or_insert((Limit::Nothing, at));
            }
            Event::SegmentSent { len, cause, retransmit, .. } => {
                count(&mut self.sent, cause, len);
                if retransmit > 0 {
                    count(&mut self.again, cause, len);
                }
            }
            Event::SackReceived { dsacks, .. } => summary.dsacks.recognised += u64::from(dsacks),
            Event::EpisodeChanged { to, .. } => {
                summary.recoveries += u64::from(to == Episode::Recovery);
                summary.timeouts += u64::from(to == Episode::Loss);
            }
            Event::Undone { .. } => summary.undone += 1,
            Event::SegmentLost { retransmits, .. } => {
                summary.lost += 1;
                summary.lost_again += u64::from(retransmits > 0);
            }
            Event::RttUpdated { sample, .. } => self.on_rtt(sample),
            Event::ReorderingSeen { max_extent, .. } => {
                summary.reorderings += 1;
                summary.reordering_extent = max_extent.into();
            }
            Event::HopQueued { backlog } => summary.network.max_backlog = summary.network.max_backlog.max(backlog),
            Event::HopDropped { cause, .. } => *summary.network.dropped.entry(cause).or_default() += 1,
            Event::HopReordered { how, .. } => *summary.network.reordered.entry(how).or_default() += 1,
            Event::Limited { by } => self.on_limit(at, by),
            Event::AckProcessed { acked: 1.., .. } => self.settle(at),
            _ => {}
        }
    }

    fn on_rtt(&mut self, sample: Duration) {
        let ns = sample.as_nanos();
        let rtt = self.summary.rtt.get_or_insert(Spread { min_ns: ns, ..Spread::default() });
        rtt.samples += 1;
        (rtt.min_ns, rtt.max_ns) = (rtt.min_ns.min(ns), rtt.max_ns.max(ns));
        *self.rtts.entry(ns / 1_000).or_default() += 1;
    }

    fn on_limit(&mut self, at: Instant, by: Limit) {
        if let Some((limit, since)) = self.limit {
            self.unsettled.push((limit, at.since(since)));
        }
        self.limit = Some((by, at));
    }

    /// Handles an acknowledgement of new data: the time up to now counts.
    fn settle(&mut self, at: Instant) {
        let Some((limit, _)) = self.limit else { return };
        self.on_limit(at, limit);
        for (limit, span) in self.unsettled.drain(..) {
            *self.settled.entry(limit).or_default() += span;
        }
    }
}

fn count(causes: &mut Causes, cause: SendCause, bytes: u32) {
    let known = causes.iter().position(|(known, _)| *known == cause);
    let at = known.unwrap_or_else(|| {
        causes.push((cause, Count::default()));
        causes.len() - 1
    });
    causes[at].1.segments += 1;
    causes[at].1.bytes += u64::from(bytes);
}

fn median_us(samples: &BTreeMap<u64, u64>) -> u64 {
    let half = samples.values().sum::<u64>().div_ceil(2);
    let mut seen = 0;
    let found = samples.iter().find(|(_, count)| {
        seen += **count;
        seen >= half
    });
    found.map_or(0, |(us, _)| *us)
}

fn limited(spent: &BTreeMap<Limit, Duration>) -> Limited {
    let total_ns: u64 = spent.values().map(|span| span.as_nanos()).sum();
    let of = |span: Duration| span.as_nanos() as f64 * 100.0 / total_ns as f64;
    let spent = spent.iter().filter(|(_, span)| !span.is_zero());
    let mut shares: Vec<Share> =
        spent.map(|(by, span)| Share { by: *by, ns: span.as_nanos(), percent: of(*span) }).collect();
    shares.sort_by_key(|share| core::cmp::Reverse(share.ns));
    Limited { total_ns, shares }
}

impl Observer for Summarizer {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.began.get_or_insert(at);
        self.last = at;
        if conn == self.sender {
            self.of_sender(at, &event);
        } else if conn == self.receiver
            && let Event::SegmentSent { dsack: Some(_), .. } = event
        {
            self.summary.dsacks.sent += 1;
        }
    }
}

#[cfg(test)]
mod tests;
