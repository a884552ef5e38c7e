//! The ones'-complement sum that the Internet checksum is made of (RFC 1071).
//!
//! The sum depends neither on the byte order nor on the width of the words added: bulk data is added in the machine's own words
//! and converted once at the end.

/// Returns the ones'-complement sum of `bytes` as big-endian 16-bit words, an odd last byte padded with zero; not complemented.
///
/// Sums of pieces may be added, as long as every piece but the last has an even length.
#[inline]
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut halves = Halves::default();
    words.iter().for_each(|&word| halves.add(word));
    halves.sum(tail)
}

/// Copies `bytes` to `out`, which is as long, and returns their sum: once through the caches instead of twice.
///
/// # Panics
/// If `out` has another length.
#[inline]
pub(crate) fn copy_and_sum(bytes: &[u8], out: &mut [u8]) -> u16 {
    assert_eq!(bytes.len(), out.len(), "bytes, and room for them");
    let ((words, tail), (to, rest)) = (bytes.as_chunks::<8>(), out.as_chunks_mut::<8>());
    let mut halves = Halves::default();
    for (&word, to) in words.iter().zip(to) {
        *to = word;
        halves.add(word);
    }
    rest.copy_from_slice(tail);
    halves.sum(tail)
}

/// Halves of 64-bit words in two accumulators, which have room for the carries of 32 GiB. The low halves are what the high ones leave of
/// the sum of whole words, which may wrap: so no word needs a mask, and the compiler vectorises the loop.
#[derive(Clone, Copy, Default)]
struct Halves {
    whole: u64,
    high: u64,
}

impl Halves {
    #[inline(always)]
    fn add(&mut self, word: [u8; 8]) {
        let word = u64::from_ne_bytes(word);
        self.whole = self.whole.wrapping_add(word);
        self.high += word >> 32;
    }

    /// Returns the sum of the words and of less than a word behind them.
    #[inline(always)]
    fn sum(self, tail: &[u8]) -> u16 {
        let low = self.whole.wrapping_sub(self.high << 32);
        // Of most headers four bytes are left, which need no loop.
        let (half, tail) = tail.as_chunks::<4>();
        let mut sum = low + self.high + half.first().map_or(0, |&half| u64::from(u32::from_ne_bytes(half)));
        if !tail.is_empty() {
            let mut last = [0; 4];
            last[..tail.len()].copy_from_slice(tail);
            sum += u64::from(u32::from_ne_bytes(last));
        }
        u16::from_be(fold(sum))
    }
}

/// Folds a sum to 16 bits. The second step leaves at most `0x1fffe`, so the third produces no carry.
#[inline]
pub(crate) fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    ((sum & 0xffff) + (sum >> 16)) as u16
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
            let mut copy = vec![0; bytes.len()];
            prop_assert_eq!((copy_and_sum(&bytes, &mut copy), copy), (plain_sum(&bytes), bytes));
        }

        #[test]
        fn a_sum_of_whole_words_that_wraps_loses_nothing(words in 0..9_000_usize, low: u16) {
            let word = [[0xff; 6].as_slice(), &low.to_be_bytes()].concat();
            let bytes = word.repeat(words);
            prop_assert_eq!(ones_complement_sum(&bytes), plain_sum(&bytes));
        }

        #[test]
        fn a_fold_changes_nothing_modulo_the_largest_word(sum: u64) {
            prop_assert_eq!(u64::from(fold(sum)) % 0xffff, sum % 0xffff);
            prop_assert_eq!(fold(sum) == 0, sum == 0);
        }
    }
}
