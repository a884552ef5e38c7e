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
//! the batch what did not fit, and a stack that finds no room keeps its data. What leaves may pass the queue by, straight into a device
//! ([`Outlet`]). Buffers are pooled; each packet has room in front for a
//! tunnel's headers. UDP, echo requests and fragments are handled
//! beside the TCP ([`Runner::set_datagrams`]); every other packet is handed up as it came.
#![forbid(unsafe_code)]

mod beside;
mod gather;
mod leaving;
mod outlet;
mod packet;
mod place;
mod queue;
mod runner;
mod tunnel;

pub use gather::Gather;
pub use outlet::Outlet;
pub use packet::{Batch, HEAD_ROOM, Packet};
pub use queue::{Bounds, Closed, PipeCounters};
pub use runner::{Next, Runner, RunnerConfig};
pub use tunnel::Tunnel;

use place::Place;
use tcp::{Shards, Stack};

/// Joins a stack and a tunnel. What the stack sends is as its [`tcp::StackConfig::device`] says: the tunnel has to cut super-segments
/// and to complete checksums that were left to the device.
pub fn pipe(stack: Stack, cfg: RunnerConfig) -> (Runner, Tunnel) {
    let shared = queue::Shared::new(cfg.inbound, cfg.outbound);
    (Runner::new(stack, cfg, shared.clone()), Tunnel::new(shared))
}

/// Makes these pipes one host's shards: each tunnel takes packets of every flow, each stack opens flows of its own shard, and each packet
/// leaves through its own stack's tunnel. Every runner has to be run: the packets for one that is not hold up the tunnels that brought
/// them.
///
/// A shard knows whether the device that its own tunnel reads is empty ([`Tunnel::reads_device`]), not what waits behind the others'.
///
/// # Panics
/// If there are not as many pipes as shards.
pub fn share(pipes: &mut [(Runner, Tunnel)], shards: Shards) {
    assert_eq!(pipes.len(), shards.count(), "pipes, and shards");
    let all = pipes.iter().map(|(_, tunnel)| tunnel.shared.clone()).collect();
    for (own, (place, (runner, tunnel))) in Place::all(shards, all).zip(pipes).enumerate() {
        runner.stack().set_shard(shards, own);
        runner.beside.place = Some(place.clone());
        tunnel.place = Some(place);
    }
}
