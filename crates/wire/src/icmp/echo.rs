//! The answer to an echo request (RFC 792, RFC 1122 §3.2.2.6, RFC 4443 §4.2).

use super::HEADER;
use crate::ip::{PROTOCOL_ICMPV4, PROTOCOL_ICMPV6};
use crate::sum::{fold, ones_complement_sum};
use crate::{Ecn, Fragmentation, IpRepr, IpView, checksum, ipv4, ipv6};
use core::net::IpAddr;

const V4_REPLY: u8 = 0;
const V6_REPLY: u8 = 129;

/// Writes the packet that answers `request`, an intact echo request ([`super::classify`]), in the name of its destination: identifier,
/// sequence number and data are returned as they came. Clears `out` first.
///
/// # Panics
/// If the request is shorter than an ICMP header.
pub fn emit_echo_reply(request: &IpView<'_>, out: &mut Vec<u8>) {
    out.clear();
    let (src, dst, ttl) = (request.dst, request.src, 64);
    let repr = IpRepr { src, dst, ttl, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden };
    let message = request.payload();
    let carried = message.len() as u32;
    let (kind, pseudo) = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut fixed = [0; ipv4::HEADER];
            ipv4::emit_for(PROTOCOL_ICMPV4, &repr, src, dst, ipv4::HEADER as u32 + carried, &mut fixed);
            out.extend_from_slice(&fixed);
            (V4_REPLY, 0)
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let mut fixed = [0; ipv6::HEADER];
            ipv6::emit_for(PROTOCOL_ICMPV6, &repr, src, dst, carried, &mut fixed);
            out.extend_from_slice(&fixed);
            (V6_REPLY, checksum::pseudo_v6(&fixed, PROTOCOL_ICMPV6, carried.into()))
        }
        (src, dst) => panic!("a packet from {src} to {dst} is of no IP version"),
    };
    let at = out.len();
    out.extend_from_slice(&[kind, 0, 0, 0]);
    out.extend_from_slice(&message[HEADER / 2..]);
    let sum = !fold(pseudo + u64::from(ones_complement_sum(&out[at..])));
    out[at + 2..at + 4].copy_from_slice(&sum.to_be_bytes());
}
