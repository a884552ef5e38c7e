//! From an IP packet, which may be truncated, to the TCP segment in it.
//!
//! [`wire`] parses whole packets as an endpoint must: it verifies the checksum that sending hosts leave to their devices, and
//! needs the payload that captures truncate. So this file parses the IP header (RFC 791, RFC 8200 §4) and takes lengths from it,
//! not from the captured bytes; [`wire::tcp::parse`] parses the TCP header. Damaged or truncated options count as absent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use wire::{Flags, TcpRepr};

const TCP: u8 = 6;
/// Bytes of a TCP header without options.
const FIXED: usize = 20;

/// A TCP segment, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub src: SocketAddr,
    pub dst: SocketAddr,
    /// Identification of an IPv4 packet; zero means none.
    pub ip_id: u16,
    /// A router marked it with congestion experienced (RFC 3168).
    pub congestion_experienced: bool,
    /// Bytes of payload on the link.
    pub payload_len: u32,
    pub tcp: TcpRepr,
    /// Whether all of its options could be read.
    pub options_whole: bool,
}

impl Segment {
    /// Returns whether it occupies sequence numbers, so that it has to be acknowledged.
    #[inline]
    pub fn occupies(&self) -> bool {
        self.payload_len > 0 || self.tcp.flags.contains(Flags::SYN) || self.tcp.flags.contains(Flags::FIN)
    }
}

/// Why a packet is not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// A fragment: the analysis does not reassemble.
    Fragment,
    /// Another protocol than TCP.
    NotTcp,
    /// Too few bytes were kept to find ports and numbers.
    Short,
    /// Invalid lengths or ports.
    Malformed,
}

struct Ip {
    src: IpAddr,
    dst: IpAddr,
    id: u16,
    ecn: u8,
    /// Where TCP begins, and where the packet ends; 0 if the header does not say.
    at: usize,
    total: usize,
}

/// Parses `packet`, the captured bytes of a packet with `original_len` bytes on the link.
#[inline]
pub(super) fn segment(packet: &[u8], original_len: usize) -> Result<Segment, Skipped> {
    let ip = match packet.first().map(|first| first >> 4) {
        Some(4) => ipv4(packet)?,
        Some(6) => ipv6(packet)?,
        _ => return Err(Skipped::Short),
    };
    let fixed = packet.get(ip.at..).and_then(|tcp| tcp.first_chunk::<FIXED>()).ok_or(Skipped::Short)?;
    let header_len = usize::from(fixed[12] >> 4) * 4;
    // A super-segment of a device with segmentation offload has no length.
    let total = if ip.total == 0 { original_len.max(packet.len()) } else { ip.total };
    let payload_len = total.checked_sub(ip.at + header_len).ok_or(Skipped::Malformed)?;
    if header_len < FIXED {
        return Err(Skipped::Malformed);
    }
    let whole = packet.get(ip.at..ip.at + header_len).and_then(|header| wire::tcp::parse(header).ok());
    let tcp = match whole {
        Some(tcp) => tcp,
        None => {
            let mut bare = *fixed;
            bare[12] = (FIXED as u8 / 4) << 4;
            wire::tcp::parse(&bare).map_err(|_| Skipped::Malformed)?
        }
    };
    Ok(Segment {
        src: SocketAddr::new(ip.src, tcp.src_port),
        dst: SocketAddr::new(ip.dst, tcp.dst_port),
        ip_id: ip.id,
        congestion_experienced: ip.ecn == 3,
        payload_len: u32::try_from(payload_len).map_err(|_| Skipped::Malformed)?,
        tcp,
        options_whole: whole.is_some(),
    })
}

#[inline]
fn ipv4(packet: &[u8]) -> Result<Ip, Skipped> {
    let head = packet.first_chunk::<20>().ok_or(Skipped::Short)?;
    let at = usize::from(head[0] & 15) * 4;
    let pair = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (total, id, fragment) = (usize::from(pair(2)), pair(4), pair(6));
    if at < 20 || (total != 0 && total < at) {
        return Err(Skipped::Malformed);
    }
    // More fragments, or an offset.
    if fragment & 0x3fff != 0 {
        return Err(Skipped::Fragment);
    }
    if head[9] != TCP {
        return Err(Skipped::NotTcp);
    }
    let address = |at: usize| IpAddr::V4(Ipv4Addr::new(head[at], head[at + 1], head[at + 2], head[at + 3]));
    Ok(Ip { src: address(12), dst: address(16), id, ecn: head[1] & 3, at, total })
}

#[inline]
fn ipv6(packet: &[u8]) -> Result<Ip, Skipped> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let head = packet.first_chunk::<40>().ok_or(Skipped::Short)?;
    let claimed = usize::from(u16::from_be_bytes([head[4], head[5]]));
    let (mut next, mut at) = (head[6], 40);
    loop {
        match next {
            TCP => break,
            HOP_BY_HOP | ROUTING | DESTINATION => {
                let extension = packet.get(at..).and_then(|rest| rest.first_chunk::<2>()).ok_or(Skipped::Short)?;
                next = extension[0];
                at += 8 + usize::from(extension[1]) * 8;
            }
            FRAGMENT => return Err(Skipped::Fragment),
            _ => return Err(Skipped::NotTcp),
        }
    }
    let address = |at: usize| {
        let bytes: [u8; 16] = head[at..at + 16].try_into().expect("sixteen bytes");
        IpAddr::V6(Ipv6Addr::from(bytes))
    };
    let total = if claimed == 0 { 0 } else { 40 + claimed };
    Ok(Ip { src: address(8), dst: address(24), id: 0, ecn: head[1] >> 4 & 3, at, total })
}

#[cfg(test)]
mod tests;
