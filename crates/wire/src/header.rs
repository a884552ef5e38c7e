//! The headers of a packet, and where the transport's header begins in them: the IP header is walked once.

use crate::ip::{self, PROTOCOL_ICMPV4, PROTOCOL_ICMPV6, PROTOCOL_TCP, Version};
use crate::sum::ones_complement_sum;
use crate::tcp::packet as tcp_header;
use crate::{IpRepr, Malformed, TcpRepr, ipv4, ipv6};
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The headers of a packet, from the first byte of the IP header to the last one of the TCP header; an ICMP message is all header.
///
/// Any bytes can be read as one: what is wrong with them is found once, and named by whatever asks for a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    bytes: &'a [u8],
    /// Offset of what the packet carries.
    at: usize,
    carried: Carried,
}

/// What the IP header says of the bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    Tcp(Version),
    Icmp(Version),
    /// Nothing that concerns TCP.
    Neither(Malformed),
}

impl<'a> Header<'a> {
    /// Walks the IP header in `bytes` to what it carries.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Self {
        let (carried, at) = walk(bytes);
        Self { bytes, at, carried }
    }

    /// The same for a header that [`crate::emit`] wrote, whose IP part has a known length; such a header needs no walk.
    ///
    /// # Panics
    /// If `bytes` is empty.
    #[inline]
    pub fn emitted(bytes: &'a [u8]) -> Self {
        let (version, at) = if bytes[0] >> 4 == 4 { (Version::V4, ipv4::HEADER) } else { (Version::V6, ipv6::HEADER) };
        let header = Self { bytes, at, carried: Carried::Tcp(version) };
        debug_assert_eq!(header, Self::read(bytes), "not an emitted header");
        header
    }

    /// Splits `packet` behind the header that it begins with.
    #[inline]
    pub(crate) fn cut(packet: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let (carried, at) = walk(packet);
        let len = match carried {
            Carried::Tcp(_) => at + tcp_header::header_len(&packet[at..])?,
            Carried::Icmp(_) => packet.len(),
            Carried::Neither(reason) => return Err(reason),
        };
        let (bytes, payload) = packet.split_at(len);
        Ok((Self { bytes, at, carried }, payload))
    }

    /// The bytes themselves.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns where the TCP header begins.
    ///
    /// # Errors
    /// Names the reason why there is none.
    #[inline]
    pub fn tcp_at(&self) -> Result<usize, Malformed> {
        match self.carried {
            Carried::Tcp(_) => Ok(self.at),
            Carried::Icmp(_) => Err(Malformed::NotTcp),
            Carried::Neither(reason) => Err(reason),
        }
    }

    /// Reads the headers of a packet whose payload has `payload_len` bytes.
    ///
    /// The header ends where the TCP header ends, as from [`crate::split`] and [`crate::emit`], and `payload_len` is everything
    /// after it, also for a super-segment. Skips unknown options (RFC 9293 MUST-6). Verifies the IPv4 header checksum;
    /// [`crate::checksum::verify`] verifies the TCP checksum, because a device may have done so already.
    ///
    /// # Errors
    /// Names the first malformation; never panics.
    #[inline]
    pub fn parse(&self, payload_len: u32) -> Result<(IpRepr, TcpRepr), Malformed> {
        let (ip, segment) = match self.carried {
            Carried::Tcp(Version::V4) => ipv4::parse(self.bytes, self.at, payload_len)?,
            Carried::Tcp(Version::V6) => ipv6::parse(self.bytes, self.at, payload_len)?,
            Carried::Icmp(_) => return Err(Malformed::NotTcp),
            Carried::Neither(reason) => return Err(reason),
        };
        tcp_header::parse_behind(ip, segment)
    }

    /// Returns whether the IP header of a TCP segment has the right length field, and in IPv4 the right checksum: what [`Self::parse`] would
    /// find in a header that equals a parsed one in every other field.
    #[inline]
    pub fn ip_holds(&self, payload_len: u32) -> bool {
        let len = self.bytes.len() + payload_len as usize;
        let field = |at: usize| usize::from(u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]));
        match self.carried {
            Carried::Tcp(Version::V4) => field(2) == len && ones_complement_sum(&self.bytes[..self.at]) == 0xffff,
            Carried::Tcp(Version::V6) => field(4) + ipv6::HEADER == len,
            Carried::Icmp(_) | Carried::Neither(_) => false,
        }
    }

    /// Returns the address that the packet goes to; the unspecified one for what is not an IP packet.
    pub fn destination(&self) -> IpAddr {
        ip::version(self.bytes)
            .map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |version| ip::destination(version, self.bytes))
    }

    /// Returns the ends of a TCP segment, its sender first: what tells flows apart. Nothing is verified.
    #[inline]
    pub fn ends(&self) -> Option<[SocketAddr; 2]> {
        let Carried::Tcp(version) = self.carried else { return None };
        let ports = self.bytes.get(self.at..)?.first_chunk::<4>()?;
        let [from, to] = [[ports[0], ports[1]], [ports[2], ports[3]]].map(u16::from_be_bytes);
        let (source, destination) = (ip::source(version, self.bytes), ip::destination(version, self.bytes));
        Some([SocketAddr::new(source, from), SocketAddr::new(destination, to)])
    }

    /// Returns the ICMP message and the address it comes from, if the packet carries one.
    pub fn icmp(&self) -> Option<(&'a [u8], IpAddr)> {
        let (version, at) = self.icmp_at().ok()?;
        Some((&self.bytes[at..], ip::source(version, self.bytes)))
    }

    /// Returns where an ICMP message begins.
    pub(crate) fn icmp_at(&self) -> Result<(Version, usize), Malformed> {
        match self.carried {
            Carried::Icmp(version) => Ok((version, self.at)),
            Carried::Tcp(_) => Err(Malformed::NotTcp),
            Carried::Neither(reason) => Err(reason),
        }
    }
}

/// Returns what `packet` carries, and where that begins.
#[inline]
fn walk(packet: &[u8]) -> (Carried, usize) {
    let (version, icmp, found) = match ip::version(packet) {
        Ok(Version::V4) => (Version::V4, PROTOCOL_ICMPV4, ipv4::transport(packet)),
        Ok(Version::V6) => (Version::V6, PROTOCOL_ICMPV6, ipv6::transport(packet)),
        Err(reason) => return (Carried::Neither(reason), 0),
    };
    match found {
        Ok((PROTOCOL_TCP, at)) => (Carried::Tcp(version), at),
        Ok((protocol, at)) if protocol == icmp => (Carried::Icmp(version), at),
        Ok(_) => (Carried::Neither(Malformed::NotTcp), 0),
        Err(reason) => (Carried::Neither(reason), 0),
    }
}
