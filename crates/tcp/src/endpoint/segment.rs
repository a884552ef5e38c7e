//! A segment, the addresses and ports of the connection that it belongs to, and the numbers with which a connection starts.

use crate::pattern::Payload;
use base::SeqNum;
use core::net::IpAddr;
use wire::{Ecn, TcpRepr};

/// A connection's addresses and ports. Ports come first: they differ most, so lookups decide early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FourTuple {
    /// Port of the other side.
    pub remote_port: u16,
    /// Our port.
    pub local_port: u16,
    /// Address of the other side.
    pub remote: IpAddr,
    /// Our address.
    pub local: IpAddr,
}

/// A segment for an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The parsed header.
    pub repr: TcpRepr,
    /// Its bytes, or a description of them.
    pub payload: Payload<'a>,
    /// The ECN codepoint of its packet.
    pub ecn: Ecn,
}

impl Segment<'_> {
    /// Returns the number of sequence numbers that the segment occupies: payload, SYN and FIN.
    pub fn seq_len(&self) -> u32 {
        let flags = self.repr.flags;
        self.payload.len() + u32::from(flags.contains(wire::Flags::SYN)) + u32::from(flags.contains(wire::Flags::FIN))
    }
}

/// The starting numbers of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// The initial sequence number.
    pub iss: SeqNum,
    /// The offset of our timestamps.
    pub ts_offset: u32,
    /// The peer's last timestamp of an earlier connection between the same ends. Our first SYN echoes it, so that a peer which
    /// may still have that connection recognises it.
    pub recent: Option<u32>,
}
