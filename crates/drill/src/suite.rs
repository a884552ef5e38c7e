//! Runs many scripts in parallel, each in a child process: a run changes its process permanently, and one that hangs is killed.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Exit code of a child whose script failed.
pub const FAILED: u8 = 1;
/// Exit code of a child that could not run its script.
pub const IMPOSSIBLE: u8 = 2;

/// How to run scripts.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The program `longhaul-drill`.
    pub program: PathBuf,
    /// Its arguments before the script.
    pub arguments: Vec<OsString>,
    /// How many run at a time.
    pub jobs: usize,
    /// Longest time a script may take, in real time.
    pub limit: Duration,
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All of it came true.
    Passed,
    /// A line did not.
    Failed,
    /// It could not be run.
    Impossible,
}

/// The result of a script.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which.
    pub script: PathBuf,
    /// How it ended.
    pub ended: Ended,
    /// Its packets, a line each, if asked for.
    pub log: String,
    /// Why it did not pass.
    pub message: String,
    /// Real time it took.
    pub took: Duration,
}

impl Suite {
    /// This program with `arguments`, with one job per processor.
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { program, arguments, jobs, limit: Duration::from_secs(60) }
    }

    /// Runs `scripts`; calls `done` for each when it ends. Reports are in the order of `scripts`.
    pub fn run(&self, scripts: &[PathBuf], done: impl Fn(&Report) + Sync) -> Vec<Report> {
        let next = AtomicUsize::new(0);
        let reports = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, scripts.len().max(1)) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(script) = scripts.get(at) else { break };
                        let report = self.one(script);
                        done(&report);
                        reports.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, report));
                    }
                });
            }
        });
        let mut reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        reports.sort_by_key(|(at, _)| *at);
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn one(&self, script: &Path) -> Report {
        let begin = Instant::now();
        let (ended, log, message) = match self.spawn(script) {
            Ok(child) => self.attend(script, child),
            Err(error) => (Ended::Impossible, String::new(), format!("{}: {error}", self.program.display())),
        };
        Report { script: script.to_owned(), ended, log, message, took: begin.elapsed() }
    }

    fn spawn(&self, script: &Path) -> std::io::Result<Child> {
        Command::new(&self.program)
            .arg("--child")
            .args(&self.arguments)
            .arg(script)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    fn attend(&self, script: &Path, mut child: Child) -> (Ended, String, String) {
        let until = Instant::now() + self.limit;
        let (log, message) = (collect(child.stdout.take()), collect(child.stderr.take()));
        let mut hung = false;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => {
                    hung = true;
                    let _ = child.kill();
                    break child.wait().ok();
                }
            }
        };
        let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
        let (log, mut message) = (text(log), text(message));
        if hung {
            message.push_str(&format!("{}: still running after {} s", script.display(), self.limit.as_secs()));
        }
        let ended = match status.and_then(|status| status.code()) {
            Some(0) => Ended::Passed,
            Some(code) if code == i32::from(IMPOSSIBLE) => Ended::Impossible,
            Some(_) => Ended::Failed,
            None => {
                let status = status.map_or_else(String::new, |status| status.to_string());
                message.push_str(&format!(" ({status})"));
                Ended::Failed
            }
        };
        (ended, log, message)
    }
}

/// Reads a pipe to its end in the background, so that a child with much output is not held up.
fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// All scripts below `folder`, in order.
///
/// # Errors
/// That a folder cannot be read.
pub fn scripts_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pkt") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What a script's first line claims: `// standard: …` or `// profile NAME: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Holds for every correct TCP, including the kernel's.
    Standard,
    /// Stacks with this profile.
    Profile(String),
}

/// Reads a script's claim.
///
/// # Errors
/// That it makes none, or cannot be read.
pub fn claim(script: &Path) -> Result<Claim, String> {
    let text = std::fs::read_to_string(script).map_err(|error| format!("{}: {error}", script.display()))?;
    let first = text.lines().next().unwrap_or_default();
    let profile = first.strip_prefix("// profile ").and_then(|rest| rest.split_once(": "));
    match (first.strip_prefix("// standard: "), profile) {
        (Some(_), _) => Ok(Claim::Standard),
        (None, Some((name, _))) => Ok(Claim::Profile(name.to_owned())),
        (None, None) => {
            let right = "`// standard: RFC … §…` or `// profile NAME: …` in its first line";
            Err(format!("{}: a script says what it claims: {right}", script.display()))
        }
    }
}
