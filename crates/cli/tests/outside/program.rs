//! The program under test, run to its end; for several of the tests beside.

use std::process::{Command, Output, Stdio};

/// What came of a command.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program speaks UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// `longhaul` with these arguments, and without a peer to answer it.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs `longhaul` to its end.
pub fn longhaul(arguments: &[&str]) -> Ended {
    command(arguments).output().expect("the program starts").into()
}
