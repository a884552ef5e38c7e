//! Throughput of every built-in profile over small grids, as a snapshot: the effect of a change of behaviour becomes readable in
//! a diff. One run per cell; the numbers describe this model, not the systems that the profiles are named after.

use core::fmt::Write;
use longhaul_lab::{Overrides, Plan, SimBackend, execute, spec};

/// Goodput in Mbit/s, retransmitted bytes in percent and timeouts of one run per cell and profile; for losses by position, their
/// cost.
fn grid(experiment: &str, set: &[&str]) -> String {
    let mut found = spec::builtin(experiment).expect("built in");
    let set: Vec<String> = set.iter().map(|&text| text.to_owned()).collect();
    let overrides = Overrides { set, iterations: Some(1), ..Overrides::default() };
    found.apply(&overrides).expect("the overrides are right");
    let plan = Plan::new(found).expect("the plan stands");
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    let mut text = String::new();
    for (run, measured) in plan.runs.iter().zip(&finished.measured) {
        let m = measured.as_ref().expect("every run comes through");
        let percent = m.bytes_retransmitted.unwrap() as f64 * 100.0 / m.bytes_sent.unwrap() as f64;
        let repair = m.repair_rtts(&run.point).map_or_else(String::new, |rtts| format!(" {rtts:>5.1} round trips"));
        let _ = writeln!(
            text,
            "{:<48} {:<12} {:>7.2} Mbit/s {percent:>6.2} % {:>2} timeouts{repair}",
            plan.cells[run.cell].title(),
            plan.arms[run.arm].label,
            m.goodput_mbps(),
            m.rtos.unwrap()
        );
    }
    text
}

#[test]
fn clean_paths() {
    insta::assert_snapshot!(grid("wan", &["flow.bytes=8MB", "path.rtt=25ms,100ms", "path.buffer=0.25bdp,1bdp"]));
}

#[test]
fn lossy_paths() {
    insta::assert_snapshot!(grid("wan", &["flow.bytes=4MB", "path.rtt=50ms", "path.loss=0.01%,0.1%,1%"]));
}

#[test]
fn reordering_paths() {
    insta::assert_snapshot!(grid("reorder", &["flow.bytes=4MB", "path.rtt=50ms", "path.reorder.mode=late,early"]));
}

#[test]
fn lost_retransmissions() {
    insta::assert_snapshot!(grid("lost-retransmit", &[]));
}

#[test]
fn lost_tails() {
    insta::assert_snapshot!(grid("tail-loss", &["flow.bytes=2kB,1MB"]));
}

#[test]
fn lateness_beyond_the_first_reordering_window() {
    insta::assert_snapshot!(grid("dsack", &["path.reorder.delay=1ms,4ms"]));
}
