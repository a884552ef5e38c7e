//! What duvet finds: which files implement and which test each requirement, and which requirements are excepted.
//!
//! The requirements are declared to duvet in files under `target/duvet`, generated from the specifications. Duvet itself rejects
//! a quote that no specification contains, and an anchor that does not exist.

use super::spec::{Level, Requirement, Specification};
use crate::runner::{Failure, Outcome, root, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is known of one requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Files that implement it, from the repository's root.
    pub implemented: BTreeSet<String>,
    /// Files that test it.
    pub tested: BTreeSet<String>,
    /// Why it is not implemented.
    pub excepted: Option<String>,
    /// Files that quote only a part of it, which proves nothing.
    pub in_part: BTreeSet<String>,
}

impl Evidence {
    /// Whether nothing is left to do.
    pub fn is_settled(&self) -> bool {
        self.excepted.is_some() || (!self.implemented.is_empty() && !self.tested.is_empty())
    }
}

/// Evidence by path of the specification, anchor and sentence.
pub type Ledger = BTreeMap<(String, String, String), Evidence>;

/// Asks duvet.
pub fn gather(duvet: &Path, specs: &[Specification]) -> Result<Ledger, Failure> {
    let directory = root().join("target").join("duvet");
    declare(&directory.join("requirements"), specs)?;
    run(Command::new(duvet).arg("report").current_dir(root()))?;
    let report = directory.join("report.json");
    let text = fs::read_to_string(&report).map_err(|error| failed(&report, &error))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| failed(&report, &error))?;
    read(&report).ok_or_else(|| Failure::Failed("duvet's report is not of the form that is known here".to_owned()))
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(format!("{}: {error}", path.display()))
}

/// Writes a file of declarations for each specification, and removes other files there.
fn declare(directory: &Path, specs: &[Specification]) -> Outcome {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    for spec in specs {
        let name = Path::new(&spec.path).with_extension("toml");
        let path = directory.join(name.file_name().unwrap_or_default());
        let entries: String =
            spec.requirements.iter().map(|requirement| declaration(&spec.path, requirement)).collect();
        fs::write(&path, entries).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

fn declaration(path: &str, requirement: &Requirement) -> String {
    let level = match requirement.level {
        Level::Must | Level::Step => "MUST",
        Level::Should => "SHOULD",
        Level::May => "MAY",
    };
    let quote = requirement.sentence.replace('\\', "\\\\").replace('"', "\\\"");
    format!("[[spec]]\ntarget = \"{path}#{}\"\nlevel = \"{level}\"\nquote = \"{quote}\"\n\n", requirement.anchor)
}

/// Duvet's report lists all annotations; for each requirement `statuses` names the annotations that quote it, and how many of its
/// bytes they cover.
fn read(report: &Value) -> Option<Ledger> {
    let annotations = report["annotations"].as_array()?;
    let mut ledger = Ledger::new();
    for (id, status) in report["statuses"].as_object()? {
        let requirement = annotations.get(id.parse::<usize>().ok()?)?;
        let text = |key: &str| requirement[key].as_str().map(str::to_owned);
        let whole = status["spec"].as_u64()?;
        let mut evidence = Evidence::default();
        for related in status["related"].as_array().into_iter().flatten() {
            let annotation = annotations.get(usize::try_from(related.as_u64()?).ok()?)?;
            let file = annotation["source"].as_str()?.to_owned();
            let covered = |kind: &str| status[kind].as_u64() == Some(whole);
            match annotation["type"].as_str().unwrap_or("CITATION") {
                "CITATION" if covered("citation") => _ = evidence.implemented.insert(file),
                "TEST" if covered("test") => _ = evidence.tested.insert(file),
                "EXCEPTION" if covered("exception") => {
                    evidence.excepted = annotation["comment"].as_str().map(str::to_owned)
                }
                _ => _ = evidence.in_part.insert(file),
            }
        }
        ledger.insert((text("target_path")?, text("target_section")?, text("comment")?), evidence);
    }
    Some(ledger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_declaration_is_toml_with_the_sentence_as_its_quote() {
        let requirement =
            Requirement {
                anchor: "a".into(), level: Level::Step, section: "§1".into(), sentence: "A \"b\" c.".into()
            };
        let expected = "[[spec]]\ntarget = \"specs/x.md#a\"\nlevel = \"MUST\"\nquote = \"A \\\"b\\\" c.\"\n\n";
        assert_eq!(declaration("specs/x.md", &requirement), expected);
    }

    #[test]
    fn related_annotations_are_sorted_by_what_they_are_and_whether_they_quote_all() {
        let spec = |sentence: &str| json!({"source": "r.toml", "target_path": "s.md", "target_section": "a", "type": "SPEC", "comment": sentence});
        let report = json!({
            "annotations": [
                spec("One."), spec("Two."), spec("Three."),
                {"source": "code.rs", "target_section": "a"},
                {"source": "test.rs", "target_section": "a", "type": "TEST"},
                {"source": "e.toml", "target_section": "a", "type": "EXCEPTION", "comment": "no need"},
            ],
            "statuses": {
                "0": {"spec": 4, "citation": 4, "test": 4, "related": [3, 4]},
                "1": {"spec": 4, "citation": 3, "incomplete": 1, "related": [3]},
                "2": {"spec": 6, "exception": 6, "related": [5]},
            },
        });
        let ledger = read(&report).unwrap();
        let of = |sentence: &str| &ledger[&("s.md".to_owned(), "a".to_owned(), sentence.to_owned())];
        let file = |name: &str| BTreeSet::from([name.to_owned()]);
        let one = Evidence { implemented: file("code.rs"), tested: file("test.rs"), ..Evidence::default() };
        assert_eq!(*of("One."), one);
        assert_eq!(*of("Two."), Evidence { in_part: file("code.rs"), ..Evidence::default() });
        assert_eq!(*of("Three."), Evidence { excepted: Some("no need".into()), ..Evidence::default() });
        assert_eq!([of("One."), of("Two."), of("Three.")].map(Evidence::is_settled), [true, false, true]);
    }

    #[test]
    fn a_report_of_another_form_is_refused() {
        assert_eq!(read(&json!({"annotations": []})), None);
        assert_eq!(read(&json!({"annotations": [], "statuses": {"0": {"spec": 1}}})), None);
    }
}
