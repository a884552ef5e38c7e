//! Real time: a TUN device, the loop that drives a stack over it, and a few applications.
//!
//! The loop ([`Driver`]) depends only on a [`Device`] and a [`Clock`], so that a TUN device with the machine's clock and a
//! scripted device with a scripted clock run the very same code. Between device and stack there may be an emulated path in each
//! direction ([`Impairment`]): the hops of `netem`, here in real time.
//!
//! Everything is synchronous and runs in the caller's thread.
#![deny(unsafe_code)]

mod apps;
mod cidr;
mod clock;
mod crc;
mod device;
mod driver;
mod impair;
mod inlet;
mod kernel;
mod link;
mod netns;
mod offload;
mod outlet;
mod pool;
mod tun;

pub use apps::{
    ALLOWANCE, App, AppCx, Discard, Echo, Hook, Payload, Receiver, Sender, SourceError, StartError, Stream, Transfer,
};
pub use cidr::{Cidr, CidrError};
pub use clock::{Clock, Interest, MonotonicClock, Wake};
pub use crc::Crc32;
pub use device::{Device, Frame, Received};
pub use driver::{Driver, DriverConfig, DriverError, Ended};
pub use impair::{Impairment, RawPacket};
pub use kernel::{KernelTotals, kernel_totals};
pub use link::{
    Captured, DirectionReport, Lateness, Link, LinkConfig, LinkEnd, LinkError, LinkHandle, LinkReport, Raised,
    Scheduling, Share, Way,
};
pub use netns::{Namespace, NamespaceError};
pub use tun::{Offload, Tun, TunConfig, TunError};
