//! The kernel's TCP as an arm: ordinary sockets created inside the namespaces, served by threads outside them.
//!
//! Buffers are left to the kernel, which lets them grow as far as the namespace permits; setting their size would end that.
//! The threads wait for a processor no longer than those of an arm of ours: a writer that comes late leaves the kernel with
//! nothing to send.

use crate::snmp::Snmp;
use crate::watch::Watch;
use crate::world::{LINK_A, LINK_B, World};
use base::Instant;
use lab::spec::Flow;
use lab::{KernelCc, Measured, RunFailure};
use net::{Clock, KernelTotals, MonotonicClock, Namespace, Raised, Share, kernel_totals};
use nix::sys::socket::sockopt::{ReceiveTimeout, TcpCongestion};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, connect, listen,
    setsockopt, shutdown, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Of the first flow's server.
pub const PORT: u16 = 9;

/// Bytes written or read per call.
pub const CHUNK: usize = 256 << 10;

/// Interval at which the receiver checks whether the run was given up.
pub const GLANCE_MS: i64 = 100;

/// Whether the kernel has a congestion control.
///
/// # Errors
/// Names what is missing, and the remedy.
pub fn is_there(world: &World, cc: KernelCc) -> Result<(), String> {
    let made = socket_in(&world.a, cc);
    made.map(drop).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let name = cc.name();
            format!("arm kernel:{name}: this kernel has no `{name}`: load it with `modprobe tcp_{name}`")
        }
        _ => format!("arm kernel:{}: {error}", cc.name()),
    })
}

/// Creates a socket inside a namespace; it stays there, whichever thread uses it.
fn socket_in(namespace: &Namespace, cc: KernelCc) -> io::Result<OwnedFd> {
    let made =
        namespace.run(|| socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, SockProtocol::Tcp));
    let socket = made.map_err(io::Error::other)??;
    setsockopt(&socket, TcpCongestion, &cc.name().into())?;
    Ok(socket)
}

/// The client's results at the end.
struct Sent {
    began: Instant,
    bytes: u64,
    totals: KernelTotals,
}

/// What the server knows at the end.
struct Came {
    last_read: Instant,
    bytes: u64,
}

/// Makes one transfer.
pub fn run(world: &World, flow: Flow, cc: KernelCc, watch: &mut Watch<'_>) -> Result<Measured, RunFailure> {
    let failed = |error: io::Error| RunFailure(format!("the kernel's sockets: {error}"));
    let pair = Pair::open(world, cc, PORT).map_err(failed)?;
    let stop = AtomicBool::new(false);
    let (client_ended, sender) = mpsc::channel();
    let (server_ended, receiver) = mpsc::channel();
    let (sent, came) = std::thread::scope(|scope| {
        let (pair, stop) = (&pair, &stop);
        scope.spawn(move || server_ended.send(receive(&pair.listener, stop)));
        scope.spawn(move || client_ended.send(send(pair, flow)));
        let outcome = (|| {
            let sent = watch.receive(&sender)?.map_err(failed)?;
            let came = watch.receive(&receiver)?.map_err(failed)?;
            Ok((sent, came))
        })();
        // Threads that still wait have nothing left to wait for.
        stop.store(true, Ordering::Relaxed);
        pair.end();
        outcome
    })?;
    if came.bytes != sent.bytes {
        return Err(RunFailure(format!("the flow did not come through: {} of {} bytes", came.bytes, sent.bytes)));
    }
    let known = Measured::of_transfer(came.bytes, came.last_read.since(sent.began));
    Ok(with_counters(known, sent.totals, Snmp::read(&world.a).as_ref(), Snmp::read(&world.b).as_ref()))
}

/// The sockets of a flow.
pub struct Pair {
    /// Not yet connected.
    pub client: TcpStream,
    /// The server's, which listens already.
    pub listener: TcpListener,
    /// Where it listens.
    pub server: SockaddrStorage,
}

impl Pair {
    /// Creates them, with the server on a port.
    ///
    /// # Errors
    /// If the system rejects one of them.
    pub fn open(world: &World, cc: KernelCc, port: u16) -> io::Result<Self> {
        let (client, listener) = (socket_in(&world.a, cc)?, socket_in(&world.b, cc)?);
        let server = address(LINK_B, port);
        bind(listener.as_raw_fd(), &server)?;
        listen(&listener, Backlog::new(1)?)?;
        // Accepted sockets inherit it.
        setsockopt(&listener, ReceiveTimeout, &TimeVal::milliseconds(GLANCE_MS))?;
        bind(client.as_raw_fd(), &address(LINK_A, 0))?;
        Ok(Self { client: client.into(), listener: listener.into(), server })
    }

    /// Ends whatever its client waits for.
    pub fn end(&self) {
        let _ = shutdown(self.client.as_raw_fd(), Shutdown::Both);
    }
}

fn address(address: IpAddr, port: u16) -> SockaddrStorage {
    SockaddrStorage::from(SocketAddr::new(address, port))
}

fn send(Pair { client, server, .. }: &Pair, flow: Flow) -> io::Result<Sent> {
    let _raised = Raised::new(Share::Stack);
    let began = MonotonicClock::default().now();
    connect(client.as_raw_fd(), server)?;
    let bytes = write_all(client, flow)?;
    client.shutdown(std::net::Shutdown::Write)?;
    // The server closes after reading everything; all data is acknowledged by then.
    let mut rest = client;
    io::copy(&mut rest, &mut io::sink())?;
    Ok(Sent { began, bytes, totals: kernel_totals(client)? })
}

fn write_all(mut client: &TcpStream, flow: Flow) -> io::Result<u64> {
    let began = std::time::Instant::now();
    let (mut written, mut chunk) = (0, vec![0; CHUNK]);
    loop {
        let len = match flow {
            Flow::Bytes(bytes) => (bytes - written).min(CHUNK as u64) as usize,
            Flow::Seconds(span) if began.elapsed() < Duration::from_nanos(span.as_nanos()) => CHUNK,
            Flow::Seconds(_) => 0,
        };
        if len == 0 {
            return Ok(written);
        }
        tcp::fill_pattern(written, &mut chunk[..len]);
        client.write_all(&chunk[..len])?;
        written += len as u64;
    }
}

fn receive(listener: &TcpListener, stop: &AtomicBool) -> io::Result<Came> {
    let _raised = Raised::new(Share::Stack);
    let mut clock = MonotonicClock::default();
    let mut server = until_ready(stop, || listener.accept())?.0;
    let (mut chunk, mut expected) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut came = Came { last_read: clock.now(), bytes: 0 };
    loop {
        let len = until_ready(stop, || server.read(&mut chunk))?;
        if len == 0 {
            return Ok(came);
        }
        came.last_read = clock.now();
        tcp::fill_pattern(came.bytes, &mut expected[..len]);
        if chunk[..len] != expected[..len] {
            return Err(io::Error::other(format!("wrong bytes behind the first {}", came.bytes)));
        }
        came.bytes += len as u64;
    }
}

/// Repeats a call that timed out, unless the run was given up.
fn until_ready<T>(stop: &AtomicBool, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                if stop.load(Ordering::Relaxed) {
                    return Err(error);
                }
            }
            other => return other,
        }
    }
}

/// Adds the kernel's counters. The kernel does not count an episode that begins with a timeout, and does not report when it
/// repairs several in one: `episodes` stay unknown.
pub fn with_counters(known: Measured, totals: KernelTotals, a: Option<&Snmp>, b: Option<&Snmp>) -> Measured {
    let sender = |names: &[&str]| a?.sum(names);
    let receiver = |names: &[&str]| b?.sum(names);
    Measured {
        bytes_sent: Some(totals.bytes_sent),
        bytes_retransmitted: Some(totals.bytes_retransmitted),
        fast_retransmits: sender(&["TCPSackRecovery", "TCPRenoRecovery"]),
        rtos: sender(&["TCPTimeouts"]),
        lost_retransmissions: sender(&["TCPLostRetransmit"]),
        probes: sender(&["TCPLossProbes"]),
        undone: sender(&["TCPFullUndo", "TCPDSACKUndo", "TCPLossUndo"]),
        dsacks_sent: receiver(&["TCPDSACKOldSent", "TCPDSACKOfoSent"]),
        dsacks_received: sender(&["TCPDSACKRecv", "TCPDSACKOfoRecv"]),
        ..known
    }
}
