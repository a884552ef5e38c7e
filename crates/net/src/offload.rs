//! The virtio-net header (virtio 1.2 §5.1.6, as the kernel's TUN driver speaks it: 10 octets, the machine's byte order),
//! and super-segments cut in software for paths that carry packets one by one.

use crate::device::{Frame, Received};
use tcp::ChecksumState;
use tun_rs::{VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6, VIRTIO_NET_HDR_LEN, VirtioNetHdr};

/// Flags (virtio 1.2 §5.1.6): the checksum is still to be computed; it was verified below.
pub(crate) const NEEDS_CSUM: u8 = 1;
const DATA_VALID: u8 = 2;
/// Beside a type of super-segment: its sender uses ECN.
pub(crate) const GSO_ECN: u8 = 0x80;
/// Where the checksum stands in a TCP header.
const TCP_CHECKSUM_AT: u16 = 16;

/// What the header in front of a packet of `len` octets says about it.
pub(crate) fn received(header: &[u8; VIRTIO_NET_HDR_LEN], len: usize) -> Received {
    let header = VirtioNetHdr::decode(header).expect("the length is the header's");
    let gso_size = match header.gso_type & !GSO_ECN {
        VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_TCPV6 => Some(header.gso_size),
        _ => None,
    };
    // A packet from this machine has no checksum yet; one that was forwarded may have been verified on entry. Of a
    // super-segment no checksum covers the whole, and the kernel makes none whose parts were not right.
    let vouched_for = header.flags & (NEEDS_CSUM | DATA_VALID) != 0 || gso_size.is_some();
    let checksum = if vouched_for { ChecksumState::Device } else { ChecksumState::InHeader };
    Received { len, gso_size, checksum }
}

/// The header that tells the kernel what is left to do for `frame`.
pub(crate) fn virtio_header(frame: &Frame<'_>) -> [u8; VIRTIO_NET_HDR_LEN] {
    let mut header = VirtioNetHdr::default();
    if frame.checksum == ChecksumState::Device {
        header.flags = NEEDS_CSUM;
        header.csum_start = ip_header_len(frame.header) as u16;
        header.csum_offset = TCP_CHECKSUM_AT;
    }
    if let Some(gso_size) = frame.gso_size {
        let version_4 = frame.header[0] >> 4 == 4;
        header.gso_type = if version_4 { VIRTIO_NET_HDR_GSO_TCPV4 } else { VIRTIO_NET_HDR_GSO_TCPV6 };
        header.gso_size = gso_size;
        header.hdr_len = frame.header.len() as u16;
    }
    let mut octets = [0; VIRTIO_NET_HDR_LEN];
    header.encode(&mut octets).expect("the length is the header's");
    octets
}

/// Octets in front of the TCP header, of a header that `wire` has accepted or emitted.
fn ip_header_len(header: &[u8]) -> usize {
    if header[0] >> 4 == 4 {
        return usize::from(header[0] & 0x0f) * 4;
    }
    let (mut next, mut offset) = (header[6], IPV6_HEADER);
    while next != PROTOCOL_TCP {
        next = header[offset];
        offset += (usize::from(header[offset + 1]) + 1) * 8;
    }
    offset
}

const IPV6_HEADER: usize = 40;
const PROTOCOL_TCP: u8 = 6;

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
pub(crate) enum Transport {
    /// A TCP header, at this octet.
    Tcp(usize),
    /// A UDP header, at this octet: a train of datagrams of which each gets a header and its own length.
    Udp(usize),
}

impl<'a> Parts<'a> {
    /// Cuts `payload` into parts of `gso_size` octets; a plain segment, and one without payload, is its only part.
    ///
    /// `header` must come from [`wire::split`].
    pub fn new(header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
        // Of a part that is the whole nothing is rewritten, so the place does not matter.
        let transport = Transport::Tcp(gso_size.map_or(0, |_| ip_header_len(header)));
        Self::behind(transport, header, payload, gso_size)
    }

    /// The same where the header's end is known to be that of `transport`.
    pub(crate) fn behind(transport: Transport, header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
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
            let sum = wire::checksum::ones_complement_sum(&header[..usize::from(header[0] & 0x0f) * 4]);
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

pub(crate) fn get(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

pub(crate) fn put(octets: &mut [u8], at: usize, value: u16) {
    octets[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;
