//! On a path that draws nothing, all runs are identical: that is why only one is made.

use longhaul_lab::{Overrides, Plan, SimBackend, execute, spec};
use test_case::test_case;

/// Every profile over a path without jitter, random loss or random reordering, from different seeds.
#[test_case("wan", &["path.rtt=25ms", "flow.bytes=2MB", "path.jitter=0", "path.buffer=0.25bdp"]; "a queue that overflows")]
#[test_case("nic-reorder", &["path.reorder.queues=4x8/2ms", "flow.bytes=1MB", "path.jitter=0"]; "queues in turn")]
#[test_case("tail-loss", &["path.rtt=25ms", "flow.bytes=50kB", "path.drop=20kB x2 + last 2", "path.jitter=0"]; "losses by position")]
fn runs_of_a_path_that_draws_nothing_are_equal(experiment: &str, set: &[&str]) {
    let mut found = spec::builtin(experiment).expect("built in");
    let set = set.iter().map(|&text| text.to_owned()).collect();
    let arms = profiles::builtin().iter().map(|profile| profile.name.clone()).collect();
    found
        .apply(&Overrides { set, arms, iterations: Some(4), ..Overrides::default() })
        .expect("the overrides are right");
    let plan = Plan::new(found).expect("the plan stands");
    assert!(plan.cells.iter().all(|cell| !cell.point.is_drawn()));
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    let first = |arm: usize| plan.runs.iter().position(|run| run.arm == arm).expect("every arm runs");
    for (run, measured) in plan.runs.iter().zip(&finished.measured) {
        assert!(measured.is_some(), "{run:?}");
        assert_eq!(*measured, finished.measured[first(run.arm)], "{} by seed", plan.arms[run.arm].label);
    }
}
