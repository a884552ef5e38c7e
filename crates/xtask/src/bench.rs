//! `cargo xtask bench`: instruction counts, by callgrind under gungraun, and the proofs that events cost nothing while no observer
//! watches, and that a packet costs little more beside many idle connections than beside few.
//!
//! The proof is a pair: the same transfer unobserved, built once normally and once with `--cfg longhaul_unwatched`, under which
//! neither `Cx::emit` nor the code that leads to events has a body. Both halves are built in the profile `pair`, because
//! optimisation across crates inlines by the length of functions before dead code is removed, which alone changes counts by two
//! percent.

use crate::needs;
use crate::runner::{Failure, Outcome, capture, cargo, root};
use crate::tool::{Tool, WhenAbsent};
use serde_json::Value;
use std::ffi::OsStr;
use std::process::Command;

/// Starts valgrind. The library refuses any other version than its own.
pub const RUNNER: Tool = Tool { name: "gungraun-runner", version: "0.20.0" };

/// A program of benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// Package that it belongs to.
    package: &'static str,
    /// Its name.
    name: &'static str,
    /// Its source, from the root of the repository.
    pub file: &'static str,
}

/// All of them. The last word of a benchmark's name says how many of what it takes, as in `segments_1000`.
pub const BENCHES: [Bench; 4] = [
    Bench { package: "longhaul-wire", name: "segment", file: "crates/wire/benches/segment.rs" },
    TRANSFER,
    Bench { package: "longhaul-tcp", name: "crowd", file: "crates/tcp/benches/crowd.rs" },
    Bench { package: "longhaul-trace-io", name: "files", file: "crates/trace-io/benches/files.rs" },
];
const TRANSFER: Bench = Bench { package: "longhaul-sim", name: "transfer", file: "crates/sim/benches/transfer.rs" };
/// A profile in which builds that differ only in dead code are equal.
const PAIR: [&str; 2] = ["--profile", "pair"];
const HALF: &str = "unobserved";

/// Maximum difference between the halves of the pair, in millionths: less than the cost of any one event of a segment or an ACK,
/// and more than the compiler's variation around dead code.
const LIMIT: u64 = 500;

/// A benchmark that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Unique.
    pub name: String,
    /// Instructions.
    pub instructions: u64,
    /// How many of what were handled.
    pub of: u64,
    /// One of them.
    pub what: String,
}

/// Runs everything and compares the pair.
pub fn run() -> Outcome {
    needs::provide_valgrind()?;
    let Some(runner) = RUNNER.provide(WhenAbsent::Install)? else { return Ok(()) };
    let all = counts(&BENCHES, &runner, |_| ())?;
    let watched = counts(&[TRANSFER], &runner, |command| {
        command.args(PAIR);
    })?;
    let unwatched = counts(&[TRANSFER], &runner, |command| {
        // A build with custom flags compares like with like.
        let own = std::env::var("RUSTFLAGS").unwrap_or_default();
        let flags = format!("{own} --cfg longhaul_unwatched --allow unused");
        let target = root().join("target").join("unwatched");
        command.args(PAIR).env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", target);
    })?;
    print!("{}", table(&all));
    compare_crowd(found(&all, "beside_few")?, found(&all, "beside_many")?)?;
    compare(half(&watched)?, half(&unwatched)?)
}

/// Builds these, as `adjust` says where and how, and counts.
pub fn counts(
    benches: &[Bench],
    runner: &impl AsRef<OsStr>,
    adjust: impl FnOnce(&mut Command),
) -> Result<Vec<Count>, Failure> {
    let mut command = cargo(&["bench", "--quiet"]);
    for Bench { package, name, .. } in benches {
        command.args(["--package", package, "--bench", name]);
    }
    command.env("GUNGRAUN_RUNNER", runner);
    adjust(&mut command);
    let output = capture(command.args(["--", "--output-format=json"]))?;
    let lines = String::from_utf8_lossy(&output);
    lines.lines().filter(|line| line.starts_with('{')).map(count).collect()
}

/// Reads one line of gungraun's.
fn count(line: &str) -> Result<Count, Failure> {
    let wrong = || Failure::Failed(format!("gungraun wrote something other than an instruction count: {line}"));
    let report: Value = serde_json::from_str(line).map_err(|_| wrong())?;
    let instructions = report.pointer("/profiles/0/data/total/metrics/Ir/values/new").and_then(Value::as_u64);
    let word = |key: &str| report[key].as_str();
    let (what, of) = word("id").and_then(|id| id.rsplit_once('_')).ok_or_else(wrong)?;
    Ok(Count {
        name: word("function_name").ok_or_else(wrong)?.to_owned(),
        instructions: instructions.filter(|count| *count > 0).ok_or_else(wrong)?,
        of: of.parse().ok().filter(|of| *of > 0).ok_or_else(wrong)?,
        what: what.trim_end_matches('s').to_owned(),
    })
}

fn half(counts: &[Count]) -> Result<u64, Failure> {
    found(counts, HALF)
}

fn found(counts: &[Count], name: &str) -> Result<u64, Failure> {
    let found = counts.iter().find(|count| count.name == name);
    found.map(|count| count.instructions).ok_or_else(|| Failure::Failed(format!("benchmark `{name}` was not run")))
}

fn table(counts: &[Count]) -> String {
    let line = |Count { name, instructions, of, what }: &Count| {
        format!("{name:<14} {instructions:>12} instructions {:>8} per {what}\n", instructions / of)
    };
    counts.iter().map(line).collect()
}

/// A packet must cost less than twice as much beside 100,000 idle connections as beside 10.
fn compare_crowd(few: u64, many: u64) -> Outcome {
    let percent = many * 100 / few;
    let text = format!("{many} instructions beside 100,000 idle connections, {few} beside 10: {percent} %");
    if percent < 200 {
        println!("crowd          {text}");
        return Ok(());
    }
    Err(Failure::Failed(text))
}

fn compare(watched: u64, unwatched: u64) -> Outcome {
    let apart = watched.abs_diff(unwatched) * 1_000_000 / unwatched;
    let text = format!(
        "{watched} instructions unobserved, {unwatched} without a line that makes an event: {apart} millionths apart"
    );
    if apart <= LIMIT {
        println!("pair           {text}");
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{text}, at most {LIMIT} are right; what an event needs belongs into the closure given to `Cx::emit`, or behind `ENABLED`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"function_name":"parse","id":"segments_1000","profiles":[{"data":{"total":{"metrics":
        {"Ir":{"values":{"new":417028,"old":417000}}}}}}]}"#;

    #[test]
    fn a_count_is_read_with_what_it_counts() {
        let parse = Count { name: "parse".into(), instructions: 417_028, of: 1_000, what: "segment".into() };
        assert_eq!(count(LINE), Ok(parse.clone()));
        assert_eq!(table(&[parse]), "parse                417028 instructions      417 per segment\n");
    }

    #[test]
    fn what_is_not_a_count_is_shown_and_nothing_counted_proves_nothing() {
        for (from, to) in [("417028", "0"), ("_1000", ""), ("\"new\"", "\"old\""), ("function_name", "name")] {
            let line = LINE.replace(from, to);
            assert!(count(&line).unwrap_err().text().contains(&line), "{line}");
        }
        assert!(half(&[count(LINE).unwrap()]).unwrap_err().text().contains("`unobserved` was not run"));
    }

    #[test]
    fn a_crowd_may_cost_less_than_twice_as_much() {
        assert_eq!(compare_crowd(100, 199), Ok(()));
        assert!(compare_crowd(100, 200).is_err());
    }

    #[test]
    fn the_pair_may_differ_a_little_in_both_directions() {
        assert_eq!(compare(10_005_000, 10_000_000), Ok(()));
        assert_eq!(compare(9_995_000, 10_000_000), Ok(()));
        for watched in [10_005_010, 9_994_990] {
            assert!(compare(watched, 10_000_000).unwrap_err().text().contains("501 millionths apart"));
        }
    }
}
