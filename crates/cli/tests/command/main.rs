//! The real program, from the outside: its output, where it goes, and its exit codes.

mod analyze;
mod kept;
#[path = "../outside/program.rs"]
mod outside;
mod parts;
mod quiet;
mod results;
mod schema;
#[path = "../outside/kept.rs"]
mod tables;
mod tune;
mod usage;

use outside::{Ended, command, longhaul};
use std::path::Path;
use std::process::{Command, Stdio};

/// One small cell: 200 kB over 25 ms, twice.
const SMALL: [&str; 6] = ["--set", "flow.bytes=200kB", "--set", "path.rtt=25ms", "--iterations", "2"];

/// `ab` on the small cell.
fn ab(experiment: &str, more: &[&str]) -> Ended {
    longhaul(&[&["ab", experiment], &SMALL[..], more].concat())
}

/// Lines of JSON.
fn objects(jsonl: &str) -> Vec<serde_json::Value> {
    jsonl.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("temporary directories have plain names")
}

/// The command after `replay: ` on stderr.
fn replay_of(stderr: &str) -> &str {
    stderr.lines().find_map(|line| line.trim_start().strip_prefix("replay: ")).unwrap_or_else(|| panic!("{stderr}"))
}

/// Runs a command line as if a user had pasted it.
fn paste(line: &str) -> Ended {
    Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().expect("there is a shell").into()
}
