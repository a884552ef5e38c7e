//! Two programs as an arm: the server starts in one namespace, the client in the other once the server's port is open.
//!
//! The client's run time counts: only the client knows when the last byte was read. No other statistics are available. Each
//! program runs in a separate process group, which is killed at the end.

use crate::interrupt::let_through;
use crate::watch::Watch;
use crate::world::{LINK_B, World};
use base::Duration;
use lab::spec::Flow;
use lab::{CommandPair, Measured, RunFailure};
use net::Namespace;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const PORT: u16 = 5_201;

/// A server that does not listen by then has failed.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Bytes of a program's output that are shown when it fails.
const SHOWN: usize = 2_000;

/// Makes one transfer.
pub fn run(world: &World, flow: Flow, pair: &CommandPair, watch: &mut Watch<'_>) -> Result<Measured, RunFailure> {
    let Flow::Bytes(bytes) = flow else {
        return Err(RunFailure("command arms require `flow.bytes`".to_owned()));
    };
    let [server_line, client_line] = pair.filled(&LINK_B.to_string(), PORT, bytes);
    let mut server = Program::start("server", &server_line, &world.b)?;
    let deadline = Instant::now() + TIMEOUT;
    watch.until(|| {
        if let Some(end) = server.ended()? {
            return Err(server.failure(&format!("ended before it listened on port {PORT}, {end}")));
        }
        if Instant::now() > deadline {
            return Err(server.failure(&format!("does not listen on port {PORT}")));
        }
        Ok(is_open(&world.b, PORT)?.then_some(()))
    })?;
    let began = Instant::now();
    let mut client = Program::start("client", &client_line, &world.a)?;
    let end = watch.until(|| client.ended())?;
    let elapsed = began.elapsed();
    if end != End::Code(0) {
        return Err(client.failure(&format!("failed, {end}")));
    }
    Ok(Measured::of_transfer(bytes, Duration::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))))
}

/// A running command; its group is killed on drop.
struct Program {
    what: &'static str,
    line: String,
    child: Child,
    said: File,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Code(i32),
    Signal(Signal),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by {signal}"),
        }
    }
}

impl Program {
    /// Starts a line of shell inside a namespace.
    fn start(what: &'static str, line: &str, namespace: &Namespace) -> Result<Self, RunFailure> {
        let failed = |error: &dyn std::fmt::Display| RunFailure(format!("cannot start the {what} `{line}`: {error}"));
        let spawn = || -> io::Result<(Child, File)> {
            let_through();
            let said = File::from(memfd_create(c"said", MFdFlags::MFD_CLOEXEC)?);
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]).process_group(0).stdin(Stdio::null());
            command.stdout(said.try_clone()?).stderr(said.try_clone()?);
            Ok((command.spawn()?, said))
        };
        let spawned = namespace.run(spawn).map_err(|error| failed(&error))?;
        let (child, said) = spawned.map_err(|error| failed(&error))?;
        Ok(Self { what, line: line.to_owned(), child, said })
    }

    /// Returns how it ended, if it did. It stays a zombie until it is dropped, so that its number, which is its group's, is not
    /// reused.
    fn ended(&self) -> Result<Option<End>, RunFailure> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid()), flags) {
            Ok(WaitStatus::Exited(_, code)) => Ok(Some(End::Code(code))),
            Ok(WaitStatus::Signaled(_, signal, _)) => Ok(Some(End::Signal(signal))),
            Ok(_) => Ok(None),
            Err(errno) => Err(RunFailure(format!("cannot wait for the {}: {errno}", self.what))),
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Returns an error with the end of the program's output.
    fn failure(&mut self, problem: &str) -> RunFailure {
        let mut said = Vec::new();
        let _ = self.said.rewind().and_then(|()| self.said.read_to_end(&mut said));
        let end = String::from_utf8_lossy(&said[said.len().saturating_sub(SHOWN)..]).trim().to_owned();
        let said = if end.is_empty() { "it said nothing".to_owned() } else { format!("it said:\n{end}") };
        RunFailure(format!("the {} `{}` {problem}; {said}", self.what, self.line))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = killpg(self.pid(), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// Returns whether a program listens on a port inside a namespace, for TCP or for datagrams.
fn is_open(namespace: &Namespace, port: u16) -> Result<bool, RunFailure> {
    let read = || {
        let table = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        let listens = |name: &str| table(name).lines().any(|line| is_listener(line, port, name.starts_with("tcp")));
        ["tcp", "tcp6", "udp", "udp6"].into_iter().any(listens)
    };
    namespace.run(read).map_err(|error| RunFailure(error.to_string()))
}

/// A line of the kernel's tables: number, own address and port, the peer's, state.
fn is_listener(line: &str, port: u16, is_tcp: bool) -> bool {
    const LISTEN: &str = "0A";
    let mut words = line.split_whitespace().skip(1);
    let own = words.next().and_then(|own| own.rsplit_once(':'));
    let is_port = own.is_some_and(|(_, own)| u16::from_str_radix(own, 16) == Ok(port));
    is_port && (!is_tcp || words.nth(1) == Some(LISTEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_found_in_the_kernel_s_tables() {
        let header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid";
        let listens = "   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0";
        let connected = "   1: 0200004D:1451 0100004D:D431 01 00000000:00000000 00:00000000 00000000     0";
        let datagrams = "  17: 00000000000000000000000000000000:1451 00000000000000000000000000000000:0000 07 0:0";
        assert!(is_listener(listens, 5201, true) && !is_listener(listens, 5202, true));
        assert!(!is_listener(connected, 5201, true) && !is_listener(header, 5201, true));
        assert!(is_listener(datagrams, 5201, false));
    }
}
