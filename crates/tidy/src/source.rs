//! The files that the rules check, and the repository's root.

use crate::mask;
use crate::rules::layers::{self, Layers};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The crates below the purity line, as docs/ARCHITECTURE.md draws it; read once.
fn pure_crates() -> &'static BTreeSet<String> {
    static PURE: OnceLock<BTreeSet<String>> = OnceLock::new();
    PURE.get_or_init(|| {
        let page = fs::read_to_string(repository_root().join(layers::PAGE)).expect("the page of layers is readable");
        Layers::read(&page).pure().map(str::to_owned).collect()
    })
}

/// One Rust file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the repository root, with `/`.
    pub path: String,
    /// The file as it is.
    pub text: String,
    /// The same with comments and literals blanked ([`mask`]).
    pub code: String,
}

impl Source {
    /// A source that need not be on disk.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { path: path.into(), code: mask(&text), text }
    }

    /// The crate directory under `crates/` this file belongs to.
    pub fn krate(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether the file belongs to a crate below the purity line.
    pub fn is_pure(&self) -> bool {
        self.krate().is_some_and(|name| pure_crates().contains(name))
    }

    /// Whether the file is a test or a benchmark as a whole.
    pub fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        let name = parts.next_back();
        name == Some("tests.rs") || parts.any(|part| part == "tests" || part == "benches")
    }

    /// Whether the file is the root of a library, a program or a build script.
    pub fn is_crate_root(&self) -> bool {
        let Some(inside) = self.krate().and_then(|name| self.path.strip_prefix(&format!("crates/{name}/"))) else {
            return matches!(self.path.as_str(), "fuzz/src/lib.rs");
        };
        matches!(inside, "src/lib.rs" | "src/main.rs" | "build.rs") || inside.starts_with("src/bin/")
    }
}

/// Where the repository begins.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lives two levels below the root").to_owned()
}

/// Every Rust file of the repository, in order of path.
pub fn rust_sources() -> Vec<Source> {
    let sources = text_files().into_iter().filter(|(path, _)| path.ends_with(".rs"));
    sources.map(|(path, text)| Source::new(path, text)).collect()
}

/// Returns every text file of the project, with its path from the root, in order of path.
///
/// Walks the project's directories instead of asking git, so that an unpacked archive is checked in the same way.
pub fn text_files() -> Vec<(String, String)> {
    // A git worktree has a file where a clone has a directory.
    const NOT_OURS: [&str; 2] = ["Cargo.lock", ".git"];
    const OWNED: [&str; 9] = [".cargo", ".ci", "benches", "crates", "docs", "experiments", "fuzz", "specs", "web"];
    let root = repository_root();
    let mut found = Vec::new();
    for entry in fs::read_dir(&root).expect("the repository root is readable").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_file() && !NOT_OURS.iter().any(|other| name == *other) || OWNED.iter().any(|owned| name == *owned) {
            walk(&root, &path, &mut found);
        }
    }
    found.sort();
    found
}

fn walk(root: &Path, path: &Path, found: &mut Vec<(String, String)>) {
    const SKIPPED: [&str; 4] = ["target", "artifacts", "corpus", "node_modules"];
    if path.is_dir() {
        if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            return;
        }
        let Ok(entries) = fs::read_dir(path) else { return };
        for entry in entries.flatten() {
            walk(root, &entry.path(), found);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        // What is not text (corpora, captures) cannot break a rule about text.
        let relative = path.strip_prefix(root).expect("the walk started at the root");
        found.push((relative.to_string_lossy().replace('\\', "/"), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_this_very_file_and_skips_the_lock_file() {
        let files = text_files();
        assert!(files.iter().any(|(path, _)| path == "crates/tidy/src/source.rs"));
        assert!(files.iter().any(|(path, _)| path == "Cargo.toml"));
        assert!(!files.iter().any(|(path, _)| path == "Cargo.lock" || path == ".git"));
    }

    #[test]
    fn tests_and_roots_are_recognised_by_their_path() {
        let of = |path: &str| Source::new(path, "");
        assert!(of("crates/tcp/tests/parity.rs").is_test());
        assert!(of("crates/tcp/src/endpoint/tests.rs").is_test());
        assert!(of("crates/tcp/src/send/tests/model.rs").is_test());
        assert!(!of("crates/tcp/src/contests.rs").is_test());
        assert!(of("crates/tcp/src/lib.rs").is_crate_root() && of("crates/tcp/src/lib.rs").is_pure());
        assert!(!of("crates/tcp/src/stack/lib.rs").is_crate_root());
        assert!(!of("crates/net/src/lib.rs").is_pure());
    }
}
