//! Packets as packetdrill hands them over and fetches them: complete IP packets in, complete IP packets out.
//!
//! A segment that comes in may be larger than any link's.

use crate::host::{Emitted, Host};
use crate::reports::Blame;
use tcp::{ChecksumState, Payload, RxFrame};
use wire::Header;

/// What a socket reports of an ICMP message. The stack decides whether the message is valid.
fn blame(header: &Header<'_>) -> Option<Blame> {
    let (message, from) = header.icmp()?;
    let &[kind, code, ..] = message else { return None };
    Some(Blame { kind, code, from })
}

impl Host {
    /// A packet arrives at the current moment. It is accepted whatever its destination: packetdrill sends only packets for this
    /// host. Anything but a TCP segment or an ICMP message is dropped.
    pub fn arrive(&mut self, bytes: &[u8]) {
        let Ok(split) = wire::split(bytes) else { return };
        if split.header.tcp_at().is_ok() {
            self.stack.add_address(split.header.destination());
        }
        self.blame = blame(&split.header);
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
