//! A snapshot to which no test refers is a failure: otherwise nothing would show that the code it describes is gone.
//!
//! insta writes the path of every snapshot it reads to the file named by `INSTA_SNAPSHOT_REFERENCES_FILE`; a snapshot in the tree
//! that is not in that file is orphaned. This needs a full run of the tests, so it is part of that step.

use crate::runner::{Failure, Outcome, cargo, root, run_tests};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// `cargo test` as CI runs it: writes no snapshot, and accepts no orphaned one.
pub fn test_with_references(locked: &[&str]) -> Outcome {
    let orphans = orphans_after_tests(locked, "no")?;
    if orphans.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = orphans.iter().map(|path| relative(path)).collect();
    let advice = "delete them with `cargo xtask snapshots`, or restore their tests";
    Err(Failure::Failed(format!("no test refers to these snapshots; {advice}\n  {}", list.join("\n  "))))
}

/// Accepts changed snapshots and deletes orphaned ones.
pub fn update() -> Outcome {
    for orphan in orphans_after_tests(&[], "always")? {
        eprintln!("deleting {}", relative(&orphan));
        fs::remove_file(&orphan).map_err(|error| Failure::Failed(format!("{}: {error}", relative(&orphan))))?;
    }
    Ok(())
}

fn orphans_after_tests(locked: &[&str], insta_update: &str) -> Result<Vec<PathBuf>, Failure> {
    let directory = root().join("target");
    let references = directory.join("snapshot-references.txt");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&references, ""))
        .map_err(|error| Failure::Missing(format!("{} cannot be written: {error}", references.display())))?;
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(locked).env("INSTA_UPDATE", insta_update).env("INSTA_SNAPSHOT_REFERENCES_FILE", &references);
    command.env_remove("INSTA_FORCE_PASS");
    if insta_update == "always" {
        command.env("INSTA_FORCE_PASS", "1");
    }
    run_tests(&mut command)?;
    let text = fs::read_to_string(&references).unwrap_or_default();
    let mut present = Vec::new();
    for owned in ["crates", "fuzz"] {
        collect(&root().join(owned), &mut present);
    }
    Ok(orphans(present, &text))
}

/// Those of `present` that `references`, one path per line, does not list.
fn orphans(present: Vec<PathBuf>, references: &str) -> Vec<PathBuf> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let known: BTreeSet<PathBuf> = references.lines().map(|line| canonical(Path::new(line))).collect();
    present.into_iter().filter(|path| !known.contains(&canonical(path))).collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "snap") {
            found.push(path);
        }
    }
    found.sort();
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_line_names_is_an_orphan() {
        let present = vec![PathBuf::from("/a/x.snap"), PathBuf::from("/a/y.snap")];
        assert_eq!(orphans(present.clone(), "/a/x.snap\n/a/x.snap\n"), [PathBuf::from("/a/y.snap")]);
        assert!(orphans(present, "/a/y.snap\n/a/x.snap\n").is_empty());
    }

    #[test]
    fn paths_are_compared_after_resolution() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let present = vec![here.join("Cargo.toml")];
        let reference = here.join("src").join("..").join("Cargo.toml");
        assert!(orphans(present, &reference.display().to_string()).is_empty());
    }
}
