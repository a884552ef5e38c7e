//! A view of a packet the stack sent.

use super::checksum;
use crate::config::address;
use crate::script::{TcpFlags, TcpOption};
use std::net::IpAddr;

const TCP: u8 = 6;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// A packet from the stack, with the time it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    bytes: Vec<u8>,
    ip: Ip,
    ip_header: usize,
    transport_header: usize,
    /// When it was sent, microseconds of the stack's clock.
    pub at: i64,
}

/// The fields of an IP header, apart from the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// 4 or 6.
    pub version: u8,
    /// Bytes of the header.
    pub header_len: usize,
    /// Traffic class.
    pub tos: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Next protocol.
    pub protocol: u8,
    /// IPv6 flow label.
    pub flow_label: u32,
}

impl Live {
    /// Reads the headers of `bytes`.
    ///
    /// # Errors
    /// What is malformed.
    pub fn parse(bytes: Vec<u8>, at: i64) -> Result<Self, String> {
        let whole = bytes.len();
        let short = |what: &str| Err(format!("a packet of {whole} bytes ends inside its {what} header"));
        let (ip, said) = match bytes.first().map(|first| first >> 4) {
            Some(4) if whole >= 20 => ipv4(&bytes)?,
            Some(6) if whole >= 40 => ipv6(&bytes),
            Some(4 | 6) | None => return short("IP"),
            Some(version) => return Err(format!("a packet of IP version {version}")),
        };
        if said != whole {
            return Err(format!("a packet of {whole} bytes whose IP header says {said}"));
        }
        let transport_header = match ip.protocol {
            TCP if whole < ip.header_len + 20 => return short("TCP"),
            TCP => usize::from(bytes[ip.header_len + 12] >> 4) * 4,
            ICMP | ICMPV6 => 8,
            _ => 0,
        };
        if ip.protocol == TCP && transport_header < 20 {
            return Err(format!("a TCP header that says it has {transport_header} bytes"));
        }
        if whole < ip.header_len + transport_header {
            return short("transport");
        }
        Ok(Self { bytes, ip, ip_header: ip.header_len, transport_header, at })
    }

    /// Its IP header.
    pub fn ip(&self) -> Ip {
        self.ip
    }

    /// Whether it is a TCP segment.
    pub fn is_tcp(&self) -> bool {
        self.ip.protocol == TCP
    }

    /// Whether it is an ICMP message.
    pub fn is_icmp(&self) -> bool {
        matches!(self.ip.protocol, ICMP | ICMPV6)
    }

    /// Source and destination.
    pub fn addresses(&self) -> (IpAddr, IpAddr) {
        let (from, length) = if self.ip.version == 4 { (12, 4) } else { (8, 16) };
        let at = |from: usize| address(&self.bytes[from..from + length]).unwrap_or(IpAddr::from([0, 0, 0, 0]));
        (at(from), at(from + length))
    }

    /// Source and destination port of a segment.
    pub fn ports(&self) -> (u16, u16) {
        (self.be16(0), self.be16(2))
    }

    /// The byte at offset `at` after the IP header.
    pub fn transport_byte(&self, at: usize) -> u8 {
        self.bytes[self.ip_header + at]
    }

    /// Bytes of the transport header.
    pub fn header_len(&self) -> usize {
        self.transport_header
    }

    fn be16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.transport_byte(at), self.transport_byte(at + 1)])
    }

    fn be32(&self, at: usize) -> u32 {
        u32::from(self.be16(at)) << 16 | u32::from(self.be16(at + 2))
    }

    fn set_be32(&mut self, at: usize, value: u32) {
        let at = self.ip_header + at;
        self.bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    /// Sequence number.
    pub fn seq(&self) -> u32 {
        self.be32(4)
    }

    /// Acknowledgement number.
    pub fn ack(&self) -> u32 {
        self.be32(8)
    }

    /// Flags.
    pub fn flags(&self) -> TcpFlags {
        TcpFlags { byte: self.transport_byte(13), ae: self.transport_byte(12) & 1, ace: None }
    }

    /// The three reserved bits of the header.
    pub fn reserved(&self) -> u8 {
        self.transport_byte(12) >> 1 & 7
    }

    /// Window field.
    pub fn window(&self) -> u16 {
        self.be16(14)
    }

    /// Urgent pointer.
    pub fn urgent(&self) -> u16 {
        self.be16(18)
    }

    /// TCP options in order.
    pub fn options(&self) -> Vec<TcpOption> {
        TcpOption::split(&self.bytes[self.ip_header + 20..self.ip_header + self.transport_header])
    }

    /// Payload after the transport header.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.ip_header + self.transport_header..]
    }

    /// Whether an IPv4 header's checksum is correct. IPv6 has none.
    pub fn has_valid_ip_checksum(&self) -> bool {
        self.ip.version == 6 || checksum(&[&self.bytes[..self.ip_header]]) == 0
    }

    /// Replaces the sequence and acknowledgement numbers.
    pub fn set_numbers(&mut self, seq: u32, ack: u32) {
        self.set_be32(4, seq);
        self.set_be32(8, ack);
    }

    /// Replaces the options by others of the same length. An option that was malformed may not come back as it was; then
    /// the field stays.
    pub fn set_options(&mut self, options: &[TcpOption]) {
        let mut bytes = Vec::new();
        options.iter().for_each(|option| option.emit(&mut bytes));
        let at = self.ip_header + 20;
        let field = &mut self.bytes[at..self.ip_header + self.transport_header];
        if bytes.len() == field.len() {
            field.copy_from_slice(&bytes);
        }
    }

    /// Merges the payloads of consecutive segments under the last one's header, with the sequence number and CWR of the first: as
    /// a sender with segmentation offload would have sent them.
    pub fn join(packets: &[Self]) -> Self {
        let (first, last) = (&packets[0], &packets[packets.len() - 1]);
        let mut joined = last.clone();
        joined.bytes.truncate(last.ip_header + last.transport_header);
        packets.iter().for_each(|packet| joined.bytes.extend(packet.payload()));
        joined.set_be32(4, first.seq());
        let at = joined.ip_header + 13;
        joined.bytes[at] = joined.bytes[at] & !TcpFlags::CWR | first.flags().byte & TcpFlags::CWR;
        joined
    }
}

fn ipv4(bytes: &[u8]) -> Result<(Ip, usize), String> {
    let header_len = usize::from(bytes[0] & 15) * 4;
    let said = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    if header_len < 20 || header_len > bytes.len() {
        return Err(format!("an IPv4 header that says it has {header_len} bytes"));
    }
    Ok((Ip { version: 4, header_len, tos: bytes[1], ttl: bytes[8], protocol: bytes[9], flow_label: 0 }, said))
}

fn ipv6(bytes: &[u8]) -> (Ip, usize) {
    let said = 40 + usize::from(u16::from_be_bytes([bytes[4], bytes[5]]));
    let flow_label = u32::from_be_bytes([0, bytes[1] & 15, bytes[2], bytes[3]]);
    let tos = bytes[0] << 4 | bytes[1] >> 4;
    (Ip { version: 6, header_len: 40, tos, ttl: bytes[7], protocol: bytes[6], flow_label }, said)
}
