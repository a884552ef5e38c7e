//! Algorithms that can be deleted as variants can: one of several that the clean path chooses between, with its settings, leaves and
//! tests. It lies where it is used, so this table says which files are its own.
//!
//! Its marks are those of variants, because deleting a marked line means the same whoever owns it. What names it elsewhere stands
//! in the table, too: the name of a variant is rare enough to be looked for, that of an algorithm may be a plain word.

use crate::Problem;
use crate::mask::is_word;

/// Where the table stands.
const TABLE: &str = "crates/tidy/src/rules/algorithms.rs";

/// An algorithm that can be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Its name in marks.
    pub name: &'static str,
    /// Files that belong to it altogether; a folder ends with `/`.
    pub own: &'static [&'static str],
    /// What names it: types, modules, leaves of profiles.
    pub words: &'static [&'static str],
}

/// Every such algorithm.
pub const ALGORITHMS: &[Algorithm] = &[
    // variant: chunks {
    Algorithm {
        name: "chunks",
        own: &[
            "crates/tcp/src/endpoint/sender/chunks/",
            "crates/tcp/src/endpoint/sender/plan/tests/chunks.rs",
            "crates/tcp/src/endpoint/tests/bursts.rs",
        ],
        words: &[
            "SegmenterConfig",
            "ChunksConfig",
            "ChunkRefill",
            "ByChunk",
            "sender/chunks",
            "mod chunks",
            "super::chunks",
            "chunks::Chunked",
            "send.segmenter",
        ],
    },
    // variant: chunks }
];

impl Algorithm {
    /// Whether `path` belongs to the algorithm altogether.
    pub fn owns(&self, path: &str) -> bool {
        self.own.iter().any(|own| path == *own || own.ends_with('/') && path.starts_with(own))
    }

    /// Whether a line names the algorithm.
    pub fn is_named_in(&self, line: &str) -> bool {
        self.words.iter().any(|word| line.match_indices(word).any(|(at, _)| stands_alone(line, at, word)))
    }
}

/// Whether `word` at this place is not part of a longer one.
fn stands_alone(line: &str, at: usize, word: &str) -> bool {
    let joined = |outside: Option<u8>, edge: Option<u8>| outside.is_some_and(is_word) && edge.is_some_and(is_word);
    let (line, word) = (line.as_bytes(), word.as_bytes());
    let before = at.checked_sub(1).and_then(|before| line.get(before).copied());
    !joined(before, word.first().copied()) && !joined(line.get(at + word.len()).copied(), word.last().copied())
}

/// Files and folders of `algorithms` at which none of `paths` lies.
pub fn check(algorithms: &[Algorithm], paths: &[&str]) -> Vec<Problem> {
    let own = algorithms.iter().flat_map(|algorithm| algorithm.own.iter().map(move |own| (algorithm.name, *own)));
    let gone =
        own.filter(|(_, own)| !paths.iter().any(|path| path == own || own.ends_with('/') && path.starts_with(own)));
    let problem = |(name, own)| {
        Problem::new(
            TABLE,
            1,
            format!("nothing of `{name}` lies at {own}"),
            "where its files are, with `/` behind a folder",
        )
    };
    gone.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: Algorithm = Algorithm {
        name: "parts",
        own: &["crates/a/src/parts/", "crates/a/src/tests/of_parts.rs"],
        words: &["Cut::Parts", "mod parts", "\"send.cut"],
    };

    #[test]
    fn a_folder_and_single_files_belong_to_an_algorithm() {
        assert!(PARTS.owns("crates/a/src/parts/mod.rs") && PARTS.owns("crates/a/src/tests/of_parts.rs"));
        assert!(!PARTS.owns("crates/a/src/parts.rs") && !PARTS.owns("crates/a/src/tests/of_parts.rs/more"));
    }

    #[test]
    fn it_is_named_by_its_words_and_not_by_a_word_of_the_language() {
        for line in ["Cut::Parts(parts) => 1,", "mod parts;", "kind!(\"send.cut.kind\", x)"] {
            assert!(PARTS.is_named_in(line), "{line}");
        }
        for line in ["bytes.parts(2)", "Cut::PartsOfIt", "Uncut::Parts", "mod parts_of_it;", "config.send.cut = cut;"] {
            assert!(!PARTS.is_named_in(line), "{line}");
        }
    }

    #[test]
    fn what_the_table_names_has_to_be_there() {
        let whats = |paths: &[&str]| -> Vec<String> {
            check(&[PARTS], paths).into_iter().map(|problem| problem.what).collect()
        };
        assert_eq!(whats(&["crates/a/src/parts/mod.rs", "crates/a/src/tests/of_parts.rs"]), [""; 0]);
        assert_eq!(whats(&["crates/a/src/tests/of_parts.rs"]), ["nothing of `parts` lies at crates/a/src/parts/"]);
    }
}
