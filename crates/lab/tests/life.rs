//! Paths that are more than a pipe: a transfer over each comes through, and the path shows what it was asked for.

use longhaul_lab::run::Backend;
use longhaul_lab::{Measured, Overrides, Plan, SimBackend, spec};
use test_case::test_case;

/// Runs `longhaul` over 10 Mbit/s and 50 ms with these settings.
fn run(settings: &[&str]) -> Measured {
    let mut experiment = spec::builtin("wan").unwrap();
    let set = ["path.rate=10Mbit", "path.rtt=50ms", "flow.bytes=2MB"].iter().chain(settings);
    let set = set.map(|setting| (*setting).to_owned()).collect();
    let arms = vec!["longhaul".to_owned()];
    experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).unwrap();
    let plan = Plan::new(experiment).unwrap();
    SimBackend.run(&plan.runs[0]).unwrap()
}

#[test_case(&["path.duplicate=10%"]; "copies")]
#[test_case(&["path.bursts=1%/4"]; "losses in bursts")]
#[test_case(&["path.policer=5Mbit/64kB"]; "a policer")]
#[test_case(&["path.release=1ms..5ms"]; "release in groups")]
#[test_case(&["path.back.rate=100kbit"]; "a slow way back")]
#[test_case(&["path.back.rate=100kbit", "path.back.buffer=10pkt"]; "a slow way back with a short buffer")]
#[test_case(&["path.back.loss=10%"]; "lost ACKs")]
#[test_case(&["path.back.release=5ms"]; "ACKs in groups")]
#[test_case(&["path.back.thin=5ms"]; "fewer ACKs")]
#[test_case(&["path.back.thin=5ms", "path.back.rate=100kbit", "path.bursts=1%/4", "path.release=2ms"]; "all at once")]
fn a_transfer_comes_through(settings: &[&str]) {
    let (found, plain) = (run(settings), run(&[]));
    assert_eq!(found.bytes, 2_000_000);
    assert_ne!(found.elapsed_ns, plain.elapsed_ns, "the setting has no effect");
}

#[test]
fn bursts_lose_packets() {
    assert!(run(&["path.bursts=1%/4"]).dropped > 4);
}
