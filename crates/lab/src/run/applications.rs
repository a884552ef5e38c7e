//! What applications noticed of a run with several flows: how long transfers took, how long pings waited, what datagrams lost. In whole
//! units, so that results are the same everywhere.

use crate::run::ideal::ideal_time;
use crate::spec::{Group, Point, Work};
use base::{Duration, Instant};
use serde::{Deserialize, Serialize};
use sim::{DatagramOutcome, Delays, FlowOutcome, Piece};

/// Declares numbers of a run that may be absent, and their mean. The text behind the name begins the names of their columns.
macro_rules! results {
    ($(#[doc = $what:literal])* $result:ident $prefix:literal $($name:ident $said:literal;)*) => {
        $crate::run::columns::recorded! {
            prefix $prefix;
            $(#[doc = $what])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            pub struct $result {
                $(
                    #[doc = $said]
                    #[serde(default, skip_serializing_if = "Option::is_none")]
                    pub $name: Option<u64>,
                )*
            }
        }

        impl $result {
            /// The mean of two runs, rounded down. What one of them lacks, the mean lacks.
            pub(crate) fn mean_with(&self, other: &Self) -> Self {
                let both = |one: Option<u64>, other: Option<u64>| Some(u64::midpoint(one?, other?));
                Self { $($name: both(self.$name, other.$name),)* }
            }
        }
    };
}
pub(crate) use results;

results! {
    /// What applications noticed; each is `None` where nothing of its kind took part.
    ApplicationResult ""
    pieces "Transfers that began in the window and ended.";
    pieces_open "Transfers that began in it and did not end within the run.";
    completion_p50_us "Time that transfers took, microseconds: half of them no longer.";
    completion_p90_us "90 of 100.";
    completion_p99_us "99 of 100.";
    slowdown_p50_milli "That time in thousandths of the shortest that the path allows: half of them no longer.";
    slowdown_p90_milli "90 of 100.";
    slowdown_p99_milli "99 of 100.";
    ping_p50_us "Round trips of pings beyond the path's, microseconds: half of them no longer.";
    ping_p95_us "95 of 100.";
    ping_p99_us "99 of 100.";
    pings "Pings whose echo came, or that the path dropped.";
    pings_lost "Those that it dropped.";
    datagrams "Datagrams that arrived, or that the path dropped.";
    datagrams_lost "Those that it dropped.";
    wait_max_us "Longest wait of a packet in the window at the bottleneck, microseconds.";
    filled_s "First second of the run in which the flows read 95 of 100 of what full packets carry.";
    alone_bytes "What the arm's flows read in the window without the others.";
    others_bytes "What the others read in the window.";
    others_alone_bytes "What the others read in it without the arm's flows.";
    arm_wait_us "How long packets of the arm's flows waited in the window, with `flow.harm`, microseconds: 95 of 100 no longer.";
    arm_alone_wait_us "The same without the others.";
    others_wait_us "The same of the others' packets.";
    others_alone_wait_us "The same without the arm's flows.";
    ping_alone_p95_us "Round trips of pings beyond the path's without the arm's flows, microseconds: 95 of 100 no longer.";
}

/// A transfer: how long it took, and the shortest time that the path allows, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Took {
    ns: u64,
    ideal_ns: u64,
}

/// The transfers of some flows that began in the window.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    done: Vec<Took>,
    open: u64,
}

impl Transfers {
    /// Adds those of a flow.
    pub(crate) fn add(&mut self, point: &Point, seed: u64, group: &Group, flow: &FlowOutcome) {
        let window = point.company.window;
        for Piece { asked, bytes, done } in &flow.pieces {
            if !(window.from..window.until).contains(&asked.since(Instant::ZERO)) {
                continue;
            }
            match done {
                Some(at) => {
                    let ideal = ideal(point, seed, group, *bytes).as_nanos();
                    self.done.push(Took { ns: at.since(*asked).as_nanos(), ideal_ns: ideal });
                }
                None => self.open += 1,
            }
        }
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.open == 0
    }

    /// Writes them down.
    pub(crate) fn note(self, result: &mut ApplicationResult) {
        if self.is_empty() {
            return;
        }
        let sorted = |of: fn(&Took) -> u64| {
            let mut all: Vec<u64> = self.done.iter().map(of).collect();
            all.sort_unstable();
            all
        };
        let times = sorted(|took| took.ns / 1_000);
        let slowdowns = sorted(|took| took.ns.saturating_mul(1_000) / took.ideal_ns.max(1));
        [result.completion_p50_us, result.completion_p90_us, result.completion_p99_us] =
            [50, 90, 99].map(|percent| quantile(&times, percent));
        [result.slowdown_p50_milli, result.slowdown_p90_milli, result.slowdown_p99_milli] =
            [50, 90, 99].map(|percent| quantile(&slowdowns, percent));
        (result.pieces, result.pieces_open) = (Some(self.done.len() as u64), Some(self.open));
    }
}

/// The order statistic of rank ⌈n · percent / 100⌉.
fn quantile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// The shortest time that the path allows a transfer of this group.
fn ideal(point: &Point, seed: u64, group: &Group, bytes: u64) -> Duration {
    let path = point.over(group.hops).into_owned();
    let path = Point { rtt: path.rtt + group.own_rtt, ..path };
    let (with_handshake, rtt) = (ideal_time(&path, seed, bytes), path.whole_rtt());
    match Work::of(group) {
        // The connection is there; a request takes half a round trip.
        Ok(Work::Requests { .. }) => with_handshake.saturating_sub(rtt / 2),
        Ok(Work::Repeated { .. }) => with_handshake.saturating_sub(rtt),
        _ => with_handshake,
    }
}

/// Writes down what came of datagrams and pings.
pub(crate) fn note_datagrams(flows: &[(&DatagramOutcome, &Group)], result: &mut ApplicationResult) {
    let sum = |of: fn(&DatagramOutcome) -> u64, pings: bool| -> Option<u64> {
        let is_meant = |group: &Group| matches!(Work::of(group), Ok(Work::Pings { .. })) == pings;
        let meant = flows.iter().filter(|(_, group)| is_meant(group)).map(|(flow, _)| of(flow));
        meant.reduce(|sum, count| sum + count)
    };
    (result.pings, result.pings_lost) =
        (sum(|flow| flow.received + flow.dropped, true), sum(|flow| flow.dropped, true));
    (result.datagrams, result.datagrams_lost) =
        (sum(|flow| flow.received + flow.dropped, false), sum(|flow| flow.dropped, false));
    let mut waits = Delays::default();
    flows.iter().for_each(|(flow, _)| waits.merge(&flow.waits));
    [result.ping_p50_us, result.ping_p95_us, result.ping_p99_us] =
        [50, 95, 99].map(|percent| waits.quantile_us(percent));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use sim::EndOutcome;

    fn point(company: &str) -> Point {
        let mut point = Point::default();
        let set = [("path.rate", "12Mbit"), ("path.rtt", "40ms"), ("flow.company", company), ("flow.window", "1s..9s")];
        for (key, value) in set {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        point
    }

    fn flow(pieces: &[(u64, Option<u64>)]) -> FlowOutcome {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let piece = |(asked, done): &(u64, Option<u64>)| Piece { asked: at(*asked), bytes: 14_600, done: done.map(at) };
        FlowOutcome {
            started: Instant::ZERO,
            last_read: None,
            bytes_written: 0,
            bytes_read: 0,
            bins: Vec::new(),
            pieces: pieces.iter().map(piece).collect(),
            dropped: 0,
            queue: Vec::new(),
            waits: Delays::default(),
            sender: EndOutcome::default(),
            receiver: EndOutcome::default(),
        }
    }

    fn result(company: &str, pieces: &[(u64, Option<u64>)]) -> ApplicationResult {
        let (point, mut transfers, mut result) = (point(company), Transfers::default(), ApplicationResult::default());
        transfers.add(&point, 1, &point.company.groups[0], &flow(pieces));
        transfers.note(&mut result);
        result
    }

    #[test]
    fn a_transfer_is_compared_with_the_shortest_time_that_the_path_allows() {
        // Ten packets at 12 Mbit/s take 10 ms; handshake, data and half a round trip together 70 ms.
        let slowdown = |company| result(company, &[(1_000, Some(1_140))]).slowdown_p50_milli;
        assert_eq!(slowdown("arm arrivals=1/s sizes=14600B"), Some(2_000));
        assert_eq!(slowdown("arm arrivals=1/s sizes=14600B rtt=40ms"), Some(140_000 / 130));
        assert_eq!(slowdown("arm app=request sizes=14600B"), Some(140_000 / 50));
        assert_eq!(slowdown("arm bytes=14600B every=1s"), Some(140_000 / 30));
    }

    #[test]
    fn transfers_count_that_begin_in_the_window() {
        let all = [(999, Some(1_001)), (1_000, Some(1_100)), (2_000, Some(2_300)), (8_000, None), (9_000, Some(9_001))];
        let found = result("arm bytes=14600B every=1s", &all);
        assert_eq!((found.pieces, found.pieces_open), (Some(2), Some(1)));
        assert_eq!((found.completion_p50_us, found.completion_p99_us), (Some(100_000), Some(300_000)));
        assert_eq!(result("arm bytes=14600B every=1s", &[]), ApplicationResult::default());
    }

    #[test]
    fn quantiles_are_order_statistics() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!([50, 90, 99].map(|percent| quantile(&hundred, percent)), [Some(50), Some(90), Some(99)]);
        assert_eq!((quantile(&[7], 50), quantile(&[7, 8], 99), quantile(&[], 50)), (Some(7), Some(8), None));
    }

    #[test]
    fn pings_and_datagrams_are_counted_apart() {
        let groups = point("arm + ping every=1s + datagrams pace=1Mbit").company.groups;
        let outcome = |received, dropped| DatagramOutcome { received, dropped, ..DatagramOutcome::default() };
        let (ping, stream) = (outcome(9, 1), outcome(300, 100));
        let mut result = ApplicationResult::default();
        note_datagrams(&[(&ping, &groups[1]), (&stream, &groups[2])], &mut result);
        assert_eq!((result.pings, result.pings_lost), (Some(10), Some(1)));
        assert_eq!((result.datagrams, result.datagrams_lost), (Some(400), Some(100)));
        let mut none = ApplicationResult::default();
        note_datagrams(&[], &mut none);
        assert_eq!(none, ApplicationResult::default());
    }
}
