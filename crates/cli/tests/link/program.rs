//! The emulator as a program, and the two namespaces it makes.

use crate::kernel::Kernel;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// `longhaul link`, running; if dropped before its end, it is killed and its namespaces are removed.
pub struct Emulator {
    child: Child,
    stdout: BufReader<ChildStdout>,
    control: PathBuf,
    names: [String; 2],
    pub a: Kernel,
    pub b: Kernel,
    _directory: tempfile::TempDir,
}

/// Its output at its end.
#[derive(Debug)]
pub struct Report(Value);

/// Returns two unused names for namespaces.
pub fn names() -> [String; 2] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    ["a", "b"].map(|end| format!("lh-link-{}-{number}{end}", std::process::id()))
}

impl Emulator {
    /// Starts a link with these addresses and options, in separate namespaces; it is ready when this returns.
    pub fn start(addresses: [&str; 2], options: &str) -> Self {
        Self::start_in(&names(), addresses, options)
    }

    pub fn start_in(names: &[String; 2], addresses: [&str; 2], options: &str) -> Self {
        require();
        let directory = tempfile::tempdir().unwrap();
        let control = directory.path().join("control");
        let [a, b] = ends(names, addresses);
        let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
        command.args(["link", "--a", &a, "--b", &b, "--control"]).arg(&control).args(options.split_whitespace());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        stdout.read_line(&mut ready).unwrap();
        if !ready.starts_with("READY ") {
            let mut stderr = String::new();
            child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("not ready: {ready}{stderr}");
        }
        let [a, b] = [0, 1].map(|end| Kernel::in_namespace(&names[end], addresses[end]));
        Self { child, stdout, control, names: names.clone(), a, b, _directory: directory }
    }

    /// Sends it a command with another `longhaul link`; returns that program's output or error.
    pub fn send(&self, what: &str, options: &str) -> Result<String, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
        command.args(["link", what, "--control"]).arg(&self.control).args(options.split_whitespace());
        let ended = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if ended.status.success() { Ok(text(ended.stdout)) } else { Err(text(ended.stderr)) }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// The next line it writes.
    pub fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Kills it without time for removing anything.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and waits for that.
    pub fn stop(self) -> Report {
        self.signal(Signal::SIGTERM);
        self.finish()
    }

    /// Waits for its end. Everything it created is gone then.
    pub fn finish(mut self) -> Report {
        let report = self.line();
        let status = self.child.wait().unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(status.code(), Some(0), "{stderr}");
        assert!(!self.control.exists(), "the socket is still there");
        Report(report)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.names.iter().for_each(|name| drop(net::Namespace::remove(name)));
        }
    }
}

impl Report {
    /// The whole number at a JSON pointer.
    pub fn number(&self, pointer: &str) -> u64 {
        let value = self.0.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("no number at {pointer} in {self:?}"))
    }

    pub fn assert_nothing_lost_by_the_host(&self) {
        for pointer in ["ring_drops", "refused", "unreadable"] {
            for way in ["ab", "ba"] {
                assert_eq!(self.number(&format!("/{way}/{pointer}")), 0, "{way} {pointer}");
            }
        }
    }
}

impl std::ops::Index<&str> for Report {
    type Output = Value;
    fn index(&self, key: &str) -> &Value {
        &self.0[key]
    }
}

fn ends(names: &[String; 2], addresses: [&str; 2]) -> [String; 2] {
    [0, 1].map(|end| format!("ns={},dev=w{}0,addr={}", names[end], ["a", "b"][end], addresses[end]))
}

/// Runs the program as root without one capability.
pub fn missing(capability: &str) -> Output {
    require();
    let [a, b] = ends(&names(), ["10.77.0.1/24", "10.77.0.2/24"]);
    // Without a separate namespace, the device is the first thing to be created.
    let (a, b) = if capability == "net_admin" {
        (&a[a.find("dev").unwrap()..], &b[b.find("dev").unwrap()..])
    } else {
        (&*a, &*b)
    };
    let mut command = Command::new("setpriv");
    let without = format!("-{capability}");
    command.args(["--bounding-set", &without, "--inh-caps", &without, env!("CARGO_BIN_EXE_longhaul"), "link"]);
    command.args(["--a", a, "--b", b]).output().unwrap()
}

/// A packet as tshark reads it.
pub struct Seen {
    pub interface: String,
    pub at_ns: u64,
}

/// The packets of a file that match a filter.
pub fn tshark(file: &Path, filter: &str) -> Vec<Seen> {
    let mut command = Command::new("tshark");
    command
        .args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-r"])
        .arg(file)
        .args(["-Y", filter]);
    command.args(["-T", "fields", "-e", "frame.interface_name", "-e", "frame.time_epoch"]);
    let ended = command.output().expect("this test needs tshark: apt-get install tshark");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = String::from_utf8(ended.stdout).unwrap();
    let read = |line: &str| {
        let (interface, time) = line.split_once('\t').unwrap();
        let (seconds, nanoseconds) = time.split_once('.').unwrap();
        assert_eq!(nanoseconds.len(), 9, "{time}");
        let at_ns = seconds.parse::<u64>().unwrap() * 1_000_000_000 + nanoseconds.parse::<u64>().unwrap();
        Seen { interface: interface.to_owned(), at_ns }
    };
    text.lines().map(read).collect()
}

/// Fails, naming everything that is missing at once.
fn require() {
    let mut missing = Vec::new();
    if !nix::unistd::geteuid().is_root() {
        missing.push("root, to make network namespaces and devices");
    }
    if !Path::new("/dev/net/tun").exists() {
        missing.push("/dev/net/tun: load the kernel's `tun` driver, or pass the device in");
    }
    assert!(missing.is_empty(), "this test needs: {}", missing.join("; "));
}
