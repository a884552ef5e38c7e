//! `longhaul schema`: an independent validator accepts what the readers accept, and refuses what they refuse.

use crate::{longhaul, text_of};
use serde_json::Value;
use test_case::test_case;

fn schema(of: &str) -> jsonschema::Validator {
    let ended = longhaul(&["schema", of]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let schema: Value = serde_json::from_str(&ended.stdout).unwrap();
    jsonschema::draft7::meta::validate(&schema).unwrap_or_else(|error| panic!("{of}: {error}"));
    jsonschema::draft7::new(&schema).unwrap()
}

fn as_json(file: &str) -> Value {
    let table: toml::Table = toml::from_str(file).unwrap_or_else(|error| panic!("{error}: {file}"));
    serde_json::to_value(table).unwrap()
}

fn names(list: &[&str]) -> Vec<String> {
    let ended = longhaul(list);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let words = ended.stdout.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    words.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

#[test_case("experiment", "experiments"; "experiments")]
#[test_case("profile", "profiles"; "profiles")]
fn every_built_in_file_has_its_schemas_form(of: &str, command: &str) {
    let validator = schema(of);
    let mut found = 0;
    for name in names(&[command]) {
        let ended = longhaul(&[command, &name, "--toml"]);
        if ended.code != Some(0) {
            continue;
        }
        found += 1;
        let errors: Vec<String> = validator
            .iter_errors(&as_json(&ended.stdout))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    assert!(found >= 12, "only {found} of {command}");
}

#[test]
fn the_template_has_its_schemas_form() {
    let template = include_str!("../../src/init/experiment.toml");
    assert!(schema("experiment").is_valid(&as_json(template)));
    // Commented keys, too: a `#` directly before a key, not before a sentence.
    let all: String = template
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line).to_owned() + "\n")
        .collect();
    let errors: Vec<String> = schema("experiment").iter_errors(&as_json(&all)).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

const EXPERIMENT: &str = "summary = \"s\"\n[arms]\nuse = [\"linux\"]\n";
const PROFILE: &str = "summary = \"s\"\nextends = \"rfc\"\n";

#[test_case("experiment", EXPERIMENT, "[path]\nrate = \"fast\"\nrtt = \"25\""; "a time without a unit")]
#[test_case("experiment", EXPERIMENT, "[path]\nlatency = \"25ms\""; "an unknown key")]
#[test_case("experiment", EXPERIMENT, "[path.reorder]\nmode = \"random\""; "an unknown word")]
#[test_case("experiment", EXPERIMENT, "[path]\nloss = 1.5"; "more than all")]
#[test_case("experiment", EXPERIMENT, "[flow]\nbytes = \"32Mbit\""; "bits for bytes")]
#[test_case("experiment", EXPERIMENT, "[sweep]\n\"path.rtt\" = []"; "an empty axis")]
#[test_case("experiment", EXPERIMENT, "[sweep]\n\"linux.cc.avoidance.kinds\" = [\"reno\"]"; "an unknown leaf")]
#[test_case("experiment", EXPERIMENT, "[run]\niterations = 0"; "no runs")]
#[test_case("experiment", EXPERIMENT, "[expect]\n\"linux.speed\" = { at_least = 1 }"; "an unknown metric")]
#[test_case("experiment", EXPERIMENT, "[expect]\n\"linux.goodput\" = { above = 1 }"; "an unknown bound")]
#[test_case("experiment", "[arms]\nuse = [\"linux\"]\n", ""; "no summary")]
#[test_case("experiment", "summary = \"s\"\n[arms.own]\n", "set = { \"cc.pacing.kind\" = \"off\" }"; "an arm without a profile")]
#[test_case("profile", PROFILE, "[cc.slow_start]\nkind = \"slow\""; "an unknown kind")]
#[test_case("profile", PROFILE, "[cc.slow_start]\neta_divisor = 256"; "a number too large")]
#[test_case("profile", PROFILE, "[rto]\nminimum = \"1s\""; "a leaf that is none")]
#[test_case("profile", PROFILE, "[rto]\nmin = { value = \"1s\", source = \"RFC 6298\" }"; "a value without confidence")]
#[test_case("profile", PROFILE, "[rto]\nmin = { value = \"1s\", source = \"RFC 6298\", confidence = \"sure\" }"; "an unknown confidence")]
#[test_case("profile", "extends = \"rfc\"\n", ""; "a profile without a summary")]
fn what_the_reader_refuses_the_schema_refuses(of: &str, right: &str, wrong: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file.toml");
    let check = |text: &str| {
        std::fs::write(&path, text).unwrap();
        longhaul(&["check", text_of(&path)]).code
    };
    if of == "experiment" && right == EXPERIMENT || right == PROFILE {
        assert_eq!((check(right), schema(of).is_valid(&as_json(right))), (Some(0), true), "{right}");
    }
    let text = format!("{right}{wrong}\n");
    assert_eq!((check(&text), schema(of).is_valid(&as_json(&text))), (Some(2), false), "{text}");
}
