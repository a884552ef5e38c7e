//! ICMP errors as a router or a host sends them: for tests, emulated routers and scripts. A TCP sends none.

use super::HEADER;
use super::kind::IcmpKind;
use crate::ip::{PROTOCOL_ICMPV4, PROTOCOL_ICMPV6};
use crate::sum::{fold, ones_complement_sum};
use crate::{Ecn, Fragmentation, IpRepr, checksum, ipv4, ipv6};
use core::net::{IpAddr, Ipv4Addr};

/// Maximum size of an ICMPv4 error: every host accepts it (RFC 1812 §4.3.2.3).
const V4_MAX: usize = 576;
/// Maximum size of an ICMPv6 error: every link carries it (RFC 4443 §2.4).
const V6_MAX: usize = 1280;

/// Writes the packet in which `reporter` reports an error to the sender of `offending`, a whole packet; clears `out`
/// first.
///
/// Quotes as much of `offending` as the usual limits allow.
///
/// # Panics
/// If `offending` has no whole IP header, if `reporter` is of another IP version, or if that version has no such
/// error.
pub fn emit(kind: IcmpKind, reporter: IpAddr, offending: &[u8], out: &mut Vec<u8>) {
    let ttl = 64;
    let repr =
        |dst| IpRepr { src: reporter, dst, ttl, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden };
    out.clear();
    match reporter {
        IpAddr::V4(src) => {
            let (kind, code, rest) = kind.to_v4().expect("ICMPv4 has such an error");
            let dst = Ipv4Addr::from(*offending[12..].first_chunk::<4>().expect("an IPv4 header"));
            let quote = &offending[..offending.len().min(V4_MAX - ipv4::HEADER - HEADER)];
            let total = (ipv4::HEADER + HEADER + quote.len()) as u32;
            let mut fixed = [0; ipv4::HEADER];
            ipv4::emit_for(PROTOCOL_ICMPV4, &repr(dst.into()), src, dst, total, &mut fixed);
            out.extend_from_slice(&fixed);
            message(kind, code, rest, quote, 0, out);
        }
        IpAddr::V6(src) => {
            let (kind, code, rest) = kind.to_v6().expect("ICMPv6 has such an error");
            let dst = ipv6::address(offending.first_chunk().expect("an IPv6 header"), 8);
            let quote = &offending[..offending.len().min(V6_MAX - ipv6::HEADER - HEADER)];
            let carried = (HEADER + quote.len()) as u32;
            let mut fixed = [0; ipv6::HEADER];
            ipv6::emit_for(PROTOCOL_ICMPV6, &repr(dst.into()), src, dst, carried, &mut fixed);
            out.extend_from_slice(&fixed);
            message(kind, code, rest, quote, checksum::pseudo_v6(&fixed, PROTOCOL_ICMPV6, carried.into()), out);
        }
    }
}

/// Appends the message; `pseudo` is the part of its checksum outside it.
fn message(kind: u8, code: u8, rest: u32, quote: &[u8], pseudo: u64, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[kind, code, 0, 0]);
    out.extend_from_slice(&rest.to_be_bytes());
    out.extend_from_slice(quote);
    let sum = !fold(pseudo + u64::from(ones_complement_sum(&out[at..])));
    out[at + 2..at + 4].copy_from_slice(&sum.to_be_bytes());
}
