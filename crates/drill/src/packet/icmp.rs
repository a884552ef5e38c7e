//! ICMP messages about a connection's segments (RFC 792, RFC 4443): their names, and their bytes.

use super::build::{Addresses, TCP, transport_checksum, with_ip};
use super::checksum;
use crate::script::{Icmp, IpFields};

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// Names of ICMP types with their number.
type Types = &'static [(&'static str, u8, Codes)];
/// Names of a type's codes with their number.
type Codes = &'static [(&'static str, u8)];

const V4_UNREACHABLE: Codes = &[
    ("net_unreachable", 0),
    ("host_unreachable", 1),
    ("protocol_unreachable", 2),
    ("port_unreachable", 3),
    ("frag_needed", 4),
    ("source_route_failed", 5),
    ("net_unknown", 6),
    ("host_unknown", 7),
    ("source_host_isolated", 8),
    ("net_prohibited", 9),
    ("host_prohibited", 10),
    ("net_unreachable_for_tos", 11),
    ("host_unreachable_for_tos", 12),
    ("packet_filtered", 13),
    ("precedence_violation", 14),
    ("precedence_cutoff", 15),
];
const V4_TYPES: Types = &[
    ("echo_reply", 0, &[]),
    ("unreachable", 3, V4_UNREACHABLE),
    ("source_quench", 4, &[]),
    ("redirect", 5, &[]),
    ("echo_request", 8, &[]),
    ("time_exceeded", 11, &[]),
    ("parameter_problem", 12, &[]),
    ("timestamp_request", 13, &[]),
    ("timestamp_reply", 14, &[]),
    ("information_request", 15, &[]),
    ("information_reply", 16, &[]),
    ("address_mask_request", 17, &[]),
    ("address_mask_reply", 18, &[]),
];
const V6_UNREACHABLE: Codes = &[
    ("no_route", 0),
    ("net_unreachable", 0),
    ("admin_prohibited", 1),
    ("not_neighbour", 2),
    ("address_unreachable", 3),
    ("port_unreachable", 4),
];
const V6_TYPES: Types = &[
    ("unreachable", 1, V6_UNREACHABLE),
    ("packet_too_big", 2, &[]),
    ("time_exceeded", 3, &[("exceeded_hop_limit", 0), ("exceeded_frag_time", 1)]),
    ("parameter_problem", 4, &[("header_field", 0), ("unknown_next_header", 1), ("unknown_option", 2)]),
    ("echo_request", 128, &[]),
    ("echo_reply", 129, &[]),
];

/// An ICMP message to `addresses.destination`, quoting the segment with sequence number `seq` that the stack sent in the other
/// direction: its IP header and the eight bytes after it.
///
/// # Errors
/// The type or code does not exist in this version of ICMP, or the message has no room for the MTU.
pub fn icmp(addresses: Addresses, ip: IpFields, message: &Icmp, seq: u32) -> Result<Vec<u8>, String> {
    let v6 = addresses.source.is_ipv6();
    let (kind, code) = numbers(v6, message)?;
    let mut out = vec![kind, code, 0, 0, 0, 0, 0, 0];
    if let Some(mtu) = message.mtu {
        if !matches!((v6, kind, code), (true, 2, 0) | (false, 3, 4)) {
            return Err("an MTU stands only in `unreachable frag_needed` and `packet_too_big`".into());
        }
        if !v6 && mtu > 0xffff {
            return Err(format!("an MTU of {mtu} does not fit into 16 bits"));
        }
        out[4..8].copy_from_slice(&mtu.to_be_bytes());
    }
    if let Some(id) = message.id {
        out[4..6].copy_from_slice(&id.to_be_bytes());
    }
    out.extend(quotation(addresses, seq, usize::from(message.echoed.payload)));
    let protocol = if v6 { ICMPV6 } else { ICMP };
    let sum = if v6 { transport_checksum(addresses, protocol, &out) } else { checksum(&[&out]) };
    out[2..4].copy_from_slice(&sum.to_be_bytes());
    Ok(with_ip(addresses, ip, protocol, &out))
}

/// The beginning of the segment that provoked a message. Its IP header claims a whole TCP header and the payload.
fn quotation(addresses: Addresses, seq: u32, payload: usize) -> Vec<u8> {
    let mut segment = vec![0; 20 + payload];
    segment[..2].copy_from_slice(&addresses.destination_port.to_be_bytes());
    segment[2..4].copy_from_slice(&addresses.source_port.to_be_bytes());
    segment[4..8].copy_from_slice(&seq.to_be_bytes());
    let back = Addresses { source: addresses.destination, destination: addresses.source, ..addresses };
    let mut quoted = with_ip(back, IpFields::default(), TCP, &segment);
    quoted.truncate(quoted.len() - segment.len() + 8 + payload);
    quoted
}

fn numbers(v6: bool, message: &Icmp) -> Result<(u8, u8), String> {
    let version = if v6 { "ICMPv6" } else { "ICMP" };
    let types = if v6 { V6_TYPES } else { V4_TYPES };
    let wrong = |what: &str, name: &str| format!("`{name}` is not a valid {version} {what}");
    let numbered = |name: &str, prefix: &str| name.strip_prefix(prefix).and_then(|number| number.parse().ok());
    let (kind, codes) = match types.iter().find(|(name, ..)| *name == message.kind) {
        Some(&(_, number, codes)) => (number, codes),
        None => (numbered(&message.kind, "type_").ok_or_else(|| wrong("type", &message.kind))?, &[][..]),
    };
    let Some(name) = &message.code else { return Ok((kind, 0)) };
    let code = match codes.iter().find(|(known, _)| known == name) {
        Some(&(_, number)) => number,
        None => numbered(name, "code_").ok_or_else(|| wrong("code", name))?,
    };
    Ok((kind, code))
}

/// Names of an ICMP message's type and code, where they have names.
pub fn icmp_names(v6: bool, kind: u8, code: u8) -> (String, Option<String>) {
    let types = if v6 { V6_TYPES } else { V4_TYPES };
    let Some(&(name, _, codes)) = types.iter().find(|(_, number, _)| *number == kind) else {
        return (format!("type_{kind}"), Some(format!("code_{code}")));
    };
    let known = codes.iter().find(|(_, number)| *number == code).map(|(name, _)| (*name).to_owned());
    let other = (code != 0).then(|| format!("code_{code}"));
    (name.to_owned(), known.or(other))
}
