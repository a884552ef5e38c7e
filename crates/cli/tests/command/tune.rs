//! `tune`: what it finds on one path, and that neither threads nor an interruption change it.

use crate::{longhaul, objects, text_of};

const PATH: [&str; 3] = ["tune", "--set", "path.rate=20Mbit,path.rtt=80ms,path.loss=0.5%,flow.bytes=2MB"];

fn tune(more: &[&str]) -> crate::Ended {
    longhaul(&[&PATH[..], more].concat())
}

#[test]
fn a_search_names_the_best_setting_and_how_sure_it_is() {
    let leaves = ["--leaf", "cc.avoidance.beta=0.5,0.85", "--leaf", "longhaul.rto.max=120s"];
    let ended = tune(&leaves);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\nbest: --set longhaul.cc.avoidance.beta=0.85\n"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("than the present one on seeds that chose nothing (seed 1001); the"),
        "{}",
        ended.stdout
    );
    let rows = objects(&tune(&[&leaves[..], &["--format", "jsonl"]].concat()).stdout);
    let outcomes: Vec<&str> = rows.iter().filter_map(|row| row["outcome"].as_str()).collect();
    assert_eq!(&outcomes[..4], ["present", "no gain", "taken", "no gain"]);
    let last = rows.last().unwrap();
    assert_eq!(last["best"]["cc.avoidance.beta"], "0.85");
    assert!(last["gain_pct"].as_f64().unwrap() > last["lo"].as_f64().unwrap() && last["lo"].as_f64().unwrap() > 0.0);
}

#[test]
fn where_no_setting_is_better_it_says_so() {
    let ended = tune(&["--leaf", "rto.max=90s,120s"]);
    assert!(ended.stdout.ends_with("No setting is better than the present one.\n"), "{}", ended.stdout);
}

#[test]
fn threads_and_kept_runs_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let out = text_of(directory.path());
    let leaves = ["--leaf", "cc.initial_window.segments=4,20", "--format", "jsonl"];
    let alone = tune(&[&leaves[..], &["--jobs", "1"]].concat());
    let early = tune(&[&leaves[..], &["--out", out, "--budget", "40"]].concat());
    assert!(early.stderr.contains("note: the budget ended the search after "), "{}", early.stderr);
    let kept = tune(&[&leaves[..], &["--out", out, "--jobs", "3"]].concat());
    assert_eq!((alone.code, &alone.stdout), (Some(0), &kept.stdout));
    assert_ne!(early.stdout, kept.stdout);
}

#[test]
fn a_leaf_without_effect_is_named() {
    let ended = tune(&["--sensitivity", "--leaf", "rto.max", "--leaf", "cc.initial_window.segments=2"]);
    assert!(ended.stdout.contains("1 of 2 leaves have less than ±1 % of effect on the objective"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nin no cell 1 %: rto.max\n"), "{}", ended.stdout);
    let rows = objects(&tune(&["--sensitivity", "--leaf", "rto.max", "--format", "jsonl"]).stdout);
    let tried: Vec<&str> = rows.iter().filter_map(|row| row["value"].as_str()).collect();
    assert_eq!(tried, ["90s"]);
    assert!(rows.iter().take(1).all(|row| row["candidate_for_deletion"] == true && row["gain_pct"] == 0.0));
}
