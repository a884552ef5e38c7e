//! Splits super-segments into packets, for paths that carry single packets.

use crate::checksum::{Ends, offset_of_segment};
use crate::sum::{copy_and_sum, fold, ones_complement_sum};
use core::ops::Range;

pub(crate) const IPV6_HEADER: usize = 40;

/// Positions of the parts of a super-segment, and the header of each part, without the bytes.
///
/// The parts differ in lengths, IPv4 identification (RFC 6864 §4) and header checksum, and sequence number; only the last one has
/// FIN and PSH, only the first one CWR (RFC 3168 §6.1.2). The TCP checksum stays as it is: the device computes it for these
/// packets.
#[derive(Clone, Debug)]
pub struct Cuts {
    /// Payload bytes in all.
    len: usize,
    /// Payload bytes of each part but the last.
    size: usize,
    index: usize,
    transport: Transport,
}

/// The header after the IP header of a super-segment, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP header, at this byte.
    Tcp(usize),
    /// A UDP header, at this byte: a train of datagrams, each of which gets a header with its own length.
    Udp(usize),
}

impl Cuts {
    /// Cuts `payload_len` bytes into parts of `gso_size`; a plain segment, and one without payload, is its only part.
    ///
    /// `header` must come from [`crate::split`] or [`crate::emit`].
    pub fn new(header: &[u8], payload_len: usize, gso_size: Option<u16>) -> Self {
        // A part that is the whole packet is not rewritten, so the offset does not matter.
        let transport = Transport::Tcp(gso_size.map_or(0, |_| offset_of_segment(header)));
        Self::behind(transport, payload_len, gso_size)
    }

    /// The same where the header's end is known to be that of `transport`.
    fn behind(transport: Transport, payload_len: usize, gso_size: Option<u16>) -> Self {
        let size = gso_size.map_or(payload_len, usize::from).max(1);
        Self { len: payload_len, size, index: 0, transport }
    }

    /// Returns the next part's range in the payload; `None` after the last.
    fn place(&self) -> Option<Range<usize>> {
        let from = self.index * self.size;
        (from < self.len || self.index == 0).then(|| from..self.len.min(from + self.size))
    }

    /// The place of the next part in the payload, and its header in `header`, which holds a copy of the super-segment's; `None`
    /// after the last.
    pub fn next_into(&mut self, header: &mut [u8]) -> Option<Range<usize>> {
        let place = self.place()?;
        if place.len() < self.len {
            self.rewrite(header, place.len(), place.end == self.len);
        }
        self.index += 1;
        Some(place)
    }

    fn rewrite(&self, header: &mut [u8], part_len: usize, is_last: bool) {
        let (Transport::Tcp(ip_len) | Transport::Udp(ip_len)) = self.transport;
        let packet_len = header.len() + part_len;
        if header[0] >> 4 == 4 {
            let identification = get(header, 4).wrapping_add(self.index as u16);
            put_in_ipv4(header, 2, packet_len as u16);
            put_in_ipv4(header, 4, identification);
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

/// The plain segments of a super-segment, each header written in front of its payload (as [`Cuts`] describes).
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    header: &'a [u8],
    payload: &'a [u8],
    cuts: Cuts,
    /// Known once a checksum was computed.
    ends: Option<Ends>,
}

impl<'a> Parts<'a> {
    /// Cuts `payload` into parts of `gso_size` bytes; a plain segment, and one without payload, is its only part.
    ///
    /// `header` must come from [`crate::split`].
    pub fn new(header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
        Self { header, payload, cuts: Cuts::new(header, payload.len(), gso_size), ends: None }
    }

    /// The same where the header's end is known to be that of `transport`.
    pub fn behind(transport: Transport, header: &'a [u8], payload: &'a [u8], gso_size: Option<u16>) -> Self {
        Self { header, payload, cuts: Cuts::behind(transport, payload.len(), gso_size), ends: None }
    }

    /// Makes the next part a whole packet at the beginning of `out`, its TCP checksum completed; returns its payload's place there, `None`
    /// after the last.
    ///
    /// # Panics
    /// If `out` is shorter than the packet.
    pub fn next_packet_in(&mut self, out: &mut [u8]) -> Option<Range<usize>> {
        let (header, rest) = out.split_at_mut(self.header.len());
        header.copy_from_slice(self.header);
        let place = self.cuts.next_into(header)?;
        let len = place.len();
        let sum = copy_and_sum(&self.payload[place], &mut rest[..len]);
        self.ends.get_or_insert_with(|| Ends::of(header)).fill_for(header, len, sum);
        Some(header.len()..header.len() + len)
    }

    /// Appends the next part's header to `out` and returns its payload; `None` after the last.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> Option<&'a [u8]> {
        self.cuts.place()?;
        let begin = out.len();
        out.extend_from_slice(self.header);
        let place = self.cuts.next_into(&mut out[begin..])?;
        Some(&self.payload[place])
    }
}

/// Where the length stands in a UDP header (RFC 768).
const UDP_LENGTH_AT: usize = 4;

/// Where the control bits stand in a TCP header, and those that not every part carries.
pub(crate) const FLAGS_AT: usize = 13;
pub(crate) const FIN: u8 = 0x01;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const CWR: u8 = 0x80;

/// Changes a word of an IPv4 header, and the header checksum by as much (RFC 1624 §3): a wrong one stays wrong.
fn put_in_ipv4(header: &mut [u8], at: usize, value: u16) {
    let sum = u64::from(!get(header, 10)) + u64::from(!get(header, at)) + u64::from(value);
    put(header, at, value);
    put(header, 10, !fold(sum));
}

/// Recomputes the IPv4 header checksum.
pub(crate) fn put_ipv4_checksum(header: &mut [u8]) {
    put(header, 10, 0);
    let sum = ones_complement_sum(&header[..usize::from(header[0] & 0x0f) * 4]);
    put(header, 10, !sum);
}

pub(crate) fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;
