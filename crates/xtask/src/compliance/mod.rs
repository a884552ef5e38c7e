//! Requirements of the RFCs, the code that meets them and the tests that verify it.
//!
//! The specifications are `specs/rfc*.md`. Code and tests quote them in annotations, which duvet compares with the
//! specifications; its report becomes `docs/compliance.md`.

mod evidence;
mod page;
mod spec;

use crate::args::DocsMode;
use crate::runner::{Failure, Outcome, root};
use crate::tool::{Tool, WhenAbsent};
use evidence::{Evidence, Ledger};
use page::{Chapter, Clause};
use spec::{Requirement, Specification};
use std::fs;

const DUVET: Tool = Tool { name: "duvet", version: "0.4.3" };
const PAGE: &str = "docs/compliance.md";
/// Specifications whose binding requirements must all be implemented and tested, or excepted.
const COMPLETE: [&str; 6] = [
    "specs/rfc5961.md",
    "specs/rfc8985.md",
    "specs/rfc9293.md",
    "specs/rfc9406.md",
    "specs/rfc9438.md",
    "specs/rfc9937.md",
];

/// Writes the page and reports open requirements; or fails if the page is out of date or a mandatory requirement is open.
pub fn run(mode: DocsMode, when_absent: WhenAbsent) -> Outcome {
    let Some(duvet) = DUVET.provide(when_absent)? else { return Ok(()) };
    let specs = spec::read_all(&root())?;
    let ledger = evidence::gather(&duvet, &specs)?;
    let chapters: Vec<Chapter<'_>> = specs.iter().map(|spec| chapter(spec, &ledger)).collect();
    let mut problems = contradictions(&chapters);
    let open = open(&chapters);
    let page = page::render(&chapters);
    let path = root().join(PAGE);
    if fs::read_to_string(&path).unwrap_or_default() != page {
        match mode {
            DocsMode::Check => problems.push(format!("{PAGE} is out of date; `cargo xtask compliance` writes it")),
            DocsMode::Write => {
                eprintln!("writing {PAGE}");
                fs::write(&path, page).map_err(|error| Failure::Failed(format!("{PAGE}: {error}")))?;
            }
        }
    }
    match mode {
        DocsMode::Check => problems.extend(open),
        DocsMode::Write => open.iter().for_each(|line| eprintln!("open: {line}")),
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::Failed(problems.join("\n  "))) }
}

fn chapter<'a>(spec: &'a Specification, ledger: &Ledger) -> Chapter<'a> {
    let clause = |requirement: &'a Requirement| {
        let key = (spec.path.clone(), requirement.anchor.clone(), requirement.sentence.clone());
        Clause { requirement, evidence: ledger.get(&key).cloned().unwrap_or_default() }
    };
    Chapter { path: &spec.path, title: &spec.title, clauses: spec.requirements.iter().map(clause).collect() }
}

/// Returns annotations that prove nothing, or contradict an exception.
fn contradictions(chapters: &[Chapter<'_>]) -> Vec<String> {
    let mut problems = Vec::new();
    each(chapters, |place, evidence| {
        problems.extend(evidence.in_part.iter().map(|file| format!("{file} quotes only a part of {place}")));
        if let (Some(_), Some(file)) = (&evidence.excepted, evidence.implemented.first()) {
            problems.push(format!("{place} is excepted, but {file} implements it"));
        }
    });
    problems
}

/// What the rule about complete specifications misses.
fn open(chapters: &[Chapter<'_>]) -> Vec<String> {
    let mut missing = Vec::new();
    let complete = chapters.iter().filter(|chapter| COMPLETE.contains(&chapter.path));
    for chapter in complete {
        for clause in chapter.clauses.iter().filter(|clause| clause.requirement.level.is_binding()) {
            let Evidence { implemented, tested, .. } = &clause.evidence;
            let lacks = match (implemented.is_empty(), tested.is_empty()) {
                _ if clause.evidence.is_settled() => continue,
                (true, true) => "no code and no test",
                (true, false) => "no code",
                (false, _) => "no test",
            };
            missing.push(format!("{}: {lacks}", place(chapter, clause)));
        }
    }
    missing
}

fn each(chapters: &[Chapter<'_>], mut visit: impl FnMut(String, &Evidence)) {
    for chapter in chapters {
        for clause in &chapter.clauses {
            visit(place(chapter, clause), &clause.evidence);
        }
    }
}

fn place(chapter: &Chapter<'_>, clause: &Clause<'_>) -> String {
    format!("{}#{} “{}”", chapter.path, clause.requirement.anchor, clause.requirement.sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spec::Level;
    use std::collections::BTreeSet;

    fn requirement(level: Level) -> Requirement {
        Requirement { anchor: "a".into(), level, section: "§1".into(), sentence: "One.".into() }
    }

    fn chapter_of<'a>(path: &'a str, requirement: &'a Requirement, evidence: Evidence) -> [Chapter<'a>; 1] {
        [Chapter { path, title: "T", clauses: vec![Clause { requirement, evidence }] }]
    }

    fn files(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_binding_requirement_needs_code_and_test_or_an_exception() {
        let (must, step, should) = (requirement(Level::Must), requirement(Level::Step), requirement(Level::Should));
        let nothing = Evidence::default();
        let code = Evidence { implemented: files(&["x.rs"]), ..Evidence::default() };
        let both = Evidence { tested: files(&["y.rs"]), ..code.clone() };
        let excepted = Evidence { excepted: Some("because".into()), ..Evidence::default() };
        let open = |path, requirement, evidence: &Evidence| open(&chapter_of(path, requirement, evidence.clone()));
        let path = "specs/rfc9937.md";
        assert_eq!(open(path, &must, &nothing), ["specs/rfc9937.md#a “One.”: no code and no test"]);
        assert_eq!(open(path, &step, &code), ["specs/rfc9937.md#a “One.”: no test"]);
        assert_eq!(open(path, &must, &both), [""; 0]);
        assert_eq!(open(path, &must, &excepted), [""; 0]);
        assert_eq!(open(path, &should, &nothing), [""; 0]);
        assert_eq!(open("specs/rfc5682.md", &must, &nothing), [""; 0]);
    }

    #[test]
    fn an_exception_for_what_is_implemented_and_a_partial_quote_are_refused() {
        let must = requirement(Level::Must);
        let evidence = Evidence {
            implemented: files(&["x.rs"]),
            excepted: Some("because".into()),
            in_part: files(&["z.rs"]),
            ..Evidence::default()
        };
        let problems = contradictions(&chapter_of("s.md", &must, evidence));
        assert_eq!(problems.len(), 2);
        assert!(problems[0].starts_with("z.rs quotes only a part of s.md#a"));
        assert!(problems[1].ends_with("is excepted, but x.rs implements it"));
    }
}
