//! The Internet checksum (RFC 1071) over a TCP segment and its pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1).

pub use crate::sum::ones_complement_sum;

use crate::Header;
use crate::ip::PROTOCOL_TCP;
use crate::sum::fold;
use crate::tcp::packet::CHECKSUM_AT;

/// Returns whether the TCP checksum of `header` + `payload` is correct; for what is not a TCP header the result is always false.
pub fn verify(header: &Header<'_>, payload: &[u8]) -> bool {
    let Ok(offset) = header.tcp_at() else { return false };
    let header = header.bytes();
    let pseudo = pseudo_header_sum(header, offset, payload.len() as u64);
    fold(pseudo + segment_sum(&header[offset..], payload)) == 0xffff
}

/// Computes and stores the TCP checksum.
///
/// # Panics
/// If `header` does not come from [`crate::emit`] (with this payload's length) and was not accepted by
/// [`crate::parse`].
pub fn fill(header: &mut [u8], payload: &[u8]) {
    Ends::of(header).fill(header, payload);
}

/// What the checksums of all segments between the same ends have in common, where headers are of one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// Where the TCP header begins.
    offset: usize,
    /// Of the pseudo-header without the segment's length.
    sum: u64,
}

impl Ends {
    /// # Panics
    /// As [`fill`].
    pub fn of(header: &[u8]) -> Self {
        let offset = offset_of_segment(header);
        Self { offset, sum: pseudo_header_sum(header, offset, 0) }
    }

    /// Computes and stores the TCP checksum of a segment between these ends.
    #[inline]
    pub fn fill(self, header: &mut [u8], payload: &[u8]) {
        self.fill_for(header, payload.len(), ones_complement_sum(payload));
    }

    /// The same for a payload of `len` bytes with this sum.
    #[inline]
    pub fn fill_for(self, header: &mut [u8], len: usize, sum: u16) {
        let Self { offset, sum: pseudo } = self;
        store(header, offset, 0);
        // The header's length is a multiple of 4, so the payload begins at an even byte.
        let of_header = u64::from(ones_complement_sum(&header[offset..]));
        store(header, offset, !fold(pseudo + len as u64 + of_header + u64::from(sum)));
    }
}

/// Stores only the pseudo-header sum (not complemented), as virtio-like devices expect it when they complete the checksum
/// themselves. For a super-segment `payload_len` is the whole length; the device corrects the sum for each part.
///
/// # Panics
/// As [`fill`].
pub fn fill_partial(header: &mut [u8], payload_len: u32) {
    let offset = offset_of_segment(header);
    store(header, offset, fold(pseudo_header_sum(header, offset, payload_len.into())));
}

/// Header and payload; the header's length is a multiple of 4, so the payload begins at an even byte.
fn segment_sum(segment_header: &[u8], payload: &[u8]) -> u64 {
    u64::from(ones_complement_sum(segment_header)) + u64::from(ones_complement_sum(payload))
}

/// Both versions sum the same fields: the addresses, the protocol number, and the length of the segment.
fn pseudo_header_sum(header: &[u8], offset: usize, payload_len: u64) -> u64 {
    let addresses = match header[0] >> 4 {
        4 => &header[12..20],
        _ => &header[8..40],
    };
    let segment_len = (header.len() - offset) as u64 + payload_len;
    u64::from(ones_complement_sum(addresses)) + u64::from(PROTOCOL_TCP) + segment_len
}

/// The same for a message of `len` bytes behind the IPv6 header that `packet` begins with (RFC 8200 §8.1).
pub(crate) fn pseudo_v6(packet: &[u8], next_header: u8, len: u64) -> u64 {
    u64::from(ones_complement_sum(&packet[8..40])) + u64::from(next_header) + len
}

/// Returns the bytes in front of the TCP header, for a header that this crate has accepted or emitted.
///
/// # Panics
/// If it is not such a header.
pub fn offset_of_segment(header: &[u8]) -> usize {
    Header::read(header).tcp_at().expect("the caller made or parsed this header")
}

fn store(header: &mut [u8], offset: usize, checksum: u16) {
    let at = offset + CHECKSUM_AT;
    header[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}
