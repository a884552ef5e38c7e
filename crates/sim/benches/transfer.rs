//! Counts the instructions of a whole simulated transfer: the event queue, the network, and TCP on both ends.
//!
//! `cargo xtask bench` runs it. A thousand full segments cross a bottleneck that loses one packet in a hundred, so that the
//! repair paths run too.
#![expect(missing_docs, reason = "the macros make public items")]

use base::{Duration, Instant, Rate, Ratio};
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use longhaul_sim::{FlowSpec, Outcome, Scenario, Workload, run};
use netem::{Buffer, Jitter, JitterKind, LossSpec, PathSpec};
use std::hint::black_box;
use tcp::Config;
use trace::{ConnId, Event, Observer, Off};

/// Payload of a full segment, timestamps in its header.
const SEGMENT: u64 = 1_448;

fn scenario(segments: u64) -> Scenario {
    let (rtt, one_way) = (Duration::from_millis(25), Duration::from_micros(12_500));
    let rate = Rate::from_bits_per_sec(100_000_000).expect("not zero");
    let forward = PathSpec {
        rate: Some(rate),
        buffer: Buffer::bdp(rate, rtt),
        jitter: Some(Jitter { max: Duration::from_micros(100), kind: JitterKind::KeepOrder }),
        loss: LossSpec::Bernoulli(Ratio::new(1, 100).expect("not more than one")),
        ..PathSpec::ideal(one_way)
    };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(one_way));
    let config = Config::default().validate().expect("the default configuration is valid");
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(segments * SEGMENT)));
    scenario
}

/// Checks that the transfer had losses and repairs, and completed.
fn judge(outcome: Outcome) {
    let flow = &outcome.flows[0];
    assert_eq!(flow.bytes_read, flow.bytes_written);
    let counters = flow.sender.info.expect("the flow was connected").counters;
    assert!(counters.bytes_retransmitted > 0 && counters.episodes > 0, "{counters:?}");
}

/// Requests every event and keeps none.
struct Idle;

impl Observer for Idle {
    #[inline]
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        black_box((at, conn, event));
    }
}

// The run of lab and tests for every cell. It is also one half of the pair that shows that events cost nothing without an
// observer; the other half is the same code without events.
#[library_benchmark]
#[bench::segments_1000(args = (1_000), setup = scenario, teardown = judge)]
fn unobserved(scenario: Scenario) -> Outcome {
    run(&scenario, &mut Off).unwrap_or_else(|failure| panic!("{failure}"))
}

// The cost of creating the events, without processing them.
#[library_benchmark]
#[bench::segments_1000(args = (1_000), setup = scenario, teardown = judge)]
fn observed(scenario: Scenario) -> Outcome {
    run(&scenario, &mut Idle).unwrap_or_else(|failure| panic!("{failure}"))
}

library_benchmark_group!(name = transfer, benchmarks = [unobserved, observed]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = transfer
);
