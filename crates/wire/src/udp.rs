//! UDP datagrams (RFC 768; over IPv6 RFC 8200 §8.1).
//!
//! A checksum of zero means over IPv4 that there is none; over IPv6 such a datagram is not accepted (the exceptions of RFC 6935 are for
//! tunnels). Bytes behind the UDP length but within the packet are ignored.

use crate::ip::{IpRepr, PROTOCOL_UDP, Version};
use crate::sum::{fold, ones_complement_sum};
use crate::{Carries, IpView, ipv4, ipv6};
use core::net::IpAddr;

/// Bytes of a UDP header.
pub const HEADER: usize = 8;

/// Where the checksum stands.
const CHECKSUM_AT: usize = 6;

/// A datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The sender's port; zero if it expects no answer (RFC 768).
    pub src_port: u16,
    /// The port that it is for.
    pub dst_port: u16,
    /// What it carries.
    pub payload: &'a [u8],
}

/// Why a packet carries no datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadDatagram {
    /// The packet carries another protocol, or is a fragment.
    NotUdp,
    /// Shorter than its header, or than its length says; the length is below 8.
    Length,
    /// The checksum is wrong.
    Checksum,
    /// No checksum over IPv6 (RFC 8200 §8.1).
    NoChecksum,
}

/// Reads the datagram in `packet` and verifies its checksum.
///
/// # Errors
/// Names the first reason why there is none; never panics.
pub fn parse<'a>(packet: &IpView<'a>) -> Result<Datagram<'a>, BadDatagram> {
    if packet.carries() != Carries::Udp || packet.fragment.is_some() {
        return Err(BadDatagram::NotUdp);
    }
    let carried = packet.payload();
    let header = carried.first_chunk::<HEADER>().ok_or(BadDatagram::Length)?;
    let [a, b, c, d, e, f, g, h] = *header;
    let len = usize::from(u16::from_be_bytes([e, f]));
    let bytes = carried.get(..len).filter(|bytes| bytes.len() >= HEADER).ok_or(BadDatagram::Length)?;
    let checked = match (u16::from_be_bytes([g, h]), packet.version()) {
        (0, Version::V4) => true,
        (0, Version::V6) => return Err(BadDatagram::NoChecksum),
        _ => fold(sum(packet.packet(), bytes)) == 0xffff,
    };
    if !checked {
        return Err(BadDatagram::Checksum);
    }
    let (src_port, dst_port) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Ok(Datagram { src_port, dst_port, payload: &bytes[HEADER..] })
}

/// Writes the packet of a datagram, with its checksum; clears `out` first.
///
/// # Panics
/// On addresses of different versions, and if the packet's length exceeds what its fields can say: 65,535 bytes over IPv4 with
/// 28 of headers, over IPv6 with 8.
pub fn emit(ip: &IpRepr, src_port: u16, dst_port: u16, payload: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let len = HEADER + payload.len();
    let at = match (ip.src, ip.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            assert!(ipv4::HEADER + len <= usize::from(u16::MAX), "the packet is too long");
            let mut fixed = [0; ipv4::HEADER];
            ipv4::emit_for(PROTOCOL_UDP, ip, src, dst, (ipv4::HEADER + len) as u32, &mut fixed);
            out.extend_from_slice(&fixed);
            ipv4::HEADER
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            assert!(len <= usize::from(u16::MAX), "the packet is too long");
            let mut fixed = [0; ipv6::HEADER];
            ipv6::emit_for(PROTOCOL_UDP, ip, src, dst, len as u32, &mut fixed);
            out.extend_from_slice(&fixed);
            ipv6::HEADER
        }
        (src, dst) => panic!("a packet from {src} to {dst} is of no IP version"),
    };
    for field in [src_port, dst_port, len as u16, 0] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    out.extend_from_slice(payload);
    let checksum = checksum(out, &out[at..]);
    out[at + CHECKSUM_AT..at + HEADER].copy_from_slice(&checksum.to_be_bytes());
}

/// Computes the checksum of a datagram whose sender left that to its device. Returns whether `packet` carries a whole datagram.
pub fn complete(packet: &mut [u8]) -> bool {
    let Ok(view) = IpView::read(packet) else { return false };
    if view.carries() != Carries::Udp || view.fragment.is_some() {
        return false;
    }
    let (at, carried) = (view.header().len(), view.payload().len());
    let len = packet.get(at + 4..at + 6).map_or(0, |len| usize::from(u16::from_be_bytes([len[0], len[1]])));
    if len < HEADER || len > carried {
        return false;
    }
    packet[at + CHECKSUM_AT..at + HEADER].fill(0);
    let checksum = checksum(packet, &packet[at..at + len]);
    packet[at + CHECKSUM_AT..at + HEADER].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// The checksum to be written over `bytes` of `packet`, in which its field is zero.
fn checksum(packet: &[u8], bytes: &[u8]) -> u16 {
    // Zero would mean that there is none: it is written as all ones (RFC 768), which is the same number.
    match !fold(sum(packet, bytes)) {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// The sum over the datagram `bytes` and the pseudo-header, whose fields are the same in both versions: addresses, protocol, length.
fn sum(packet: &[u8], bytes: &[u8]) -> u64 {
    let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
    let pseudo = u64::from(ones_complement_sum(addresses)) + u64::from(PROTOCOL_UDP) + bytes.len() as u64;
    pseudo + u64::from(ones_complement_sum(bytes))
}

#[cfg(test)]
mod tests;
