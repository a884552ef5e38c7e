//! `cargo xtask mutants PACKAGE…`: small defects planted one at a time, and whether the package's own tests find them, by
//! cargo-mutants.
//!
//! Not part of CI: a package takes from half an hour (`cc`) to hours (`tcp`, where `-- --file PATTERN` or `-- --shard 1/50`
//! selects a part). A surviving mutant reveals a missing test or an unnecessary line, or is in `survivors.txt` with the reason
//! why no test can find it or need not. The list names mutants without line numbers, so that changes elsewhere do not invalidate
//! it.

mod judge;

use crate::runner::{Failure, Outcome, capture, root};
use crate::tool::{Tool, WhenAbsent};
use judge::{Found, Verdict, judge, kept};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Plants and runs the tests.
const CARGO_MUTANTS: Tool = Tool { name: "cargo-mutants", version: "25.3.1" };
/// Where it leaves what it found.
const OUTPUT: &str = "target/mutants/mutants.out";
/// Survivors that are accepted, each with its reason.
const SURVIVORS: &str = "crates/xtask/survivors.txt";
/// Exit codes of a run that came to its end: everything caught, something missed, something did not end.
const CAME_TO_ITS_END: [i32; 3] = [0, 2, 3];

/// What to plant them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutants {
    /// Names as in `crates/`.
    pub packages: Vec<String>,
    /// For cargo-mutants, as they are.
    pub arguments: Vec<String>,
}

/// Tries every mutant, and prints how many are caught and which survive. Fails when one survives that is not accepted, or
/// when one is accepted without need.
pub fn check(mutants: &Mutants) -> Outcome {
    for package in &mutants.packages {
        if !root().join("crates").join(package).join("Cargo.toml").is_file() {
            return Err(Failure::Missing(format!("crates/ has no package `{package}`")));
        }
    }
    let listed = fs::read_to_string(root().join(SURVIVORS)).unwrap_or_default();
    let listed =
        kept(&listed).map_err(|line| Failure::Failed(format!("{SURVIVORS}:{line}: a survivor needs a reason")))?;
    let Some(program) = CARGO_MUTANTS.provide(WhenAbsent::Install)? else { return Ok(()) };
    let status = Command::new(&program)
        .args(arguments(mutants))
        .current_dir(root())
        .status()
        .map_err(|error| Failure::Missing(format!("{program:?} does not start: {error}")))?;
    if mutants.arguments.iter().any(|argument| argument == "--list") {
        return Ok(());
    }
    if !status.code().is_some_and(|code| CAME_TO_ITS_END.contains(&code)) {
        return Err(Failure::Failed(format!("cargo-mutants ended with {status}")));
    }
    let all = Mutants { packages: mutants.packages.clone(), arguments: vec!["--list".to_owned()] };
    let all = capture(Command::new(&program).args(arguments(&all)).current_dir(root()))?;
    let verdict = judge(&mutants.packages, &found(&root().join(OUTPUT)), &String::from_utf8_lossy(&all), &listed);
    print!("{}", verdict.text);
    outcome(&verdict)
}

fn outcome(verdict: &Verdict) -> Outcome {
    match verdict.problems {
        0 => Ok(()),
        count => {
            Err(Failure::Failed(format!("{count} mutants need a test, a simpler line or a change of {SURVIVORS}")))
        }
    }
}

/// The lists of the last run.
fn found(folder: &Path) -> Found {
    let lines = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    Found {
        caught: lines("caught.txt"),
        missed: lines("missed.txt"),
        timeout: lines("timeout.txt"),
        unviable: lines("unviable.txt"),
    }
}

fn arguments(Mutants { packages, arguments }: &Mutants) -> Vec<String> {
    let mut all: Vec<String> =
        ["mutants", "--output", "target/mutants", "--colors", "never"].map(str::to_owned).to_vec();
    for package in packages {
        all.extend(["--package".to_owned(), format!("longhaul-{package}")]);
    }
    all.extend(arguments.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_as_their_folders_are() {
        let asked = Mutants { packages: vec!["cc".to_owned()], arguments: vec!["--list".to_owned()] };
        let passed = arguments(&asked).join(" ");
        assert_eq!(passed, "mutants --output target/mutants --colors never --package longhaul-cc --list");
    }

    #[test]
    fn an_unknown_package_is_named() {
        let asked = Mutants { packages: vec!["ccc".to_owned()], arguments: Vec::new() };
        assert!(matches!(check(&asked), Err(Failure::Missing(text)) if text.contains("`ccc`")));
    }

    #[test]
    fn each_survivor_of_the_list_has_a_reason() {
        let listed = fs::read_to_string(root().join(SURVIVORS)).unwrap();
        assert!(kept(&listed).is_ok_and(|listed| !listed.is_empty()));
    }
}
