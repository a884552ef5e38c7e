//! Super-segments cut into the packets that they stand for, where a path carries packets one by one.

use crate::checksum::{offset_of_segment, ones_complement_sum};

const IPV6_HEADER: usize = 40;

/// The plain segments that a super-segment stands for, each header written in front of its payload.
///
/// What differs from part to part: lengths, the IPv4 identification (RFC 6864 §4) and header checksum, the sequence
/// number; FIN and PSH are the last one's, CWR the first one's (RFC 3168 §6.1.2). The TCP checksum is left as it is: of
/// these packets it is the device's.
#[derive(Debug)]
pub struct Parts<'a> {
    header: &'a [u8],
    payload: &'a [u8],
    size: usize,
    index: usize,
    transport: Transport,
}

/// What stands behind the IP header of a super-segment, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP header, at this octet.
    Tcp(usize),
    /// A UDP header, at this octet: a train of datagrams of which each gets a header and its own length.
    Udp(usize),
}

impl<'a> Parts<'a> {
    /// Cuts `payload` into parts of `gso_size` octets; a plain segment, and one without payload, is its only part.
    ///
    /// `header` must come from [`crate::split`].
    pub fn new(header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
        // Of a part that is the whole nothing is rewritten, so the place does not matter.
        let transport = Transport::Tcp(gso_size.map_or(0, |_| offset_of_segment(header)));
        Self::behind(transport, header, payload, gso_size)
    }

    /// The same where the header's end is known to be that of `transport`.
    pub fn behind(transport: Transport, header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
        let size = gso_size.map_or(payload.len(), usize::from).max(1);
        Self { header, payload, size, index: 0, transport }
    }

    /// Writes the next part's header behind what `out` holds and returns its payload; `None` after the last.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> Option<&'a [u8]> {
        let from = self.index * self.size;
        if from >= self.payload.len() && self.index > 0 {
            return None;
        }
        let part = &self.payload[from..self.payload.len().min(from + self.size)];
        let place = out.len();
        out.extend_from_slice(self.header);
        if part.len() < self.payload.len() {
            let is_last = from + part.len() == self.payload.len();
            self.rewrite(&mut out[place..], part.len(), is_last);
        }
        self.index += 1;
        Some(part)
    }

    fn rewrite(&self, header: &mut [u8], part_len: usize, is_last: bool) {
        let (Transport::Tcp(ip_len) | Transport::Udp(ip_len)) = self.transport;
        let packet_len = header.len() + part_len;
        if header[0] >> 4 == 4 {
            put(header, 2, packet_len as u16);
            let identification = get(header, 4).wrapping_add(self.index as u16);
            put(header, 4, identification);
            put(header, 10, 0);
            let sum = ones_complement_sum(&header[..usize::from(header[0] & 0x0f) * 4]);
            put(header, 10, !sum);
        } else {
            put(header, 4, (packet_len - IPV6_HEADER) as u16);
        }
        if let Transport::Udp(at) = self.transport {
            return put(header, at + UDP_LENGTH_AT, (packet_len - at) as u16);
        }
        let tcp = &mut header[ip_len..];
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let sequence = sequence.wrapping_add((self.index * self.size) as u32);
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        if !is_last {
            tcp[FLAGS_AT] &= !(FIN | PSH);
        }
        if self.index > 0 {
            tcp[FLAGS_AT] &= !CWR;
        }
    }
}

/// Where the length stands in a UDP header (RFC 768).
const UDP_LENGTH_AT: usize = 4;

/// Where the control bits stand in a TCP header, and those that not every part carries.
const FLAGS_AT: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

fn get(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn put(octets: &mut [u8], at: usize, value: u16) {
    octets[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;
