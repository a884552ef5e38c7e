//! The real program, from the outside: what it prints, where, and how it exits.

mod results;
mod usage;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// One small cell: 200 kB over 25 ms, twice.
const SMALL: [&str; 6] = ["--set", "flow.bytes=200kB", "--set", "path.rtt=25ms", "--iterations", "2"];

/// What came of a command.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program speaks UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn longhaul(arguments: &[&str]) -> Ended {
    command(arguments).output().expect("the program starts").into()
}

/// `ab` on the small cell.
fn ab(experiment: &str, more: &[&str]) -> Ended {
    longhaul(&[&["ab", experiment], &SMALL[..], more].concat())
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("temporary directories have plain names")
}

/// The command after `replay: ` on stderr.
fn replay_of(stderr: &str) -> &str {
    stderr.lines().find_map(|line| line.trim_start().strip_prefix("replay: ")).unwrap_or_else(|| panic!("{stderr}"))
}

/// Runs a command line as a user would who pasted it.
fn paste(line: &str) -> Ended {
    Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().expect("there is a shell").into()
}
