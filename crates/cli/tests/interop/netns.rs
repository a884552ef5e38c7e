//! Two network namespaces joined by a cable, made with `ip` and removed at the end.

use crate::machine;
use crate::peer::Peer;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names begin with this and the process id, so that leftovers of a killed run can be recognised and removed.
const PREFIX: &str = "lh-test-";

/// A router, where longhaul runs, and a peer behind it.
pub struct Lab {
    router: Namespace,
    pub peer: Peer,
    peer_namespace: Namespace,
}

/// A namespace that is removed when dropped.
struct Namespace(String);

impl Lab {
    /// # Panics
    /// If this machine lacks something, naming it.
    pub fn new() -> Self {
        machine::check("this test needs", &[("ip", "-V", "iproute2")]);
        remove_leftovers();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let stem = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (router, peer_namespace) = (Namespace::new(format!("{stem}-r")), Namespace::new(format!("{stem}-p")));
        let (r, p) = (&router.0, &peer_namespace.0);
        ip(&format!("link add cable netns {r} type veth peer name cable netns {p}"));
        for (namespace, host) in [(r, 1), (p, 2)] {
            ip(&format!("-n {namespace} addr add 10.8.0.{host}/24 dev cable"));
            ip(&format!("-n {namespace} addr add fd08::{host}/64 dev cable nodad"));
            ip(&format!("-n {namespace} link set lo up"));
            ip(&format!("-n {namespace} link set cable up"));
        }
        ip(&format!("-n {p} route add default via 10.8.0.1"));
        ip(&format!("-n {p} route add default via fd08::1"));
        for switch in ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"] {
            let write = format!("echo 1 > /proc/sys/{switch}");
            run(Command::new("ip").args(["netns", "exec", r, "sh", "-c", &write]));
        }
        let peer = Peer::new(format!("/run/netns/{p}").into());
        Self { router, peer, peer_namespace }
    }

    /// Returns the kernel right behind the device, without a cable that could drop packets.
    pub fn host(&self) -> Peer {
        Peer::new(format!("/run/netns/{}", self.router.0).into())
    }

    /// A command that runs where longhaul runs.
    pub fn on_router(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.router.0, program]);
        command
    }

    /// Makes `name` resolve to an address, beside those that it has already, for programs that are started where longhaul runs.
    pub fn name(&self, name: &str, address: &str) {
        let file = self.router.settings().join("hosts");
        std::fs::create_dir_all(self.router.settings()).unwrap();
        let earlier = std::fs::read_to_string(&file).unwrap_or_else(|_| "127.0.0.1 localhost\n".to_owned());
        std::fs::write(file, format!("{earlier}{address} {name}\n")).unwrap();
    }

    /// Adds a route where longhaul runs.
    pub fn route(&self, route: &str) {
        ip(&format!("-n {} route add {route}", self.router.0));
    }

    /// Creates a TUN device before longhaul does, so that a capture sees the first packet.
    pub fn add_tun(&self, name: &str) {
        ip(&format!("-n {} tuntap add dev {name} mode tun", self.router.0));
        ip(&format!("-n {} link set {name} up", self.router.0));
    }

    /// Limits the router's end of the cable to packets of `mtu` bytes; the kernel reports that to senders of larger ones.
    pub fn narrow(&self, mtu: u32) {
        ip(&format!("-n {} link set cable mtu {mtu}", self.router.0));
    }

    /// Drops packets of more than `mtu` bytes at the peer's end of the cable without a report, although the peer announces that
    /// it accepts larger ones.
    pub fn black_hole(&self, mtu: u32) {
        let peer = &self.peer_namespace.0;
        ip(&format!("-n {peer} link set cable mtu {mtu}"));
        ip(&format!("-n {peer} route change default via 10.8.0.1 advmss 1460"));
        ip(&format!("-n {peer} -6 route change default via fd08::1 advmss 1440"));
    }

    /// The peer's address of the same IP version as `cidr`.
    pub fn peer_address(&self, cidr: &str, port: u16) -> SocketAddr {
        let _ = &self.peer_namespace;
        let address: IpAddr = if cidr.contains(':') { "fd08::2" } else { "10.8.0.2" }.parse().unwrap();
        SocketAddr::new(address, port)
    }
}

impl Namespace {
    fn new(name: String) -> Self {
        ip(&format!("netns add {name}"));
        Self(name)
    }

    /// Files here replace those of /etc for programs started in the namespace.
    fn settings(&self) -> PathBuf {
        Path::new("/etc/netns").join(&self.0)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.settings());
        // After a failure the next run removes it.
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

fn ip(arguments: &str) {
    run(Command::new("ip").args(arguments.split_whitespace()));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
}

/// Removes namespaces of earlier runs that were killed.
fn remove_leftovers() {
    let Ok(entries) = std::fs::read_dir("/run/netns") else { return };
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = Command::new("ip").args(["netns", "del", &name]).status();
        }
    }
}
