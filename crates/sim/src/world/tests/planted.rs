//! Faults planted on purpose: each silences a flow for good, and the world has to end as stalled whatever its limit is.
//!
//! A second flow goes on all the time, or the world would run out of events, which is noticed without any limit.

use super::*;
use crate::access::FIRST_PORT;
use crate::stall_limit;
use crate::workload::App;
use netem::{DropCause, HopKind};
use tcp::TimerKind;
use test_case::test_case;
use wire::Flags;

/// The damage done after each step.
type Tamper = fn(&mut Topology);

/// Flow 0 is to stall; flow 1 writes a little every second for an hour.
fn world(change: impl FnOnce(&mut Scenario)) -> Scenario {
    let server = config(|config| config.receive.window = ReceiveWindowConfig::Fixed { bytes: 8_000 });
    let mut scenario = scenario(FlowSpec { server, ..flow(Workload::Bytes(60_000)) });
    let writer = AppPace::Chunks { bytes: 10, every: Duration::from_secs(1) };
    scenario.flows.push(FlowSpec { writer, ..flow(Workload::Bytes(36_000)) });
    change(&mut scenario);
    // An audit of each step would find a lost timer at once.
    scenario.audit = AuditSchedule::EpisodeEdges;
    scenario.stall_after = stall_limit(&scenario);
    scenario
}

fn lose_timers(topology: &mut Topology, kinds: &[TimerKind]) {
    let node = &mut topology.nodes[0];
    if let Some(conn) = node.apps[0].end().conn() {
        kinds.iter().for_each(|kind| node.stack.lose_timer(conn, *kind));
        node.deadline = node.stack.next_deadline().unwrap_or(Instant::MAX);
    }
}

/// The first timeout is served, but no timer is armed for another.
fn retransmission_timer_is_lost(topology: &mut Topology) {
    let node = &topology.nodes[0];
    let info = node.apps[0].end().outcome(&node.stack).info;
    if info.is_some_and(|info| info.counters.timeouts > 0) {
        lose_timers(topology, &[TimerKind::Retransmit, TimerKind::TailProbe, TimerKind::Reorder]);
    }
}

fn syn_timer_is_lost(topology: &mut Topology) {
    lose_timers(topology, &[TimerKind::Retransmit]);
}

fn persist_timer_is_lost(topology: &mut Topology) {
    lose_timers(topology, &[TimerKind::Persist]);
}

fn reader_is_not_woken(topology: &mut Topology) {
    if let App::Receiver(receiver) = &mut topology.nodes[1].apps[0] {
        receiver.oversleep();
    }
    topology.nodes[1].apps.note(0);
}

fn writer_is_not_woken(topology: &mut Topology) {
    if let App::Sender(sender) = &mut topology.nodes[0].apps[0] {
        sender.oversleep();
    }
    topology.nodes[0].apps.note(0);
}

fn nothing(_: &mut Topology) {}

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketFault {
    /// All packets of a flight, once.
    Flight,
    /// Every FIN.
    Fins,
    /// After the window was closed, every ACK that announces an open one.
    Updates,
    /// Every SYN.
    Syns,
}

/// A path on which the packets of flow 0 meet a fault.
#[derive(Debug)]
struct Faulty {
    fault: PacketFault,
    closed: bool,
    packets: u32,
}

impl Hop<Parcel> for Faulty {
    fn offer(&mut self, now: Instant, packet: Parcel, _rng: &mut Rng) -> Offer<Parcel> {
        let (_, tcp) = wire::parse(packet.header(), packet.payload_len()).expect("what leaves is well-formed");
        if !packet.ports().contains(&FIRST_PORT) {
            return Offer::Forwards(now + DELAY, packet);
        }
        self.packets += 1;
        // A sender does not fill a window of less than a segment.
        self.closed |= tcp.window < 1_460;
        let lost = match self.fault {
            // All packets except the handshake, and some of the retransmissions.
            PacketFault::Flight => (3..13).contains(&self.packets),
            PacketFault::Fins => tcp.flags.contains(Flags::FIN),
            PacketFault::Updates => self.closed && tcp.window >= 1_460,
            PacketFault::Syns => tcp.flags.contains(Flags::SYN),
        };
        if lost { Offer::Dropped(packet, DropCause::Loss) } else { Offer::Forwards(now + DELAY, packet) }
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}

/// The link that has the fault.
type OnLink = Option<(usize, PacketFault)>;
const DATA: usize = 0;
const ACKS: usize = 1;

fn as_it_is(_: &mut Scenario) {}
fn slow_reader(scenario: &mut Scenario) {
    scenario.flows[0].reader = AppPace::Chunks { bytes: 8_000, every: Duration::from_secs(20) };
}
fn slow_writer(scenario: &mut Scenario) {
    scenario.flows[0].writer = AppPace::Chunks { bytes: 5_000, every: Duration::from_secs(1) };
}
/// The queue may drop packets, which makes the limit the longest of all.
fn with_queue(scenario: &mut Scenario) {
    (scenario.forward.rate, scenario.forward.buffer) = (Rate::from_bits_per_sec(10_000_000), Buffer::Packets(20));
}

#[test_case(as_it_is, Some((DATA, PacketFault::Flight)), retransmission_timer_is_lost; "the retransmission timer is not armed again")]
#[test_case(as_it_is, Some((DATA, PacketFault::Fins)), retransmission_timer_is_lost; "the FIN is lost and does not leave again")]
#[test_case(slow_reader, Some((ACKS, PacketFault::Updates)), persist_timer_is_lost; "persist never fires")]
#[test_case(as_it_is, Some((DATA, PacketFault::Syns)), syn_timer_is_lost; "the SYN does not leave again")]
#[test_case(slow_reader, None, reader_is_not_woken; "the reader is not woken")]
#[test_case(slow_writer, None, writer_is_not_woken; "the writer is not woken")]
fn a_planted_fault_ends_as_a_stall(change: fn(&mut Scenario), fault: OnLink, tamper: Tamper) {
    for also in [as_it_is as fn(&mut Scenario), with_queue] {
        let scenario = world(|scenario| {
            change(scenario);
            also(scenario);
        });
        let healthy = run_broken(&scenario, None, nothing);
        assert_eq!(healthy, Ok(()), "nothing is wrong with the world itself");
        let cause = run_broken(&scenario, fault, tamper).expect_err("the fault is found");
        let limit = scenario.stall_after;
        assert!(matches!(cause, Cause::Stalled { flow: 0, idle, .. } if idle >= limit), "{cause:?}, limit {limit}");
    }
}

fn run_broken(scenario: &Scenario, fault: OnLink, tamper: Tamper) -> Result<(), Cause> {
    let mut topology = Topology::new(scenario);
    if let Some((link, fault)) = fault {
        let hop = Faulty { fault, closed: false, packets: 0 };
        topology.links[link].path = Path::new(vec![Box::new(hop)], &Rng::new(1));
    }
    World::new(topology, scenario, &mut Off).run_with(tamper).map(drop)
}
