//! The opening of a file: its charter, and at a crate's root the lints it forbids.

use crate::{Problem, Source};

/// Crates whose job needs system calls, or structures of C, and that keep their `unsafe` in one small documented module.
const MAY_USE_UNSAFE: [&str; 6] = ["net", "sockets", "drill", "yardstick", "tokio", "python"];

/// Lints that every crate below the purity line denies at its root.
const PURE_LINTS: [&str; 3] = ["clippy::float_arithmetic", "clippy::disallowed_methods", "clippy::disallowed_types"];

/// Files without a charter, and crate roots without their prohibitions.
pub fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let problem = |what: String, right: &str| Problem::new(&source.path, 1, what, right);
    if !opens_with_charter(&source.text) {
        problems.push(problem(
            "the file does not open with `//!`".into(),
            "a first line `//! …` that says what the file owns and which RFC section it implements",
        ));
    }
    if !source.is_crate_root() {
        return problems;
    }
    let safe = source.code.contains("#![forbid(unsafe_code)]");
    if !safe && !source.krate().is_some_and(|krate| MAY_USE_UNSAFE.contains(&krate)) {
        problems.push(problem("the crate allows `unsafe`".into(), "`#![forbid(unsafe_code)]` after the charter"));
    }
    if source.is_pure() {
        for lint in PURE_LINTS.iter().filter(|lint| !denies(&source.code, lint)) {
            problems.push(problem(
                format!("a crate below the purity line does not deny `{lint}`"),
                "`#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]`",
            ));
        }
    }
    problems
}

fn opens_with_charter(text: &str) -> bool {
    text.lines().next().and_then(|line| line.strip_prefix("//!")).is_some_and(|charter| !charter.trim().is_empty())
}

fn denies(code: &str, lint: &str) -> bool {
    code.match_indices("#![deny(").any(|(at, _)| code[at..].split(']').next().is_some_and(|list| list.contains(lint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_charter_is_the_first_line_and_not_empty() {
        assert_eq!(whats("crates/a/src/b.rs", "//! Owns b.\n"), [""; 0]);
        for text in ["", "\n//! Late.\n", "// Not a doc.\n", "//!\n", "use x;\n"] {
            assert_eq!(whats("crates/a/src/b.rs", text), ["the file does not open with `//!`"], "{text:?}");
        }
    }

    #[test]
    fn a_root_forbids_unsafe_unless_it_talks_to_devices() {
        assert_eq!(
            whats("crates/lab/src/lib.rs", "//! X\n// #![forbid(unsafe_code)]\n"),
            ["the crate allows `unsafe`"]
        );
        assert_eq!(whats("crates/lab/src/lib.rs", "//! X\n#![forbid(unsafe_code)]\n"), [""; 0]);
        assert_eq!(whats("crates/net/src/lib.rs", "//! X\n"), [""; 0]);
    }

    #[test]
    fn a_pure_root_denies_all_three_lints() {
        let text = "//! X\n#![forbid(unsafe_code)]\n#![deny(clippy::float_arithmetic, clippy::disallowed_types)]\n";
        assert_eq!(
            whats("crates/tcp/src/lib.rs", text),
            ["a crate below the purity line does not deny `clippy::disallowed_methods`"]
        );
    }
}
