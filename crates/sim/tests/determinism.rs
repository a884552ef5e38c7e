//! The same scenario gives the same bits: the whole trace, line by line, and the outcome.

use base::{Duration, Rate, Ratio};
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, Jitter, JitterKind, LossSpec, PathSpec, ReorderSpec};
use tcp::Config;
use trace::TextSink;

fn rough(seed: u64) -> Scenario {
    let percent = |num| Ratio::new(num, 100).unwrap();
    let forward = PathSpec {
        rate: Rate::from_bits_per_sec(20_000_000),
        buffer: Buffer::Packets(40),
        jitter: Some(Jitter { max: Duration::from_micros(500), kind: JitterKind::KeepOrder }),
        loss: LossSpec::Bernoulli(percent(1)),
        reorder: ReorderSpec::Late { probability: percent(1), extra: Duration::from_millis(5) },
        duplicate: percent(1),
        ..PathSpec::ideal(Duration::from_millis(15))
    };
    let reverse = PathSpec { loss: LossSpec::Bernoulli(percent(1)), ..PathSpec::ideal(Duration::from_millis(15)) };
    let mut scenario = Scenario::new(seed, forward, reverse);
    let config = Config::default().validate().unwrap();
    for start in [0, 40, 80] {
        let flow = FlowSpec::new(config.clone(), config.clone(), Workload::Bytes(300_000));
        scenario.flows.push(FlowSpec { start: Duration::from_millis(start), ..flow });
    }
    scenario
}

fn trace_of(scenario: &Scenario) -> (String, Outcome) {
    let mut sink = TextSink::default();
    let outcome = run(scenario, &mut sink).unwrap_or_else(|failure| panic!("{failure}"));
    (sink.0, outcome)
}

#[test]
fn the_same_scenario_gives_the_same_trace_and_outcome() {
    let ((first, first_outcome), (second, second_outcome)) = (trace_of(&rough(3)), trace_of(&rough(3)));
    assert!(first_outcome.forward.dropped.total() > 0 && first.lines().count() > 1_000);
    if let Some((line, (a, b))) = first.lines().zip(second.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("line {line} differs:\n{a}\n{b}");
    }
    assert_eq!(first.len(), second.len());
    assert_eq!(first_outcome, second_outcome);
}

#[test]
fn another_seed_gives_another_trace() {
    assert_ne!(trace_of(&rough(3)).0, trace_of(&rough(4)).0);
}
