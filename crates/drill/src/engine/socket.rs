//! What a run knows of its descriptors and connections: the state of each handshake, and how the script's numbers map to the live
//! ones.
//!
//! In a script, numbers of segments with SYN are absolute and all others are relative to the initial sequence number. The stack
//! chooses its own; the script's side uses the script's.

use crate::packet::{Addresses, Live};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A script's descriptor and the stack's.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The script's number.
    pub script: i32,
    /// The stack's number.
    pub live: i32,
    /// Whether it has not been closed.
    pub open: bool,
    /// Index into the sockets; epoll descriptors, pipes and files have none.
    pub socket: Option<usize>,
}

/// The state of a connection's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// After `socket()`.
    New,
    /// After `listen()`.
    Listening,
    /// After the script's SYN.
    SynReceived,
    /// After the stack's SYN-ACK.
    SynAckSent,
    /// After the script's ACK of it.
    SynAckAcked,
    /// After `connect()`.
    Connecting,
    /// After the stack's SYN.
    SynSent,
    /// After the script's SYN-ACK.
    SynAcked,
}

/// An address and a port, once known.
pub type Side = Option<(IpAddr, u16)>;

/// The header fields that a reset needs.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The sequence number after the segment, counting flags; for the stack's segments, the first one.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window field.
    pub window: u16,
    /// Whether it acknowledged.
    pub acks: bool,
}

/// One connection or listener.
#[derive(Clone, Debug)]
pub struct Socket {
    /// The state of its handshake.
    pub stage: Stage,
    /// Whether it is a TCP socket; others are not reset at the end.
    pub is_tcp: bool,
    /// The stack's descriptor, once there is one.
    pub fd: Option<i32>,
    /// The stack's side.
    pub local: Side,
    /// The script's side.
    pub remote: Side,
    /// The stack's initial sequence number.
    pub live_isn: u32,
    /// The script's number for it.
    pub script_isn: u32,
    /// The initial sequence number of the script's side.
    pub remote_isn: u32,
    /// The stack's timestamps, keyed by the script's values.
    pub timestamps: BTreeMap<u32, u32>,
    /// The first pair: script's, live.
    pub first_timestamp: Option<(u32, u32)>,
    /// The current flow label: script's, live.
    pub flow_label: Option<(u32, u32)>,
    /// The last segment injected.
    pub last_in: Option<Seen>,
    /// The last segment seen from the stack.
    pub last_out: Option<Seen>,
}

impl Socket {
    /// A socket at `stage`.
    pub fn new(stage: Stage, is_tcp: bool) -> Self {
        Self {
            stage,
            is_tcp,
            fd: None,
            local: None,
            remote: None,
            live_isn: 0,
            script_isn: 0,
            remote_isn: 0,
            timestamps: BTreeMap::new(),
            first_timestamp: None,
            flow_label: None,
            last_in: None,
            last_out: None,
        }
    }

    /// The offset from the script's number for the stack to the live one.
    pub fn local_offset(&self, syn: bool) -> u32 {
        if syn { self.live_isn.wrapping_sub(self.script_isn) } else { self.live_isn }
    }

    /// The same for the numbers of the script's side.
    pub fn remote_offset(&self, syn: bool) -> u32 {
        if syn { 0 } else { self.remote_isn }
    }

    /// The destination of packets to the stack.
    pub fn inbound(&self) -> Option<Addresses> {
        let ((source, source_port), (destination, destination_port)) = (self.remote?, self.local?);
        Some(Addresses { source, destination, source_port, destination_port })
    }

    /// Whether the stack sent `packet` on this connection.
    pub fn sent(&self, packet: &Live) -> bool {
        let (source, destination) = packet.addresses();
        if packet.is_icmp() {
            return self.local.map(|side| side.0) == Some(source)
                && self.remote.map(|side| side.0) == Some(destination);
        }
        if !packet.is_tcp() {
            return false;
        }
        let (from, to) = packet.ports();
        self.local == Some((source, from)) && self.remote == Some((destination, to))
    }

    /// Numbers for a reset that the stack will accept: sequence, acknowledgement, window.
    pub fn reset_numbers(&self) -> (u32, u32, u16) {
        match (self.last_in, self.last_out) {
            (Some(seen), _) if seen.acks => (seen.seq, seen.ack, seen.window),
            (_, Some(seen)) if seen.acks => (seen.ack, seen.seq, 0),
            (_, seen) => (0, seen.map_or(0, |seen| seen.seq).wrapping_add(1), 0),
        }
    }
}
