//! CRC-32 as in IEEE 802.3 and gzip (RFC 1952 §8): reflected, polynomial 0x04C11DB7.
//!
//! Chosen for the summaries because it is easy to compute on the other side (`gzip -v`, `zlib.crc32`). `crc32fast` uses the
//! processor's carry-less multiplication: a checksum must not limit a transfer.

use crc32fast::Hasher;

/// A running checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc32(u32);

impl Crc32 {
    /// Adds more bytes of the stream.
    pub fn update(&mut self, bytes: &[u8]) {
        let mut hasher = Hasher::new_with_initial(self.0);
        hasher.update(bytes);
        self.0 = hasher.finalize();
    }

    /// Returns the checksum of the bytes so far.
    pub fn value(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crc_of(bytes: &[u8]) -> u32 {
        let mut crc = Crc32::default();
        crc.update(bytes);
        crc.value()
    }

    #[test]
    fn matches_the_published_check_value() {
        assert_eq!(crc_of(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc_of(b""), 0);
    }

    #[test]
    fn where_the_stream_is_cut_does_not_matter() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for cut in 0..40 {
            let mut crc = Crc32::default();
            crc.update(&bytes[..cut]);
            crc.update(&bytes[cut..]);
            assert_eq!(crc.value(), crc_of(&bytes));
        }
    }
}
