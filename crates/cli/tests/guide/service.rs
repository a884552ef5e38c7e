//! Commands that go on while later ones run, as in a shell of their own: ended by Ctrl-C.

use crate::shown;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A service says that it is ready, and ends when asked, within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// State of a socket in the kernel's table.
const LISTENING: &str = " 0A ";

/// A command that goes on.
pub struct Service {
    line: String,
    child: Child,
    stderr: File,
    /// Read at once, so that it is never held up.
    stdout: Receiver<String>,
}

/// Returns whether a command goes on: it is shown to say that it is ready, or is put into the background.
pub fn goes_on(line: &str, shown: &[&str]) -> bool {
    line.ends_with('&') || shown.first().is_some_and(|first| first.starts_with("READY "))
}

impl Service {
    /// Starts a command and waits for its first line.
    ///
    /// # Errors
    /// If it ends, stays silent, or says something else than is shown.
    pub fn start(line: &str, shown: &[&str], directory: &Path, path: &str) -> Result<Self, String> {
        // The signal is for the command, not for the shell.
        let exec = format!("exec {}", line.trim_end_matches('&').trim_end());
        let stderr = tempfile::tempfile().expect("there is room for a file");
        let mut command = Command::new("sh");
        command.args(["-c", &exec]).current_dir(directory).env("PATH", path).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(stderr.try_clone().expect("it can be shared"));
        let mut child = command.spawn().expect("there is a shell");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (lines_out, stdout) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(lines_out.send(line))));
        let mut started = Self { line: line.to_owned(), child, stderr, stdout };
        if line.ends_with('&') {
            return if started.listens() { Ok(started) } else { Err(started.said("does not listen")) };
        }
        let first = match started.stdout.recv_timeout(PATIENCE) {
            Ok(first) => first,
            Err(RecvTimeoutError::Disconnected) => return Err(started.said("ends before it is ready")),
            Err(RecvTimeoutError::Timeout) => return Err(started.said("does not say that it is ready")),
        };
        if shown::is_of(shown, &[first.trim_end()]) {
            return Ok(started);
        }
        Err(started.said(&format!("is shown with `{}` and says `{first}`", shown.join("\n"))))
    }

    /// Waits until something listens in the namespace of a command that does not say when it is ready.
    fn listens(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            let sockets = ["tcp", "tcp6"].map(|kind| format!("/proc/{}/net/{kind}", self.child.id()));
            let listening = |path: &String| fs::read_to_string(path).is_ok_and(|table| table.contains(LISTENING));
            if sockets.iter().any(listening) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Whether it has the device that `line` asks for.
    pub fn holds_device_of(&self, line: &str) -> bool {
        device(line).is_some_and(|asked| device(&self.line) == Some(asked))
    }

    /// Ends it; returns what went wrong.
    pub fn end(mut self) -> Option<String> {
        let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT);
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(Some(_)) => return None,
                _ => thread::sleep(Duration::from_millis(5)),
            }
        }
        Some(self.said("goes on after Ctrl-C"))
    }

    fn said(&mut self, what: &str) -> String {
        let mut stderr = String::new();
        let _ = self.stderr.rewind().and_then(|()| self.stderr.read_to_string(&mut stderr));
        format!("`{}` {what}\n{stderr}", self.line)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The device that a command makes.
fn device(line: &str) -> Option<&str> {
    line.split_whitespace().skip_while(|word| *word != "--tun").nth(1)
}

#[test]
fn a_service_is_known_by_its_first_line_and_by_its_device() {
    assert!(goes_on("longhaul proxy --tun lh0", &["READY proxy"]) && goes_on("iperf3 --server &", &[]));
    assert!(!goes_on("longhaul link stats", &["{…}"]) && !goes_on("sysctl -w a=1", &[]));
    assert_eq!(device("longhaul serve echo --tun lh2 --once"), Some("lh2"));
    assert_eq!(device("longhaul link --ab delay=1ms"), None);
}
