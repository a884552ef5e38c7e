//! Which IP version a packet has, and where TCP begins in it.

mod repr;

pub use repr::{Ecn, Fragmentation, IpRepr};
pub(crate) use repr::{PROTOCOL_ICMPV4, PROTOCOL_ICMPV6, PROTOCOL_TCP, claimed, length_field};

use crate::{Malformed, ipv4, ipv6};

/// Returns the IP version that `packet` claims.
#[derive(Clone, Copy)]
pub(crate) enum Version {
    V4,
    V6,
}

#[inline]
pub(crate) fn version(packet: &[u8]) -> Result<Version, Malformed> {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => Ok(Version::V4),
        Some(6) => Ok(Version::V6),
        Some(_) => Err(Malformed::IpVersion),
        None => Err(Malformed::Truncated),
    }
}

/// Returns where the TCP header begins in `packet`.
#[inline]
pub(crate) fn tcp_offset(packet: &[u8]) -> Result<usize, Malformed> {
    match version(packet)? {
        Version::V4 => ipv4::offset_of(PROTOCOL_TCP, packet),
        Version::V6 => ipv6::offset_of(PROTOCOL_TCP, packet),
    }
}
