//! Prints packets per second of the whole simulator, TCP on both ends: the two corners of the standard experiment.
//!
//! `cargo run --release -p longhaul-sim --example speed`

use base::{Duration, Rate};
use longhaul_sim::{FlowSpec, Scenario, Workload, run};
use netem::{Buffer, Jitter, JitterKind, PathSpec};
use tcp::Config;
use trace::Off;

fn scenario(rtt_ms: u64, bytes: u64) -> Scenario {
    let (rtt, one_way) = (Duration::from_millis(rtt_ms), Duration::from_millis(rtt_ms) / 2);
    let rate = Rate::from_bits_per_sec(100_000_000).expect("not zero");
    let forward = PathSpec {
        rate: Some(rate),
        buffer: Buffer::bdp(rate, rtt),
        jitter: Some(Jitter { max: Duration::from_micros(100), kind: JitterKind::KeepOrder }),
        ..PathSpec::ideal(one_way)
    };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(one_way));
    let config = Config::default().validate().expect("the default configuration is valid");
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(bytes)));
    scenario
}

fn main() {
    for (megabytes, rtt_ms) in [(32, 25), (128, 200)] {
        let scenario = scenario(rtt_ms, megabytes * 1_000_000);
        let started = std::time::Instant::now();
        let (mut packets, mut runs) = (0, 0);
        let last = loop {
            let outcome = run(&scenario, &mut Off).unwrap_or_else(|failure| panic!("{failure}"));
            packets += outcome.packets();
            runs += 1;
            if started.elapsed().as_secs() >= 2 {
                break outcome;
            }
        };
        let ns = started.elapsed().as_nanos() as u64;
        let info = last.flows[0].sender.info.expect("the flow was connected").counters;
        println!(
            "{megabytes} MB over {rtt_ms} ms: {} packets/s, {} ns a packet, {runs} runs of {} steps; {} ms, \
             {} retransmitted bytes, {} episodes, {} timeouts",
            packets * 1_000_000_000 / ns,
            ns / packets,
            last.steps,
            last.flows[0].elapsed().unwrap_or_default().as_millis(),
            info.bytes_retransmitted,
            info.episodes,
            info.timeouts,
        );
    }
}
