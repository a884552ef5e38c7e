//! Hosts that do not run for a while.

use base::{Duration, Instant, Rate};
use longhaul_sim::{FlowSpec, Outcome, Pause, Scenario, Workload, run};
use netem::{Buffer, PathSpec};
use tcp::Config;
use trace::{ConnId, Event, Observer};

/// 3 MB over 24 Mbit/s and 20 ms: about a second.
fn scenario() -> Scenario {
    let delay = Duration::from_millis(10);
    let forward =
        PathSpec { rate: Rate::from_bits_per_sec(24_000_000), buffer: Buffer::Bytes(60_000), ..PathSpec::ideal(delay) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(delay));
    let config = Config::default().validate().expect("the default is valid");
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(3_000_000)));
    scenario
}

/// Times at which an end sent, in milliseconds.
#[derive(Debug, Default)]
struct Sent([Vec<u64>; 2]);

impl Observer for Sent {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Event::SegmentSent { .. } = event {
            let node = usize::from(conn.0 >= longhaul_sim::CONN_IDS_PER_NODE);
            self.0[node].push(at.as_nanos() / 1_000_000);
        }
    }
}

fn watch(scenario: &Scenario) -> (Sent, Outcome) {
    let mut sent = Sent::default();
    let outcome = run(scenario, &mut sent).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
    (sent, outcome)
}

fn pause(from: u64, length: u64) -> Vec<Pause> {
    vec![Pause { from: Duration::from_millis(from), length: Duration::from_millis(length) }]
}

#[test]
fn a_host_that_pauses_sends_nothing_meanwhile_and_goes_on() {
    let sends = |sent: &[u64]| sent.iter().any(|at| (300..400).contains(at));
    let (plain, at_once) = watch(&scenario());
    assert!(sends(&plain.0[0]) && sends(&plain.0[1]), "without a pause both send all the time");
    for (node, other) in [(0, 1), (1, 0)] {
        let mut scenario = scenario();
        let pauses = if node == 0 { &mut scenario.client_pauses } else { &mut scenario.server_pauses };
        *pauses = pause(300, 100);
        let (sent, late) = watch(&scenario);
        assert!(!sends(&sent.0[node]), "{:?}", sent.0[node]);
        assert!(sent.0[other].iter().any(|at| (300..330).contains(at)), "the other end does not pause");
        assert!(late.virtual_time > at_once.virtual_time);
    }
}

#[test]
fn a_first_flight_that_waits_delays_data_and_not_the_handshake() {
    let mut scenario = scenario();
    scenario.forward.first_flight = Duration::from_millis(50);
    let (sent, _) = watch(&scenario);
    assert_eq!(sent.0[1][..2], [10, 80], "the SYN-ACK at once, the first ACK of data after 20 + 50 + 10 ms");
}
