//! What is IP and not TCP, for a stack inside another program: UDP sockets and flows, answers to echo requests, fragments put
//! together, all in bounded memory.
//!
//! ```text
//!  packets ──► handle_packet ─┬─ fragments ──► reassembly ─┐
//!                             ├─ UDP ──► table of sockets and flows ──► poll_flow, poll_event, recv
//!                             ├─ ICMP: echo, errors about our datagrams
//!                             └─ ForTcp, Whole, Other: back to the caller
//!  packets ◄── peek_transmit, pop_transmit ◄── one queue ◄── send, answers
//! ```
//! Sans I/O: the caller brings packets and the time, and takes packets away. A *socket* is bound to an address of ours and receives from
//! anyone; a *flow* is between one address of ours and one peer, and may begin with a peer's datagram. Both have a [`SocketId`].
//!
//! What strangers can cause is bounded: flows in number and time, queues in datagrams and bytes, fragments in packets, bytes and time,
//! answers in rate. Every drop has a counter ([`DropReason`]). Work per packet is logarithmic in the number of flows.
//!
//! Deviations: nothing is fragmented on sending. A reassembly that times out is counted and not reported by ICMP (RFC 1122 §3.3.2,
//! RFC 8200 §4.5), because each report would be work that a stranger causes with one fragment. A datagram for an address of ours is not
//! looped back. Broadcast and multicast are left to the caller.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

mod allowance;
mod bind;
mod config;
mod counters;
mod datagrams;
mod error;
mod event;
mod input;
mod partial;
mod reassembly;
mod socket;
mod table;
mod transmit;

pub use config::{DatagramConfig, Destinations, Echo, QueueConfig, ReassemblyConfig, ReplyConfig, Strangers};
pub use counters::{DatagramCounters, DropReason};
pub use datagrams::{Datagrams, MemoryUsage};
pub use error::{BindError, SendError};
pub use event::{DatagramEvent, SocketId};
pub use input::Fate;
pub use socket::{DATAGRAM_BYTES, Flow, Received};
pub use table::{FLOW_BYTES, FLOW_KEPT};
