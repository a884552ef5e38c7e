//! The steady state allocates nothing: twice the bytes cost no more allocations, TCP on both ends included.

mod counting;

use base::{Duration, Rate};
use counting::allocations;
use longhaul_sim::{FlowSpec, Scenario, Workload, run};
use netem::{Buffer, Jitter, JitterKind, PathSpec};
use tcp::Config;
use tcp::config::ReceiveWindowConfig;
use trace::Off;

/// Returns allocations and packets of one transfer, in which the receiver's window prevents losses.
fn cost(bytes: u64) -> (u64, u64) {
    let mut config = Config::default();
    config.receive.window = ReceiveWindowConfig::Fixed { bytes: 200_000 };
    let config = config.validate().unwrap();
    let mut forward = PathSpec::ideal(Duration::from_millis(10));
    forward.rate = Rate::from_bits_per_sec(100_000_000);
    forward.buffer = Buffer::Bytes(300_000);
    forward.jitter = Some(Jitter { max: Duration::from_micros(100), kind: JitterKind::KeepOrder });
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(Duration::from_millis(10)));
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(bytes)));
    let before = allocations();
    let outcome = run(&scenario, &mut Off).unwrap();
    assert_eq!(outcome.forward.dropped.total(), 0);
    (allocations() - before, outcome.packets())
}

#[test]
fn more_bytes_need_no_more_allocations() {
    cost(100_000);
    let (short, long) = (cost(10_000_000), cost(40_000_000));
    let packets = long.1 - short.1;
    assert!(packets > 20_000, "{packets} packets more");
    let allocations = long.0.saturating_sub(short.0);
    assert!(allocations < 20, "{allocations} allocations more for {packets} packets more");
}
