//! An IP packet of any protocol, whole or a fragment (RFC 791 §3.1, RFC 8200 §3 and §4.5).
//!
//! Reads what [`crate::split`] has no use for: datagrams, echoes and fragments. IPv4 options are skipped. Of IPv6's extension headers
//! only a fragment header is read, directly behind the fixed one; any other stands there as the protocol that the packet carries.

use crate::ip::{self, Ecn, PROTOCOL_ICMPV4, PROTOCOL_ICMPV6, PROTOCOL_TCP, PROTOCOL_UDP, Version};
use crate::sum::ones_complement_sum;
use crate::{Malformed, ipv4, ipv6};
use core::net::IpAddr;

/// Bytes of IPv6's fragment header (RFC 8200 §4.5).
pub(crate) const FRAGMENT_HEADER: usize = 8;

/// An IP packet whose header is well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpView<'a> {
    /// Source.
    pub src: IpAddr,
    /// Destination; of the same version.
    pub dst: IpAddr,
    /// Congestion notification.
    pub ecn: Ecn,
    /// The protocol or next header of the payload.
    pub protocol: u8,
    /// Its place in a larger packet, if it is a fragment. An IPv6 packet with a fragment header has one also where it is all of its
    /// packet (RFC 6946).
    pub fragment: Option<Fragment>,
    /// As far as its length field says.
    packet: &'a [u8],
    /// Where the payload begins.
    at: usize,
}

/// The place of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Which packet of this source and destination; 16 bits in IPv4, and there one number for each protocol.
    pub id: u32,
    /// Offset of the payload's first byte in the packet's payload, in bytes; a multiple of 8.
    pub offset: u16,
    /// Whether more of the packet follows.
    pub more: bool,
}

impl Fragment {
    /// Whether it is all of its packet (RFC 6946).
    pub const fn is_atomic(&self) -> bool {
        self.offset == 0 && !self.more
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// A TCP segment.
    Tcp,
    /// A UDP datagram.
    Udp,
    /// An ICMP message of the packet's IP version.
    Icmp,
    /// Something else, an extension header among it.
    Other,
}

impl<'a> IpView<'a> {
    /// Reads the IP header of `raw`; bytes beyond the packet's length are cut off. IPv4's header checksum is verified.
    ///
    /// # Errors
    /// Names the first malformation; never panics. A length field of zero, as super-segments have it, is one.
    pub fn read(raw: &'a [u8]) -> Result<Self, Malformed> {
        match ip::version(raw)? {
            Version::V4 => Self::read_v4(raw),
            Version::V6 => Self::read_v6(raw),
        }
    }

    fn read_v4(raw: &'a [u8]) -> Result<Self, Malformed> {
        let fixed = raw.first_chunk::<{ ipv4::HEADER }>().ok_or(Malformed::Truncated)?;
        let at = usize::from(fixed[0] & 0x0f) * 4;
        let claimed = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        if at < ipv4::HEADER {
            return Err(Malformed::IpHeaderLength);
        }
        let packet = raw.get(..claimed).filter(|packet| packet.len() >= at).ok_or(Malformed::IpLength)?;
        if ones_complement_sum(&packet[..at]) != 0xffff {
            return Err(Malformed::IpChecksum);
        }
        let place = u16::from_be_bytes([fixed[6], fixed[7]]);
        let (offset, more) = ((place & 0x1fff) << 3, place & 0x2000 != 0);
        let id = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        let fragment = Some(Fragment { id, offset, more }).filter(|fragment| !fragment.is_atomic());
        Ok(Self {
            src: ip::source(Version::V4, packet),
            dst: ip::destination(Version::V4, packet),
            ecn: Ecn::from_bits(fixed[1]),
            protocol: fixed[9],
            fragment,
            packet,
            at,
        })
    }

    fn read_v6(raw: &'a [u8]) -> Result<Self, Malformed> {
        let fixed = raw.first_chunk::<{ ipv6::HEADER }>().ok_or(Malformed::Truncated)?;
        let claimed = ipv6::HEADER + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        let packet = raw.get(..claimed).ok_or(Malformed::IpLength)?;
        let whole = Self {
            src: ip::source(Version::V6, packet),
            dst: ip::destination(Version::V6, packet),
            ecn: Ecn::from_bits(fixed[1] >> 4),
            protocol: fixed[6],
            fragment: None,
            packet,
            at: ipv6::HEADER,
        };
        if fixed[6] != ipv6::FRAGMENT {
            return Ok(whole);
        }
        let header = packet[ipv6::HEADER..].first_chunk::<FRAGMENT_HEADER>().ok_or(Malformed::Truncated)?;
        let [protocol, _, high, low, id @ ..] = *header;
        let place = u16::from_be_bytes([high, low]);
        let fragment = Fragment { id: u32::from_be_bytes(id), offset: place & 0xfff8, more: place & 1 != 0 };
        Ok(Self { protocol, fragment: Some(fragment), at: ipv6::HEADER + FRAGMENT_HEADER, ..whole })
    }

    /// What the packet carries.
    pub fn carries(&self) -> Carries {
        match (self.protocol, self.version()) {
            (PROTOCOL_TCP, _) => Carries::Tcp,
            (PROTOCOL_UDP, _) => Carries::Udp,
            (PROTOCOL_ICMPV4, Version::V4) | (PROTOCOL_ICMPV6, Version::V6) => Carries::Icmp,
            _ => Carries::Other,
        }
    }

    pub(crate) fn version(&self) -> Version {
        if self.src.is_ipv4() { Version::V4 } else { Version::V6 }
    }

    /// The packet, without bytes beyond its length.
    pub fn packet(&self) -> &'a [u8] {
        self.packet
    }

    /// The headers in front of the payload, a fragment header included.
    pub fn header(&self) -> &'a [u8] {
        &self.packet[..self.at]
    }

    /// What it carries.
    pub fn payload(&self) -> &'a [u8] {
        &self.packet[self.at..]
    }
}

/// Returns whether an address stands for a single host (RFC 1122 §3.2.1.3, RFC 4291 §2.4).
pub fn is_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_multicast() && !v4.is_broadcast() && !v4.is_unspecified(),
        IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified(),
    }
}

#[cfg(test)]
mod tests;
