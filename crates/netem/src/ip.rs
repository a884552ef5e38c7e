//! What queue managers read from an IP packet in bytes, and the mark that they set: the ECN field (RFC 3168 §5) and the flow.
//!
//! Accepts any bytes: what is not an IP header is a packet that is not ECN-capable, of the flow zero.

use core::ops::Range;

/// The mask of the ECN field, and its value for congestion experienced.
const CE: u8 = 0b11;
/// Bytes of an IPv4 header without options (RFC 791 §3.1) and of an IPv6 header (RFC 8200 §3).
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
/// Transport protocols whose header begins with two port numbers: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
/// IPv6 extension headers that give their length in units of eight bytes: hop-by-hop, routing, destination (RFC 8200 §4).
const EXTENSIONS: [u8; 3] = [0, 43, 60];
/// Extension headers to look behind; hosts send fewer.
const MOST_EXTENSIONS: usize = 8;

/// The codepoints of the ECN field in an IP header (RFC 3168 §5, RFC 9331 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct,
    /// ECN-capable, with a scalable congestion control.
    Ect1,
    /// ECN-capable.
    Ect0,
    /// Congestion experienced.
    Ce,
}

/// Returns where the ECN field ends in the second byte: how far to shift that byte to the right. `None` if it is not IP.
fn shift(packet: &[u8]) -> Option<u32> {
    match packet.first()? >> 4 {
        4 if packet.len() >= IPV4_HEADER => Some(0),
        // The traffic class spans two bytes; four bits of the flow label follow.
        6 if packet.len() >= IPV6_HEADER => Some(4),
        _ => None,
    }
}

/// Returns the ECN codepoint of an IP packet.
pub fn ecn(packet: &[u8]) -> Ecn {
    match shift(packet).map_or(0, |shift| packet[1] >> shift & CE) {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Sets the congestion-experienced codepoint of an IP packet, and corrects the checksum of an IPv4 header; returns `false` if the
/// packet is not ECN-capable.
pub fn mark_ce(packet: &mut [u8]) -> bool {
    let Some(shift) = shift(packet).filter(|shift| packet[1] >> shift & CE != 0) else { return false };
    let before = u16::from(packet[1]);
    packet[1] |= CE << shift;
    if shift == 0 {
        // Updates the checksum without recomputing it (RFC 1624 §3, eqn. 3): the other half of the word is unchanged.
        let checksum = u16::from_be_bytes([packet[10], packet[11]]);
        let sum = add(add(!checksum, !before), u16::from(packet[1]));
        packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
    }
    true
}

/// One step of a ones'-complement sum.
fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Returns whether routers may cut an IP packet: one of IPv4 without the don't-fragment bit (RFC 791 §3.1).
pub fn may_be_cut(packet: &[u8]) -> bool {
    shift(packet) == Some(0) && packet[6] & 0x40 == 0
}

/// Returns a digest of addresses, protocol and ports; zero if it is not IP.
///
/// Fragments count without ports, all of them: only the first one shows any, and packets of one flow belong into one queue.
pub fn flow(packet: &[u8]) -> u64 {
    let (addresses, protocol, ports) = match shift(packet) {
        None => return 0,
        Some(0) => ipv4(packet),
        Some(_) => ipv6(packet),
    };
    let addresses = &packet[addresses];
    let ports = ports.filter(|_| WITH_PORTS.contains(&protocol)).and_then(|at| packet.get(at..at + 4));
    let words = addresses.iter().chain(core::slice::from_ref(&protocol)).chain(ports.unwrap_or_default());
    // FNV-1a; a queue manager mixes the result further, with a number of its own.
    words.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Returns the TCP segment of an IP packet, as long as the packet says; `None` for anything else, fragments among it.
pub(crate) fn tcp(packet: &[u8]) -> Option<&[u8]> {
    const TCP: u8 = 6;
    let ((_, protocol, start), end) = match shift(packet)? {
        0 => (ipv4(packet), usize::from(u16::from_be_bytes([packet[2], packet[3]]))),
        _ => (ipv6(packet), IPV6_HEADER + usize::from(u16::from_be_bytes([packet[4], packet[5]]))),
    };
    packet.get(start.filter(|_| protocol == TCP)?..end)
}

/// Where the addresses are, the transport protocol, and where its header begins; `None` in a fragment.
type Place = (Range<usize>, u8, Option<usize>);

fn ipv4(packet: &[u8]) -> Place {
    let is_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
    let header = usize::from(packet[0] & 0xf) * 4;
    (12..20, packet[9], (!is_fragment && header >= IPV4_HEADER).then_some(header))
}

fn ipv6(packet: &[u8]) -> Place {
    let (mut next, mut at) = (packet[6], IPV6_HEADER);
    for _ in 0..MOST_EXTENSIONS {
        if !EXTENSIONS.contains(&next) {
            break;
        }
        let Some(&[after, eights]) = packet.get(at..at + 2).and_then(|start| start.first_chunk()) else { break };
        (next, at) = (after, at + 8 + usize::from(eights) * 8);
    }
    // A fragment header (44) ends the search: only the first fragment would have ports behind it.
    (8..40, next, Some(at))
}

#[cfg(test)]
mod tests;
