//! A thousand kernel clients at once: segments that our driver marks lost although they only wait in the device.

use crate::netns::Lab;
use crate::peer::{counter, unless_interrupted};
use crate::{V4, longhaul, own};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

const CLIENTS: usize = 1000;
const BYTES: usize = 50_000;

/// Duplicate segments that the kernel may report, all clients together. Serving timers before the frames that wait in the device
/// causes more than a thousand, whatever else the machine does.
const DUPLICATES: u64 = 10;

/// The best of the tries within this time counts. A machine busy with other work adds some dozens: the kernel delays an ACK until the
/// client reads, for up to 40 ms, while this client waits for a processor. Beside the other tests every try may be of that kind, so the
/// last ones come when those are over, a minute later on two processors.
const PATIENCE: Duration = Duration::from_secs(150);

/// Without progress for this long, something hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// One connection: how much of the pattern it sent, and how much came back.
struct Client {
    stream: TcpStream,
    sent: usize,
    back: usize,
    is_over: bool,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { stream, sent: 0, back: 0, is_over: false }
    }

    fn waits_for(&self) -> PollFlags {
        if self.sent < BYTES { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN }
    }

    /// Sends and reads what is possible at once, and closes when the whole pattern has come back.
    fn advance(&mut self, pattern: &[u8], chunk: &mut [u8]) {
        while self.sent < BYTES {
            let Some(taken) = unless_blocked(self.stream.write(&pattern[self.sent..])) else { break };
            self.sent += taken;
        }
        while let Some(len) = unless_blocked(self.stream.read(chunk)) {
            if len == 0 {
                self.is_over = true;
                return;
            }
            assert!(chunk[..len] == pattern[self.back..self.back + len], "other bytes came back");
            self.back += len;
            if self.back == BYTES {
                self.stream.shutdown(Shutdown::Write).unwrap();
            }
        }
    }
}

fn unless_blocked(result: io::Result<usize>) -> Option<usize> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        other => Some(other.unwrap()),
    }
}

/// Runs all clients at once, each of which reads its echo to the end. Returns the bytes that came back.
fn echo(address: SocketAddr) -> usize {
    let mut pattern = vec![0; BYTES];
    tcp::fill_pattern(0, &mut pattern);
    let mut chunk = vec![0; BYTES];
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(address)).collect();
    let mut progress = Instant::now();
    loop {
        let open: Vec<usize> = (0..CLIENTS).filter(|&index| !clients[index].is_over).collect();
        if open.is_empty() {
            return clients.iter().map(|client| client.back).sum();
        }
        let mut fds: Vec<PollFd<'_>> =
            open.iter().map(|&index| PollFd::new(clients[index].stream.as_fd(), clients[index].waits_for())).collect();
        unless_interrupted(|| Ok(poll(&mut fds, PollTimeout::from(1000_u16))?)).unwrap();
        let ready: Vec<bool> = fds.iter().map(|fd| fd.any() == Some(true)).collect();
        for (index, _) in open.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            clients[index].advance(&pattern, &mut chunk);
            progress = Instant::now();
        }
        assert!(progress.elapsed() < TIMEOUT, "nothing moves");
    }
}

/// Raises the limit of open sockets for the clients and the other tests; the usual limit is 1024.
fn allow_sockets() {
    let pid = std::process::id().to_string();
    let status = Command::new("prlimit").args(["--pid", &pid, "--nofile=8192:"]).status();
    let status = status.expect("this test needs `prlimit`: apt-get install -y util-linux");
    assert!(status.success(), "this test needs a limit of 8192 open files");
}

/// Returns the packets that the device dropped in this thread's namespace, in either direction.
fn dropped(device: &str) -> u64 {
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = devices.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'));
    let counts: Vec<u64> = line.unwrap().split_whitespace().map(|count| count.parse().unwrap()).collect();
    // Received: bytes, packets, errors, drops and four others; then the same for sent packets.
    counts[3] + counts[8 + 3]
}

/// Runs all clients once. Returns the duplicates that the kernel reported.
fn duplicates() -> u64 {
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", "echo"], V4, "");
    server.ready();
    let counted = lab.host().inside(|| {
        let back = echo(own(V4, 7));
        let reported = ["TCPDSACKOldSent", "TCPDSACKOfoSent"].map(|name| counter("netstat", "TcpExt:", name));
        (back, dropped("lh0"), reported.iter().sum())
    });
    let (back, dropped, reported) = counted.join();
    assert_eq!((back, dropped), (CLIENTS * BYTES, 0));
    server.interrupt();
    server.finish(0);
    reported
}

#[test]
fn a_thousand_clients_get_hardly_a_segment_twice() {
    allow_sockets();
    let mut counts = Vec::new();
    let first = Instant::now();
    while first.elapsed() < PATIENCE {
        let began = Instant::now();
        counts.push(duplicates());
        println!("{:?}: {counts:?} duplicates", began.elapsed());
        if counts.last() <= Some(&DUPLICATES) {
            return;
        }
    }
    panic!("{counts:?} duplicates, where {DUPLICATES} are allowed");
}

#[test]
fn several_shards_serve_a_thousand_clients() {
    allow_sockets();
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", "echo"], V4, "--shards 3");
    server.ready();
    let counted = lab.host().inside(|| (echo(own(V4, 7)), dropped("lh0")));
    assert_eq!(counted.join(), (CLIENTS * BYTES, 0));
    // Each has a third of the connections.
    let threads = server.threads(20);
    for shard in ["shard 1", "shard 2"] {
        assert!(threads.iter().any(|thread| thread == shard), "{threads:?}");
    }
    server.interrupt();
    server.finish(0);
}
