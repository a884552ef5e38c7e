//! What is kept of a run beside its results: each flow, and what flows did second by second.

use crate::run::columns::recorded;
use crate::run::measured::{Counters, Measured};
use crate::spec::{Group, Point};
use base::{Duration, Instant};
use serde::{Deserialize, Serialize};
use sim::{Direction, FlowOutcome, Outcome};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::{ConnId, Event, Observer};

/// Most values of one run's series. Those of later seconds are left out.
pub const SERIES_ROWS: usize = 10_000;
/// Length of the pieces in which a series counts.
const SECOND: u64 = 1_000_000_000;

/// Which parts of a run are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Its results alone.
    #[default]
    Nothing,
    /// Its flows.
    Flows,
    /// Its flows, and their series.
    Series,
}

/// A run that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Its results.
    pub measured: Measured,
    /// Its flows, in the order of their groups.
    pub flows: Vec<FlowRow>,
    /// Its series, by second, then flow.
    pub series: Vec<SeriesRow>,
}

impl From<Measured> for Made {
    fn from(measured: Measured) -> Self {
        Self { measured, ..Self::default() }
    }
}

/// A flow of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Its group as experiments write it; of a run of one flow, `arm`.
    pub group: Arc<str>,
    /// Its numbers.
    pub result: FlowResult,
}

recorded! {
    prefix "";
    /// The numbers of a flow.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FlowResult {
        /// Which of the run's flows, from zero.
        pub flow: u32,
        /// Whether the arm is its sender.
        pub of_arm: bool,
        /// Whether its data go against the direction of the path.
        pub back: bool,
        /// When its first SYN left, from the start of the run.
        pub started_ns: u64,
        /// When its last byte was read, from the start of the run.
        pub last_read_ns: Option<u64>,
        /// Payload that the sending application handed over, bytes.
        pub bytes_written: u64,
        /// Payload that the receiving application read, bytes.
        pub bytes_read: u64,
        /// Whether all of it was read and both ends closed normally.
        pub complete: bool,
        /// Its packets that the path dropped, in either direction.
        pub dropped: u64,
        /// What its ends counted.
        pub counters: Counters,
    }
}

/// A value of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRow {
    /// Which of the run's flows, from zero.
    pub flow: u32,
    /// Counted from zero, from the start of the run.
    pub second: u32,
    /// What it says, with its unit.
    pub name: &'static str,
    /// The value.
    pub value: u64,
}

impl FlowRow {
    fn new(flow: u32, group: Option<&Group>, outcome: &FlowOutcome) -> Self {
        let ns = |at: Instant| at.since(Instant::ZERO).as_nanos();
        let ends = outcome.sender.info.as_ref().zip(outcome.receiver.info.as_ref());
        let counted = ends.map(|(sender, receiver)| Measured::of_profile(0, Duration::ZERO, sender, receiver));
        let result = FlowResult {
            flow,
            of_arm: group.is_none_or(Group::is_arm),
            back: group.is_some_and(|group| group.direction != Direction::Forward),
            started_ns: ns(outcome.started),
            last_read_ns: outcome.last_read.map(ns),
            bytes_written: outcome.bytes_written,
            bytes_read: outcome.bytes_read,
            complete: outcome.is_complete(),
            dropped: outcome.dropped,
            counters: counted.unwrap_or_default().counters(),
        };
        Self { group: group.map_or_else(|| "arm".into(), |group| group.to_string().into()), result }
    }
}

/// The flows of a run, and which connections are their senders.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    flows: Vec<FlowRow>,
    senders: BTreeMap<ConnId, u32>,
}

impl Kept {
    /// Takes the flows of a run; `group_of` says to which group of the point each belongs, where there are groups.
    pub(crate) fn note(&mut self, point: &Point, group_of: &[usize], outcome: &Outcome) {
        let mut names: BTreeMap<usize, Arc<str>> = BTreeMap::new();
        for (flow, found) in (0..).zip(&outcome.flows) {
            let number = group_of.get(flow as usize).copied();
            let mut row = FlowRow::new(flow, number.map(|number| &point.company.groups[number]), found);
            if let Some(number) = number {
                // Thousands of flows share a text.
                row.group = Arc::clone(names.entry(number).or_insert(row.group));
            }
            self.flows.push(row);
            self.senders.extend(found.sender.conn.map(|conn| (conn, flow)));
        }
    }

    /// Returns the run in parts.
    pub(crate) fn made(self, measured: Measured, seconds: Option<&Seconds>) -> Made {
        let series = seconds.map(|seconds| seconds.rows(&self.senders)).unwrap_or_default();
        Made { measured, flows: self.flows, series }
    }
}

/// One second of one end.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    sent: u64,
    acked: u64,
    cwnd: Option<u64>,
    srtt: Option<Duration>,
}

/// Counts by seconds what ends of flows do, as long as there is room.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    by_second: BTreeMap<(u32, ConnId), Second>,
}

impl Seconds {
    /// Returns the series of these senders.
    fn rows(&self, senders: &BTreeMap<ConnId, u32>) -> Vec<SeriesRow> {
        let of_second = |(&(second, conn), found): (&(u32, ConnId), &Second)| {
            let flow = *senders.get(&conn)?;
            let values = [
                ("acked_bytes", Some(found.acked)),
                ("cwnd_bytes", found.cwnd),
                ("sent_bytes", Some(found.sent)),
                ("srtt_ns", found.srtt.map(|srtt| srtt.as_nanos())),
            ];
            let row =
                move |(name, value): (&'static str, Option<u64>)| Some(SeriesRow { flow, second, name, value: value? });
            Some(values.into_iter().filter_map(row))
        };
        self.by_second.iter().filter_map(of_second).flatten().take(SERIES_ROWS).collect()
    }
}

impl Observer for Seconds {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        let second = u32::try_from(at.since(Instant::ZERO).as_nanos() / SECOND).unwrap_or(u32::MAX);
        let note: &dyn Fn(&mut Second) = match event {
            Event::SegmentSent { len, .. } if len > 0 => &move |now| now.sent += u64::from(len),
            Event::AckProcessed { acked, .. } if acked > 0 => &move |now| now.acked += u64::from(acked),
            Event::CcSnapshot { cwnd, .. } => &move |now| now.cwnd = Some(cwnd.into()),
            Event::RttUpdated { srtt, .. } => &move |now| now.srtt = Some(srtt),
            _ => return,
        };
        // Both ends of a flow have an entry, and each entry up to four values.
        if self.by_second.len() < SERIES_ROWS || self.by_second.contains_key(&(second, conn)) {
            note(self.by_second.entry((second, conn)).or_default());
        }
    }
}
