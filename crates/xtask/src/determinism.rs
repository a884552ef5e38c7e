//! The determinism proof: the same seeds give the same bytes, whatever the number of jobs and whatever the build profile.

use crate::runner::{Failure, Outcome, build_tests, capture, cargo, root, run};
use std::process::Command;

/// Small cells of both built-in experiments: enough to lose, reorder and repair packets, in seconds even in a debug build.
const EXPERIMENTS: [&str; 2] = ["wan", "reorder"];
const CELLS: [&str; 10] = [
    "--set",
    "path.rtt=25ms,100ms",
    "--set",
    "flow.bytes=4MB",
    "--iterations",
    "3",
    "--seed",
    "7",
    "--format",
    "jsonl",
];
const JOBS: [&str; 2] = ["1", "2"];

/// Builds the program as tests have it and optimised, runs every experiment four ways and compares.
pub fn prove(locked: &[&str]) -> Outcome {
    build_tests(locked)?;
    run(cargo(&["build", "--profile", "proof", "--package", "longhaul-cli"]).args(locked))?;
    for experiment in EXPERIMENTS {
        let mut results: Vec<(String, String)> = Vec::new();
        for profile in ["debug", "proof"] {
            for jobs in JOBS {
                let mut command = Command::new(root().join("target").join(profile).join("longhaul"));
                command.args(["ab", experiment]).args(CELLS).args(["--jobs", jobs]);
                let output = capture(&mut command)?;
                results.push((format!("{profile}, {jobs} jobs"), String::from_utf8_lossy(&output).into_owned()));
            }
        }
        compare(experiment, &results)?;
    }
    Ok(())
}

/// All results equal the first, and there is at least one to compare.
fn compare(experiment: &str, results: &[(String, String)]) -> Outcome {
    let [(first_name, first), others @ ..] = results else {
        return Err(Failure::Failed(format!("`{experiment}` was not run")));
    };
    if first.lines().count() < 2 {
        return Err(Failure::Failed(format!(
            "`{experiment}` printed {} lines, at least two were expected",
            first.lines().count()
        )));
    }
    for (name, other) in others {
        if other != first {
            let (line, left, right) = first_difference(first, other);
            let text = format!("`{experiment}` differs in line {line}\n  {first_name}: {left}\n  {name}: {right}");
            return Err(Failure::Failed(text));
        }
    }
    eprintln!("   {experiment}: {} lines, {} ways, the same bytes", first.lines().count(), results.len());
    Ok(())
}

fn first_difference<'a>(left: &'a str, right: &'a str) -> (usize, &'a str, &'a str) {
    let (mut lefts, mut rights) = (left.lines(), right.lines());
    for line in 1.. {
        match (lefts.next(), rights.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => return (line, "(ends)", "(differs in its line ends)"),
            (a, b) => return (line, a.unwrap_or("(ends)"), b.unwrap_or("(ends)")),
        }
    }
    unreachable!("one of the two texts ends")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(texts: [&str; 2]) -> Vec<(String, String)> {
        texts.iter().enumerate().map(|(index, text)| (format!("way {index}"), (*text).to_owned())).collect()
    }

    #[test]
    fn equal_bytes_pass() {
        assert_eq!(compare("wan", &results(["a\nb\n", "a\nb\n"])), Ok(()));
    }

    #[test]
    fn the_first_different_line_is_shown_with_both_ways() {
        let text = "`wan` differs in line 2\n  way 0: b\n  way 1: c";
        assert_eq!(compare("wan", &results(["a\nb\n", "a\nc\n"])), Err(Failure::Failed(text.into())));
        assert_eq!(first_difference("a\nb\n", "a\n"), (2, "b", "(ends)"));
        assert_eq!(first_difference("a\n", "a"), (2, "(ends)", "(differs in its line ends)"));
    }

    #[test]
    fn silence_proves_nothing() {
        assert!(compare("wan", &results(["", ""])).is_err());
        assert!(compare("wan", &[]).is_err());
    }
}
