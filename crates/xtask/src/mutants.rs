//! `cargo xtask mutants PACKAGE…`: small defects planted one at a time, and whether the package's own tests find them, by
//! cargo-mutants.
//!
//! Outside CI: a package takes from minutes (`cc`) to hours (`tcp`, where `-- --file PATTERN` or `-- --shard 1/50` takes a part).
//! A mutant that survives shows either a missing test or an unneeded line.

use crate::runner::{Failure, Outcome, root, run};
use crate::tool::{Tool, WhenAbsent};
use std::process::Command;

/// Plants and judges.
const CARGO_MUTANTS: Tool = Tool { name: "cargo-mutants", version: "25.3.1" };

/// What to plant them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutants {
    /// Names as in `crates/`.
    pub packages: Vec<String>,
    /// For cargo-mutants, as they are.
    pub arguments: Vec<String>,
}

/// Tries every mutant; the survivors stand in `target/mutants/mutants.out/missed.txt`.
pub fn check(mutants: &Mutants) -> Outcome {
    for package in &mutants.packages {
        if !root().join("crates").join(package).join("Cargo.toml").is_file() {
            return Err(Failure::Missing(format!("crates/ has no package `{package}`")));
        }
    }
    let Some(program) = CARGO_MUTANTS.provide(WhenAbsent::Install)? else { return Ok(()) };
    run(Command::new(program).args(arguments(mutants)).current_dir(root())).map_err(|_| {
        Failure::Failed("mutants survived, or did not end: target/mutants/mutants.out/missed.txt".to_owned())
    })
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
        let told = arguments(&asked).join(" ");
        assert_eq!(told, "mutants --output target/mutants --colors never --package longhaul-cc --list");
    }

    #[test]
    fn an_unknown_package_is_named() {
        let asked = Mutants { packages: vec!["ccc".to_owned()], arguments: Vec::new() };
        assert!(matches!(check(&asked), Err(Failure::Missing(text)) if text.contains("`ccc`")));
    }
}
