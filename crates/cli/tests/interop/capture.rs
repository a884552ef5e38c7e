//! tshark as an independent reader of our packets.

use crate::netns::Lab;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A capture that runs.
pub struct Capture {
    child: Child,
    file: PathBuf,
    _directory: tempfile::TempDir,
}

impl Capture {
    /// Captures the packets on `interface` of the router; returns once the capture has started.
    pub fn start(lab: &Lab, interface: &str) -> Self {
        let installed = Command::new("tshark").arg("-v").output().is_ok();
        assert!(installed, "this test needs `tshark` as an independent reader: apt-get install -y tshark");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("packets.pcapng");
        let mut command = lab.on_router("tshark");
        command.args(["-q", "-B", "64", "-i", interface, "-w"]).arg(&file);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let began = said.any(|line| line.unwrap().starts_with("Capturing on"));
        assert!(began, "tshark cannot capture on {interface}");
        // The file exists as soon as the capturing process has opened the interface.
        while !file.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // The rest of its output is read, so that it never blocks.
        std::thread::spawn(move || said.for_each(drop));
        Self { child, file, _directory: directory }
    }

    /// Ends the capture.
    pub fn stop(mut self) -> Captured {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT).unwrap();
        self.child.wait().unwrap();
        Captured(self)
    }
}

/// A capture that is over.
pub struct Captured(Capture);

impl Captured {
    /// Packets that match a display filter, one line each; checksums are verified.
    pub fn matching(&self, filter: &str) -> Vec<String> {
        let mut command = Command::new("tshark");
        command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-r"]).arg(&self.0.file);
        let output = command.args(["-Y", filter]).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "tshark: {complaint}");
        String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect()
    }
}
