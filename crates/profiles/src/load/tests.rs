//! Tests of the structure of profile files: errors name their place.

use crate::builtin::{BUILTIN, builtin, load};
use crate::evidence::{Confidence, Evidence};
use crate::leaf::Leaf;
use crate::leaves::LEAVES;
use test_case::test_case;

fn error(text: &str) -> String {
    load(&[("p", text)]).expect_err("the file is wrong").to_string()
}

#[test_case("x = ", "p.toml:1:"; "no toml")]
#[test_case("extends = \"q\"", "p.toml:1:1: `summary` is missing; say in one sentence which TCP this is"; "no summary")]
#[test_case("summary = 3", "p.toml:1:11: `summary` is of type integer; a string belongs here"; "summary of a wrong type")]
#[test_case("summary = \" \"", "p.toml:1:11: `summary` is empty; write a sentence"; "empty summary")]
#[test_case("[rto]\nmiin = 3", "p.toml:2:1: unknown key `rto.miin`; did you mean `rto.min`?"; "unknown leaf")]
#[test_case("[zebra]\nx = 3", "p.toml:1:2: unknown key `zebra`; see `longhaul profiles rfc` for all leaves"; "unknown group")]
#[test_case("[rto]\nmin = true", "p.toml:2:7: `min` is of type boolean; a string or a number belongs here"; "value of a wrong type")]
#[test_case("rto = 3", "p.toml:1:7: `rto` is of type integer; a table belongs here"; "group as value")]
#[test_case("[rto]\nmin = { source = \"s\", confidence = \"assumed\" }", "p.toml:2:1: `min` has no `value`"; "no value")]
#[test_case("[rto]\nmin = { value = \"1s\", confidence = \"assumed\" }", "p.toml:2:1: `min` has no `source`"; "no source")]
#[test_case("[rto]\nmin = { value = \"1s\", source = \"s\" }", "p.toml:2:1: `min` has no `confidence`"; "no confidence")]
#[test_case("[rto]\nmin = { value = \"1s\", source = \"s\", confidence = \"sure\" }", "p.toml:2:50: `sure` is not a valid confidence; one of documented, measured, inferred, assumed"; "unknown confidence")]
#[test_case("[rto]\nmin = { value = \"1s\", sauce = \"s\" }", "p.toml:2:23: unknown key `sauce`; did you mean `source`?"; "unknown part")]
#[test_case("[rto]\nmin = { value = [1], source = \"s\" }", "p.toml:2:17: `value` is of type array; a string or a number belongs here"; "list as value")]
#[test_case("[later]\n\"rto.min\" = { value = 1, source = \"s\", confidence = \"assumed\" }", "p.toml:2:1: `rto.min` exists already; move it out of `[later]` and give it its value"; "later that exists")]
fn a_wrong_file_is_refused_with_its_place(text: &str, message: &str) {
    let found = error(text);
    assert!(found.starts_with(message), "{found}");
}

#[test]
fn a_value_alone_is_assumed() {
    let mine = "extends = \"rfc\"\nsummary = \"x\"\n[rto]\nmin = \"300ms\"\n";
    let loaded = load(&[BUILTIN[0], ("mine", mine)]).unwrap();
    let cited = loaded.iter().find(|profile| profile.name == "mine").unwrap().leaf("rto.min").unwrap();
    assert_eq!((cited.value.as_str(), cited.evidence.confidence), ("300ms", Confidence::Assumed));
}

#[test]
fn every_value_of_a_built_in_profile_has_a_source() {
    for profile in builtin() {
        let is_bare = |leaf: &&Leaf| profile.leaf(leaf.path).is_some_and(|cited| cited.evidence == Evidence::none());
        let bare = LEAVES.iter().find(is_bare);
        assert_eq!(bare.map(|leaf| leaf.path), None, "{}", profile.name);
    }
}

#[test]
fn a_file_that_extends_nothing_hears_of_extends() {
    let found = error("summary = \"x\"\n[rto]\nmin = \"1s\"\n");
    assert!(found.contains("`p` has no leaf `") && found.contains("`extends = \"rfc\"`"), "{found}");
}

#[test]
fn a_bad_unit_is_refused_at_the_value() {
    let root = BUILTIN[0]
        .1
        .replace("value = \"1s\", source = \"RFC 6298 §2.4\"", "value = \"1sec\", source = \"RFC 6298 §2.4\"");
    let found = load(&[("rfc", &root)]).expect_err("no such unit").to_string();
    assert!(
        found.contains(": `rto.min`: `1sec` is not a valid duration: use a number and one of ns, us, ms, s, min, h"),
        "{found}"
    );
    let line = root.lines().position(|line| line.contains("1sec")).expect("replaced") + 1;
    assert!(found.starts_with(&format!("rfc.toml:{line}:")), "{found}");
}

#[test]
fn a_reserved_name_is_refused() {
    let found = load(&[("path", "summary = \"x\"")]).expect_err("reserved").to_string();
    assert_eq!(found, "path.toml:1:1: `path` is a reserved name; give the profile another one");
}

#[test]
fn later_leaves_may_be_nested_or_dotted_and_come_sorted() {
    let root = format!(
        "{}\n[later]\n\"z.y\" = {{ value = \"v\", source = \"s\", confidence = \"assumed\" }}\na.b = {{ value = 1, source = \"s\", confidence = \"inferred\" }}\n",
        BUILTIN[0].1
    );
    let loaded = load(&[("rfc", &root)]).unwrap();
    let later: Vec<(&str, &str)> = loaded[0].later().iter().map(|l| (l.path.as_str(), l.value.as_str())).collect();
    assert_eq!(later, [("a.b", "1"), ("z.y", "v")]);
}
