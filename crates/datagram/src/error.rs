//! What the application's calls can answer instead.

use core::fmt;

/// Why no socket was bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindError {
    /// Another socket has this port, of the same address or where one of both is unspecified; or the flow exists.
    InUse,
    /// The address is none that the program stands for.
    NotOwn,
    /// No dynamic port is free (RFC 6335 §6).
    NoPorts,
    /// The table of flows is full, and none has been idle for long enough.
    FlowsFull,
    /// The peer is no single host, has port zero, or is of another IP version.
    BadPeer,
}

/// Why a datagram was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// No room; [`crate::DatagramEvent::Writable`] follows.
    Full,
    /// The packet would exceed the MTU, or a whole queue: nothing is fragmented.
    TooLarge {
        /// Largest payload, in bytes.
        max: usize,
    },
    /// The socket was closed, or the flow has ended.
    Gone,
    /// The source is none that the program stands for, has port zero, or there is none of the destination's IP version.
    NoAddress,
    /// The destination is no single host, has port zero, or is not the flow's peer.
    BadDestination,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InUse => "another socket has this address and port",
            Self::NotOwn => "the address is not one of ours",
            Self::NoPorts => "no dynamic port is free",
            Self::FlowsFull => "the table of flows is full",
            Self::BadPeer => "the peer is not a host of this IP version with a port",
        })
    }
}
impl core::error::Error for BindError {}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the queue of unsent datagrams is full",
            Self::TooLarge { max } => return write!(f, "a datagram holds at most {max} bytes here"),
            Self::Gone => "the socket was closed, or the flow has ended",
            Self::NoAddress => "the source is not one of our addresses with a port",
            Self::BadDestination => "the destination is not the flow's peer, or not a host with a port",
        })
    }
}
impl core::error::Error for SendError {}
