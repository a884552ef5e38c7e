//! The flows of a trace, each of which becomes a run of the viewer, and how much of each arrived when.

use crate::model::Table;
use std::collections::BTreeMap;
use trace_io::{ConnId, Meta, Trace};

/// How the name of an end says that it sends (`ends` of [`Meta`]).
const SENDER: &str = " sender";
/// How the name of a flow says that its data goes the other way.
const BACK: &str = " back";

/// One flow of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub sender: ConnId,
    pub receiver: Option<ConnId>,
    /// What distinguishes it; `None` for the only one.
    pub name: Option<String>,
    /// Whose packets tell of the queue that it fills.
    pub queue_of: Vec<ConnId>,
    /// How many flows ahead of it is the one that shows this queue; zero for itself.
    pub queue_before: usize,
}

/// Returns the flows of a trace, at least one.
pub(crate) fn flows(trace: &Trace) -> Vec<Flow> {
    let Meta { ends, arm, .. } = &trace.meta;
    let conn = |index: usize| ends.get(index).map(|end| ConnId(end.conn));
    if ends.len() <= 2 {
        let first = trace.records.first().map(|record| record.conn);
        let sender = conn(0).or(first).unwrap_or_default();
        return vec![Flow { sender, receiver: conn(1), queue_of: vec![sender], ..Flow::default() }];
    }
    let all: Vec<(&str, ConnId)> = ends
        .iter()
        .step_by(2)
        .map(|end| (end.name.strip_suffix(SENDER).unwrap_or(&end.name), ConnId(end.conn)))
        .collect();
    let is_back = |name: &str| name.ends_with(BACK);
    let each = all.iter().enumerate().map(|(index, &(name, sender))| {
        let beside = |other: &&(&str, ConnId)| is_back(other.0) == is_back(name);
        let first = all.iter().position(|other| beside(&other)).unwrap_or(index);
        let name = if is_of_arm(name) { format!("{arm} ({name})") } else { name.to_owned() };
        let queue_of = all.iter().filter(beside).map(|(_, sender)| *sender).collect();
        Flow { sender, receiver: conn(2 * index + 1), name: Some(name), queue_of, queue_before: index - first }
    });
    each.collect()
}

fn is_of_arm(name: &str) -> bool {
    name == "arm" || name.starts_with("arm ")
}

/// Length of the bins in which bytes are collected, microseconds, and of those that are shown: the first that a trace lasts ten of.
const COLLECTED: u64 = 10_000;
const SHOWN: [u64; 3] = [1_000_000, 100_000, COLLECTED];

/// Bytes by the time at which they were acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivered(BTreeMap<u64, u64>);

impl Delivered {
    pub fn add(&mut self, at: u64, bytes: u64) {
        *self.0.entry(at / COLLECTED).or_default() += bytes;
    }

    /// Fills a table with the rate in each bin until `end`, bits per second. A last bin that is not whole is left out.
    pub fn fill(&self, end: u64, table: &mut Table) {
        let width = SHOWN.into_iter().find(|width| end >= width * 10).unwrap_or(COLLECTED);
        let mut bins = BTreeMap::<u64, u64>::new();
        for (bin, bytes) in &self.0 {
            *bins.entry(bin * COLLECTED / width).or_default() += bytes;
        }
        bins.retain(|bin, _| (bin + 1) * width <= end);
        for (bin, bytes) in &bins {
            table.step(bin * width, [bytes * 8 * 1_000_000 / width]);
            if !bins.contains_key(&(bin + 1)) && (bin + 2) * width <= end {
                table.step((bin + 1) * width, [0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;
    use trace_io::End;

    fn trace(ends: &[(u32, &str)]) -> Trace {
        let ends = ends.iter().map(|&(conn, name)| End { conn, name: name.to_owned() }).collect();
        Trace { meta: Meta { arm: "linux".to_owned(), ends, ..Meta::default() }, ..Trace::default() }
    }

    #[test]
    fn one_flow_has_no_name_and_several_share_the_queue_of_their_direction() {
        let one = flows(&trace(&[(3, "sender"), (8, "receiver")]));
        let alone = Flow { sender: ConnId(3), receiver: Some(ConnId(8)), queue_of: vec![ConnId(3)], ..Flow::default() };
        assert_eq!((one, flows(&trace(&[])).len()), (vec![alone], 1));
        let names =
            ["arm sender", "arm receiver", "linux back sender", "linux back receiver", "reno sender", "reno receiver"];
        let ends: Vec<(u32, &str)> = (10..).zip(names).collect();
        let several = flows(&trace(&ends));
        let names: Vec<&str> = several.iter().filter_map(|flow| flow.name.as_deref()).collect();
        assert_eq!(names, ["linux (arm)", "linux back", "reno"]);
        let queues: Vec<(&[ConnId], usize)> =
            several.iter().map(|flow| (flow.queue_of.as_slice(), flow.queue_before)).collect();
        let (along, back) = ([ConnId(10), ConnId(14)], [ConnId(12)]);
        assert_eq!(queues, [(&along[..], 0), (&back[..], 0), (&along[..], 2)]);
        assert_eq!(several[2].receiver, Some(ConnId(15)));
    }

    #[test]
    fn rates_are_of_whole_bins_and_silence_is_zero() {
        let rates = |end: u64| {
            let mut delivered = Delivered::default();
            for (at, bytes) in [(100_000, 1_000), (900_000, 1_500), (3_000_000, 125_000), (10_400_000, 9)] {
                delivered.add(at, bytes);
            }
            let mut table = Table::new(&[("v", Unit::Rate)]);
            delivered.fill(end, &mut table);
            let [times, rates] = table.columns() else { panic!("two columns") };
            times.values.iter().copied().zip(rates.values.iter().copied()).collect::<Vec<_>>()
        };
        let long = [(0, 20_000), (1_000_000, 0), (3_000_000, 1_000_000), (4_000_000, 0)];
        assert_eq!(rates(10_500_000), long);
        assert_eq!(rates(1_000_000), [(100_000, 80_000), (200_000, 0), (900_000, 120_000)]);
        assert_eq!(rates(0), []);
    }
}
