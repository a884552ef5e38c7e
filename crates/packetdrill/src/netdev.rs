//! The device: complete IP packets in, complete IP packets out.
//!
//! A frame of many segments goes out as one packet, as a host with segmentation offload shows it to whoever looks above the
//! device; its length fits the IP header's field (`cut` says when not). A segment that comes in may be larger than any link's.

use crate::host::{Emitted, Host};
use crate::reports::Blame;
use std::net::IpAddr;
use tcp::{ChecksumState, Payload, RxFrame, TxFrame, fill_pattern};

/// Ethernet's, and packetdrill's own default.
pub(crate) const DEFAULT_MTU: u16 = 1_500;

/// The protocol numbers of ICMP (RFC 792, RFC 4443).
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_ICMP6: u8 = 58;

/// The device that packetdrill's init commands configure.
pub(crate) const DEVICE: &str = "tun0";
/// Its settings, and its MTU as version 6 of IP sees it. Both stand below `/proc/sys`, which shows the namespace one is in;
/// `/sys` shows the one in which it was mounted.
const SETTINGS: &str = "/proc/sys/net/ipv4/conf/tun0";
const DEVICE_MTU: [&str; 2] = ["/proc/sys/net/ipv6/conf/tun0/mtu", "/sys/class/net/tun0/mtu"];

/// Whether the network namespace has the device that scripts configure.
pub(crate) fn has_device() -> bool {
    std::path::Path::new(SETTINGS).exists()
}

/// The MTU of the device, if there is one.
pub(crate) fn device_mtu() -> Option<u16> {
    let read = |path| std::fs::read_to_string(path).ok()?.trim().parse().ok();
    DEVICE_MTU.into_iter().find_map(read).filter(|_| has_device())
}

/// The bytes of a frame.
pub(crate) fn packet(frame: &TxFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(frame.header.len() + frame.payload.len() as usize);
    bytes.extend_from_slice(frame.header);
    match frame.payload {
        Payload::Bytes(payload) => bytes.extend_from_slice(payload),
        Payload::Pattern { offset, len } => {
            bytes.resize(frame.header.len() + len as usize, 0);
            fill_pattern(offset, &mut bytes[frame.header.len()..]);
        }
    }
    bytes
}

/// What is reported of an ICMP message. The stack judges whether it is a valid one.
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
    /// A packet arrives at the present moment. Whomever it is for is at home here: packetdrill sends no others. What is
    /// neither a TCP segment nor an ICMP message is dropped.
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

    /// The oldest packet that has not been fetched, with the moment it was sent in the clock's microseconds.
    pub fn fetch(&mut self) -> Option<(Vec<u8>, i64)> {
        let Emitted { at, bytes } = self.out.pop_front()?;
        Some((bytes, self.clock.wall_us(at)))
    }
}
