//! Tests of the built-in profiles and of overrides.

use super::*;
use crate::Confidence::{self, Assumed, Documented, Inferred, Measured};
use crate::builtin::{builtin, get};
use base::Duration;
use test_case::test_case;

fn with(profile: &str, overrides: &[(&str, &str)]) -> Result<ValidConfig, String> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    get(profile).unwrap().with(&overrides).map_err(|error| error.to_string())
}

#[test]
fn every_leaf_of_every_profile_that_applies_has_evidence_and_its_effective_value() {
    for profile in builtin() {
        for leaf in LEAVES {
            let cited = profile.leaf(leaf.path).map(|cited| cited.value.clone());
            assert_eq!(cited, leaf.read(profile.config()), "{}: {}", profile.name, leaf.path);
        }
    }
}

#[test]
fn the_promised_profiles_are_there() {
    let names: Vec<&str> = builtin().iter().map(|profile| profile.name.as_str()).collect();
    let promised = [
        "rfc",
        "longhaul",
        "inside",
        "linux",
        "bbr",
        "windows-2000",
        "windows-2000-tuned",
        "server-2016",
        "server-2016-cubic",
        "server-2019-1809",
        "server-2019",
        "server-2022",
        "windows-11-21h2",
        "windows-11-22h2",
    ];
    assert_eq!(names, promised);
}

/// What was published, and its certainty: the value, and the confidence that it must not exceed.
#[test_case("windows-2000", "receive.window.kind", "fixed", Documented)]
#[test_case("windows-2000", "receive.window.bytes", "16KiB", Documented)]
#[test_case("windows-2000", "receive.rounding", "segments", Documented)]
#[test_case("windows-2000", "recovery.detector.dup_thresh", "2", Documented)]
#[test_case("windows-2000", "options.sack", "offer", Documented)]
#[test_case("windows-2000", "options.window_scale.kind", "answer", Assumed)]
#[test_case("windows-2000", "options.timestamps", "answer", Assumed)]
#[test_case("windows-2000", "recovery.probe.kind", "none", Inferred)]
#[test_case("windows-2000", "cc.initial_window.segments", "2", Assumed)]
#[test_case("windows-2000", "cc.avoidance.kind", "reno", Assumed)]
#[test_case("windows-2000", "rto.initial", "3s", Documented)]
#[test_case("windows-2000", "rto.min", "300ms", Assumed)]
#[test_case("windows-2000", "retries.data", "5", Documented)]
#[test_case("windows-2000", "ack.delay", "200ms", Documented)]
#[test_case("windows-2000-tuned", "receive.window.bytes", "131400B", Documented)]
#[test_case("windows-2000-tuned", "options.window_scale.kind", "from_buffer", Documented)]
#[test_case("windows-2000-tuned", "options.timestamps", "offer", Documented)]
#[test_case("windows-2000-tuned", "recovery.detector.dup_thresh", "2", Documented)]
#[test_case("server-2016", "recovery.detector.kind", "rack_ring", Documented)] // variant: rack_ring
#[test_case("server-2016", "recovery.probe.kind", "tlp", Documented)]
#[test_case("server-2016", "recovery.reduction.kind", "pipe", Inferred)]
#[test_case("server-2016", "cc.avoidance.kind", "compound", Inferred)]
#[test_case("server-2016", "cc.avoidance.round_rtt", "mean", Inferred)]
#[test_case("server-2016", "cc.initial_window.segments", "10", Documented)]
#[test_case("server-2016", "rto.min", "300ms", Inferred)]
#[test_case("server-2016", "rto.initial", "3s", Inferred)]
#[test_case("server-2016", "ack.delay", "50ms", Inferred)]
#[test_case("server-2016", "receive.window.kind", "stepped", Inferred)]
#[test_case("server-2016", "receive.window.level", "normal", Documented)]
#[test_case("server-2016", "receive.window.share", "0.75", Inferred)]
#[test_case("server-2016", "receive.window.factor_percent", "150", Inferred)]
#[test_case("server-2016-cubic", "cc.avoidance.kind", "cubic", Assumed)]
#[test_case("server-2016-cubic", "recovery.detector.kind", "rack_ring", Documented)] // variant: rack_ring
#[test_case("server-2016-cubic", "ack.delay", "50ms", Inferred)]
#[test_case("server-2019-1809", "cc.avoidance.kind", "cubic", Inferred)]
#[test_case("server-2019-1809", "cc.slow_start.kind", "classic", Inferred)]
#[test_case("server-2019-1809", "recovery.detector.kind", "rack_ring", Documented)] // variant: rack_ring
#[test_case("server-2019-1809", "recovery.reduction.kind", "pipe", Inferred)]
#[test_case("server-2019-1809", "ack.delay", "40ms", Inferred)]
#[test_case("server-2019-1809", "receive.window.share", "0.125", Inferred)]
#[test_case("server-2019-1809", "receive.window.factor_percent", "800", Inferred)]
#[test_case("server-2019-1809", "retries.syn", "4", Inferred)]
#[test_case("server-2019", "recovery.detector.kind", "rack_ring", Documented)] // variant: rack_ring
#[test_case("server-2019", "recovery.reduction.kind", "prr", Documented)]
#[test_case("server-2019", "recovery.reduction.bound", "ssrb", Inferred)]
#[test_case("server-2019", "cc.slow_start.kind", "hystart_pp_lss", Documented)]
#[test_case("server-2019", "cc.slow_start.low_window_segments", "16", Documented)]
#[test_case("server-2019", "cc.slow_start.lss_divisor", "0.25", Documented)]
#[test_case("server-2019", "rto.initial", "3s", Inferred)]
#[test_case("server-2022", "recovery.detector.kind", "rack", Documented)]
#[test_case("server-2022", "recovery.detector.dsack", "on", Inferred)]
#[test_case("server-2022", "recovery.reduction.bound", "ssrb", Inferred)]
#[test_case("server-2022", "cc.slow_start.kind", "hystart_pp_css", Inferred)]
#[test_case("server-2022", "cc.slow_start.rounds", "5", Inferred)]
#[test_case("server-2022", "recovery.blocks", "rfc2883", Documented)]
#[test_case("server-2022", "recovery.undo.dsack", "off", Inferred)]
#[test_case("server-2022", "cc.avoidance.kind", "cubic", Inferred)]
#[test_case("server-2022", "cc.slow_start.limit_segments", "8", Inferred)]
#[test_case("server-2022", "cc.pacing.kind", "off", Documented)]
#[test_case("server-2022", "rto.initial", "1s", Inferred)]
#[test_case("server-2022", "rto.min", "300ms", Inferred)]
#[test_case("server-2022", "receive.window.level", "normal", Documented)]
#[test_case("windows-11-21h2", "recovery.blocks", "dsack_check_rejected", Inferred)] // variant: dsack_check_rejected
#[test_case("windows-11-22h2", "recovery.blocks", "rfc2883", Documented)]
#[test_case("windows-11-21h2", "recovery.undo.dsack", "off", Documented)]
#[test_case("windows-11-21h2", "recovery.detector.kind", "rack", Documented)]
#[test_case("windows-11-22h2", "recovery.undo.dsack", "off", Inferred)]
#[test_case("linux", "cc.avoidance.beta", "717/1024", Documented)]
#[test_case("linux", "cc.avoidance.c", "0.4", Documented)]
#[test_case("linux", "cc.slow_start.kind", "hystart", Documented)]
#[test_case("linux", "cc.slow_start.ack_delta", "2ms", Documented)]
#[test_case("linux", "cc.initial_window.segments", "10", Documented)]
#[test_case("linux", "recovery.detector.dsack", "on", Documented)]
#[test_case("linux", "recovery.reduction.bound", "safe_ack", Inferred)]
#[test_case("linux", "recovery.undo.dsack", "on", Inferred)]
#[test_case("linux", "recovery.undo.eifel", "timestamps", Inferred)]
#[test_case("linux", "recovery.undo.frto", "on", Documented)]
#[test_case("linux", "rto.min", "200ms", Documented)]
#[test_case("linux", "rto.max", "120s", Documented)]
#[test_case("linux", "receive.window.kind", "drs", Inferred)]
#[test_case("linux", "receive.reassembly_max", "none", Inferred)]
#[test_case("linux", "receive.window.max", "6MiB", Documented)]
#[test_case("linux", "options.timestamps", "offer", Documented)]
#[test_case("linux", "options.window_scale.kind", "from_buffer", Documented)]
#[test_case("linux", "ack.delay", "40ms", Documented)]
#[test_case("linux", "ack.quick_segments", "16", Documented)]
#[test_case("linux", "retries.syn", "6", Documented)]
#[test_case("linux", "retries.data", "15", Documented)]
#[test_case("linux", "send.nagle", "minshall", Inferred)]
#[test_case("longhaul", "rto.min", "200ms", Measured)]
#[test_case("longhaul", "receive.window.max", "64MB", Assumed)]
fn a_profile_has_what_was_published(profile: &str, path: &str, value: &str, surest: Confidence) {
    let cited = get(profile).unwrap().leaf(path).unwrap();
    assert_eq!(cited.value, value);
    assert!(cited.evidence.confidence >= surest, "no more surely than {surest}");
}

/// The figures that judged these, on cells that they were not tuned on, stand in `docs/longhaul.md` and `docs/holdout.md`.
#[test]
fn what_is_called_measured_was_judged_on_what_it_was_not_tuned_on() {
    let measured: Vec<(&str, &str)> = builtin()
        .iter()
        .flat_map(|profile| {
            LEAVES.iter().filter_map(|leaf| Some((profile.name.as_str(), leaf.path, profile.leaf(leaf.path)?)))
        })
        .filter(|(name, _, cited)| cited.evidence.confidence == Confidence::Measured && cited.from == *name)
        .map(|(name, path, _)| (name, path))
        .collect();
    let own = |path: &str| crate::get("longhaul").unwrap().leaf(path).is_some_and(|cited| cited.from == "longhaul");
    let expected: Vec<_> = LEAVES.iter().filter(|leaf| own(leaf.path)).map(|leaf| ("longhaul", leaf.path)).collect();
    assert_eq!(expected.len(), 12, "{expected:?}");
    assert_eq!(measured, expected);
}

/// A house choice was measured on some paths, and there are always others.
#[test]
fn house_choices_claim_nothing_of_every_path() {
    for profile in builtin() {
        for leaf in LEAVES {
            let Some(cited) = profile.leaf(leaf.path).filter(|cited| cited.from == profile.name) else { continue };
            let source = &cited.evidence.source;
            let absolute = source.split(|c: char| !c.is_alphabetic()).find(|word| ["never", "always"].contains(word));
            assert!(
                !source.starts_with("house choice") || absolute.is_none(),
                "{} {}: {source}",
                profile.name,
                leaf.path
            );
        }
    }
}

#[test]
fn a_tuned_registry_warns_of_the_name_that_does_nothing() {
    let warned: Vec<&str> = builtin()
        .iter()
        .filter(|profile| !profile.warnings().is_empty())
        .map(|profile| profile.name.as_str())
        .collect();
    assert_eq!(warned, ["windows-2000-tuned"]);
    let warning = get("windows-2000-tuned").unwrap().warnings()[0].to_string();
    assert!(warning.contains("`GlobalTcpMaxWindowSize` is a name that the system does not know"), "{warning}");
}

#[test]
fn a_group_stands_for_its_kind() {
    let config = with("server-2022", &[("recovery.probe", "none")]);
    assert_eq!(config.unwrap().recovery.probe, None);
}

#[test]
fn kinds_are_overridden_before_the_numbers_beside_them() {
    let config = with("server-2022", &[("cc.pacing.quantum_segments", "16"), ("cc.pacing.kind", "window")]);
    let pacing = &config.unwrap().cc.pacing;
    assert!(matches!(pacing, cc::PacingConfig::Window { quantum_segments: 16, .. }), "{pacing:?}");
}

#[test]
fn an_override_leaves_everything_else_alone() {
    let config = with("server-2022", &[("rto.min", "250ms")]).unwrap();
    assert_eq!(config.rto.min, Duration::from_millis(250));
    let changed = values(&config).into_iter().zip(values(get("server-2022").unwrap().config())).filter(|(a, b)| a != b);
    assert_eq!(changed.count(), 1);
}

#[test]
fn overrides_that_do_not_fit_are_refused_by_path() {
    assert_eq!(
        with("longhaul", &[("rto.min", "2d")]).unwrap_err(),
        "`rto.min`: `2d` is not a valid duration: use a number and one of ns, us, ms, s, min, h, for example `25ms`"
    );
    assert_eq!(
        with("longhaul", &[("rto.min", "200s")]).unwrap_err().split(';').next(),
        Some("rto.min: must not exceed rto.max")
    );
    let error = get("longhaul").unwrap().with(&[("ack.delay".into(), "1ms".into()), ("x".into(), "1".into())]);
    assert!(matches!(error, Err(OverrideError::Leaf { index: 1, .. })), "{error:?}");
}

#[test]
fn an_unknown_profile_is_refused_with_the_closest_name() {
    let message = get("server-2021").unwrap_err().to_string();
    let expected =
        "unknown profile `server-2021`: did you mean `server-2022`? There are rfc, longhaul, inside, linux, ";
    assert!(message.starts_with(expected), "{message}");
}
