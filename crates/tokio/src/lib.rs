//! longhaul's TCP for tokio: streams that are `AsyncRead` and `AsyncWrite`, over packets that come from anywhere.
//!
//! ```text
//!  application ── Net: connect, listen, incoming ──┐
//!              ── TcpStream: read, write ──────────┤ one lock
//!                                                  ▼
//!  device or tunnel ◄── Packets: batches of IP packets ──► Driver: a task that runs the stack
//! ```
//! [`Stack::builder`] returns the three: a [`Net`] for the application, [`Packets`] for whatever carries packets, and a [`Driver`] to be
//! spawned. No part opens a device or a socket: [`device`] has adapters, and the crate `longhaul` a TUN device.
#![deny(unsafe_code)]

mod backlog;
mod build_error;
mod builder;
mod clock;
mod connection;
pub mod device;
mod driver;
mod error;
mod halves;
mod handles;
mod listener;
mod net;
mod observed;
mod remembered;
mod request;
mod shared;
#[cfg(feature = "tracing")]
mod spans;
mod stats;
mod stream;
mod udp;
mod udp_waits;
pub mod virtual_time;
mod waits;

pub use base::{Duration, Instant};
pub use build_error::BuildError;
pub use builder::{Stack, StackBuilder};
pub use clock::{Clock, SystemClock, TokioClock};
pub use connection::ShutdownEnds;
pub use datagram::{
    DatagramConfig, DatagramCounters, DropReason, Echo, QueueConfig, ReassemblyConfig, Received, ReplyConfig, Strangers,
};
pub use driver::Driver;
pub use error::{ConnectionEnded, DriverGone, close_reason};
pub use halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
pub use listener::TcpListener;
pub use net::{Incoming, Net};
#[cfg(feature = "trace")]
pub use observed::ConnectionObserver;
pub use pipe::{Batch, Bounds, Closed, Gather, HEAD_ROOM, Outlet, Packet, PipeCounters, Tunnel as Packets};
pub use remembered::RememberPaths;
pub use request::TcpRequest;
pub use shared::Ended;
#[cfg(feature = "tracing")]
pub use spans::Spans;
pub use stats::{ConnectionInfo, Stats};
pub use stream::TcpStream;
pub use tcp::config::GuardConfig;
pub use tcp::{
    CloseReason, Config, ConfigError, Destinations, DeviceCaps, RequestConfig, Resumption, Segmentation, State,
    TcpInfo, TxChecksum, ValidConfig,
};
#[cfg(feature = "trace")]
pub use trace;
pub use udp::{UdpFlow, UdpSocket};
pub use wire::Unreachable;
