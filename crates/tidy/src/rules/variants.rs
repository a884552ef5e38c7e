//! Deviations somebody shipped: one file each under `crates/*/src/variants/`, each with the same five-line header and the
//! two tests that guard it.
//!
//! The header is what `docs/QUIRKS.md` is generated from. *Parity* shows that the variant without its flaw does what the
//! clean code does; *bite* shows that with the flaw it does not.

use crate::{Problem, Source, functions};

/// The lines of the header, in order, each after `//! `.
pub const HEADER: [&str; 5] = ["Does:", "RFC:", "Believed because:", "Used by:", "Shown by:"];

/// Whether the file holds a variant.
pub fn is_variant(path: &str) -> bool {
    let mut parts = path.split('/');
    let name = parts.next_back();
    let inside = parts.collect::<Vec<_>>();
    inside.len() >= 4
        && inside[0] == "crates"
        && inside[2..] == ["src", "variants"]
        && name.is_some_and(|name| name.ends_with(".rs") && name != "mod.rs" && name != "tests.rs")
}

/// Checks one variant. `tests` are the sources its tests may be in besides the file itself: `variants/<name>/tests.rs` and
/// the crate's `tests/`.
pub fn check(variant: &Source, tests: &[&Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let charter: Vec<&str> = variant.text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let mut last = 0;
    for keyword in HEADER {
        match charter.iter().position(|line| line.strip_prefix(keyword).is_some_and(|rest| !rest.trim().is_empty())) {
            Some(index) if index >= last => last = index,
            Some(index) => problems.push(missing(variant, index + 1, format!("`{keyword}` is out of order"))),
            None => problems.push(missing(variant, 1, format!("the header has no line `//! {keyword} …`"))),
        }
    }
    let names: Vec<String> = std::iter::once(variant)
        .chain(tests.iter().copied())
        .flat_map(|source| functions(&source.code))
        .map(|function| function.name)
        .collect();
    for word in ["parity", "bite"] {
        if !names.iter().any(|name| name.contains(word)) {
            problems.push(missing(variant, 1, format!("no test has `{word}` in its name")));
        }
    }
    problems
}

fn missing(variant: &Source, line: usize, what: String) -> Problem {
    let right = "the lines Does, RFC, Believed because, Used by, Shown by; one test of parity with the clean code and one of bite";
    Problem::new(&variant.path, line, what, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "//! Title.\n//!\n//! Does: a.\n//! RFC: b.\n//! Believed because: c.\n//! Used by: d.\n//! Shown by: e.\n";
    const PATH: &str = "crates/recovery/src/variants/ring.rs";

    #[test]
    fn variants_are_told_by_their_place() {
        assert!(is_variant(PATH));
        for path in ["crates/recovery/src/variants/mod.rs", "crates/recovery/src/ring.rs", "docs/variants/a.rs"] {
            assert!(!is_variant(path), "{path}");
        }
    }

    #[test]
    fn header_and_both_tests_are_asked_for() {
        let whole = format!("{HEAD}fn parity_with_rules() {{}}\nfn small_rings_bite() {{}}\n");
        assert_eq!(check(&Source::new(PATH, whole), &[]), []);
        let problems = check(&Source::new(PATH, HEAD.replace("//! RFC: b.\n", "//! RFC:\n")), &[]);
        let whats: Vec<_> = problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(
            whats,
            [
                "the header has no line `//! RFC: …`",
                "no test has `parity` in its name",
                "no test has `bite` in its name"
            ]
        );
    }

    #[test]
    fn tests_may_live_beside_the_file() {
        let tests = Source::new("crates/recovery/src/variants/ring/tests.rs", "fn parity() {}\nfn bite() {}\n");
        assert_eq!(check(&Source::new(PATH, HEAD), &[&tests]), []);
    }
}
