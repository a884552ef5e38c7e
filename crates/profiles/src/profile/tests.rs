//! Tests of the built-in profiles and of overrides.

use super::*;
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
    assert_eq!(names, ["rfc", "longhaul", "server-2016", "server-2022"]);
}

#[test_case("server-2016", "recovery.detector.kind", "rack_ring")] // variant: rack_ring
#[test_case("server-2016", "rto.min", "300ms")]
#[test_case("server-2016", "rto.initial", "3s")]
#[test_case("server-2016", "ack.delay", "50ms")]
#[test_case("server-2016", "options.window_scale.shift", "8")]
#[test_case("server-2022", "recovery.detector.kind", "rack")]
#[test_case("server-2022", "recovery.detector.dsack", "on")]
#[test_case("server-2022", "cc.avoidance.kind", "cubic")]
#[test_case("server-2022", "receive.window.max", "16776960B")]
#[test_case("longhaul", "rto.min", "200ms")]
#[test_case("longhaul", "receive.window.max", "64MB")]
fn a_profile_has_what_was_published(profile: &str, path: &str, value: &str) {
    assert_eq!(get(profile).unwrap().leaf(path).unwrap().value, value);
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
        with("longhaul", &[("rto.min", "2h")]).unwrap_err(),
        "`rto.min`: `2h` is no time: write a number and one of s, ms, us, ns, for example `25ms`"
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
    assert_eq!(
        message,
        "there is no profile `server-2021`: did you mean `server-2022`? There are rfc, longhaul, server-2016, server-2022"
    );
}
