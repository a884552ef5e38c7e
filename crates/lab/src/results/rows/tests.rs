//! Tests of rows from runs with known results.

use super::*;
use crate::results::{Conditions, conditions, constants, jsonl, unmet};
use crate::run::Identity;
use crate::run::MockBackend;
use crate::spec::{Expectation, Overrides};
use crate::{run, spec};

fn plan(iterations: u32, set: &[&str], arms: &[&str]) -> Plan {
    let mut experiment = spec::builtin("wan").unwrap();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let overrides =
        Overrides { arms: texts(arms), set: texts(set), iterations: Some(iterations), ..Overrides::default() };
    experiment.apply(&overrides).unwrap();
    Plan::new(experiment).unwrap()
}

fn rows_of(plan: &Plan) -> Vec<Row> {
    rows(plan, &run::execute(plan, &MockBackend, 2, None, &mut |_| ()).unwrap())
}

/// The stand-in's second arm takes 16.000, 16.016, … 16.080 s for a megabyte, the first half of that.
#[test]
fn a_row_has_the_schema_and_the_numbers_of_the_contract() {
    let plan = plan(6, &["path.rtt=25ms", "flow.bytes=1MB"], &["rfc", "longhaul"]);
    let mut lines: Vec<serde_json::Value> =
        rows_of(&plan).iter().map(|row| serde_json::from_str(&jsonl(row)).unwrap()).collect();
    // Later iterations take longer: of the two in the middle, the fourth is the slower one.
    let run = lines[1].as_object_mut().unwrap().remove("median_run").unwrap();
    let differs = lines[1].as_object_mut().unwrap().remove("differs").unwrap();
    assert_eq!(differs["rto.min"], serde_json::json!(["1s", "200ms"]));
    let slower = plan.runs.iter().find(|run| (run.arm, run.iteration) == (1, 4)).unwrap();
    assert_eq!(run, serde_json::to_value(Identity::new(&plan, slower)).unwrap());
    let seconds: Vec<f64> = (0..6).map(|k| 16.0 + 0.016 * f64::from(k)).collect();
    let middle = |of: fn(f64) -> f64| rounded((of(seconds[2]) + of(seconds[3])) / 2.0);
    let expected = serde_json::json!({
        "experiment": "wan",
        "cell": {
            "rtt_ms": 25.0, "bytes": 1_000_000, "seconds": null, "rate_mbit": 100.0, "buffer_bytes": 312_500,
            "buffer_packets": null, "jitter_us": 100.0, "loss_pct": 0.0, "drop": null, "reorder": null, "queues": null,
            "swept": {},
        },
        "arm": "longhaul",
        "runs": 6,
        "deterministic": false,
        "goodput_mbps": {
            "median": middle(|s| 8.0 / s),
            "mean": rounded(seconds.iter().map(|s| 8.0 / s).sum::<f64>() / 6.0),
            "p10": null,
            "p90": null,
        },
        // 685 packets of 1,500 bytes at 100 Mbit/s, and one and a half round trips.
        "efficiency": middle(|s| (0.0822 + 0.0375) / s),
        "elapsed_ms": middle(|s| s * 1000.0),
        "repair_rtts": null,
        // Three of six runs retransmit 100 of 1,000,100 bytes.
        "retransmitted_pct": rounded(300.0 * 100.0 / 6_000_300.0),
        "rtos": 0.0,
        "runs_with_rto_pct": 0.0,
        "fast_retransmits": 0.5,
        "recovery_success_pct": 100.0,
        "vs_reference": {"median_ratio": 0.5, "lo": 0.5, "hi": 0.5, "verdict": "worse", "p": 2.0 / 64.0, "p_table": 2.0 / 64.0},
        "lost_retransmissions": 0.0,
        "probes": 0.0,
        "undone": 0.0,
        "dsacks_sent": 0.5,
        "dsacks_received": 0.5,
        "stale_sack_pct": 25.0,
        "reo_wnd_mult": 1.0,
        "dropped": 0.5,
        "profile": "longhaul",
    });
    assert_eq!(lines[1], expected);
    assert!(lines[0]["vs_reference"].is_null());
    assert_eq!(lines.len(), 2);
}

#[test]
fn keys_of_a_line_come_in_the_order_of_the_contract() {
    let line = jsonl(&rows_of(&plan(1, &["path.rtt=25ms", "flow.bytes=1MB"], &["rfc"]))[0]);
    let keys = ["experiment", "cell", "arm", "runs", "goodput_mbps", "efficiency", "retransmitted_pct", "vs_reference"];
    let places: Vec<usize> = keys.iter().map(|key| line.find(&format!("\"{key}\":")).expect(key)).collect();
    assert!(places.is_sorted(), "{line}");
}

#[test]
fn rows_come_by_cell_and_then_by_arm_and_tails_with_fifty_runs() {
    let rows = rows_of(&plan(50, &["path.rtt=50ms,25ms", "flow.bytes=1MB"], &["longhaul", "rfc", "longhaul"]));
    let order: Vec<(f64, &str)> = rows.iter().map(|row| (row.cell.rtt_ms, row.arm.as_str())).collect();
    let arms = ["longhaul", "rfc", "longhaul#2"];
    let expected: Vec<(f64, &str)> =
        [50.0, 25.0].iter().flat_map(|rtt| arms.iter().map(move |arm| (*rtt, *arm))).collect();
    assert_eq!(order, expected);
    let spread = &rows[0].goodput_mbps;
    assert!(spread.p10.unwrap() < spread.median.unwrap() && spread.median.unwrap() < spread.p90.unwrap());
}

#[test]
fn without_an_episode_there_is_no_success_to_speak_of() {
    let plan = plan(2, &["path.rtt=25ms", "flow.bytes=1MB"], &["rfc"]);
    let mut finished = run::execute(&plan, &MockBackend, 1, None, &mut |_| ()).unwrap();
    finished.measured[0] = None;
    let row = &rows(&plan, &finished)[0];
    assert_eq!((row.runs, row.metrics.recovery_success_pct, row.metrics.retransmitted_pct), (1, None, Some(0.0)));
    finished.measured[1] = None;
    let row = &rows(&plan, &finished)[0];
    assert_eq!((row.runs, row.goodput_mbps.median, row.metrics.efficiency, row.metrics.rtos), (0, None, None, None));
}

#[test]
fn a_failed_run_takes_its_pair_with_it() {
    let plan = plan(7, &["path.rtt=25ms", "flow.bytes=1MB"], &["rfc", "longhaul"]);
    let mut finished = run::execute(&plan, &MockBackend, 1, None, &mut |_| ()).unwrap();
    finished.measured[0] = None;
    assert_eq!(rows(&plan, &finished)[1].vs_reference.as_ref().map(|versus| versus.lo), Some(Some(0.5)));
    finished.measured[3] = None;
    assert_eq!(rows(&plan, &finished)[1].vs_reference.as_ref().map(|versus| versus.lo), Some(None));
}

#[test]
fn a_condition_that_does_not_hold_is_named_with_its_cell() {
    let mut plan = plan(6, &["path.rtt=25ms,50ms", "flow.bytes=1MB"], &["rfc", "longhaul"]);
    for (text, at_least, at_most) in [
        ("longhaul.goodput / rfc.goodput", Some(0.5), Some(0.5)),
        ("rfc.goodput / longhaul.goodput", Some(5.0), None),
        ("rfc.fast_retransmits", None, Some(0.4)),
        ("other.goodput", Some(9.0), None),
    ] {
        let mut condition = Expectation::parse(text).unwrap();
        (condition.at_least, condition.at_most) = (at_least, at_most);
        plan.experiment.expect.push(condition);
    }
    let found = unmet(&plan, &rows_of(&plan));
    let texts: Vec<(usize, &str)> = found.iter().map(|(cell, text)| (*cell, text.as_str())).collect();
    let ratio = "`rfc.goodput / longhaul.goodput` is 2.000, at least 5 was expected";
    let mean = "`rfc.fast_retransmits` is 0.500, at most 0.4 was expected";
    assert_eq!(texts, [(0, ratio), (0, mean), (1, ratio), (1, mean)]);
}

/// The experiment of the built-in file with one more condition, made with these options.
fn conditions_of(condition: &str, arms: &[&str], set: &[&str], iterations: Option<u32>) -> Conditions {
    let mut experiment = spec::builtin("wan").unwrap();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { arms: texts(arms), set: texts(set), iterations, ..Overrides::default() };
    experiment.apply(&overrides).unwrap();
    let mut condition = Expectation::parse(condition).unwrap();
    condition.at_most = Some(0.0);
    experiment.expect = vec![condition];
    let plan = Plan::new(experiment).unwrap();
    conditions(&plan, &rows_of(&plan))
}

#[test]
fn conditions_are_checked_only_on_the_experiment_that_they_speak_of() {
    let unchecked = |arms: &[&str], set: &[&str], iterations| {
        let found = conditions_of("longhaul.goodput", arms, set, iterations);
        (found.unmet.len(), found.unchecked)
    };
    assert_eq!(unchecked(&[], &[], None), (8, vec![]));
    assert_eq!(unchecked(&[], &[], Some(12)), (8, vec![]), "more runs than the file's own are as good");
    let fewer = "[expect] is not checked: it speaks of 10 runs per arm and cell, and these are 3";
    assert_eq!(unchecked(&[], &[], Some(3)), (0, vec![fewer.to_owned()]));
    assert_eq!(unchecked(&[], &["run.iterations=3"], None), (0, vec![fewer.to_owned()]));
    let other = "[expect] is not checked: it speaks of the experiment without `--set path.rtt=25ms path.loss=1%`";
    assert_eq!(unchecked(&[], &["path.rtt=25ms", "path.loss=0.01"], None), (0, vec![other.to_owned()]));
    let absent = "`longhaul.goodput` is not checked: arm `longhaul` takes no part";
    assert_eq!(unchecked(&["linux", "rfc"], &[], None), (0, vec![absent.to_owned()]));
}

#[test]
fn a_cell_that_draws_nothing_has_one_run_that_says_what_all_would() {
    let set = ["path.rtt=25ms", "flow.bytes=1MB", "path.jitter=0,1ms"];
    let plan = plan(10, &set, &["rfc", "longhaul"]).without_repetitions();
    assert_eq!((plan.runs.len(), plan.is_once(0), plan.is_once(1)), (2 + 20, true, false));
    let rows = rows_of(&plan);
    let verdicts: Vec<(usize, bool, &str)> = [&rows[1], &rows[3]]
        .map(|row| (row.runs, row.deterministic, row.vs_reference.as_ref().unwrap().verdict))
        .to_vec();
    assert_eq!(verdicts, [(1, true, "deterministic"), (10, false, "worse")]);
    let mut only = plan.clone();
    let error = only.keep_only(&"1/rfc/2".parse().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("iterations 1 to 1"), "{error}");
}

#[test]
fn fewer_than_six_runs_leave_a_verdict_open_for_want_of_runs() {
    let lacks = |iterations| {
        let rows = rows_of(&plan(iterations, &["path.rtt=25ms", "flow.bytes=1MB"], &["rfc", "longhaul"]));
        rows[1].vs_reference.as_ref().unwrap().lacks_runs()
    };
    assert_eq!([1, 5, 6].map(lacks), [true, true, false]);
}

#[test]
fn what_all_cells_share_is_shown_once() {
    assert_eq!(constants(&plan(1, &[], &[])), "rate=100Mbit buffer=1bdp jitter=100us");
    assert_eq!(
        constants(&plan(1, &["path.loss=1%", "path.rtt=5ms", "path.jitter=0"], &[])),
        "rate=100Mbit rtt=5ms buffer=1bdp loss=1%"
    );
    assert_eq!(
        constants(&plan(1, &["path.drop=1MB x2 + last 3", "path.jitter=0"], &[])),
        "rate=100Mbit buffer=1bdp drop=1MB x2 + last 3"
    );
}
