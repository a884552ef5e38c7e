//! Payload, either as bytes or as a description: a position-coded stream, so that the simulator moves no bytes and still
//! checks every one.
//!
//! The byte at stream offset `n` is a fixed, well-mixed function of `n`. A stream that lost, gained or repeated a single byte
//! therefore disagrees with its positions almost everywhere after the error. No RFC covers this.

/// The bytes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// `len` bytes of the position-coded stream, the first of them at stream offset `offset`.
    Pattern {
        /// Bytes of the stream before the first one.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
}

impl Payload<'_> {
    /// Number of bytes.
    #[inline]
    pub const fn len(&self) -> u32 {
        match *self {
            Self::Bytes(bytes) => bytes.len() as u32,
            Self::Pattern { len, .. } => len,
        }
    }
    /// Whether the pattern is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Drops the first `n` bytes, or all if there are fewer.
    #[inline]
    pub fn trim_front(&mut self, n: u32) {
        let n = n.min(self.len());
        match self {
            Self::Bytes(bytes) => *bytes = &bytes[n as usize..],
            Self::Pattern { offset, len } => {
                *offset += u64::from(n);
                *len -= n;
            }
        }
    }
    /// Drops everything after the first `n` bytes.
    #[inline]
    pub fn truncate(&mut self, n: u32) {
        let n = n.min(self.len());
        match self {
            Self::Bytes(bytes) => *bytes = &bytes[..n as usize],
            Self::Pattern { len, .. } => *len = n,
        }
    }
}

/// Bytes made from one mixing step.
const WORD: usize = 8;

/// The eight bytes at stream offsets `8 * index` and up (the mixing step of SplitMix64).
#[inline]
const fn word(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The byte of the stream at `offset`.
#[inline]
pub const fn pattern_byte(offset: u64) -> u8 {
    word(offset / WORD as u64).to_le_bytes()[(offset % WORD as u64) as usize]
}

/// Bytes from `offset` to the next whole word, at most `len`.
fn head_len(offset: u64, len: usize) -> usize {
    ((WORD as u64 - offset % WORD as u64) as usize % WORD).min(len)
}

/// Writes the bytes of the stream, starting at `offset`.
pub fn fill_pattern(offset: u64, out: &mut [u8]) {
    let (head, body) = out.split_at_mut(head_len(offset, out.len()));
    for (byte, at) in head.iter_mut().zip(offset..) {
        *byte = pattern_byte(at);
    }
    let (words, tail) = body.as_chunks_mut::<WORD>();
    let mut index = offset.div_ceil(WORD as u64);
    for chunk in words {
        *chunk = word(index).to_le_bytes();
        index += 1;
    }
    tail.copy_from_slice(&word(index).to_le_bytes()[..tail.len()]);
}

/// Returns how many of `bytes` differ from the stream at `offset`; compares whole words as long as they agree.
pub(crate) fn pattern_mismatches(offset: u64, bytes: &[u8]) -> u32 {
    let (head, body) = bytes.split_at(head_len(offset, bytes.len()));
    let (words, tail) = body.as_chunks::<WORD>();
    let mut index = offset.div_ceil(WORD as u64);
    let mut wrong = differing(head, offset);
    for chunk in words {
        if u64::from_le_bytes(*chunk) != word(index) {
            wrong += differing(chunk, index * WORD as u64);
        }
        index += 1;
    }
    wrong + differing(tail, index * WORD as u64)
}

/// Returns how many of a few bytes differ from the stream at `offset`.
fn differing(bytes: &[u8], offset: u64) -> u32 {
    bytes.iter().zip(offset..).filter(|&(&byte, at)| byte != pattern_byte(at)).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(offset: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        fill_pattern(offset, &mut out);
        out
    }

    #[test]
    fn the_stream_is_frozen() {
        assert_eq!(bytes(0, 8), 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
    }

    #[test]
    fn a_shifted_stream_disagrees_almost_everywhere() {
        let stream = bytes(1_000, 4_096);
        for shift in [1, 2, 7, 8, 9, 64, 1448, 1 << 16, 1 << 32] {
            let wrong = pattern_mismatches(1_000 + shift, &stream);
            assert!(wrong > 4_000, "only {wrong} of 4096 bytes notice a shift by {shift}");
        }
    }

    #[test]
    fn trimming_a_description_moves_its_offset() {
        let mut payload = Payload::Pattern { offset: 100, len: 50 };
        payload.trim_front(20);
        payload.truncate(10);
        assert_eq!(payload, Payload::Pattern { offset: 120, len: 10 });
        payload.trim_front(99);
        assert!(payload.is_empty());
    }

    proptest! {
        #[test]
        fn filling_agrees_with_single_bytes_at_any_alignment(offset in 0u64..(1 << 40), len in 0usize..100) {
            let single: Vec<u8> = (offset..).take(len).map(pattern_byte).collect();
            prop_assert_eq!(&bytes(offset, len), &single);
            prop_assert_eq!(pattern_mismatches(offset, &single), 0);
        }

        #[test]
        fn every_wrong_byte_is_counted(offset in 0u64..1_000, len in 1usize..100, wrong in proptest::collection::btree_set(0usize..100, 0..5)) {
            let mut stream = bytes(offset, len);
            let wrong: Vec<usize> = wrong.into_iter().filter(|&at| at < len).collect();
            for &at in &wrong {
                stream[at] ^= 0x40;
            }
            prop_assert_eq!(pattern_mismatches(offset, &stream), wrong.len() as u32);
        }

        #[test]
        fn bytes_and_descriptions_are_cut_alike(len in 0u32..100, front in 0u32..120, keep in 0u32..120) {
            let stream = bytes(7, len as usize);
            let (mut real, mut described) = (Payload::Bytes(&stream), Payload::Pattern { offset: 7, len });
            for payload in [&mut real, &mut described] {
                payload.trim_front(front);
                payload.truncate(keep);
            }
            prop_assert_eq!(real.len(), described.len());
            if let (Payload::Bytes(left), Payload::Pattern { offset, .. }) = (real, described) {
                prop_assert_eq!(pattern_mismatches(offset, left), 0);
            }
        }
    }
}
