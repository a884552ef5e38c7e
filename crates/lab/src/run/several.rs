//! A run of several flows, flow by flow: what each got, and which of them a trace holds.

use crate::plan::RunSpec;
use crate::run::backend::RunFailure;
use crate::run::flows::{Order, flows};
use crate::run::observed::{Names, meta};
use base::Instant;
use serde::Serialize;
use sim::{Direction, FlowOutcome};
use std::collections::BTreeMap;
use tcp::TcpInfo;
use trace::{ConnId, Event, Observer, PacketSent};
use trace_io::{End, Meta};

/// What one flow got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowResult {
    /// The word of its group, `arm` or a profile; behind it a number from one, if several flows have it, and `back`, if it sends the other
    /// way.
    pub name: String,
    /// When it starts, nanoseconds from the start of the run.
    pub start_ns: u64,
    /// Payload that its receiving application read in the window, bytes.
    pub bytes: u64,
    /// Of what all flows in the path's direction read in the window, millionths; `None` for a flow that sends the other way.
    pub share_ppm: Option<u64>,
    /// Payload sent in the whole run, retransmissions included, bytes; `None` if it did not get through.
    pub bytes_sent: Option<u64>,
    /// Payload of it that was sent again, bytes.
    pub bytes_retransmitted: Option<u64>,
    /// Its packets that the paths dropped in the whole run, in either direction.
    pub dropped: u64,
    /// Sender and receiver as traces name them, if it got through.
    #[serde(skip)]
    pub ends: Option<[ConnId; 2]>,
    /// Which of the groups it belongs to, from zero.
    #[serde(skip)]
    pub group: usize,
    #[serde(skip)]
    port: u16,
}

/// Makes a run of several flows in the given order, unobserved, and returns what each flow got, in the order of the groups. Datagrams are
/// no flows.
///
/// # Errors
/// When the ends are not a profile, or a checker finds an error.
pub fn each_flow(spec: &RunSpec) -> Result<Vec<FlowResult>, RunFailure> {
    let made = flows(spec, Order::Given)?;
    let outcome = sim::run(&made.scenario, &mut trace::Off).map_err(|failure| RunFailure(failure.to_string()))?;
    let company = &spec.point.company;
    let [from, until] =
        [company.window.from, company.window.until].map(|time| (time.as_nanos() / 1_000_000_000) as usize);
    let read = |flow: &FlowOutcome| flow.bins.iter().take(until).skip(from).sum::<u64>();
    let is_forward = |group: usize| company.groups[group].direction == Direction::Forward;
    let along = outcome.flows.iter().zip(&made.group_of).filter(|(_, group)| is_forward(**group));
    let all: u64 = along.map(|(flow, _)| read(flow)).sum();
    let names = names(made.group_of.iter().map(|group| (company.groups[*group].profile.word(), is_forward(*group))));
    let each = outcome.flows.iter().zip(&made.scenario.flows).zip(&made.group_of).zip(names).enumerate();
    let each = each.map(|(index, (((flow, planned), group), name))| {
        let counted = |count: fn(&TcpInfo) -> u64| flow.sender.info.as_ref().map(count);
        FlowResult {
            name,
            start_ns: planned.start.as_nanos(),
            bytes: read(flow),
            share_ppm: is_forward(*group).then(|| millionths(read(flow), all)),
            bytes_sent: counted(|info| info.counters.bytes_sent),
            bytes_retransmitted: counted(|info| info.counters.bytes_retransmitted),
            dropped: flow.dropped,
            ends: flow.sender.conn.zip(flow.receiver.conn).map(|(sender, receiver)| [sender, receiver]),
            group: *group,
            port: sim::server_port(index),
        }
    });
    Ok(each.collect())
}

fn millionths(part: u64, all: u64) -> u64 {
    let parts = (u128::from(part) * 1_000_000).checked_div(u128::from(all)).unwrap_or(0);
    u64::try_from(parts).unwrap_or(u64::MAX)
}

/// Numbers words that occur several times in one direction, and says which flows send the other way.
fn names<'w>(words: impl Iterator<Item = (&'w str, bool)> + Clone) -> Vec<String> {
    let (mut all, mut so_far) = (BTreeMap::<(&'w str, bool), u32>::new(), BTreeMap::<(&'w str, bool), u32>::new());
    words.clone().for_each(|word| *all.entry(word).or_default() += 1);
    let name = |word: (&'w str, bool)| {
        let (text, is_forward) = word;
        let number = so_far.entry(word).or_default();
        *number += 1;
        let number = if all[&word] == 1 { String::new() } else { format!(" {number}") };
        format!("{text}{number}{}", if is_forward { "" } else { " back" })
    };
    words.map(name).collect()
}

/// Returns the `most` flows that a trace holds, in their order: the first of each group, then the second of each, and so on. Flows that did
/// not get through have no events.
pub fn traced(flows: &[FlowResult], most: usize) -> Vec<&FlowResult> {
    let mut so_far = BTreeMap::<usize, usize>::new();
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    for (index, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.ends.is_some()) {
        let rank = so_far.entry(flow.group).or_default();
        ranked.push((*rank, index));
        *rank += 1;
    }
    ranked.sort_unstable();
    let mut chosen: Vec<usize> = ranked.into_iter().take(most).map(|(_, index)| index).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|index| &flows[index]).collect()
}

/// Returns what is known of a run in advance, with the ends of these flows.
pub fn meta_of(names: &Names, run: &RunSpec, traced: &[&FlowResult]) -> Meta {
    let ends =
        traced.iter().filter_map(|flow| Some((&flow.name, flow.ends?))).flat_map(|(name, [sender, receiver])| {
            [(sender, "sender"), (receiver, "receiver")]
                .map(|(conn, end)| End { conn: conn.0, name: format!("{name} {end}") })
        });
    Meta { ends: ends.collect(), ..meta(names, run) }
}

/// Passes on what happens to some of the flows.
#[derive(Debug)]
pub struct Only<O> {
    inner: O,
    /// Ends, in order.
    conns: Vec<ConnId>,
    ports: Vec<u16>,
}

impl<O> Only<O> {
    /// Passes on to `inner` what happens to these flows.
    pub fn new(traced: &[&FlowResult], inner: O) -> Self {
        let mut conns: Vec<ConnId> = traced.iter().filter_map(|flow| flow.ends).flatten().collect();
        conns.sort_unstable();
        Self { inner, conns, ports: traced.iter().map(|flow| flow.port).collect() }
    }

    /// Returns the other observer.
    pub fn into_inner(self) -> O {
        self.inner
    }
}

impl<O: Observer> Observer for Only<O> {
    const ENABLED: bool = O::ENABLED;
    const PACKETS: bool = O::PACKETS;
    fn is_on(&self) -> bool {
        self.inner.is_on()
    }
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if self.conns.binary_search(&conn).is_ok() {
            self.inner.record(at, conn, event);
        }
    }
    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        if ports(packet.header).is_some_and(|ports| ports.iter().any(|port| self.ports.contains(port))) {
            self.inner.packet(at, packet);
        }
    }
}

/// Returns both ports of an IP header (RFC 791 §3.1, or RFC 8200 §3 without extensions) with a TCP header behind it.
fn ports(header: &[u8]) -> Option<[u16; 2]> {
    let behind = if header.first()? >> 4 == 4 { usize::from(header[0] & 15) * 4 } else { 40 };
    let ports = header.get(behind..behind + 4)?;
    Some([u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run::simulate;
    use crate::spec;
    use crate::spec::Overrides;

    fn run(company: &str) -> RunSpec {
        let mut experiment = spec::builtin("wan").unwrap();
        let set = [company, "flow.window=1s..4s", "path.rtt=20ms", "path.rate=10Mbit"].map(str::to_owned).to_vec();
        experiment.apply(&Overrides { set, iterations: Some(1), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap().runs[0].clone()
    }

    #[test]
    fn each_flow_has_its_share_and_all_shares_are_one() {
        let run = run("flow.company=arm x2 + linux start=500ms + linux direction=back start=1s");
        let flows = each_flow(&run).unwrap();
        let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!(names, ["arm 1", "arm 2", "linux", "linux back"]);
        let shares: Vec<Option<u64>> = flows.iter().map(|flow| flow.share_ppm).collect();
        let sum: u64 = shares.iter().flatten().sum();
        assert!(shares[3].is_none() && (999_990..=1_000_000).contains(&sum), "{shares:?}");
        // Those of the arm together are what comparisons count.
        let measured = simulate(&run, &mut trace::Off).unwrap();
        assert_eq!(measured.bytes, flows[0].bytes + flows[1].bytes);
        let of_arm = shares[0].unwrap() + shares[1].unwrap();
        assert!(measured.company.unwrap().share_ppm.abs_diff(of_arm) <= 2);
        assert_eq!(flows[2].start_ns, 500_000_000);
    }

    #[test]
    fn a_trace_takes_turns_between_groups_and_holds_nothing_else() {
        let run = run("flow.company=arm x3 + linux x3 start=500ms");
        let flows = each_flow(&run).unwrap();
        let chosen = traced(&flows, 4);
        let names: Vec<&str> = chosen.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!(names, ["arm 1", "arm 2", "linux 1", "linux 2"]);
        assert_eq!(traced(&flows, 100).len(), 6);
        let mut only = Only::new(&chosen, Vec::new());
        simulate(&run, &mut only).unwrap();
        let events: Vec<(Instant, ConnId, Event)> = only.into_inner();
        let mut seen: Vec<ConnId> = events.iter().map(|(_, conn, _)| *conn).collect();
        seen.sort_unstable();
        seen.dedup();
        let mut ends: Vec<ConnId> = chosen.iter().filter_map(|flow| flow.ends).flatten().collect();
        ends.sort_unstable();
        assert_eq!(seen, ends);
        let of_one = |conn: ConnId| events.iter().filter(move |(_, of, _)| *of == conn);
        let [sender, receiver] = chosen[3].ends.unwrap();
        let drops =
            of_one(sender).chain(of_one(receiver)).filter(|(_, _, event)| matches!(event, Event::HopDropped { .. }));
        assert_eq!(drops.count() as u64, chosen[3].dropped, "the events are those of the flow that has the name");
        let meta = meta_of(&Names::default(), &run, &chosen);
        assert_eq!((meta.ends[7].name.as_str(), meta.ends[7].conn), ("linux 2 receiver", receiver.0));
    }

    #[test]
    fn both_ports_are_found_behind_either_header() {
        let mut four = [0; 24];
        (four[0], four[20], four[21], four[23]) = (0x45, 1, 2, 3);
        assert_eq!(ports(&four), Some([258, 3]));
        let mut six = [0; 44];
        (six[0], six[40], six[41], six[43]) = (0x60, 1, 2, 3);
        assert_eq!(ports(&six), Some([258, 3]));
        assert_eq!((ports(&[]), ports(&[0x45; 12])), (None, None));
    }
}
