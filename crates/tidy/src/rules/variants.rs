//! Deviations that some TCP ships: one file each under `crates/*/src/variants/`, with the same five-line header and the two tests
//! that guard it; lines about one elsewhere are marked, so that it can be deleted completely.
//!
//! `docs/QUIRKS.md` is generated from the header. *Parity* shows that the variant without its flaw behaves like the clean code;
//! *bite* shows that with the flaw it does not.

use super::algorithms::{ALGORITHMS, Algorithm};
use crate::{Problem, Source, functions, marks};

/// The lines of the header, in order, each after `//! `.
pub const HEADER: [&str; 5] = ["Does:", "RFC:", "Believed because:", "Used by:", "Shown by:"];

/// What can be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The variant in the file at this path.
    Variant(&'a str),
    /// An algorithm of the clean path.
    Algorithm(&'a Algorithm),
}

impl<'a> Part<'a> {
    /// Its name in marks.
    pub fn name(self) -> &'a str {
        match self {
            Self::Variant(path) => name(path),
            Self::Algorithm(algorithm) => algorithm.name,
        }
    }

    /// Whether `path` belongs to it altogether.
    pub fn owns(self, path: &str) -> bool {
        match self {
            Self::Variant(variant) => is_own(path, variant),
            Self::Algorithm(algorithm) => algorithm.owns(path),
        }
    }

    /// Lines of `text`, from 1, that speak of it and are not marked.
    ///
    /// # Errors
    /// As [`marks::owners`].
    pub fn unmarked(self, text: &str) -> Result<Vec<usize>, (usize, String)> {
        match self {
            Self::Variant(path) => {
                let spellings = marks::spellings(name(path));
                marks::unmarked(text, name(path), |line| spellings.iter().any(|spelling| line.contains(spelling)))
            }
            Self::Algorithm(algorithm) => marks::unmarked(text, algorithm.name, |line| algorithm.is_named_in(line)),
        }
    }
}

/// What can be deleted of a workspace with files at these paths.
pub fn parts<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Part<'a>> {
    let variants = paths.into_iter().filter(|path| is_variant(path)).map(Part::Variant);
    variants.chain(ALGORITHMS.iter().map(Part::Algorithm)).collect()
}

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

/// The variant's name, and whether a file belongs to it altogether: its own, and those of its tests and their snapshots.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().and_then(|file| file.strip_suffix(".rs")).unwrap_or(path)
}

/// Whether `path` belongs to the variant in the file `variant` altogether.
pub fn is_own(path: &str, variant: &str) -> bool {
    let (directory, name) = (variant.rsplit_once('/').map_or("", |(directory, _)| directory), name(variant));
    path == variant
        || path.starts_with(&format!("{directory}/{name}/"))
        || path.starts_with(&format!("{directory}/snapshots/")) && path.contains(&format!("__{name}__"))
}

/// Whether marks are looked for in a file.
pub fn may_be_marked(path: &str) -> bool {
    path.ends_with(".rs") || path.ends_with(".toml")
}

/// Returns useless marks, and lines that lack one. `parts` is all that can be deleted.
pub fn check_marks(path: &str, text: &str, parts: &[Part<'_>]) -> Vec<Problem> {
    let owners = match marks::owners(text) {
        Ok(owners) => owners,
        Err((line, what)) => {
            return vec![Problem::new(path, line, format!("a mark: {what}"), "marks in pairs, side by side")];
        }
    };
    let mut problems = Vec::new();
    for (line, owner) in (1..).zip(owners) {
        if let Some(owner) = owner.filter(|owner| !parts.iter().any(|part| part.name() == *owner)) {
            let right =
                "the name of a file under `variants/` or of an algorithm in tidy's rules/algorithms.rs, or no mark";
            let what = format!("a mark for `{owner}`, which is neither a variant nor an algorithm");
            problems.push(Problem::new(path, line, what, right));
        }
    }
    for part in parts.iter().filter(|part| !part.owns(path)) {
        let name = part.name();
        for line in part.unmarked(text).unwrap_or_default() {
            let right = format!("the mark `variant: {name}` in a comment behind it, or a line that can do without it");
            problems.push(Problem::new(path, line, format!("it speaks of `{name}` and would outlive it"), right));
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
    fn variants_are_recognised_by_their_place() {
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

    const PARTS: Algorithm = Algorithm { name: "parts", own: &["crates/a/src/parts/"], words: &["Cut::Parts"] };

    fn whats(path: &str, lines: &str) -> Vec<(usize, String)> {
        let problems =
            check_marks(path, &lines.replace('%', "// variant:"), &[Part::Variant(PATH), Part::Algorithm(&PARTS)]);
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn what_speaks_of_a_variant_elsewhere_is_marked() {
        let elsewhere = "crates/tcp/src/a.rs";
        assert_eq!(whats(elsewhere, "Ring::new(); % ring\n% ring {\nRing\n% ring }\n"), []);
        assert_eq!(whats(elsewhere, "\nRing::new();\n"), [(2, "it speaks of `ring` and would outlive it".to_owned())]);
        assert_eq!(
            whats(elsewhere, "x % rang\n"),
            [(1, "a mark for `rang`, which is neither a variant nor an algorithm".to_owned())]
        );
        assert_eq!(whats(elsewhere, "% ring {\n"), [(1, "a mark: `ring` is opened and not closed".to_owned())]);
        for own in [PATH, "crates/recovery/src/variants/ring/tests.rs"] {
            assert_eq!(whats(own, "Ring::new();\n"), []);
        }
    }

    #[test]
    fn what_names_an_algorithm_elsewhere_is_marked_by_the_same_sign() {
        let elsewhere = "crates/a/src/lib.rs";
        assert_eq!(whats(elsewhere, "Cut::Parts => 1, % parts\nbytes.parts()\n"), []);
        assert_eq!(whats(elsewhere, "Cut::Parts\n"), [(1, "it speaks of `parts` and would outlive it".to_owned())]);
        assert_eq!(whats("crates/a/src/parts/mod.rs", "Cut::Parts\n"), []);
    }

    #[test]
    fn variants_are_found_and_algorithms_are_known() {
        let found = parts(["crates/a/src/lib.rs", PATH]);
        assert_eq!((found[0], found.len()), (Part::Variant(PATH), 1 + ALGORITHMS.len()));
    }

    #[test]
    fn a_variant_owns_its_file_its_tests_and_their_snapshots() {
        let own = |path: &str| is_own(&format!("crates/recovery/src/variants/{path}"), PATH);
        assert!(own("ring.rs") && own("ring/tests.rs") && own("snapshots/recovery__variants__ring__tests__a.snap"));
        assert!(!own("mod.rs") && !own("ring_2.rs") && !own("snapshots/recovery__variants__rung__tests__a.snap"));
    }

    #[test]
    fn tests_may_live_beside_the_file() {
        let tests = Source::new("crates/recovery/src/variants/ring/tests.rs", "fn parity() {}\nfn bite() {}\n");
        assert_eq!(check(&Source::new(PATH, HEAD), &[&tests]), []);
    }
}
