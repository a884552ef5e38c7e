//! Experiments with expectations meet them; of the slow ones only a part is run.

use longhaul_lab::{Overrides, Plan, Row, SimBackend, execute, results, spec};
use test_case::test_case;

fn rows(experiment: &str, set: &[&str], iterations: Option<u32>) -> (Plan, Vec<Row>) {
    let mut found = spec::builtin(experiment).expect("built in");
    let set: Vec<String> = set.iter().map(|&text| text.to_owned()).collect();
    found.apply(&Overrides { set, iterations, ..Overrides::default() }).expect("the overrides are right");
    let plan = Plan::new(found).expect("the plan stands");
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    let rows = results::rows(&plan, &finished);
    (plan, rows)
}

#[test_case("cellular", &["path.model=5g mean=100Mbit", "path.buffer=1bdp"])]
#[test_case("dsack", &[])]
#[test_case("hystart", &["path.loss=0", "path.rate=50Mbit", "path.rtt=100ms", "flow.bytes=8MB"])]
#[test_case("jitter", &["path.rtt=50ms", "path.jitter=10ms,40ms"])]
#[test_case("lan-reorder", &[])]
#[test_case("lost-retransmit", &[])]
#[test_case("nic-reorder", &["flow.bytes=8MB", "path.reorder.queues=4x8/2ms,4x16/4ms"])]
#[test_case("policer", &["path.policer=20Mbit/25kB"])]
#[test_case("prr", &["path.loss=1%"])]
#[test_case("reassembly", &["path.rtt=50ms"])]
#[test_case("reorder-early", &["flow.bytes=8MB"])]
#[test_case("smb", &["path.reorder.delay=1ms"])]
#[test_case("tail-loss", &[])]
#[test_case("wifi", &["path.back.thin=5ms", "path.buffer=0.5bdp"])]
#[test_case("window", &["flow.bytes=20MB"])]
fn what_is_expected_comes_out(experiment: &str, set: &[&str]) {
    let (plan, rows) = rows(experiment, set, None);
    assert!(!plan.experiment.expect.is_empty());
    assert_eq!(results::unmet(&plan, &rows), []);
}

/// Packets later than a round trip exceed any reordering window: each is marked lost, and each duplicate report that follows asks
/// for a larger multiplier.
#[test]
fn the_multiplier_of_the_reordering_window_saturates() {
    let (_, rows) = rows("dsack", &["path.reorder.delay=4ms"], Some(3));
    let row = |arm: &str| rows.iter().find(|row| row.arm == arm).expect("it takes part");
    assert_eq!(row("windows-11-22h2").metrics.reo_wnd_mult, Some(255.0));
    assert_eq!(row("windows-11-21h2").metrics.reo_wnd_mult, Some(1.0));
    assert!(row("windows-11-21h2").metrics.dsacks_sent > Some(1_000.0));
}
