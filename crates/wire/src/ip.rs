//! Which IP version a packet has, and whom it comes from.

mod repr;

pub use repr::{Ecn, Fragmentation, IpRepr};
pub(crate) use repr::{PROTOCOL_ICMPV4, PROTOCOL_ICMPV6, PROTOCOL_TCP, PROTOCOL_UDP, claimed, length_field};

use crate::Malformed;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IP versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
}

/// Returns the IP version that `packet` claims.
#[inline]
pub(crate) fn version(packet: &[u8]) -> Result<Version, Malformed> {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => Ok(Version::V4),
        Some(6) => Ok(Version::V6),
        Some(_) => Err(Malformed::IpVersion),
        None => Err(Malformed::Truncated),
    }
}

/// Returns the address that `packet` comes from; unspecified if the packet is too short to hold one.
pub(crate) fn source(version: Version, packet: &[u8]) -> IpAddr {
    match version {
        Version::V4 => address_v4(packet, 12),
        Version::V6 => address_v6(packet, 8),
    }
}

/// Returns the address that `packet` goes to; unspecified if the packet is too short to hold one.
pub(crate) fn destination(version: Version, packet: &[u8]) -> IpAddr {
    match version {
        Version::V4 => address_v4(packet, 16),
        Version::V6 => address_v6(packet, 24),
    }
}

fn address_v4(packet: &[u8], at: usize) -> IpAddr {
    let bytes = packet.get(at..).and_then(|rest| rest.first_chunk::<4>());
    IpAddr::V4(bytes.map_or(Ipv4Addr::UNSPECIFIED, |&bytes| Ipv4Addr::from(bytes)))
}

fn address_v6(packet: &[u8], at: usize) -> IpAddr {
    let bytes = packet.get(at..).and_then(|rest| rest.first_chunk::<16>());
    IpAddr::V6(bytes.map_or(Ipv6Addr::UNSPECIFIED, |&bytes| Ipv6Addr::from(bytes)))
}
