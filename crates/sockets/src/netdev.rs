//! Packets as packetdrill hands them over and fetches them: complete IP packets in, complete IP packets out.
//!
//! A segment that comes in may be larger than any link's.

use crate::host::{Emitted, Host};
use crate::reports::Blame;
use std::net::IpAddr;
use tcp::{ChecksumState, Payload, RxFrame};

/// The protocol numbers of ICMP (RFC 792, RFC 4443).
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_ICMP6: u8 = 58;

/// What a socket reports of an ICMP message. The stack decides whether the message is valid.
fn blame(bytes: &[u8]) -> Option<Blame> {
    let version = bytes.first()? >> 4;
    let at = if version == 4 { usize::from(bytes[0] & 15) * 4 } else { 40 };
    let message = (*bytes.get(at)?, *bytes.get(at + 1)?);
    let from: IpAddr = match version {
        4 if *bytes.get(9)? == PROTOCOL_ICMP => bytes.get(12..)?.first_chunk::<4>().copied()?.into(),
        6 if *bytes.get(6)? == PROTOCOL_ICMP6 => bytes.get(8..)?.first_chunk::<16>().copied()?.into(),
        _ => return None,
    };
    Some(Blame { kind: message.0, code: message.1, from })
}

impl Host {
    /// A packet arrives at the current moment. It is accepted whatever its destination: packetdrill sends only packets for this
    /// host. Anything but a TCP segment or an ICMP message is dropped.
    pub fn arrive(&mut self, bytes: &[u8]) {
        let Ok(split) = wire::split(bytes) else { return };
        if let Ok((ip, _)) = wire::parse(split.header, split.payload.len() as u32) {
            self.stack.add_address(ip.dst);
        }
        self.blame = blame(bytes);
        let (at, payload) = (self.now(), Payload::Bytes(split.payload));
        let checksum = ChecksumState::InHeader;
        self.drive(Some(RxFrame { at, header: split.header, payload, gso_size: None, checksum }));
    }

    /// The oldest packet not fetched yet, with the time it was sent in the clock's microseconds.
    pub fn fetch(&mut self) -> Option<(Vec<u8>, i64)> {
        let Emitted { at, bytes } = self.out.pop_front()?;
        Some((bytes, self.clock.wall_us(at)))
    }
}
