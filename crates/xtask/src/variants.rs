//! `cargo xtask variants`: deletes each variant from a copy of the workspace — its file, the tests that belong to it and the
//! lines marked with its name — and sees whether the rest builds and passes its tests.
//!
//! tidy finds what should be marked and is not, and says which lines a mark covers, so both mean the same by deleting. The
//! copy lies beside the build directory and is kept: the next variant, and the next run, rebuild only what differs. Pages
//! generated from profiles are written anew in the copy, because they list what was deleted. Throughput grids of whole profiles
//! (`longhaul-lab`) move when a profile loses a variant, as they should, and are therefore compiled but not run.

use crate::mirror;
use crate::runner::{Failure, Outcome, capture, cargo, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tidy::{marks, rules::variants};

/// Crates whose tests must pass: those that a variant is part of or can be chosen in, up to whole simulations.
const TESTED: [&str; 4] = ["longhaul-recovery", "longhaul-tcp", "longhaul-profiles", "longhaul-sim"];

/// What was deleted with a variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Deleted {
    files: usize,
    lines: usize,
    marked_files: usize,
}

/// Checks the variant of this name, or all of them.
pub fn check(only: Option<&str>) -> Outcome {
    let all: Vec<String> = mirror::files(&root())?.into_iter().filter(|path| variants::is_variant(path)).collect();
    let names: Vec<&str> = all.iter().map(|path| variants::name(path)).collect();
    let chosen: Vec<&String> = match only {
        None => all.iter().collect(),
        Some(name) => {
            let found: Vec<&String> = all.iter().filter(|path| variants::name(path) == name).collect();
            if found.is_empty() {
                let text = format!("there is no variant `{name}`; there are {}", names.join(", "));
                return Err(Failure::Missing(text));
            }
            found
        }
    };
    let failures: Vec<String> =
        chosen.iter().filter_map(|path| delete_and_test(path).err().map(|failure| failure.text().to_owned())).collect();
    let passed = chosen.len() - failures.len();
    eprintln!(
        "── {passed} of {} variants can be deleted and leave a workspace that builds and passes its tests",
        chosen.len()
    );
    if failures.is_empty() { Ok(()) } else { Err(Failure::Failed(failures.join("\n"))) }
}

fn delete_and_test(variant: &str) -> Outcome {
    let name = variants::name(variant);
    let began = Instant::now();
    let copy = place().join("workspace");
    let deleted = copy_without(&root(), &copy, variant).map_err(|failure| failure.of(name))?;
    eprintln!(
        "── {name}: {} files of its own and {} marked lines in {} others are deleted",
        deleted.files, deleted.lines, deleted.marked_files
    );
    in_copy(&copy, &["check", "--workspace", "--all-targets", "--quiet"]).map_err(|failure| failure.of(name))?;
    eprintln!("── {name}: everything else compiles ({:.0} s)", began.elapsed().as_secs_f64());
    let mut arguments = vec!["test", "--no-fail-fast", "--quiet"];
    arguments.extend(TESTED.iter().flat_map(|package| ["--package", *package]));
    let output = in_copy(&copy, &arguments).map_err(|failure| failure.of(name))?;
    let tests = passed_tests(&output);
    if tests == 0 {
        return Err(Failure::Failed(format!("{name}: no test ran without it")));
    }
    eprintln!("── {name}: {tests} tests pass without it ({:.0} s in all)", began.elapsed().as_secs_f64());
    Ok(())
}

/// Makes `copy` what `from` is without the variant.
fn copy_without(from: &Path, copy: &Path, variant: &str) -> Result<Deleted, Failure> {
    let name = variants::name(variant);
    let mut deleted = Deleted::default();
    mirror::update(from, copy, |path, content| {
        if variants::is_own(path, variant) {
            deleted.files += 1;
            return Ok(None);
        }
        if !variants::may_be_marked(path) || path.contains("/corpus/") {
            return Ok(Some(content));
        }
        let wrong = |line, what: String| Failure::Failed(format!("{path}:{line}: {what}"));
        let text = String::from_utf8(content).map_err(|_| wrong(1, "this is no text".to_owned()))?;
        let (rest, lines) = marks::without(&text, name).map_err(|(line, what)| wrong(line, what))?;
        if let Some(line) = marks::unmarked(&text, name).ok().and_then(|lines| lines.first().copied()) {
            return Err(wrong(line, format!("it speaks of `{name}` and is not marked")));
        }
        deleted.lines += lines;
        deleted.marked_files += usize::from(lines > 0);
        Ok(Some(rest.into_bytes()))
    })?;
    Ok(deleted)
}

/// Where the copy and what is built from it lie.
fn place() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path));
    target.join("variants")
}

fn in_copy(copy: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut command: Command = cargo(arguments);
    command.current_dir(copy).env("CARGO_TARGET_DIR", place().join("target"));
    // The copy is never debugged, so the build need not write tables for it.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.env("INSTA_UPDATE", "no").env("UPDATE_DOCS", "1").env_remove("INSTA_FORCE_PASS");
    capture(&mut command).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// The sum over `test result: ok. 40 passed; …`.
fn passed_tests(output: &str) -> u32 {
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    counts.filter_map(|count| count.parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const VARIANT: &str = "crates/a/src/variants/old_ring.rs";

    fn workspace(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("longhaul-xtask-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().expect("it lies in the workspace")).expect("a directory");
            fs::write(path, text.replace('%', "variant:")).expect("a file");
        }
        directory
    }

    #[test]
    fn the_copy_lacks_the_variant_and_nothing_else() {
        let from = workspace(
            "from",
            &[
                (VARIANT, "//! OldRing\n"),
                ("crates/a/src/variants/old_ring/tests.rs", "//! Tests.\n"),
                ("crates/a/src/variants/mod.rs", "mod old_ring; // % old_ring\nmod other; // % other\n"),
                ("crates/p/data/x.toml", "a = 1\nkind = \"old_ring\" # % old_ring\n"),
                ("docs/QUIRKS.md", "old_ring\n"),
                ("fuzz/corpus/x.toml", "\"old_ring\"\n"),
            ],
        );
        let copy = from.join("target/copy");
        for _ in 0..2 {
            let deleted = copy_without(&from, &copy, VARIANT);
            assert_eq!(deleted, Ok(Deleted { files: 2, lines: 2, marked_files: 2 }));
        }
        assert_eq!(
            mirror::files(&copy).unwrap(),
            ["crates/a/src/variants/mod.rs", "crates/p/data/x.toml", "docs/QUIRKS.md", "fuzz/corpus/x.toml"]
        );
        let text = |path: &str| fs::read_to_string(copy.join(path)).expect("copied");
        assert_eq!(text("crates/a/src/variants/mod.rs"), format!("mod other; // {}: other\n", "variant"));
        assert_eq!(text("crates/p/data/x.toml"), "a = 1\n");
        fs::remove_dir_all(from).expect("it is ours");
    }

    #[test]
    fn a_line_without_a_mark_stops_the_check_at_its_place() {
        let from = workspace("unmarked", &[(VARIANT, "//! OldRing\n"), ("crates/a/src/lib.rs", "\nuse OldRing;\n")]);
        let failure = copy_without(&from, &from.join("target/copy"), VARIANT);
        let text = "crates/a/src/lib.rs:2: it speaks of `old_ring` and is not marked";
        assert_eq!(failure, Err(Failure::Failed(text.to_owned())));
        fs::remove_dir_all(from).expect("it is ours");
    }

    #[test]
    fn passed_tests_are_added_up() {
        let output = "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 40 passed; 0 failed\n";
        assert_eq!(passed_tests(output), 43);
        assert_eq!(passed_tests("test result: FAILED. 3 passed; 1 failed"), 0);
    }
}
