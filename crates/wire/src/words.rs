//! Twenty bytes as five big-endian words: the shape that the fixed IPv4 header (RFC 791 §3.1) and the fixed TCP header
//! (RFC 9293 §3.1) share.
//!
//! Headers are composed from whole words instead of field by field, so that each word is one load or one store.

/// Bytes of a fixed header.
pub(crate) const FIXED: usize = 20;

#[inline]
pub(crate) fn read(bytes: &[u8; FIXED]) -> [u32; 5] {
    let (words, _) = bytes.as_chunks::<4>();
    core::array::from_fn(|i| u32::from_be_bytes(words[i]))
}

#[inline]
pub(crate) fn write(words: [u32; 5], out: &mut [u8; FIXED]) {
    let (places, _) = out.as_chunks_mut::<4>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_be_bytes();
    }
}
