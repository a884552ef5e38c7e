//! The Internet checksum (RFC 1071) over a TCP segment and its pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1).
//!
//! A ones'-complement sum does not care in which byte order, nor in words of which width, it is taken: bulk data is added
//! in the machine's own words and put in order once at the end.

use crate::ip::{self, PROTOCOL_TCP};
use crate::tcp::packet::CHECKSUM_AT;

/// Whether the TCP checksum of `header` + `payload` is right.
///
/// `header` is one that [`crate::parse`] accepted; of bytes that are not a TCP header the checksum is never right.
pub fn verify(header: &[u8], payload: &[u8]) -> bool {
    let Ok(offset) = ip::tcp_offset(header) else { return false };
    let pseudo = pseudo_header_sum(header, offset, payload.len() as u64);
    fold(pseudo + segment_sum(&header[offset..], payload)) == 0xffff
}

/// Computes and stores the TCP checksum.
///
/// # Panics
/// When `header` does not come from [`crate::emit`] (with this payload's length) or was not accepted by
/// [`crate::parse`].
pub fn fill(header: &mut [u8], payload: &[u8]) {
    let offset = offset_of_segment(header);
    store(header, offset, 0);
    let pseudo = pseudo_header_sum(header, offset, payload.len() as u64);
    store(header, offset, !fold(pseudo + segment_sum(&header[offset..], payload)));
}

/// Stores the pseudo-header sum only (not complemented), as virtio-like devices want it when they finish the checksum
/// themselves. For a super-segment `payload_len` is the whole length; the device corrects the sum for each part.
///
/// # Panics
/// As [`fill`].
pub fn fill_partial(header: &mut [u8], payload_len: u32) {
    let offset = offset_of_segment(header);
    store(header, offset, fold(pseudo_header_sum(header, offset, payload_len.into())));
}

/// The ones'-complement sum of `bytes` as big-endian 16-bit words, an odd last byte padded with zero; not complemented.
///
/// Sums of pieces may be added, as long as every piece but the last has an even length.
#[inline]
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    // Words of 32 bits in an accumulator of 64 leave room for the carries of 16 GiB, and the compiler adds several side
    // by side; words of 64 bits would need the carry after each.
    let (words, tail) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum();
    if !tail.is_empty() {
        let mut last = [0; 4];
        last[..tail.len()].copy_from_slice(tail);
        sum += u64::from(u32::from_ne_bytes(last));
    }
    u16::from_be(fold(sum))
}

/// Brings a sum down to 16 bits. The second step leaves at most `0x1fffe`, so the third carries into nothing.
#[inline]
pub(crate) fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// Header and payload; the header's length is a multiple of 4, so the payload begins at an even byte.
fn segment_sum(segment_header: &[u8], payload: &[u8]) -> u64 {
    u64::from(ones_complement_sum(segment_header)) + u64::from(ones_complement_sum(payload))
}

/// Both versions add the same things up: the addresses, the protocol number, and the length of the segment.
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

/// Bytes in front of the TCP header, of a header that this crate has accepted or emitted.
///
/// # Panics
/// When it is not such a header.
pub fn offset_of_segment(header: &[u8]) -> usize {
    ip::tcp_offset(header).expect("the caller made or parsed this header")
}

fn store(header: &mut [u8], offset: usize, checksum: u16) {
    let at = offset + CHECKSUM_AT;
    header[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use test_case::test_case;

    #[test_case(&[], 0; "nothing")]
    #[test_case(&[0x12], 0x1200; "an odd byte is the high half")]
    #[test_case(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0xddf2; "the example of RFC 1071 section 3")]
    #[test_case(&[0xff, 0xff, 0x00, 0x01], 0x0001; "the carry comes back")]
    #[test_case(&[0xff, 0xff, 0xff, 0xff], 0xffff; "minus zero stays minus zero")]
    #[test_case(&[0xff, 0xff, 0xff, 0xff, 0x01], 0x0100; "an odd byte behind a whole word")]
    #[test_case(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 0xff00; "three bytes behind a whole word")]
    fn sum_of(bytes: &[u8], expected: u16) {
        assert_eq!(ones_complement_sum(bytes), expected);
    }

    #[test_case(0, 0)]
    #[test_case(0xffff, 0xffff)]
    #[test_case(0x1_0000, 1)]
    #[test_case(0xffff_ffff, 0xffff)]
    #[test_case(0x1_0000_0000, 1)]
    #[test_case(u64::MAX, 0xffff; "every carry at once")]
    #[test_case(0xffff_ffff_ffff_fffe, 0xfffe; "all ones less one")]
    #[test_case(0x1_ffff_fffe, 0xffff; "the most that the second step leaves")]
    fn folded(sum: u64, expected: u16) {
        assert_eq!(fold(sum), expected);
    }

    /// The definition, word by word.
    fn plain_sum(bytes: &[u8]) -> u16 {
        let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low)));
        words.fold(0, |sum, word| (sum + word) % 0x1_0000 + (sum + word) / 0x1_0000) as u16
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_the_definition(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(ones_complement_sum(&bytes), plain_sum(&bytes));
        }

        #[test]
        fn a_fold_changes_nothing_modulo_the_largest_word(sum: u64) {
            prop_assert_eq!(u64::from(fold(sum)) % 0xffff, sum % 0xffff);
            prop_assert_eq!(fold(sum) == 0, sum == 0);
        }
    }
}
