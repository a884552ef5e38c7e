//! The WAN emulator: two TUN devices joined by the hops of `netem`, one path each way, in real time.
//!
//! Whatever speaks IP can be put on either side: two kernels, a kernel and a stack of ours, two programs. The hops are the
//! simulator's, fed by the same streams: for one seed, packet number 17 is lost here if it is lost there.
//!
//! **Time.** Hops compute in virtual time. A packet enters with the moment at which it was read, and the model's answer is
//! when it leaves; a thread that wakes up late hands over what is due at once, and the next packet's time does not move. So
//! lateness shows in single packets and never in the rate. How late they were is part of the report.
//!
//! **No drop that is not the model's.** The kernel drops packets for a TUN device whose queue is full; the queue is made long,
//! and what was dropped nevertheless is read from the device's counters and reported separately.
//!
//! Deviation: losses by position in the stream ([`netem::StreamLoss`]) need a stream that the link does not follow; asking for
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
mod vigil;

pub use capture::Captured;
pub use direction::Way;
pub use engine::Link;
pub use handle::LinkHandle;
pub(crate) use packet::mark_ce;
pub use report::{DirectionReport, Lateness, LinkReport};
pub use sched::{Raised, Scheduling, Share};

use crate::cidr::Cidr;
use crate::netns::NamespaceError;
use crate::tun::TunError;
use netem::PathSpec;
use std::io;

/// What a link is made from.
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
    /// Name of the namespace that the device is made in: one that is there is used, another one is made, and removed at the
    /// end. `None` is where the calling thread is.
    pub namespace: Option<String>,
    /// Name of the interface, 1 to 15 bytes.
    pub device: String,
    /// The kernel's addresses on it.
    pub addresses: Vec<Cidr>,
    /// Largest IP packet, bytes.
    pub mtu: u16,
}

/// The device, and where it is: `wa0 in wanA`.
impl std::fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.device)?;
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " in {namespace}"))
    }
}

/// Why a link could not be made, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A namespace cannot be had.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A device cannot be had.
    #[error(transparent)]
    Device(#[from] TunError),
    /// Losses by position were asked for.
    #[error("a link cannot lose packets by their place in a stream: ask for random loss, or use the simulator")]
    ByPosition,
    /// What the kernel counts cannot be read.
    #[error("cannot read the counters of `{device}` from /proc/net/dev: {source}")]
    Counters {
        /// The interface.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// A device cannot be read any more.
    #[error("cannot read from `{device}`: {source}")]
    Read {
        /// The interface.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// A thread for the capture could not be had.
    #[error("cannot begin a capture: {0}")]
    Capture(#[source] io::Error),
    /// Waiting is not possible.
    #[error("cannot wait for packets: {0}")]
    Wait(#[source] io::Error),
}
