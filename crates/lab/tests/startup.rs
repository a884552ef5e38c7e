//! What the start of a flow does to the path, from the words of an experiment to a row.

use longhaul_lab::{Overrides, Plan, Row, SimBackend, execute, results, spec};

fn rows(set: &[&str], arms: &[&str]) -> (Plan, Vec<Row>) {
    let mut found = spec::builtin("wan").expect("built in");
    let path = ["path.rate=20Mbit", "path.rtt=100ms", "path.jitter=0", "flow.bytes=6MB"];
    let set = path.iter().chain(set).map(|text| (*text).to_owned()).collect();
    let arms = arms.iter().map(|text| (*text).to_owned()).collect();
    found.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() }).expect("they are right");
    let plan = Plan::new(found).expect("the plan stands");
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    let rows = results::rows(&plan, &finished);
    (plan, rows)
}

#[test]
fn measuring_the_start_changes_neither_seeds_nor_any_other_figure() {
    for company in ["none", "arm start=0s..1s + linux"] {
        let set = [&format!("flow.company={company}"), "flow.window=2s..6s", "flow.orders=both", "path.loss=0.1%"];
        let arms = ["linux", "longhaul"];
        let (plain, without) = rows(&set, &arms);
        let (asked, with) = rows(&[&set[..], &["flow.startup=measured"]].concat(), &arms);
        for (one, other) in plain.runs.iter().zip(&asked.runs) {
            assert_eq!(one.seed, other.seed);
            assert_ne!(one.digest, other.digest, "a line without the figures must not stand for one with them");
        }
        for (without, with) in without.iter().zip(&with) {
            assert_eq!(without.goodput_mbps, with.goodput_mbps);
            for name in spec::METRICS.iter().map(|metric| metric.name) {
                let [plain, asked] = [without, with].map(|row| row.metrics.get(name));
                assert!(plain == asked || plain.is_none() && is_of_start(name), "{name}: {plain:?}, {asked:?}");
            }
        }
        let line = |rows: &[Row]| results::jsonl(&rows[0]);
        assert!(line(&with).contains("startup_ms") && !line(&without).contains("startup"));
    }
}

fn is_of_start(name: &str) -> bool {
    name.starts_with("startup_") || ["full_rate_ms", "burst_bytes"].contains(&name)
}

#[test]
fn slow_start_without_a_brake_fills_the_buffer_and_a_careful_one_does_not() {
    let (_, rows) = rows(&["flow.startup=measured"], &["rfc", "longhaul"]);
    let [bold, careful] = [&rows[0].metrics, &rows[1].metrics];
    // One product of rate and round trip: 250,000 bytes, 166 packets.
    assert_eq!(bold.startup_queue_packets, Some(166.0), "{bold:?}");
    let [lost, bytes] = [bold, careful].map(|one| one.startup_lost_bytes.unwrap());
    assert!(lost > 300_000.0 && bytes == 0.0, "{lost} {bytes}");
    assert!(careful.startup_queue_bytes.unwrap() < 0.95 * bold.startup_queue_bytes.unwrap(), "{careful:?}");
    // The careful one loses nothing, so its slow start goes on beside avoidance to the end.
    assert!(bold.startup_ms.unwrap() > 500.0 && careful.startup_ms.is_none(), "{bold:?} {careful:?}");
    // From ten packets to 166, behind the handshake's round: five rounds by doubling, and three by tripling.
    for (one, soonest) in [(bold, 550.0), (careful, 400.0)] {
        let full = one.full_rate_ms.unwrap();
        assert!((soonest..900.0).contains(&full), "{full} ms");
        // Ten packets leave at once at the beginning.
        assert!(one.burst_bytes.unwrap() >= 13_000.0, "{one:?}");
    }
}

#[test]
fn packets_of_others_are_not_those_of_the_start() {
    let company = ["flow.window=8s..12s", "flow.startup=measured", "flow.orders=given"];
    let of = |groups: &str| rows(&[&company[..], &[groups]].concat(), &["rfc"]).1.remove(0).metrics;
    let alone = of("flow.company=arm start=5s");
    let late = of("flow.company=arm start=5s + rfc");
    assert_eq!(alone.startup_queue_packets, Some(166.0));
    let beside = late.startup_queue_packets.unwrap();
    assert!(beside > 0.0 && beside < 120.0, "the queue is mostly the other's: {beside}");
    assert!(late.startup_lost_bytes.unwrap() > 0.0 && late.full_rate_ms.is_none());
}
