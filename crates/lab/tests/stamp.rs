//! The committed stamps match the profiles' current behaviour, and a stamp depends on behaviour alone.

use longhaul_lab::run::stamp::{self, Stamp};
use profiles::Profile;

fn profile(name: &str) -> &'static Profile {
    profiles::builtin().iter().find(|profile| profile.name == name).expect("it is built in")
}

fn with(name: &str, leaf: &str, value: &str) -> Stamp {
    let set = [(leaf.to_owned(), value.to_owned())];
    Stamp::of(&profile(name).with(&set).unwrap_or_else(|error| panic!("{leaf} = {value}: {error}")))
}

#[test]
fn the_file_of_stamps_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stamps.txt");
    let committed = std::fs::read_to_string(path).expect("docs/stamps.txt is readable");
    let today = stamp::file();
    let moved: Vec<&str> = today.lines().filter(|line| !committed.lines().any(|old| old == *line)).collect();
    assert!(
        today == committed,
        "docs/stamps.txt is out of date; `cargo xtask stamp` writes it. Behaviour that moved: {}",
        if moved.is_empty() {
            "none, the file has lines too many or in another order".to_owned()
        } else {
            moved.join(" ")
        }
    );
}

/// One leaf for each part of a TCP, on the profile in which it matters.
#[test]
fn a_changed_leaf_changes_the_stamp() {
    let before = ["longhaul", "linux", "rfc", "server-2022", "windows-2000"];
    let before = before.map(|name| (name, Stamp::of(profile(name).config())));
    for (name, leaf, value) in CHANGES {
        let (_, before) = before.iter().find(|(known, _)| known == name).expect("it was run");
        let after = with(name, leaf, value);
        assert_ne!(after.plain, before.plain, "{name}: {leaf} = {value}");
        assert_ne!(after.super_segments, before.super_segments, "{name}: {leaf} = {value}, with super-segments");
    }
}

const CHANGES: &[(&str, &str, &str)] = &[
    ("longhaul", "cc.initial_window.segments", "4"),
    ("longhaul", "cc.slow_start.growth_percent", "100"),
    ("longhaul", "cc.avoidance.beta", "0.5"),
    ("longhaul", "cc.idle_restart", "halve_per_rto"),
    ("longhaul", "recovery.detector.kind", "dup_thresh"),
    ("longhaul", "recovery.reduction.kind", "pipe"),
    ("longhaul", "recovery.probe.kind", "none"),
    ("longhaul", "recovery.undo.eifel", "off"),
    ("longhaul", "rto.min", "250ms"),
    ("longhaul", "ack.delay", "100ms"),
    ("longhaul", "ack.every_segments", "1"),
    ("longhaul", "send.buffer", "100kB"),
    ("longhaul", "ip.ttl", "63"),
    ("linux", "ack.timer", "per_segment"),
    ("linux", "send.nagle", "rfc896"),
    ("linux", "receive.window.max", "300kB"),
    ("rfc", "rto.initial", "1100ms"),
    ("server-2022", "receive.window.factor_percent", "150"),
    ("windows-2000", "receive.window.bytes", "8kB"),
];

// variant: chunks {
/// The chunk segmenter engages only on devices with segmentation offload.
#[test]
fn what_matters_on_one_kind_of_device_moves_its_stamp_alone() {
    let (before, after) = (Stamp::of(profile("linux").config()), with("linux", "send.segmenter.win_divisor", "1"));
    assert_eq!(after.plain, before.plain);
    assert_ne!(after.super_segments, before.super_segments);
}
// variant: chunks }

#[test]
fn a_leaf_that_is_set_to_what_it_is_changes_nothing() {
    let config = profile("longhaul").config();
    let values = profiles::values(config);
    let (leaf, value) = values.iter().find(|(leaf, _)| *leaf == "rto.min").expect("there is such a leaf");
    assert_eq!(with("longhaul", leaf, value), Stamp::of(config));
}
