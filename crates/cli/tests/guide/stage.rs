//! Where a page for root is played: a namespace of its own, and hosts behind its device `eth0` that answer.
//!
//! ```text
//!  the page's commands (10.8.0.1) ── eth0 ── far: 192.0.2.7, 198.51.100.7
//! ```
//! `/run` and `/srv` are empty, so that sockets and names of namespaces meet no others. Both belong to the thread that entered, and to
//! what it starts; they are gone with it.

use crate::machine;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

/// What the far hosts answer to a request of HTTP.
const PAGE: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhere\n";

/// What they send to whoever connects to port 5001.
const BYTES: usize = 100_000;

/// The network that pages speak of.
const NETWORK: [&str; 9] = [
    "link set lo up",
    "netns add far",
    "link add eth0 type veth peer name eth0 netns far",
    "addr add 10.8.0.1/24 dev eth0",
    "link set eth0 up",
    "-n far addr add 10.8.0.2/24 dev eth0",
    "-n far addr add 192.0.2.7/32 dev eth0",
    "-n far addr add 198.51.100.7/32 dev eth0",
    "-n far link set eth0 up",
];

/// The ways there and back, once both ends are up.
const ROUTES: [&str; 2] = ["route add default via 10.8.0.2", "-n far route add default via 10.8.0.1"];

/// Moves this thread and what it starts into a namespace of their own.
///
/// # Panics
/// If this machine lacks something, naming it.
pub fn enter() {
    let programs = [("ip", "-V", "iproute2"), ("curl", "-V", "curl"), ("iperf3", "-v", "iperf3")];
    machine::check("the guide's pages for root need", &programs);
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET).expect("root may have namespaces");
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).expect("root may keep its mounts to itself");
    for place in ["/run", "/srv"] {
        mount(Some("tmpfs"), place, Some("tmpfs"), MsFlags::empty(), none).expect("root may mount");
    }
    NETWORK.into_iter().chain(ROUTES).for_each(ip);
    for (port, host) in [(80, serve as fn(TcpStream)), (5001, exchange)] {
        let far = File::open("/run/netns/far").expect("it was made");
        thread::spawn(move || {
            setns(far, CloneFlags::CLONE_NEWNET).expect("root may enter");
            let listener = TcpListener::bind(("0.0.0.0", port)).expect("nothing listens there");
            listener.incoming().flatten().for_each(|stream| drop(thread::spawn(move || host(stream))));
        });
    }
}

/// Answers one request of HTTP.
fn serve(mut stream: TcpStream) {
    let asked = BufReader::new(&stream).lines().map_while(Result::ok);
    asked.take_while(|line| !line.is_empty()).for_each(drop);
    let _ = stream.write_all(PAGE);
}

/// Sends some bytes, and reads whatever comes.
fn exchange(mut stream: TcpStream) {
    let _ = stream.write_all(&vec![b'x'; BYTES]);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().expect("`ip` was there");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim());
}
