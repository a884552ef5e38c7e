//! The program under test, running in the router's namespace.

use crate::netns::Lab;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A run fails after this long.
const TIMEOUT: Duration = Duration::from_secs(300);

/// `longhaul`, running; killed when dropped before its end.
pub struct Longhaul {
    child: Child,
    /// Its output is read at once: a server of many connections would otherwise block on its summaries.
    stdout: Receiver<String>,
}

/// Its output at its end.
#[derive(Debug)]
pub struct Summary {
    json: Value,
    pub stderr: String,
}

impl Longhaul {
    /// Starts `longhaul` with these arguments.
    pub fn start(lab: &Lab, arguments: &[&str]) -> Self {
        let mut command = lab.on_router(env!("CARGO_BIN_EXE_longhaul"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (lines_out, stdout) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| lines_out.send(line)));
        Self { child, stdout }
    }

    /// Waits until it reports that it is ready; returns that line.
    pub fn ready(&mut self) -> String {
        let line = self.stdout.recv().unwrap_or_default();
        if !line.starts_with("READY ") {
            let mut stderr = String::new();
            self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("not ready: {line}{stderr}");
        }
        line
    }

    /// Returns the names of its threads that have waited at least so often.
    pub fn threads(&self, waits: u64) -> Vec<String> {
        let waited = |status: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse().ok()
        };
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let tasks = tasks.map(|task| task.unwrap().path());
        let busy = tasks.filter(|task| {
            let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
            waited(&status).is_some_and(|waited| waited >= waits)
        });
        busy.map(|task| std::fs::read_to_string(task.join("comm")).unwrap_or_default().trim().to_owned()).collect()
    }

    /// Asks it to end.
    pub fn interrupt(&self) {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT).unwrap();
    }

    /// Waits for its end, checks the exit code, and returns its output.
    pub fn finish(mut self, exit_code: i32) -> Summary {
        let status = self.wait();
        let stdout: Vec<String> = self.stdout.iter().collect();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(status.code(), Some(exit_code), "stdout: {stdout:?}\nstderr: {stderr}");
        let json = stdout.last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or(Value::Null);
        Summary { json, stderr }
    }

    fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < TIMEOUT, "longhaul does not come to an end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Longhaul {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Summary {
    /// The text at a JSON pointer.
    pub fn text(&self, pointer: &str) -> String {
        let value = self.json.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_else(|| panic!("no text at {pointer} in {self:?}")).to_owned()
    }

    /// The whole number at a JSON pointer.
    pub fn number(&self, pointer: &str) -> u64 {
        let value = self.json.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("no number at {pointer} in {self:?}"))
    }
}
