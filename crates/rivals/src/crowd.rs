//! Many connections of the kernel at once, each of which has its bytes echoed: 10 to 50 kB. The kernel's sockets are in a thread of
//! their own, ours in another; nothing is lost on the way.

use crate::case::{MTU, OURS, PORT, THEIRS};
use crate::smoltcp_device;
use longhaul::GuardConfig;
use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes of each of smoltcp's buffers: all that a connection brings.
const BUFFER: usize = 64 << 10;

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// From the first connection to the last byte.
    pub took: Duration,
    /// Segments that the kernel had already.
    pub duplicates: u64,
}

/// longhaul's end, with the library's usual settings and room for all connections.
pub fn longhaul(connections: usize, offload: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let address: Cidr = format!("{}/24", Ipv4Addr::from(OURS)).parse().expect("an address");
        let offload = if offload { Offload::On } else { Offload::Off };
        let config = TunConfig { name: "lh0".into(), address, mtu: MTU, offload };
        let tun = Tun::create(&config).unwrap_or_else(|error| panic!("{error}"));
        lengthen_queue("lh0", connections);
        let guards = GuardConfig { orphans_max: connections as u32, ..GuardConfig::default() };
        let builder = longhaul::Stack::builder().addresses([address.address()]).device(tun.caps()).guards(guards);
        let (net, packets, driver) = builder.build().expect("the settings fit each other");
        tokio::spawn(driver);
        tokio::spawn(longhaul::tun::run(tun, packets));
        let listener = net.listen_with(ours(), connections as u32, &net.config()).expect("the port is free");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.into_split();
                    tokio::io::copy(&mut read, &mut write).await
                });
            }
        });
        let (tells, hears) = tokio::sync::oneshot::channel();
        let clients = clients(connections);
        std::thread::spawn(move || tells.send(clients.recv().expect("every connection has its bytes")));
        hears.await.expect("every connection has its bytes")
    })
}

/// smoltcp's end: a socket that listens for each connection.
pub fn smoltcp(connections: usize, offload: bool) -> Outcome {
    let mut tun = smoltcp_device::Tun::new(offload);
    lengthen_queue("smol0", connections);
    let began = Instant::now();
    let now = || smoltcp::time::Instant::from_micros(began.elapsed().as_micros() as i64);
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut tun, now());
    let [a, b, c, d] = OURS;
    interface.update_ip_addrs(|addresses| {
        addresses.push(IpCidr::new(IpAddress::v4(a, b, c, d), 24)).expect("room for one address");
    });
    let mut sockets = SocketSet::new(Vec::new());
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let handles: Vec<_> = (0..connections)
        .map(|_| {
            let mut socket = Socket::new(buffer(), buffer());
            socket.set_nagle_enabled(false);
            socket.listen(PORT).expect("a socket that is closed");
            sockets.add(socket)
        })
        .collect();
    let (clients, mut buf) = (clients(connections), vec![0; BUFFER]);
    loop {
        let polled = interface.poll(now(), &mut tun, &mut sockets);
        let moved: usize = handles.iter().map(|handle| echo(sockets.get_mut(*handle), &mut buf)).sum();
        match clients.try_recv() {
            Ok(outcome) => return outcome,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => panic!("every connection has its bytes"),
        }
        if moved == 0 && polled == PollResult::None {
            let delay = interface.poll_delay(now(), &sockets).map_or(100, |delay| delay.total_millis().min(100));
            let mut fds = [PollFd::new(tun.fd(), PollFlags::POLLIN)];
            let _ = poll(&mut fds, PollTimeout::from(delay as u8));
        }
    }
}

/// Sends back what has come, as far as there is room, and closes behind the peer. Returns the number of bytes.
fn echo(socket: &mut Socket<'_>, buf: &mut [u8]) -> usize {
    let mut moved = 0;
    if socket.can_recv() && socket.can_send() {
        let room = socket.send_capacity() - socket.send_queue();
        moved = socket.recv_slice(&mut buf[..room]).expect("it can be read");
        let sent = socket.send_slice(&buf[..moved]).expect("it can be written");
        assert_eq!(sent, moved, "there was room");
    }
    if socket.may_send() && !socket.may_recv() {
        socket.close();
    }
    moved
}

fn ours() -> SocketAddr {
    SocketAddr::new(Ipv4Addr::from(OURS).into(), PORT)
}

/// So that none of the kernel's packets is lost.
fn lengthen_queue(device: &str, connections: usize) {
    let length = (10 * connections).max(10_000).to_string();
    let status = Command::new("ip").args(["link", "set", device, "txqueuelen", &length]).status();
    assert!(status.is_ok_and(|status| status.success()), "`ip` lengthens the queue of {device}");
}

/// Opens all connections of the kernel at once, in a thread of the caller's namespace, which tells when each has its bytes back.
fn clients(connections: usize) -> Receiver<Outcome> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("the kernel has limits");
    let files = (connections as u64 + 200).min(hard);
    setrlimit(Resource::RLIMIT_NOFILE, files, hard).expect("a file for each of the kernel's sockets (ulimit -Hn)");
    let (tells, hears) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let began = Instant::now();
        runtime.block_on(async {
            let all: Vec<_> = (0..connections).map(|n| tokio::spawn(converse(n))).collect();
            for one in all {
                one.await.expect("its bytes come back");
            }
        });
        let took = began.elapsed();
        let _ = tells.send(Outcome { took, duplicates: duplicates() });
    });
    hears
}

/// One connection of the kernel.
async fn converse(n: usize) {
    let sent: Vec<u8> = (0..10_000 + n % 1_000 * 40).map(|at| (at * 13 + n) as u8).collect();
    let (mut read, mut write) = tokio::net::TcpStream::connect(ours()).await.expect("our side listens").into_split();
    let mut back = Vec::new();
    let writing = async {
        write.write_all(&sent).await?;
        write.shutdown().await
    };
    let (written, read) = tokio::join!(writing, read.read_to_end(&mut back));
    written.and(read.map(drop)).expect("no connection breaks");
    assert!(back == sent, "connection {n}: {} of {} bytes", back.len(), sent.len());
}

/// Segments that the kernel received although it had them, in this namespace.
fn duplicates() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat").expect("the kernel counts");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let counted = names.split(' ').zip(values.split(' '));
    let wanted = counted.filter(|(name, _)| ["TCPDSACKOldSent", "TCPDSACKOfoSent"].contains(name));
    wanted.map(|(_, value)| value.parse::<u64>().expect("a number")).sum()
}

/// Prints both in turns: the time that each took, and what came twice. The kernel's end is [`THEIRS`].
pub fn compare(connections: usize, rounds: usize, in_namespace: impl Fn(fn(usize, bool) -> Outcome, bool) -> Outcome) {
    println!("{connections} connections of the kernel ({}) at once, 10 to 50 kB echoed", Ipv4Addr::from(THEIRS));
    println!("smoltcp: a listening socket each, buffers of {} KiB, its usual congestion control", BUFFER >> 10);
    for offload in [true, false] {
        for _ in 0..rounds {
            for (name, run) in [("longhaul", longhaul as fn(usize, bool) -> Outcome), ("smoltcp", smoltcp)] {
                let Outcome { took, duplicates } = in_namespace(run, offload);
                let switch = if offload { "on" } else { "off" };
                println!("offload {switch}: {name} took {:.3} s, {duplicates} duplicates", took.as_secs_f64());
            }
        }
    }
}
