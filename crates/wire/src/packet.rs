//! Converts bytes to a meaning and back.
//!
//! Length rule, for both IP versions: the length field covers exactly header and payload. Where these exceed what its 16
//! bits can say (a super-segment of a device with segmentation offload), it is zero. Nothing else is accepted or written.

use crate::ip::{self, Version};
use crate::tcp::packet as tcp_header;
use crate::{Header, IpRepr, Malformed, TcpRepr, ipv4, ipv6};
use core::net::IpAddr;

/// Maximum size of an emitted header: IPv6 without extension headers plus a full TCP header.
pub const MAX_HEADER: usize = ipv6::HEADER + tcp_header::MAX_HEADER;

/// A raw IP packet split into its header (IP and TCP, options included) and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// IP and TCP header.
    pub header: Header<'a>,
    /// TCP payload; trailing bytes beyond the IP total length are cut off.
    pub payload: &'a [u8],
}

/// Splits a packet read from a device into header and payload.
///
/// Reads no more than the split needs; [`Header::parse`] validates the rest. A super-segment is split like any other packet: its
/// length field covers all of it, or is zero if that exceeds 65,535 bytes. An ICMP message is all header: [`Header::parse`] rejects
/// it as [`Malformed::NotTcp`], and [`crate::icmp::parse`] reads it.
///
/// # Errors
/// Names the first reason why `raw` is not a TCP segment or an ICMP message in an IP packet.
#[inline]
pub fn split(raw: &[u8]) -> Result<Split<'_>, Malformed> {
    let claimed = match ip::version(raw)? {
        Version::V4 => ipv4::claimed_len(raw)?,
        Version::V6 => ipv6::claimed_len(raw)?,
    };
    let (header, payload) = Header::cut(raw.get(..claimed).ok_or(Malformed::IpLength)?)?;
    Ok(Split { header, payload })
}

/// Parses the bytes of a header: [`Header::parse`] for who has not split them from a packet.
///
/// # Errors
/// Names the first malformation; never panics.
#[inline]
pub fn parse(header: &[u8], payload_len: u32) -> Result<(IpRepr, TcpRepr), Malformed> {
    Header::read(header).parse(payload_len)
}

/// Writes the header in its canonical encoding and returns its length.
///
/// IPv4: no options, identification zero if DF is set (RFC 6864), header checksum filled in. IPv6: no extension headers, flow
/// label zero. TCP: options in the order MSS, SACK-permitted, timestamps, window scale, Fast Open, SACK, each group preceded by
/// NOPs so that 32-bit fields are aligned, Fast Open followed by them; checksum zero, for [`crate::checksum`] to fill in. SACK
/// blocks that do not fit are omitted, the last ones first: of four, three remain beside timestamps. Bytes of `out` beyond the
/// returned length are unspecified.
///
/// # Panics
/// On addresses of different versions, a code point beyond 6 bits, or a zero port.
#[inline]
pub fn emit(ip: &IpRepr, tcp: &TcpRepr, payload_len: u32, out: &mut [u8; MAX_HEADER]) -> usize {
    const V4_END: usize = ipv4::HEADER + tcp_header::MAX_HEADER;
    match (ip.src, ip.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let (fixed, rest) = out[..V4_END].split_first_chunk_mut().expect("there is room");
            let len = ipv4::HEADER + tcp_header::emit(tcp, rest.first_chunk_mut().expect("there is room"));
            ipv4::emit(ip, src, dst, payload_len.saturating_add(len as u32), fixed);
            len
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let (fixed, rest) = out.split_first_chunk_mut().expect("there is room");
            let tcp_len = tcp_header::emit(tcp, rest.first_chunk_mut().expect("there is room"));
            ipv6::emit(ip, src, dst, payload_len.saturating_add(tcp_len as u32), fixed);
            ipv6::HEADER + tcp_len
        }
        (src, dst) => panic!("a packet from {src} to {dst} is of no IP version"),
    }
}

#[cfg(test)]
pub(crate) mod tests;
