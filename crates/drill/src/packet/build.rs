//! Converts a script's segment to bytes; addresses and sequence numbers are already the live connection's.

use super::checksum;
use crate::config::bytes;
use crate::script::{IpFields, Tcp, TcpFlags, TosCheck};
use std::net::IpAddr;

/// Source and destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

pub const TCP: u8 = 6;
const DEFAULT_TTL: u8 = 255;

/// A TCP segment. Its payload is zeros, as in scripts.
pub fn tcp(addresses: Addresses, ip: IpFields, segment: &Tcp) -> Vec<u8> {
    let mut options = Vec::new();
    segment.options.iter().flatten().for_each(|option| option.emit(&mut options));
    let header = 20 + options.len();
    let mut out = Vec::with_capacity(header + usize::from(segment.payload));
    out.extend(addresses.source_port.to_be_bytes());
    out.extend(addresses.destination_port.to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    out.push(((header / 4) << 4) as u8 | segment.flags.ae);
    out.push(segment.flags.byte);
    out.extend(segment.window.unwrap_or(0).to_be_bytes());
    out.extend([0, 0]);
    out.extend(segment.urgent.to_be_bytes());
    out.extend(options);
    out.resize(header + usize::from(segment.payload), 0);
    let sum = transport_checksum(addresses, TCP, &out);
    out[16..18].copy_from_slice(&sum.to_be_bytes());
    with_ip(addresses, ip, TCP, &out)
}

/// A reset that acknowledges.
pub fn reset(addresses: Addresses, seq: u32, ack: u32, window: u16) -> Vec<u8> {
    let segment = Tcp {
        ports: None,
        flags: TcpFlags { byte: TcpFlags::RST | TcpFlags::ACK, ..TcpFlags::default() },
        seq,
        payload: 0,
        ack,
        window: Some(window),
        urgent: 0,
        options: Some(Vec::new()),
    };
    tcp(addresses, IpFields::default(), &segment)
}

/// Prepends an IP header to `payload`. A segment may be longer than any MTU, but not longer than an IP packet.
pub fn with_ip(addresses: Addresses, ip: IpFields, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let tos = match ip.tos {
        TosCheck::Ecn(bits) => bits,
        TosCheck::Whole(tos) => tos,
        TosCheck::None | TosCheck::Ect01 => 0,
    };
    let ttl = ip.ttl.unwrap_or(DEFAULT_TTL);
    let mut out = Vec::with_capacity(40 + payload.len());
    if addresses.source.is_ipv6() {
        let first = 6 << 28 | u32::from(tos) << 20 | ip.flow_label.unwrap_or(0);
        out.extend(first.to_be_bytes());
        out.extend((payload.len() as u16).to_be_bytes());
        out.extend([protocol, ttl]);
        out.extend(bytes(addresses.source));
        out.extend(bytes(addresses.destination));
    } else {
        out.extend([0x45, tos]);
        out.extend(((20 + payload.len()) as u16).to_be_bytes());
        out.extend([0, 0, 0, 0, ttl, protocol, 0, 0]);
        out.extend(bytes(addresses.source));
        out.extend(bytes(addresses.destination));
        let sum = checksum(&[&out]);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    out.extend(payload);
    out
}

/// The checksum over pseudo-header and payload (RFC 9293 §3.1, RFC 8200 §8.1).
pub fn transport_checksum(addresses: Addresses, protocol: u8, payload: &[u8]) -> u16 {
    let (source, destination) = (bytes(addresses.source), bytes(addresses.destination));
    let length = (payload.len() as u32).to_be_bytes();
    checksum(&[&source, &destination, &length, &[0, protocol], payload])
}
