//! IPv6 headers (RFC 8200 §3 and §4).
//!
//! Skips hop-by-hop options, routing headers and destination options, in any order and number: they are for routers, and their
//! options do not concern TCP. Deviation: rejects any fragment header, even an atomic one (RFC 6946), because this code does not
//! reassemble and no sender of TCP segments has reason to send one.

use crate::Malformed;
use crate::ip::{self, IpRepr, PROTOCOL_TCP};
use core::net::{IpAddr, Ipv6Addr};

/// Bytes of a header without extension headers.
pub(crate) const HEADER: usize = 40;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
pub(crate) const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// Which protocol the packet carries, and where that begins.
#[inline]
pub(crate) fn transport(packet: &[u8]) -> Result<(u8, usize), Malformed> {
    let fixed = packet.first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    if fixed[6] == PROTOCOL_TCP { Ok((PROTOCOL_TCP, HEADER)) } else { skip_extensions(packet, fixed[6]) }
}

#[cold]
fn skip_extensions(packet: &[u8], mut next: u8) -> Result<(u8, usize), Malformed> {
    let mut offset = HEADER;
    loop {
        match next {
            FRAGMENT => return Err(Malformed::Fragment),
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {}
            protocol => return Ok((protocol, offset)),
        }
        let (following, units) = match packet.get(offset..) {
            Some([following, units, ..]) => (*following, usize::from(*units)),
            _ => return Err(Malformed::Truncated),
        };
        next = following;
        offset += (units + 1) * 8;
        if offset > packet.len() {
            return Err(Malformed::Truncated);
        }
    }
}

/// The bytes that the header claims for the packet, header included.
#[inline]
pub(crate) fn claimed_len(raw: &[u8]) -> Result<usize, Malformed> {
    let fixed = raw.first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    Ok(HEADER + ip::claimed(u16::from_be_bytes([fixed[4], fixed[5]]), raw.len() - HEADER))
}

/// Reads the IP part of `header`, which ends at `offset`, and returns the TCP part with it.
#[inline]
pub(crate) fn parse(header: &[u8], offset: usize, payload_len: u32) -> Result<(IpRepr, &[u8]), Malformed> {
    let (fixed, extensions) = header.split_first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    let carried = payload_len.saturating_add(extensions.len() as u32);
    if u16::from_be_bytes([fixed[4], fixed[5]]) != ip::length_field(carried) {
        return Err(Malformed::IpLength);
    }
    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    let repr = IpRepr::new(IpAddr::V6(address(fixed, 8)), IpAddr::V6(address(fixed, 24)), fixed[7], traffic_class);
    Ok((repr, &header[offset..]))
}

#[inline]
pub(crate) fn address(fixed: &[u8; HEADER], at: usize) -> Ipv6Addr {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&fixed[at..at + 16]);
    Ipv6Addr::from(bytes)
}

/// Writes the header of a packet that carries `carried` bytes from `src` to `dst`; the flow label is zero.
#[inline]
pub(crate) fn emit(ip: &IpRepr, src: Ipv6Addr, dst: Ipv6Addr, carried: u32, out: &mut [u8; HEADER]) {
    emit_for(PROTOCOL_TCP, ip, src, dst, carried, out);
}

/// The same for a packet of `protocol`.
#[inline]
pub(crate) fn emit_for(protocol: u8, ip: &IpRepr, src: Ipv6Addr, dst: Ipv6Addr, carried: u32, out: &mut [u8; HEADER]) {
    let class = u32::from(ip.traffic_class());
    out[..4].copy_from_slice(&(6 << 28 | class << 20).to_be_bytes());
    out[4..6].copy_from_slice(&ip::length_field(carried).to_be_bytes());
    out[6] = protocol;
    out[7] = ip.ttl;
    out[8..24].copy_from_slice(&src.octets());
    out[24..].copy_from_slice(&dst.octets());
}
