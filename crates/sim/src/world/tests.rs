//! Small worlds, and their expected results.

mod planted;

use super::*;
use crate::scenario::{AppPace, AuditSchedule, BurstLimit, Carriage, FlowSpec, IpVersion, Workload};
use crate::{BudgetSpec, Resource};
use base::{Duration, Rate, Rng};
use netem::{Buffer, Hop, HopKind, LossSpec, Offer, Path, PathSpec};
use tcp::config::{NagleConfig, ReceiveWindowConfig};
use tcp::{CloseReason, Config, ValidConfig};
use test_case::test_case;
use trace::{Off, TextSink};

const DELAY: Duration = Duration::from_millis(10);

fn config(change: impl FnOnce(&mut Config)) -> ValidConfig {
    let mut config = Config::default();
    change(&mut config);
    config.validate().unwrap()
}

fn flow(workload: Workload) -> FlowSpec {
    FlowSpec::new(config(|_| {}), config(|_| {}), workload)
}

/// One flow over 10 ms each way, audited after every step.
fn scenario(flow: FlowSpec) -> Scenario {
    let mut scenario = Scenario::new(1, PathSpec::ideal(DELAY), PathSpec::ideal(DELAY));
    scenario.audit = AuditSchedule::EveryStep;
    scenario.flows.push(flow);
    scenario
}

fn with_bottleneck(mut scenario: Scenario) -> Scenario {
    scenario.forward.rate = Rate::from_bits_per_sec(10_000_000);
    scenario.forward.buffer = Buffer::Packets(20);
    scenario
}

fn losing(indices: &[u64], mut scenario: Scenario) -> Scenario {
    scenario.forward.loss = LossSpec::Mask(indices.to_vec());
    scenario
}

fn finish(scenario: &Scenario) -> Outcome {
    run(scenario, &mut Off).unwrap_or_else(|failure| panic!("{failure}\n{scenario:?}"))
}

fn fail(scenario: &Scenario) -> Cause {
    run(scenario, &mut Off).expect_err("this must not come to a good end").cause
}

#[test]
fn one_byte_is_read_after_one_and_a_half_round_trips() {
    let outcome = finish(&scenario(flow(Workload::Bytes(1))));
    assert_eq!(outcome.flows[0].elapsed(), Some(DELAY * 3));
    assert!(outcome.flows[0].is_complete());
}

#[test_case(0; "nothing")]
#[test_case(1_460; "one segment")]
#[test_case(1_000_000; "many")]
fn everything_written_is_read(bytes: u64) {
    for ip in [IpVersion::V4, IpVersion::V6] {
        let outcome = finish(&Scenario { ip, ..with_bottleneck(scenario(flow(Workload::Bytes(bytes)))) });
        assert_eq!(outcome.flows[0].bytes_read, bytes);
        assert!(outcome.flows[0].is_complete());
    }
}

#[test]
fn a_flow_for_some_time_closes_when_it_is_over() {
    let workload = Workload::For(Duration::from_secs(2));
    let small_buffer = config(|config| config.send.buffer = 60_000);
    let flow = FlowSpec { client: small_buffer, start: Duration::from_secs(1), ..flow(workload) };
    let flow = &finish(&with_bottleneck(scenario(flow))).flows[0];
    assert_eq!(flow.started, Instant::ZERO + Duration::from_secs(1));
    let elapsed = flow.elapsed().unwrap();
    assert!(elapsed > Duration::from_secs(2) && elapsed < Duration::from_millis(2_200), "{elapsed}");
    // 10 Mbit/s for two seconds, less headers and slow start.
    assert!(flow.is_complete() && flow.bytes_read > 2_000_000, "{flow:?}");
}

#[test_case(0; "the SYN")]
#[test_case(1; "the ACK of the handshake")]
#[test_case(2; "the first data segment")]
#[test_case(3; "the second data segment")]
#[test_case(4; "the FIN or what carries it")]
fn any_single_loss_is_repaired(index: u64) {
    let outcome = finish(&losing(&[index], scenario(flow(Workload::Bytes(2_000)))));
    assert!(outcome.flows[0].is_complete());
    assert_eq!(outcome.forward.dropped.total(), 1);
}

#[test]
fn a_writer_that_pauses_for_longer_than_a_stall_is_not_stalled() {
    let writer = AppPace::Chunks { bytes: 1_000, every: Duration::from_secs(1_000) };
    let outcome = finish(&scenario(FlowSpec { writer, ..flow(Workload::Bytes(3_000)) }));
    assert!(outcome.flows[0].is_complete() && outcome.virtual_time > Duration::from_secs(2_000));
}

#[test_case(10, 10 => true; "a bucket at once")]
#[test_case(11, 10 => false; "a segment more")]
#[test_case(64, 10 => false; "a large initial window")]
#[test_case(64, 64 => true; "in a larger bucket")]
fn what_leaves_at_once_has_to_fit_the_bucket(initial_window: u32, segments: u32) -> bool {
    let client = config(|config| config.cc.initial_window = cc::InitialWindow::plain(initial_window));
    let window = u64::from(initial_window) * 1_460;
    let mut scenario = scenario(FlowSpec { client, ..flow(Workload::Bytes(window)) });
    scenario.burst_limit = Some(BurstLimit { slow_start_percent: 200, avoidance_percent: 125, segments });
    match run(&scenario, &mut Off) {
        Ok(_) => true,
        Err(failure) => {
            assert!(matches!(failure.cause, Cause::Burst { flow: 0, .. }), "{failure}");
            false
        }
    }
}

#[test]
fn an_unreachable_server_is_given_up() {
    let outcome = finish(&losing(&(0..100).collect::<Vec<_>>(), scenario(flow(Workload::Bytes(1)))));
    assert_eq!(outcome.flows[0].sender.closed, Some(CloseReason::TimedOut));
    assert_eq!((outcome.flows[0].receiver.closed, outcome.flows[0].bytes_read), (None, 0));
}

fn slow_reader(bytes: u64, every: Duration) -> Scenario {
    let server = config(|config| config.receive.window = ReceiveWindowConfig::Fixed { bytes: 8_000 });
    let reader = AppPace::Chunks { bytes, every };
    scenario(FlowSpec { server, reader, ..flow(Workload::Bytes(60_000)) })
}

#[test]
fn a_slow_reader_closes_the_window_and_gets_everything() {
    let mut sink = TextSink::default();
    let outcome = run(&slow_reader(8_000, Duration::from_secs(20)), &mut sink).unwrap();
    assert!(outcome.flows[0].is_complete());
    assert!(sink.0.contains("window=0,"), "the window was never closed");
    assert!(sink.0.contains("TimerFired{kind=persist}"), "no probe of the closed window");
}

#[test]
fn a_slow_writer_with_nagle_off_sends_what_it_wrote() {
    let client = config(|config| config.send.nagle = NagleConfig::Off);
    let writer = AppPace::Chunks { bytes: 100, every: Duration::from_millis(50) };
    let outcome = finish(&scenario(FlowSpec { client, writer, ..flow(Workload::Bytes(1_000)) }));
    // Ten chunks, the first one when the connection is established.
    assert_eq!(outcome.flows[0].elapsed(), Some(DELAY * 3 + Duration::from_millis(450)));
}

fn trace_of(scenario: &Scenario) -> (String, Outcome) {
    let mut sink = TextSink::default();
    let outcome = run(scenario, &mut sink).unwrap();
    (sink.0, outcome)
}

#[test]
fn bytes_and_their_description_give_the_same_trace() {
    let lossy = |carriage| {
        // A growing buffer would depend on the number of pieces in which it is read.
        let server = config(|config| config.receive.window = ReceiveWindowConfig::Fixed { bytes: 200_000 });
        let flow = FlowSpec { carriage, server, ..flow(Workload::Bytes(300_000)) };
        losing(&[5, 9, 40], with_bottleneck(scenario(flow)))
    };
    let (described, bytes) = (trace_of(&lossy(Carriage::Described)), trace_of(&lossy(Carriage::Bytes)));
    if let Some((one, other)) = described.0.lines().zip(bytes.0.lines()).find(|(one, other)| one != other) {
        panic!("the first lines that differ:\n{one}\n{other}");
    }
    assert_eq!(described.0.len(), bytes.0.len());
    assert_eq!(described.1.forward, bytes.1.forward);
}

#[test]
fn watching_changes_nothing() {
    let scenario = losing(&[5, 9, 40], with_bottleneck(scenario(flow(Workload::Bytes(300_000)))));
    assert_eq!(trace_of(&scenario).1, finish(&scenario));
}

#[test]
fn lost_packets_are_reported_under_their_senders_connection() {
    let mut scenario = losing(&[20, 21, 22, 60, 61, 62], with_bottleneck(scenario(flow(Workload::Bytes(300_000)))));
    scenario.flows.push(flow(Workload::Bytes(300_000)));
    scenario.reverse.loss = LossSpec::Mask(vec![30]);
    let mut events: Vec<(Instant, ConnId, Event)> = Vec::new();
    let outcome = run(&scenario, &mut events).unwrap();
    let lost = |events: &[(Instant, ConnId, Event)], conn: u32| {
        let of_conn = |event: &&(Instant, ConnId, Event)| event.1 == ConnId(conn);
        events.iter().filter(of_conn).filter(|(_, _, event)| matches!(event, Event::HopDropped { .. })).count() as u64
    };
    let servers = crate::CONN_IDS_PER_NODE;
    let by_conn = [0, 1, servers, servers + 1].map(|conn| lost(&events, conn));
    assert_eq!(by_conn[0] + by_conn[1], outcome.forward.dropped.total());
    assert_eq!(by_conn[2] + by_conn[3], 1);
    let ends = outcome.flows.iter().map(|flow| [&flow.sender, &flow.receiver].map(|end| end.conn.map(|conn| conn.0)));
    assert_eq!(ends.collect::<Vec<_>>(), [[Some(0), Some(servers)], [Some(1), Some(servers + 1)]]);
    assert!(by_conn[0] > 0 && by_conn[1] > 0, "{by_conn:?}");
}

#[test]
fn a_reader_that_falls_asleep_is_a_stall() {
    let cause = fail(&slow_reader(8_000, Duration::from_secs(301)));
    assert!(matches!(cause, Cause::Stalled { flow: 0, idle, .. } if idle >= Duration::from_secs(300)), "{cause:?}");
}

#[test]
fn a_spent_budget_has_a_name() {
    let mut scenario = with_bottleneck(scenario(flow(Workload::Bytes(1_000_000))));
    scenario.budget = BudgetSpec { steps: 50, ..BudgetSpec::default() };
    assert_eq!(fail(&scenario), Cause::BudgetExhausted { what: Resource::Steps });
    scenario.budget = BudgetSpec { virtual_time: DELAY, ..BudgetSpec::default() };
    assert_eq!(fail(&scenario), Cause::BudgetExhausted { what: Resource::VirtualTime });
}

#[test]
fn quiet_means_that_time_wait_is_over() {
    let closed = scenario(flow(Workload::Bytes(1_000)));
    let quiet = Scenario { until: Until::Quiet, ..closed.clone() };
    let time_wait = closed.flows[0].client.timers.time_wait;
    assert!(finish(&quiet).virtual_time >= finish(&closed).virtual_time + time_wait.saturating_sub(DELAY * 2));
}

/// A hop that damages the payload of one packet.
#[derive(Debug)]
struct Damage {
    index: u64,
    next: u64,
}

impl Hop<Parcel> for Damage {
    fn offer(&mut self, now: Instant, mut packet: Parcel, _rng: &mut Rng) -> Offer<Parcel> {
        if self.next == self.index {
            packet.shift_payload(1);
        }
        self.next += 1;
        Offer::Forwards(now + DELAY, packet)
    }
    fn kind(&self) -> HopKind {
        HopKind::Loss
    }
}

#[test]
fn damaged_payload_is_found() {
    let scenario = scenario(flow(Workload::Bytes(100_000)));
    let mut topology = Topology::new(&scenario);
    topology.links[0].path = Path::new(vec![Box::new(Damage { index: 20, next: 0 })], &Rng::new(1));
    let failure = run_in(topology, &scenario, &mut Off).unwrap_err();
    assert!(matches!(failure.cause, Cause::Stream { flow: 0, .. }), "{failure}");
}
