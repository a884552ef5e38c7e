//! `cargo xtask variants`: deletes each variant, and each algorithm that tidy's table lists, from a copy of the workspace (its
//! files, the tests that belong to it and the lines marked with its name) and checks whether the rest builds and passes its
//! tests.
//!
//! tidy finds lines that should be marked and are not, and decides which lines a mark covers, so both delete the same. The copy
//! is next to the build directory and is kept: the next deletion, and the next run, rebuild only what differs. Pages generated
//! from profiles are rewritten in the copy, because they list what was deleted. Throughput grids of whole profiles
//! (`longhaul-lab`) change when a profile loses a variant, as they should, and are therefore compiled but not run.

use crate::mirror;
use crate::runner::{Failure, Outcome, capture, cargo, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tidy::marks;
use tidy::rules::variants::{self, Part};

/// Where profiles lie.
const PROFILES: &str = "crates/profiles/data/";

/// Crates whose tests must pass: those that contain a variant or can select one, up to whole simulations.
const TESTED: [&str; 4] = ["longhaul-recovery", "longhaul-tcp", "longhaul-profiles", "longhaul-sim"];

/// What is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Each variant and each algorithm in turn.
    All,
    /// The variant of this name.
    Variant(String),
    /// The algorithm of this name.
    Algorithm(String),
}

/// What was deleted with a variant or an algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Deleted {
    files: usize,
    lines: usize,
    marked_files: usize,
    /// Profiles and the leaves that they no longer choose.
    leaves: Vec<(String, Vec<String>)>,
}

/// Checks what was chosen.
pub fn check(chosen: &Chosen) -> Outcome {
    let files = mirror::files(&root())?;
    let parts = choose(&variants::parts(files.iter().map(String::as_str)), chosen).map_err(Failure::Missing)?;
    let failures: Vec<String> =
        parts.iter().filter_map(|part| delete_and_test(*part).err().map(|failure| failure.text().to_owned())).collect();
    let passed = parts.len() - failures.len();
    eprintln!("── {passed} of {} can be deleted and leave a workspace that builds and passes its tests", parts.len());
    if failures.is_empty() { Ok(()) } else { Err(Failure::Failed(failures.join("\n"))) }
}

/// Those of `parts` that were chosen; the error is a sentence.
fn choose<'a>(parts: &[Part<'a>], chosen: &Chosen) -> Result<Vec<Part<'a>>, String> {
    let (kind, wanted, same_kind): (_, _, fn(&Part<'_>) -> bool) = match chosen {
        Chosen::All => return Ok(parts.to_vec()),
        Chosen::Variant(name) => ("variant", name, |part| matches!(part, Part::Variant(_))),
        Chosen::Algorithm(name) => ("algorithm", name, |part| matches!(part, Part::Algorithm(_))),
    };
    let known: Vec<Part<'a>> = parts.iter().copied().filter(same_kind).collect();
    let found: Vec<Part<'a>> = known.iter().copied().filter(|part| part.name() == wanted).collect();
    if found.is_empty() {
        let names: Vec<&str> = known.iter().map(|part| part.name()).collect();
        return Err(format!("there is no {kind} `{wanted}`; there are {}", names.join(", ")));
    }
    Ok(found)
}

fn delete_and_test(part: Part<'_>) -> Outcome {
    let name = part.name();
    let began = Instant::now();
    let copy = place().join("workspace");
    let deleted = copy_without(&root(), &copy, part).map_err(|failure| failure.of(name))?;
    eprintln!(
        "── {name}: {} files of its own and {} marked lines in {} others are deleted",
        deleted.files, deleted.lines, deleted.marked_files
    );
    for (profile, leaves) in &deleted.leaves {
        eprintln!("── {name}: the profile {profile} loses {}", leaves.join(", "));
    }
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

/// Makes `copy` equal to `from` without the part.
fn copy_without(from: &Path, copy: &Path, part: Part<'_>) -> Result<Deleted, Failure> {
    let mut deleted = Deleted::default();
    mirror::update(from, copy, |path, content| {
        if part.owns(path) {
            deleted.files += 1;
            return Ok(None);
        }
        if !variants::may_be_marked(path) || path.contains("/corpus/") {
            return Ok(Some(content));
        }
        let wrong = |line, what: String| Failure::Failed(format!("{path}:{line}: {what}"));
        let text = String::from_utf8(content).map_err(|_| wrong(1, "this is not text".to_owned()))?;
        let (rest, lines) = marks::without(&text, part.name()).map_err(|(line, what)| wrong(line, what))?;
        if let Some(line) = part.unmarked(&text).ok().and_then(|lines| lines.first().copied()) {
            return Err(wrong(line, format!("it speaks of `{}` and is not marked", part.name())));
        }
        deleted.lines += lines;
        deleted.marked_files += usize::from(lines > 0);
        let profile = path.strip_prefix(PROFILES).and_then(|file| file.strip_suffix(".toml"));
        if let Some(profile) = profile.filter(|_| lines > 0) {
            deleted.leaves.push((profile.to_owned(), marked_leaves(&text, part.name())));
        }
        Ok(Some(rest.into_bytes()))
    })?;
    Ok(deleted)
}

/// Leaves of a profile on lines that are marked with `name`.
fn marked_leaves(text: &str, name: &str) -> Vec<String> {
    let (mut table, mut leaves) = ("", Vec::new());
    for (line, owner) in text.lines().zip(marks::owners(text).unwrap_or_default()) {
        if let Some((header, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            table = header;
        } else if let Some((key, _)) = line.split_once('=').filter(|_| owner == Some(name)) {
            leaves.push(format!("{table}.{}", key.trim()));
        }
    }
    leaves
}

/// The directories of the copy and of its build.
fn place() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path));
    target.join("variants")
}

fn in_copy(copy: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut command: Command = cargo(arguments);
    command.current_dir(copy).env("CARGO_TARGET_DIR", place().join("target"));
    // The copy is not debugged, so the build can omit debug information.
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
    use tidy::rules::algorithms::Algorithm;

    const VARIANT: &str = "crates/a/src/variants/old_ring.rs";
    const PARTS: Algorithm = Algorithm { name: "parts", own: &["crates/a/src/parts/"], words: &["Cut::Parts"] };

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
                ("crates/profiles/data/x.toml", "[b]\na = 1\nkind = \"old_ring\" # % old_ring\n"),
                ("docs/QUIRKS.md", "old_ring\n"),
                ("fuzz/corpus/x.toml", "\"old_ring\"\n"),
            ],
        );
        let copy = from.join("target/copy");
        for _ in 0..2 {
            let deleted = copy_without(&from, &copy, Part::Variant(VARIANT));
            let leaves = vec![("x".to_owned(), vec!["b.kind".to_owned()])];
            assert_eq!(deleted, Ok(Deleted { files: 2, lines: 2, marked_files: 2, leaves }));
        }
        assert_eq!(
            mirror::files(&copy).unwrap(),
            ["crates/a/src/variants/mod.rs", "crates/profiles/data/x.toml", "docs/QUIRKS.md", "fuzz/corpus/x.toml"]
        );
        let text = |path: &str| fs::read_to_string(copy.join(path)).expect("copied");
        assert_eq!(text("crates/a/src/variants/mod.rs"), format!("mod other; // {}: other\n", "variant"));
        assert_eq!(text("crates/profiles/data/x.toml"), "[b]\na = 1\n");
        fs::remove_dir_all(from).expect("it is ours");
    }

    #[test]
    fn a_line_without_a_mark_stops_the_check_at_its_place() {
        let from = workspace("unmarked", &[(VARIANT, "//! OldRing\n"), ("crates/a/src/lib.rs", "\nuse OldRing;\n")]);
        let failure = copy_without(&from, &from.join("target/copy"), Part::Variant(VARIANT));
        let text = "crates/a/src/lib.rs:2: it speaks of `old_ring` and is not marked";
        assert_eq!(failure, Err(Failure::Failed(text.to_owned())));
        fs::remove_dir_all(from).expect("it is ours");
    }

    #[test]
    fn the_copy_lacks_the_algorithm_and_its_words_are_looked_for() {
        let arm = ("crates/a/src/lib.rs", "mod parts; // % parts\nbytes.parts(2);\n");
        let from = workspace("algorithm", &[("crates/a/src/parts/mod.rs", "//! Parts.\n"), arm]);
        let deleted = copy_without(&from, &from.join("target/copy"), Part::Algorithm(&PARTS));
        assert_eq!(deleted, Ok(Deleted { files: 1, lines: 1, marked_files: 1, leaves: Vec::new() }));
        fs::write(from.join("crates/a/src/more.rs"), "Cut::Parts").expect("a file");
        let failure = copy_without(&from, &from.join("target/copy"), Part::Algorithm(&PARTS));
        let text = "crates/a/src/more.rs:1: it speaks of `parts` and is not marked";
        assert_eq!(failure, Err(Failure::Failed(text.to_owned())));
        fs::remove_dir_all(from).expect("it is ours");
    }

    #[test]
    fn a_profile_loses_the_leaves_whose_lines_are_marked() {
        let text = "[b]\na = 1\n# % parts {\n[b.c]\nkind = \"parts\"\nmax = 2\n# % parts }\n[d]\ne = 1 # % other\n";
        assert_eq!(marked_leaves(&text.replace('%', "variant:"), "parts"), ["b.c.kind", "b.c.max"]);
    }

    #[test]
    fn a_name_is_looked_for_among_its_kind() {
        let parts = [Part::Variant(VARIANT), Part::Algorithm(&PARTS)];
        let named = |name: &str| name.to_owned();
        assert_eq!(choose(&parts, &Chosen::All), Ok(parts.to_vec()));
        assert_eq!(choose(&parts, &Chosen::Variant(named("old_ring"))), Ok(vec![parts[0]]));
        assert_eq!(choose(&parts, &Chosen::Algorithm(named("parts"))), Ok(vec![parts[1]]));
        let text = "there is no variant `parts`; there are old_ring".to_owned();
        assert_eq!(choose(&parts, &Chosen::Variant(named("parts"))), Err(text));
        let text = "there is no algorithm `old_ring`; there are parts".to_owned();
        assert_eq!(choose(&parts, &Chosen::Algorithm(named("old_ring"))), Err(text));
    }

    #[test]
    fn passed_tests_are_added_up() {
        let output = "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 40 passed; 0 failed\n";
        assert_eq!(passed_tests(output), 43);
        assert_eq!(passed_tests("test result: FAILED. 3 passed; 1 failed"), 0);
    }
}
