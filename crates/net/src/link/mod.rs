//! The WAN emulator: two TUN devices joined by the hops of `netem`, one path each way, in real time.
//!
//! Anything that speaks IP can be at either side: two kernels, a kernel and one of our stacks, two programs. The hops are the
//! simulator's, fed by the same streams: for one seed, packet number 17 is lost here if it is lost there.
//!
//! **Time.** Hops compute in virtual time. A packet enters with the time at which it was read, and the model returns its
//! departure; a thread that wakes up late delivers what is due at once, and the next packet's time does not move. So lateness
//! affects single packets and never the rate. The report includes how late they were.
//!
//! **Only the model drops packets.** The kernel drops packets for a TUN device whose queue is full; so the queue is long, and
//! remaining drops are read from the device's counters and reported separately.
//!
//! Deviation: losses by position in the stream ([`netem::StreamLoss`]) need a stream that the link does not follow; requesting
//! them is an error.

mod capture;
mod direction;
mod end;
mod engine;
mod handle;
mod idle;
mod packet;
mod report;
mod sched;
mod wake_up;

pub use capture::Captured;
pub use direction::Way;
pub use engine::Link;
pub use handle::LinkHandle;
pub use report::{DirectionReport, Lateness, LinkReport};
pub use sched::{Raised, Scheduling, Share};

use crate::cidr::Cidr;
use crate::netns::NamespaceError;
use crate::tun::TunError;
use netem::PathSpec;
use std::io;

/// The settings of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One end.
    pub a: LinkEnd,
    /// The other.
    pub b: LinkEnd,
    /// The path of packets from `a` to `b`.
    pub ab: PathSpec,
    /// The path of packets from `b` to `a`.
    pub ba: PathSpec,
    /// Where the random streams start.
    pub seed: u64,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Name of the namespace for the device: an existing one is used; otherwise it is created, and removed at the end. `None` is
    /// the calling thread's namespace.
    pub namespace: Option<String>,
    /// Name of the interface, 1 to 15 bytes.
    pub device: String,
    /// The kernel's addresses on it.
    pub addresses: Vec<Cidr>,
    /// Largest IP packet, bytes.
    pub mtu: u16,
}

/// Prints the device and its place: `wa0 in wanA`.
impl std::fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.device)?;
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " in {namespace}"))
    }
}

/// Why a link could not be created, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A namespace is not available.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A device is not available.
    #[error(transparent)]
    Device(#[from] TunError),
    /// Losses by position were asked for.
    #[error("a link cannot lose packets by their place in a stream: ask for random loss, or use the simulator")]
    ByPosition,
    /// The kernel's counters cannot be read.
    #[error("cannot read the counters of `{device}` from /proc/net/dev: {source}")]
    Counters {
        /// The interface.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// A device can no longer be read.
    #[error("cannot read from `{device}`: {source}")]
    Read {
        /// The interface.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// The capture's thread could not be started.
    #[error("cannot begin a capture: {0}")]
    Capture(#[source] io::Error),
    /// Waiting fails.
    #[error("cannot wait for packets: {0}")]
    Wait(#[source] io::Error),
}
