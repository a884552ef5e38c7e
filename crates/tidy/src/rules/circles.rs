//! No circle between files of a crate: reading one file must not require reading those built on it.
//!
//! An edge runs from a file to the file that defines an item it uses (`modules.rs`); `mod.rs` is a file like any other, and a
//! re-export does not count.

use crate::modules::{Modules, Use};
use crate::{Problem, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Crates with known circles that are to be removed.
pub const WAITING: &[&str] = &[];

/// Finds the circles of all crates except the waiting ones, and crates that wait without need.
pub fn check(sources: &[Source], waiting: &[&str]) -> Vec<Problem> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(Source::krate).collect();
    let mut problems = Vec::new();
    for krate in crates {
        let circles = circles(&Modules::of(krate, sources).uses());
        match waiting.contains(&krate) {
            false => problems.extend(circles.iter().map(problem)),
            true if circles.is_empty() => {
                let what = format!("`{krate}` waits, and has no circle");
                problems.push(Problem::new("crates/tidy/src/rules/circles.rs", 1, what, "its name taken off the list"));
            }
            true => {}
        }
    }
    problems
}

/// Files that all use each other, directly or indirectly, and the shortest circle.
struct Circle {
    files: usize,
    way: Vec<Use>,
}

fn problem(circle: &Circle) -> Problem {
    let first = &circle.way[0];
    let steps: Vec<String> = circle
        .way
        .iter()
        .map(|step| format!("{}:{} uses `{}` of {}", step.from, step.line, step.item, step.to))
        .collect();
    let what = format!("{} files use each other in a circle: {}", circle.files, steps.join(", "));
    Problem::new(&first.from, first.line, what, "an item moved to a file below both, or given as an argument")
}

fn circles(uses: &[Use]) -> Vec<Circle> {
    let mut edges: BTreeMap<&str, Vec<&Use>> = BTreeMap::new();
    for found in uses {
        edges.entry(&found.from).or_default().push(found);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reach(&edges, file))).collect();
    let mutual = |one: &str, other: &str| {
        reached[one].contains(other) && reached.get(other).is_some_and(|back| back.contains(one))
    };
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for file in edges.keys().filter(|file| reached[**file].contains(**file)) {
        if !done.contains(file) {
            let members: BTreeSet<&str> = edges.keys().copied().filter(|other| mutual(file, other)).collect();
            let ways = members.iter().filter_map(|member| shortest(&edges, member));
            found.extend(ways.min_by_key(Vec::len).map(|way| Circle { files: members.len(), way }));
            done.extend(members);
        }
    }
    found
}

/// Returns all files that a file uses, directly or indirectly.
fn reach<'u>(edges: &BTreeMap<&'u str, Vec<&'u Use>>, from: &'u str) -> BTreeSet<&'u str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        let next = edges.get(file).into_iter().flatten().map(|step| step.to.as_str());
        open.extend(next.filter(|next| found.insert(*next)));
    }
    found
}

/// The shortest way from a file back to itself.
fn shortest(edges: &BTreeMap<&str, Vec<&Use>>, from: &str) -> Option<Vec<Use>> {
    let mut ways: Vec<Vec<&Use>> = edges.get(from)?.iter().map(|step| vec![*step]).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let end = way.last().expect("a way has a step").to.as_str();
            if end == from {
                return Some(way.into_iter().cloned().collect());
            }
            if seen.insert(end) {
                longer.extend(edges.get(end).into_iter().flatten().map(|step| [&way[..], &[*step]].concat()));
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], waiting: &[&str]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("crates/{path}"), *text)).collect();
        check(&sources, waiting).iter().map(ToString::to_string).collect()
    }

    const ROUND: [(&str, &str); 4] = [
        ("cc/src/lib.rs", "mod a;\nmod b;\nmod c;"),
        ("cc/src/a.rs", "use crate::b::B;\npub struct A;"),
        ("cc/src/b.rs", "pub struct B;\n\nuse crate::c::C;"),
        ("cc/src/c.rs", "pub struct C;\nfn of(_: super::a::A) {}"),
    ];

    #[test]
    fn a_circle_is_reported_with_every_step() {
        let problems = found(&ROUND, &[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        let steps = "3 files use each other in a circle: crates/cc/src/a.rs:1 uses `B` of crates/cc/src/b.rs, \
                     crates/cc/src/b.rs:3 uses `C` of crates/cc/src/c.rs, crates/cc/src/c.rs:2 uses `A` of crates/cc/src/a.rs;";
        assert!(problems[0].starts_with("crates/cc/src/a.rs:1: ") && problems[0].contains(steps), "{}", problems[0]);
    }

    #[test]
    fn files_in_an_order_have_none() {
        assert_eq!(found(&ROUND[..3], &[]), [""; 0]);
    }

    #[test]
    fn a_crate_waits_only_while_it_has_a_circle() {
        assert_eq!(found(&ROUND, &["cc"]), [""; 0]);
        assert!(found(&ROUND[..3], &["cc"])[0].contains("`cc` waits, and has no circle"));
    }
}
