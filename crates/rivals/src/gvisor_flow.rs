//! gVisor's end of a flow: a program in Go, which this one builds, with the device as its standard input.

use crate::case::{CALL, Case, MTU, OURS, PORT, THEIRS};
use crate::kernel::Kernel;
use crate::measure::{Plan, Sample, Watch, Whose};
use crate::smoltcp_device::Tun;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What gVisor leaves to its user.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    control: &'static str,
    /// Most bytes of each of the two buffers.
    buffer: usize,
}

impl Settings {
    /// Everything that is tried.
    pub fn all() -> impl Iterator<Item = Self> {
        let buffers = [1 << 20, 4 << 20];
        ["reno", "cubic"].into_iter().flat_map(move |control| buffers.map(|buffer| Self { control, buffer }))
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "congestion control {}, buffers of {} KiB", self.control, self.buffer >> 10)
    }
}

/// Builds the program, and returns where it is.
///
/// # Errors
///
/// Why there is none.
pub fn build() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("longhaul-gvisor");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("gvisor");
    let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).status();
    match built {
        Ok(status) if status.success() => Ok(program),
        Ok(status) => Err(format!("`go build`: {status}")),
        Err(error) => Err(format!("`go`: {error}; gVisor's end needs Go, https://go.dev/dl/")),
    }
}

/// The program, which ends with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs one flow.
pub fn run(program: &Path, case: Case, settings: Settings, plan: Plan, mut kernel: Kernel) -> Sample {
    let tun = Tun::new(case.offload);
    kernel.listen(case);
    let device = tun.fd().try_clone_to_owned().expect("a descriptor is free");
    let mut command = Command::new(program);
    command
        .arg(format!("-ours={}", Ipv4Addr::from(OURS)))
        .arg(format!("-theirs={}", Ipv4Addr::from(THEIRS)))
        .args([format!("-port={PORT}"), format!("-mtu={MTU}"), format!("-call={CALL}")])
        .args([format!("-control={}", settings.control), format!("-buffer={}", settings.buffer)])
        .args([format!("-send={}", case.sends), format!("-offload={}", case.offload)])
        .stdin(device)
        .stdout(Stdio::piped());
    let mut running = Running(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display())));
    let lines = BufReader::new(running.0.stdout.take().expect("it is piped")).lines();
    let read = Arc::new(AtomicU64::new(0));
    let counted = read.clone();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            counted.store(line.parse().expect("a line is a number"), Relaxed);
        }
    });
    let mut watch = Watch::new(case, plan, kernel, Whose::Process(running.0.id()));
    loop {
        std::thread::sleep(Duration::from_millis(1));
        if let Some(sample) = watch.look(read.load(Relaxed)) {
            // Before its peer, so that it does not complain.
            drop(running);
            return sample;
        }
        let ended = running.0.try_wait().expect("it is our process");
        assert!(ended.is_none(), "gVisor's program ended: {ended:?}");
    }
}
