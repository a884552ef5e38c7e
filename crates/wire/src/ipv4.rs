//! IPv4 headers (RFC 791 §3.1).
//!
//! Options are skipped (RFC 9293 MUST-50) and never written; fragments are not reassembled. Packets with DF set get
//! identification zero, as RFC 6864 §4.1 allows for packets that cannot be fragmented.

use crate::Malformed;
use crate::ip::{self, Fragmentation, IpRepr, PROTOCOL_TCP};
use crate::sum::{fold, ones_complement_sum};
use crate::words::{self, FIXED};
use core::net::{IpAddr, Ipv4Addr};

/// Bytes of a header without options.
pub(crate) const HEADER: usize = FIXED;
/// DF, in the second word; the rest of that word is zero beside it.
const DONT_FRAGMENT: u32 = 0x4000;
/// The bits of the second word that make a fragment: MF and the offset.
const FRAGMENT: u16 = 0x3fff;

//= specs/rfc9293.md#network-layer
//# Options of the IP header are passed over.
/// Which protocol the packet carries, and where that begins.
#[inline]
pub(crate) fn transport(packet: &[u8]) -> Result<(u8, usize), Malformed> {
    let fixed = packet.first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    let offset = usize::from(fixed[0] & 0x0f) * 4;
    if offset < HEADER || offset > packet.len() {
        return Err(Malformed::IpHeaderLength);
    }
    if u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENT != 0 {
        return Err(Malformed::Fragment);
    }
    Ok((fixed[9], offset))
}

/// The bytes that the header claims for the packet, header included.
#[inline]
pub(crate) fn claimed_len(raw: &[u8]) -> Result<usize, Malformed> {
    let fixed = raw.first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    let claimed = ip::claimed(u16::from_be_bytes([fixed[2], fixed[3]]), raw.len());
    if claimed < HEADER { Err(Malformed::IpLength) } else { Ok(claimed) }
}

/// Reads the IP part of `header`, which ends at `offset`, and returns the TCP part with it.
#[inline]
pub(crate) fn parse(header: &[u8], offset: usize, payload_len: u32) -> Result<(IpRepr, &[u8]), Malformed> {
    let fixed = header.first_chunk().ok_or(Malformed::Truncated)?;
    let words = words::read(fixed);
    let options = &header[HEADER..offset];
    let options_sum = if options.is_empty() { 0 } else { ones_complement_sum(options) };
    if fold(sum(&words) + u64::from(options_sum)) != 0xffff {
        return Err(Malformed::IpChecksum);
    }
    if words[0] as u16 != ip::length_field(payload_len.saturating_add(header.len() as u32)) {
        return Err(Malformed::IpLength);
    }
    let address = |word: u32| IpAddr::V4(Ipv4Addr::from_bits(word));
    let mut repr = IpRepr::new(address(words[3]), address(words[4]), (words[2] >> 24) as u8, (words[0] >> 16) as u8);
    if words[1] & DONT_FRAGMENT == 0 {
        repr.fragmentation = Fragmentation::Allowed { id: (words[1] >> 16) as u16 };
    }
    Ok((repr, &header[offset..]))
}

/// Writes the header of a packet of `total_len` bytes from `src` to `dst`.
#[inline]
pub(crate) fn emit(ip: &IpRepr, src: Ipv4Addr, dst: Ipv4Addr, total_len: u32, out: &mut [u8; HEADER]) {
    emit_for(PROTOCOL_TCP, ip, src, dst, total_len, out);
}

/// The same for a packet of `protocol`.
#[inline]
pub(crate) fn emit_for(
    protocol: u8,
    ip: &IpRepr,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    total_len: u32,
    out: &mut [u8; HEADER],
) {
    let version_and_length = 0x45 << 24 | u32::from(ip.traffic_class()) << 16 | u32::from(ip::length_field(total_len));
    let ttl_and_protocol = u32::from(ip.ttl) << 24 | u32::from(protocol) << 16;
    let fragmentation = match ip.fragmentation {
        Fragmentation::Forbidden => DONT_FRAGMENT,
        Fragmentation::Allowed { id } => u32::from(id) << 16,
    };
    let mut words = [version_and_length, fragmentation, ttl_and_protocol, src.to_bits(), dst.to_bits()];
    words[2] |= u32::from(!fold(sum(&words)));
    words::write(words, out);
}

/// Not folded yet: 2^16 equals 1 in ones'-complement arithmetic, so 32-bit words can be added directly.
#[inline]
fn sum(words: &[u32; 5]) -> u64 {
    words.iter().map(|&word| u64::from(word)).sum()
}
