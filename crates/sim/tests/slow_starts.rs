//! Where each slow start ends over a real path: the controllers' notes, as the endpoint traces them.
//!
//! 10 Mbit/s, 100 ms, a queue of two bandwidth-delay products, 2 MB; times in nanoseconds of virtual time. The path holds 125 kB.

use base::{Duration, Rate};
use cc::SlowStartConfig;
use longhaul_sim::{FlowSpec, Scenario, Workload, run};
use netem::{Buffer, PathSpec};
use tcp::Config;
use test_case::test_case;
use trace::TextSink;

#[test_case("classic", SlowStartConfig::Classic(Default::default()))]
#[test_case("hystart", SlowStartConfig::Hystart(Default::default()))]
#[test_case("hystart_pp_css", SlowStartConfig::HystartPpCss(Default::default()))]
#[test_case("hystart_pp_lss", SlowStartConfig::HystartPpLss(Default::default()))]
fn over_a_deep_queue(name: &str, slow_start: SlowStartConfig) {
    let half = Duration::from_millis(50);
    let rate = Rate::from_bits_per_sec(10_000_000);
    let forward = PathSpec { rate, buffer: Buffer::Bytes(250_000), ..PathSpec::ideal(half) };
    let mut config = Config::default();
    config.cc.slow_start = slow_start;
    let config = config.validate().expect("within bounds");
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(half));
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(2_000_000)));
    let mut sink = TextSink::default();
    let outcome = run(&scenario, &mut sink).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
    let lines: String = sink
        .0
        .lines()
        .filter(|line| line.contains("SlowStart") || line.contains("EpisodeChanged"))
        .flat_map(|line| [line, "\n"])
        .collect();
    insta::assert_snapshot!(name, lines);
}
