//! ICMP messages about our packets (RFC 792, RFC 1191 §4, RFC 4443 §3): what a TCP can learn from the network.
//!
//! An error quotes the packet it is about, as far as it has room: at least eight bytes after the IP header, which are TCP's ports
//! and sequence number (RFC 1122 §3.2.2). The parser reads nothing more of the quote, because routers may have changed or
//! truncated the rest: its checksums and lengths prove nothing. TCP decides whether the numbers belong to a connection (RFC 5927
//! §4). Echoes, redirects and other messages for the IP layer are only classified; [`classify`] tells them apart, and errors about
//! UDP datagrams from those about segments.

mod echo;
mod emit;
mod kind;
mod message;

pub use echo::emit_echo_reply;
pub use emit::emit;
pub use kind::{IcmpKind, Unreachable};
pub use message::{IcmpMessage, UdpNotice, classify};

use crate::ip::{self, PROTOCOL_ICMPV6, PROTOCOL_TCP, Version};
use crate::sum::{fold, ones_complement_sum};
use crate::{Header, Malformed, checksum, ipv4, ipv6};
use base::SeqNum;
use core::fmt;
use core::net::IpAddr;

/// Bytes of an ICMP header in front of the quote.
const HEADER: usize = 8;
/// Bytes of a TCP header that every quote holds: ports and sequence number.
const QUOTED: usize = 8;

/// An ICMP error about a TCP segment, seen from the sender of that segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpNotice {
    /// Source of the segment.
    pub src: IpAddr,
    /// Whom it was for.
    pub dst: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The destination port.
    pub dst_port: u16,
    /// The segment's first sequence number.
    pub seq: SeqNum,
    /// What happened to it.
    pub kind: IcmpKind,
}

/// Why an ICMP packet has no information for TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The packet, or the quote in it, is malformed.
    Malformed(Malformed),
    /// The ICMP checksum is wrong.
    Checksum,
    /// Not an error, or one for the IP layer: an echo, a redirect, neighbour discovery.
    NotAnError,
    /// The quote is of another protocol, or begins after the ports.
    NotTcp,
    /// The error went to another host than the one whose segment it quotes.
    NotTheSender,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => return reason.fmt(f),
            Self::Checksum => "icmp_checksum",
            Self::NotAnError => "icmp_not_an_error",
            Self::NotTcp => "icmp_not_about_tcp",
            Self::NotTheSender => "icmp_not_the_sender",
        }
        .fmt(f)
    }
}

impl core::error::Error for Ignored {}

impl From<Malformed> for Ignored {
    fn from(reason: Malformed) -> Self {
        Self::Malformed(reason)
    }
}

//= specs/rfc5927.md#validity
//# An ICMP error is read only if its checksum is right and its quote shows the ports and the sequence number of a segment.
/// Reads an ICMP packet from its IP header to its end, as [`crate::split`] leaves it.
///
/// Both checksums of the message itself are verified.
///
/// # Errors
/// Names the first reason why it has no information for TCP; never panics.
pub fn parse(header: &Header<'_>) -> Result<IcmpNotice, Ignored> {
    let (version, offset) = header.icmp_at()?;
    let packet = header.bytes();
    let claimed = match version {
        Version::V4 => ipv4::claimed_len(packet)?,
        Version::V6 => ipv6::claimed_len(packet)?,
    };
    if claimed != packet.len() {
        return Err(Malformed::IpLength.into());
    }
    let (header, quote) = packet[offset..].split_first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    if version == Version::V4 && ones_complement_sum(&packet[..offset]) != 0xffff {
        return Err(Malformed::IpChecksum.into());
    }
    if !is_intact(version, packet, offset) {
        return Err(Ignored::Checksum);
    }
    let rest = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    let (kind, quoted) = match version {
        Version::V4 => (IcmpKind::from_v4(header[0], header[1], rest, quote), quoted_v4(quote)),
        Version::V6 => (IcmpKind::from_v6(header[0], header[1], rest), quoted_v6(quote)),
    };
    let kind = kind.ok_or(Ignored::NotAnError)?;
    let (PROTOCOL_TCP, quoted_offset) = quoted? else { return Err(Ignored::NotTcp) };
    let notice = read_quote(version, quote, quoted_offset, kind)?;
    if notice.src == ip::destination(version, packet) { Ok(notice) } else { Err(Ignored::NotTheSender) }
}

/// Returns whether the checksum of the message at `offset` is right (RFC 792, RFC 4443 §2.3).
fn is_intact(version: Version, packet: &[u8], offset: usize) -> bool {
    let message = &packet[offset..];
    let pseudo = match version {
        Version::V4 => 0,
        Version::V6 => checksum::pseudo_v6(packet, PROTOCOL_ICMPV6, message.len() as u64),
    };
    fold(pseudo + u64::from(ones_complement_sum(message))) == 0xffff
}

/// Returns the protocol of a quoted IPv4 packet, and where it begins. Only a first fragment has the ports.
fn quoted_v4(quote: &[u8]) -> Result<(u8, usize), Ignored> {
    let fixed = quote.first_chunk::<{ ipv4::HEADER }>().ok_or(Malformed::Truncated)?;
    let offset = usize::from(fixed[0] & 0x0f) * 4;
    if fixed[0] >> 4 != 4 || offset < ipv4::HEADER {
        return Err(Malformed::IpHeaderLength.into());
    }
    let later_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff != 0;
    if later_fragment { Err(Ignored::NotTcp) } else { Ok((fixed[9], offset)) }
}

fn quoted_v6(quote: &[u8]) -> Result<(u8, usize), Ignored> {
    if quote.first().is_none_or(|first| first >> 4 != 6) {
        return Err(Malformed::IpVersion.into());
    }
    match ipv6::transport(quote) {
        Ok(found) => Ok(found),
        Err(Malformed::Fragment) => Err(Ignored::NotTcp),
        Err(other) => Err(Ignored::Malformed(other)),
    }
}

fn read_quote(version: Version, quote: &[u8], offset: usize, kind: IcmpKind) -> Result<IcmpNotice, Ignored> {
    let quoted = quote.get(offset..).and_then(|tcp| tcp.first_chunk::<QUOTED>()).ok_or(Malformed::Truncated)?;
    let [a, b, c, d, s @ ..] = *quoted;
    let (src_port, dst_port) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    if src_port == 0 || dst_port == 0 {
        return Err(Malformed::ZeroPort.into());
    }
    let (src, dst) = (ip::source(version, quote), ip::destination(version, quote));
    Ok(IcmpNotice { src, dst, src_port, dst_port, seq: SeqNum(u32::from_be_bytes(s)), kind })
}

#[cfg(test)]
mod tests;
