//! The environment of a run: two namespaces and the link between them, created for it and removed after it.

use crate::leftovers::PREFIX;
use lab::run::paths;
use lab::spec::Point;
use net::{Cidr, Link, LinkConfig, LinkEnd, LinkError, LinkHandle, LinkReport, Namespace, NamespaceError};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::thread::JoinHandle;

/// Largest IP packet, bytes.
pub const MTU: u16 = 1_500;

/// The kernel's addresses on the link.
pub const LINK_A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
pub const LINK_B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));

/// Applied in both namespaces; the machine's own settings stay unchanged. Windows may grow to 64 MB, no state passes from one
/// connection to the next, and IPv6 stays silent: its messages would count as packets of the path.
const SETTINGS: [(&str, &str); 6] = [
    ("net/ipv4/tcp_rmem", "4096 131072 67108864"),
    ("net/ipv4/tcp_wmem", "4096 16384 67108864"),
    ("net/ipv4/tcp_no_metrics_save", "1"),
    ("net/ipv4/ip_forward", "1"),
    ("net/ipv6/conf/all/disable_ipv6", "1"),
    ("net/ipv6/conf/default/disable_ipv6", "1"),
];

/// Two namespaces with a path between them.
#[derive(Debug)]
pub struct World {
    /// The sender's namespace.
    pub a: Namespace,
    /// Where it goes.
    pub b: Namespace,
    handle: LinkHandle,
    link: Option<JoinHandle<Result<LinkReport, LinkError>>>,
}

/// Why a world could not be created.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No namespace.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// No link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A setting of a namespace's kernel.
    #[error("cannot write `{value}` into /proc/sys/{setting} of a network namespace: {source}; is /proc/sys writable?")]
    Setting {
        /// Below `/proc/sys/`.
        setting: &'static str,
        /// The value to write.
        value: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// No thread for the link.
    #[error("cannot start a thread for the link: {0}")]
    Thread(#[source] io::Error),
}

impl World {
    /// Creates the namespaces, and a link with the path of `point`.
    ///
    /// # Errors
    /// Names what is missing, and the remedy; nothing remains then.
    pub fn open(point: &Point, seed: u64) -> Result<Self, WorldError> {
        let (a, b) = (namespace("a")?, namespace("b")?);
        let end = |namespace: &Namespace, device: &str, address: IpAddr| LinkEnd {
            namespace: Some(namespace.name().to_owned()),
            device: device.to_owned(),
            addresses: vec![network(address)],
            mtu: MTU,
        };
        let [ab, ba] = paths(point, seed);
        let config = LinkConfig { a: end(&a, "wa0", LINK_A), b: end(&b, "wb0", LINK_B), ab, ba, seed };
        let link = Link::open(&config)?;
        let handle = link.handle();
        let thread = std::thread::Builder::new().name("link".to_owned()).spawn(move || link.run());
        Ok(Self { a, b, handle, link: Some(thread.map_err(WorldError::Thread)?) })
    }

    /// Returns the packets that left the link so far; `None` if it has failed.
    pub fn delivered(&self) -> Option<u64> {
        self.handle.report().map(|report| report.ab.path.delivered + report.ba.path.delivered)
    }

    /// Removes everything; returns the link's report.
    ///
    /// # Errors
    /// Why the link ended early.
    pub fn close(mut self) -> Result<LinkReport, LinkError> {
        self.stop().expect("the link is stopped once")
    }

    fn stop(&mut self) -> Option<Result<LinkReport, LinkError>> {
        let link = self.link.take()?;
        self.handle.stop();
        Some(link.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// Creates a namespace with our settings: side `a` or `b`.
///
/// # Errors
/// What is missing, and what would be right; nothing is left behind then.
pub fn namespace(side: &str) -> Result<Namespace, WorldError> {
    let namespace = Namespace::create(&format!("{PREFIX}{}-{side}", std::process::id()))?;
    set(&namespace)?;
    Ok(namespace)
}

/// The /24 network of an address, and the address in it.
pub fn network(address: IpAddr) -> Cidr {
    format!("{address}/24").parse().expect("a network of 256 addresses")
}

fn set(namespace: &Namespace) -> Result<(), WorldError> {
    namespace.run(|| {
        for (setting, value) in SETTINGS {
            let written = std::fs::write(format!("/proc/sys/{setting}"), value);
            match written {
                // A kernel without IPv6 needs no setting.
                Err(error) if error.kind() == io::ErrorKind::NotFound && setting.starts_with("net/ipv6") => {}
                other => other.map_err(|source| WorldError::Setting { setting, value, source })?,
            }
        }
        Ok(())
    })?
}
