//! A stack inside another program, without a descriptor: packets go in and out through a bounded pipe, in batches.
//!
//! ```text
//!  tunnel ── Tunnel::try_send, poll_send ──► inbound queue ──► Runner::run ─► tcp::turn ─► Stack
//!         ◄── Tunnel::try_recv, poll_recv ── outbound queue ◄──────────────────┘
//! ```
//! Nothing here reads a clock, starts a thread or needs an async runtime: the program calls [`Runner::run`] with its own time, when a
//! packet has come or the deadline of the last run is reached, and wakers say when that is worthwhile.
//!
//! Both queues are bounded in packets and in bytes. A full one holds its sender back and drops nothing: [`Tunnel::try_send`] leaves in
//! the batch what did not fit, and a stack that finds no room keeps its data. Buffers are pooled; each packet has room in front for a
//! tunnel's headers. UDP, echo requests and fragments are handled
//! beside the TCP ([`Runner::set_datagrams`]); every other packet is handed up as it came.
#![forbid(unsafe_code)]

mod beside;
mod gather;
mod packet;
mod queue;
mod runner;
mod tunnel;

pub use gather::Gather;
pub use packet::{Batch, HEAD_ROOM, Packet};
pub use queue::{Bounds, PipeCounters};
pub use runner::{Next, Runner, RunnerConfig};
pub use tunnel::{Closed, Tunnel};

use tcp::Stack;

/// Joins a stack and a tunnel. What the stack sends is as its [`tcp::StackConfig::device`] says: the tunnel has to cut super-segments
/// and to complete checksums that were left to the device.
pub fn pipe(stack: Stack, cfg: RunnerConfig) -> (Runner, Tunnel) {
    let shared = queue::Shared::new(cfg.inbound, cfg.outbound);
    (Runner::new(stack, cfg, shared.clone()), Tunnel::new(shared))
}
