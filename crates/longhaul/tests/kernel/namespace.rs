//! A thread in a network namespace of its own: our stack behind a TUN device, the kernel's sockets in front of it.

use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use longhaul::{Net, Stack, StackBuilder};
use nix::sched::{CloneFlags, unshare};
use std::net::{IpAddr, SocketAddr};
use std::process::Command;

/// The stack's addresses, with the networks of the device.
pub const V4: &str = "10.7.0.1/24";
pub const V6: &str = "fd07::1/64";

/// Where both sides are.
pub struct Place {
    pub net: Net,
    /// The stack's address.
    pub ours: IpAddr,
    /// The kernel's.
    pub kernel: IpAddr,
}

impl Place {
    pub fn ours(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ours, port)
    }

    pub fn kernel(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.kernel, port)
    }
}

/// Runs a test in a namespace, with a stack of our own behind a device.
pub fn with_stack<F: Future<Output = ()>>(
    cidr: &'static str,
    offload: Offload,
    build: impl FnOnce(StackBuilder) -> StackBuilder + Send + 'static,
    test: impl FnOnce(Place) -> F + Send + 'static,
) {
    let inside = move || {
        // Threads that the runtime starts are in the same namespace.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let address: Cidr = cidr.parse().unwrap();
            let config = TunConfig { name: "lh0".into(), address, mtu: 1_500, offload };
            let tun = Tun::create(&config).unwrap_or_else(|error| panic!("{error}"));
            let builder = Stack::builder().addresses([address.address()]).device(tun.caps());
            let (net, packets, driver) = build(builder).build().unwrap();
            tokio::spawn(driver);
            let device = tokio::spawn(longhaul::tun::run(tun, packets));
            if address.address().is_ipv6() {
                wait_for_address(address.kernel_address());
            }
            let place = Place { net, ours: address.address(), kernel: address.kernel_address() };
            test(place).await;
            if device.is_finished() {
                panic!("the device's task ended: {:?}", device.await);
            }
        });
    };
    in_namespace(inside);
}

/// Runs a test in a thread with a namespace of its own, which the programs and threads that it starts share.
pub fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace of its own needs CAP_SYS_ADMIN: run as root");
        command("ip link set lo up");
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs a command in the calling thread's namespace.
pub fn command(line: &str) {
    let mut words = line.split_whitespace();
    let status = Command::new(words.next().unwrap()).args(words).status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "`{line}`: {status:?}; `cargo xtask test` installs what is missing"
    );
}

/// Returns a counter of the kernel in this namespace, from `netstat` or `snmp`.
pub fn kernel_counter(file: &str, group: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(": "));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut counters = names.split(' ').zip(values.split(' '));
    let found = counters.find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("the kernel has no counter `{name}`")).1.parse().unwrap()
}

/// An address of version 6 can be used once no other host has claimed it.
fn wait_for_address(address: IpAddr) {
    for _ in 0..100 {
        if std::net::TcpListener::bind((address, 0)).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{address} cannot be used");
}
