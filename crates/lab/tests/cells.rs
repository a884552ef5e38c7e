//! Experiments that list disturbed cells one by one.

use longhaul_lab::results::{self, robustness};
use longhaul_lab::spec::{self, Role};
use longhaul_lab::{Backend, CellChoice, Experiment, Finished, Overrides, Plan, SimBackend, execute};

const FILE: &str = r#"
summary = "disturbed cells"
[path]
rtt = "20ms"
rate = "20Mbit"
[flow]
bytes = "1MB"
[arms]
use = ["linux", "longhaul"]
[run]
iterations = 2

[[cells]]
name = "late"
kind = "first flight"
disturb = { "host.sender.first_flight" = "50ms" }

[[cells]]
name = "pause"
kind = "sender pause"
base = { "path.rate" = "10Mbit", "path.buffer" = "20kB" }
disturb = { "host.sender.pause" = "100ms x2" }

[[cells]]
name = "judge"
kind = "receive offload"
role = "hold-out"
disturb = { "host.receiver.merge" = "5ms" }

[[draw]]
kind = "receiver pause"
base = { "path.rate" = "{5..50}Mbit", "path.rtt" = "{10..99}ms" }
disturb = { "host.receiver.pause" = "{10..90}ms x{1|2}" }
"#;

fn experiment(cells: CellChoice, set: &[&str]) -> Result<Experiment, String> {
    let mut experiment = spec::read("cells", "cells.toml", FILE).map_err(|error| error.to_string())?;
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    experiment.apply(&Overrides { cells, set, ..Overrides::default() }).map_err(|error| error.to_string())?;
    Ok(experiment)
}

fn plan(cells: CellChoice, set: &[&str]) -> Plan {
    Plan::new(experiment(cells, set).unwrap()).unwrap().without_repetitions()
}

fn made(plan: &Plan) -> Finished {
    let finished = execute(plan, &SimBackend, 2, None, &mut |_| {}).unwrap();
    assert_eq!(finished.failures, []);
    finished
}

fn titles(plan: &Plan) -> Vec<String> {
    plan.cells.iter().map(longhaul_lab::plan::Cell::title).collect()
}

#[test]
fn cells_for_tuning_are_made_unless_those_that_judge_are_asked_for() {
    assert_eq!(titles(&plan(CellChoice::Of(Role::Train), &[])), ["cell=late", "cell=pause"]);
    assert_eq!(titles(&plan(CellChoice::Of(Role::HoldOut), &[])), ["cell=judge"]);
    let every = spec::read("cells", "cells.toml", FILE).unwrap();
    assert_eq!(every.cells.iter().filter(|cell| cell.role == Role::HoldOut).count(), 1);
}

#[test]
fn a_run_has_a_twin_that_differs_by_the_disturbance_alone() {
    let plan = plan(CellChoice::Of(Role::Train), &["cell=pause"]);
    let run = &plan.runs[0];
    let (disturbed, twin) = (run.point.canonical(), run.twin.as_ref().unwrap().canonical());
    assert_eq!(disturbed.replace(" host.sender.pause=100ms x2", ""), twin);
    assert!(twin.starts_with("path.rate=10Mbit"), "{twin}");
    let found = SimBackend.run(run).unwrap();
    assert!(found.twin_ns.unwrap() < found.elapsed_ns);
    // A queue of 20 kB bridges 16 ms at 10 Mbit/s; two pauses of 100 ms take the rest.
    assert_eq!(found.removed_ns, Some(2 * 84_000_000));
}

#[test]
fn a_setting_for_all_cells_reaches_their_twins_and_not_their_disturbance() {
    let slow = plan(CellChoice::Of(Role::Train), &["path.rtt=40ms"]);
    assert_eq!(titles(&slow), ["cell=late path.rtt=40ms", "cell=pause path.rtt=40ms"]);
    assert!(slow.runs.iter().all(|run| run.point.rtt == run.twin.as_ref().unwrap().rtt));
    let refused = experiment(CellChoice::Of(Role::Train), &["host.sender.pause=1ms"]).unwrap_err();
    assert!(refused.contains("is what disturbs the cell `pause`; choose other cells"), "{refused}");
    let refused = experiment(CellChoice::Of(Role::Train), &["cell=paus"]).unwrap_err();
    assert!(refused.contains("no cell `paus`; did you mean `pause`?"), "{refused}");
}

#[test]
fn drawn_cells_depend_on_their_seed_alone_and_lie_in_the_ranges() {
    let drawn = |seed: &str| experiment(CellChoice::Drawn(seed.to_owned()), &[]).unwrap().cells;
    let cells = drawn("a");
    assert_eq!((cells.len(), &cells), (40, &drawn("a")));
    assert_ne!(cells, drawn("b"));
    for cell in &cells {
        let rtt: u64 = cell.base[1].1.strip_suffix("ms").unwrap().parse().unwrap();
        assert!((10..=99).contains(&rtt) && cell.kind == "receiver pause", "{cell:?}");
    }
}

#[test]
fn each_arm_is_summed_up_over_all_cells() {
    let plan = plan(CellChoice::Of(Role::Train), &[]);
    let rows = results::rows(&plan, &made(&plan));
    let arms = robustness(&plan, &rows);
    assert_eq!(arms.iter().map(|arm| arm.arm.as_str()).collect::<Vec<_>>(), ["linux", "longhaul"]);
    for (arm, row) in arms.iter().zip(&rows) {
        // The pause takes capacity; of the late flight's cell, the twin's time is known.
        assert_eq!((arm.of, arm.unimpressed), (1, usize::from(row.metrics.of_twin.unwrap() >= 1.0 / 1.05)));
        assert!(arm.worst.as_ref().unwrap().1 <= arm.median.unwrap());
    }
    assert_eq!(arms[0].worst_ratio, None);
    assert!(arms[1].worst_ratio.is_some());
    let line = results::jsonl(&rows[0]);
    assert!(
        line.contains(r#""kind":"first flight""#) && line.contains(r#""host.sender.first_flight":"50ms""#),
        "{line}"
    );
}

#[test]
fn results_of_cells_do_not_depend_on_the_number_of_jobs() {
    let plan = plan(CellChoice::Of(Role::Train), &[]);
    let one = execute(&plan, &SimBackend, 1, None, &mut |_| {}).unwrap();
    assert_eq!(one.measured, made(&plan).measured);
}

#[test]
fn what_is_wrong_in_a_list_is_named_with_its_place() {
    for (from, to, problem) in [
        ("name = \"pause\"", "name = \"late\"", "two cells `late`"),
        ("kind = \"receive offload\"", "", "lacks its name or its kind"),
        ("role = \"hold-out\"", "role = \"judge\"", "`judge` is not a role"),
        ("\"100ms x2\"", "\"often\"", "`often` is not a pause"),
        ("host.sender.first_flight", "host.sender.flight", "host.sender.flight"),
    ] {
        let error = spec::read("cells", "cells.toml", &FILE.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let wrong = spec::read("cells", "cells.toml", &FILE.replace("{1|2}", "{1}")).unwrap();
    let refused = { wrong }.apply(&Overrides { cells: CellChoice::Drawn("a".to_owned()), ..Overrides::default() });
    assert!(refused.unwrap_err().to_string().contains("is not a template"));
}

/// Packets that wait for a host that does not run arrived in its past, whoever sends meanwhile.
#[test]
fn hosts_pause_among_flows_and_datagrams_too() {
    let set = [
        "cell=late",
        "flow.company=arm bytes=1MB start=1s + linux + datagrams pace=5Mbit + ping every=50ms + linux direction=back",
        "flow.window=0s..6s",
        "host.receiver.pause=30ms x5",
        "host.sender.pause=45ms x5",
    ];
    let found = made(&plan(CellChoice::Of(Role::Train), &set));
    assert!(found.measured.iter().flatten().all(|run| run.bytes == 1_000_000), "{:?}", found.measured);
}
