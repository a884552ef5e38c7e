//! Tests of leaves and of the table of all of them.

use super::*;
use crate::leaves::LEAVES;
use crate::lookup::find;
use std::collections::{BTreeMap, BTreeSet};
use tcp::config::{KeepAliveConfig, RetryConfig};
use test_case::test_case;

/// Configurations that together have every kind.
fn every_kind() -> Vec<Config> {
    let mut configs = vec![Config::default()];
    for leaf in LEAVES.iter().filter(|leaf| leaf.is_kind()) {
        let Access::Choice { words, .. } = &leaf.access else { panic!("a kind is a choice") };
        for word in *words {
            let mut config = Config::default();
            leaf.write(&mut config, word).unwrap();
            configs.push(config);
        }
    }
    configs
}

#[test]
fn every_leaf_applies_to_some_kind_and_what_it_shows_it_reads_back() {
    let mut seen = BTreeSet::new();
    for config in every_kind() {
        for leaf in LEAVES {
            let Some(text) = leaf.read(&config) else { continue };
            seen.insert(leaf.path);
            let mut copy = config.clone();
            leaf.write(&mut copy, &text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(leaf.read(&copy), Some(text), "{}", leaf.path);
        }
    }
    assert_eq!(seen.len(), LEAVES.len());
}

#[test]
fn every_choice_reads_back_as_it_was_written() {
    for leaf in LEAVES {
        let Access::Choice { words, .. } = &leaf.access else { continue };
        let applies = every_kind().into_iter().find(|config| leaf.read(config).is_some());
        for word in *words {
            let mut config = applies.clone().expect("it applies to some kind");
            leaf.write(&mut config, &word.to_uppercase()).unwrap();
            assert_eq!(leaf.read(&config).as_deref(), Some(*word));
        }
    }
}

#[test]
fn writing_a_leaf_changes_no_other() {
    for config in every_kind() {
        for leaf in LEAVES.iter().filter(|leaf| !leaf.is_kind()) {
            let Access::Quantity { unit, place } = &leaf.access else { continue };
            let mut changed = config.clone();
            if place(&mut changed).is_none() {
                continue;
            }
            let text = if *unit == Unit::Time {
                "77ms"
            } else if *unit == Unit::Share {
                "0.77"
            } else {
                "77"
            };
            leaf.write(&mut changed, text).unwrap();
            let differing = LEAVES.iter().filter(|other| other.read(&config) != other.read(&changed));
            assert_eq!(differing.map(|other| other.path).collect::<Vec<_>>(), [leaf.path]);
        }
    }
}

#[test]
fn paths_are_unique_and_kinds_stand_before_what_depends_on_them() {
    let paths: BTreeSet<&str> = LEAVES.iter().map(|leaf| leaf.path).collect();
    assert_eq!(paths.len(), LEAVES.len());
    for (index, leaf) in LEAVES.iter().enumerate() {
        if let Some(kind) = leaf.kind_leaf() {
            assert!(LEAVES[..index].iter().any(|before| before.path == kind.path), "{}", leaf.path);
        }
    }
}

/// Each change of a kind, from every kind: what both kinds have stays, whatever its value, and what only the new one has is
/// its default.
#[test]
fn a_changed_kind_keeps_every_leaf_that_the_new_kind_has_too() {
    let mut kept = BTreeSet::new();
    for kind in LEAVES.iter().filter(|leaf| leaf.is_kind()) {
        let Access::Choice { words, .. } = &kind.access else { panic!("a kind is a choice") };
        for (from, to) in words.iter().flat_map(|from| words.iter().map(move |to| (from, to))) {
            let [mut before, mut defaults] = [Config::default(), Config::default()];
            kind.write(&mut before, from).unwrap();
            for leaf in kind.dependents() {
                set_apart(leaf, &mut before);
            }
            kind.write(&mut defaults, to).unwrap();
            let mut after = before.clone();
            kind.write(&mut after, to).unwrap();
            for leaf in kind.dependents() {
                let (had, has) = (leaf.read(&before), leaf.read(&after));
                if has.is_some() && had.is_some() {
                    assert_eq!(has, had, "{}: {from} to {to}", leaf.path);
                    kept.extend((from != to).then_some(leaf.path));
                } else {
                    assert_eq!(has.is_some(), leaf.read(&defaults).is_some(), "{}: {from} to {to}", leaf.path);
                }
            }
        }
    }
    for path in ["cc.slow_start.limit_segments", "cc.avoidance.beta", "recovery.detector.dup_thresh"] {
        assert!(kept.contains(path), "{kept:?}");
    }
}

/// Gives a leaf that applies a value that differs from every kind's default.
fn set_apart(leaf: &Leaf, config: &mut Config) {
    match &leaf.access {
        Access::Choice { words, .. } => {
            let _ = leaf.write(config, words.last().expect("a choice has words"));
        }
        Access::Quantity { unit, .. } => {
            let _ = leaf.write(
                config,
                if *unit == Unit::Time {
                    "77ms"
                } else if *unit == Unit::Share {
                    "0.77"
                } else {
                    "77"
                },
            );
        }
    }
}

#[test_case("rto.mim", "300ms", "unknown leaf `rto.mim`: did you mean `rto.min`?")]
#[test_case(
    "rto.min",
    "300",
    "`rto.min`: `300` is not a valid duration: use a number and one of ns, us, ms, s, min, h, for example `25ms`"
)]
#[test_case("send.nagle", "maybe", "`send.nagle`: `maybe` is not among its choices: `rfc896`, `minshall`, `off`")]
#[test_case("receive.window.max", "5GB", "`receive.window.max`: `5GB` is too large")]
#[test_case(
    "receive.window.bytes",
    "1MB",
    "`receive.window.bytes` does not apply while `receive.window.kind` is `auto_tuned`"
)]
fn what_is_wrong_is_said(path: &str, text: &str, message: &str) {
    let error = find(path).and_then(|leaf| leaf.write(&mut Config::default(), text)).unwrap_err();
    assert_eq!(error.to_string(), message);
}

/// The scalars in the debug text of a configuration, by the path of their field, without names of types.
fn scalars(config: &Config) -> BTreeMap<String, String> {
    let (mut path, mut scalars) = (Vec::new(), BTreeMap::new());
    for line in format!("{config:#?}").lines().map(|line| line.trim().trim_end_matches(',')) {
        let (field, value) = line.split_once(": ").unwrap_or(("", line));
        match value.strip_suffix([' ', '(', '{']).map(|kind| kind.trim_end_matches([' ', '(', '{'])) {
            Some(_) => path.push(field.to_owned()),
            None if matches!(value, "}" | ")") => drop(path.pop()),
            None => {
                let fields: Vec<&str> =
                    path.iter().map(String::as_str).chain([field]).filter(|it| !it.is_empty()).collect();
                scalars.insert(fields.join("."), value.to_owned());
            }
        }
    }
    scalars
}

/// What an application sets on its socket, or knows of a path, and no profile has.
const OPTIONS: &[&str] = &[
    "cc.resume",
    "fastopen.pending_max",
    "handshake.defer_accept",
    "ip.dscp",
    "keepalive",
    "options.mss_max",
    "receive.accounting",
    "retries.user_timeout",
    "send.cork",
    "send.notsent_lowat",
];

/// Whatever a configuration holds is reached by some leaf, unless it is an option: a new field needs a row in `leaves.rs`.
#[test]
fn every_field_of_the_configuration_has_a_leaf() {
    let (mut all, mut reached) = (BTreeSet::new(), BTreeSet::new());
    for config in every_kind() {
        let before = scalars(&config);
        all.extend(before.keys().cloned());
        for leaf in LEAVES {
            for text in some_values(leaf) {
                let mut changed = config.clone();
                if leaf.write(&mut changed, text).is_ok() {
                    let after = scalars(&changed);
                    reached.extend(before.keys().filter(|path| before.get(*path) != after.get(*path)).cloned());
                }
            }
        }
    }
    let is_option = |path: &&String| OPTIONS.iter().any(|option| path.starts_with(option));
    let (options, unreached): (Vec<&String>, Vec<&String>) = all.difference(&reached).partition(is_option);
    assert!(all.len() > 100 && unreached.is_empty(), "{unreached:#?}");
    assert_eq!(options.len(), OPTIONS.len(), "{options:#?}");
}

/// All words of a choice, or two values of a quantity.
fn some_values(leaf: &Leaf) -> &'static [&'static str] {
    match &leaf.access {
        Access::Choice { words, .. } => words,
        Access::Quantity { unit: Unit::Time, .. } => &["76ms", "77ms"],
        Access::Quantity { unit: Unit::Share, .. } => &["0.76", "0.77"],
        Access::Quantity { .. } => &["76", "77"],
    }
}

#[test_case("hystart", 8)]
#[test_case("hystart_pp_css", 7)]
#[test_case("hystart_pp_lss", 7)]
fn every_bound_of_a_slow_start_has_a_leaf_of_that_path(kind: &str, bounds: usize) {
    let mut config = Config::default();
    find("cc.slow_start.kind").unwrap().write(&mut config, kind).unwrap();
    for leaf in LEAVES.iter().filter(|leaf| leaf.path.starts_with("cc.slow_start.")) {
        if let Access::Quantity { unit, .. } = leaf.access {
            // What does not apply to this kind is not set.
            let _ = leaf.write(&mut config, if unit == Unit::Time { "0ns" } else { "0" });
        }
    }
    let errors = config.validate().unwrap_err();
    assert_eq!(errors.len(), bounds, "{errors:?}");
    assert!(errors.iter().all(|error| find(error.path).is_ok()), "{errors:?}");
}

#[test]
fn every_bound_that_the_core_checks_has_a_leaf_of_that_path_or_is_one_of_an_option() {
    let mut config = Config::default();
    config.cc.initial_window.segments = 0;
    config.rto.min = Duration::ZERO;
    config.rtt.min_rtt_window = Duration::ZERO;
    config.retries = RetryConfig {
        notify: 0,
        data: 0,
        syn: 0,
        syn_ack: 0,
        user_timeout: Some(Duration::ZERO),
        refused: Some(Duration::ZERO),
        ..RetryConfig::default()
    };
    config.keepalive = KeepAliveConfig::On { idle: Duration::ZERO, interval: Duration::ZERO, count: 0 };
    config.ack.every_segments = 0;
    config.ack.timer = tcp::config::AckTimer::Adaptive;
    config.receive.spare_segments = 65;
    config.ack.delay = Duration::from_secs(1);
    config.send.buffer = 0;
    config.send.sws_override = Duration::ZERO;
    config.send.persist_max = Duration::ZERO;
    config.options.mss_max = Some(1);
    config.ecn.mark_beta = tcp::config::MarkBeta::Own { beta: base::Ratio::ZERO };
    config.ip = tcp::config::IpConfig { ttl: 0, dscp: 64 };
    config.path_mtu.min_v4 = 67;
    config.path_mtu.raise_after = Duration::ZERO;
    (config.path_mtu.base_mss, config.path_mtu.search_end, config.path_mtu.black_hole_timeouts) = (47, 0, 0);
    find("receive.window.max").unwrap().write(&mut config, "0").unwrap();
    find("options.window_scale.kind").unwrap().write(&mut config, "shift").unwrap();
    find("options.window_scale.shift").unwrap().write(&mut config, "15").unwrap();
    find("recovery.detector.dup_thresh").unwrap().write(&mut config, "0").unwrap();
    let mut stepped = Config::default();
    for (path, text) in [
        ("receive.window.kind", "stepped"),
        ("receive.window.initial", "20MB"),
        ("receive.window.share", "0"),
        ("receive.window.factor_percent", "99"),
        ("options.window_scale.kind", "off"),
    ] {
        find(path).unwrap().write(&mut stepped, text).unwrap();
    }
    let mut errors = config.validate().unwrap_err();
    errors.extend(stepped.validate().unwrap_err());
    assert!(errors.len() >= 26, "{errors:?}");
    for error in errors {
        let is_option = OPTIONS.iter().any(|option| error.path.starts_with(option));
        assert_ne!(find(error.path).is_ok(), is_option, "{}", error.path);
    }
}

#[test_case("rto.min", 50, Some("500ms"))]
#[test_case("rto.min", 150, Some("1500ms"))]
#[test_case("cc.initial_window.segments", 150, Some("15"))]
#[test_case("receive.window.max", 50, Some("32MB"); "bytes")]
#[test_case("cc.avoidance.beta", 50, Some("0.35"); "a share")]
#[test_case("cc.avoidance.beta", 150, None; "more than all")]
#[test_case("recovery.detector.lateness_max_srtts", 150, None; "half of nothing")]
#[test_case("cc.slow_start.kind", 150, None; "half of a word")]
fn a_quantity_is_scaled_and_nothing_else_is(path: &str, percent: u64, expected: Option<&str>) {
    let config = crate::get("rfc").unwrap().config();
    assert_eq!(find(path).unwrap().scaled(config, percent).as_deref(), expected);
}

#[test]
fn a_whole_number_never_stays_itself() {
    let config = crate::get("linux").unwrap().config();
    let limit = find("challenge.limit").unwrap();
    assert_eq!(limit.read(config).as_deref(), Some("1"));
    assert_eq!([50, 150].map(|percent| limit.scaled(config, percent)), [Some("0".to_owned()), Some("2".to_owned())]);
}

#[test]
fn every_value_that_is_shown_has_the_form_that_is_announced() {
    for leaf in LEAVES {
        let config = leaf.config_with();
        let value = leaf.read(&config).unwrap_or_else(|| panic!("{} applies nowhere", leaf.path));
        match leaf.form() {
            Form::Words(words) => assert!(words.contains(&value.as_str()), "{}", leaf.path),
            Form::Quantity { most, optional, .. } => {
                assert_eq!(leaf.write(&mut config.clone(), NONE).is_ok(), optional, "{}", leaf.path);
                if let Some(most) = most {
                    assert!(leaf.write(&mut config.clone(), &most.to_string()).is_ok(), "{}", leaf.path);
                    assert!(leaf.write(&mut config.clone(), &(most + 1).to_string()).is_err(), "{}", leaf.path);
                }
            }
        }
    }
    let min_eta = crate::find_leaf("cc.slow_start.min_eta").unwrap();
    let (path, kinds) = min_eta.kinds().unwrap();
    assert_eq!((path, kinds), ("cc.slow_start.kind", vec!["hystart", "hystart_pp_css", "hystart_pp_lss"]));
}
