//! CRC-32 as in IEEE 802.3 and gzip (RFC 1952 §8): reflected, polynomial 0x04C11DB7.
//!
//! Chosen for the summaries because anybody can compute it on the other side (`gzip -v`, `zlib.crc32`). Eight tables, so
//! that eight octets are taken at a time: a checksum must not be what limits a transfer.

/// A running checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut tables = [[0; 256]; 8];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][octet] = crc;
        octet += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut octet = 0;
        while octet < 256 {
            let before = tables[table - 1][octet];
            tables[table][octet] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            octet += 1;
        }
        table += 1;
    }
    tables
}

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// Takes more of the stream in.
    pub fn update(&mut self, octets: &[u8]) {
        let (eights, tail) = octets.as_chunks::<8>();
        let mut crc = self.0;
        for eight in eights {
            let [a, b, c, d, e, f, g, h] = *eight;
            let [p, q, r, s] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
            crc = 0;
            for (table, octet) in TABLES.iter().zip([h, g, f, e, s, r, q, p]) {
                crc ^= table[usize::from(octet)];
            }
        }
        for octet in tail {
            crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ octet)];
        }
        self.0 = crc;
    }

    /// The checksum of what was taken in so far.
    pub fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crc_of(octets: &[u8]) -> u32 {
        let mut crc = Crc32::default();
        crc.update(octets);
        crc.value()
    }

    #[test]
    fn matches_the_published_check_value() {
        assert_eq!(crc_of(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc_of(b""), 0);
    }

    #[test]
    fn where_the_stream_is_cut_does_not_matter() {
        let octets: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for cut in 0..40 {
            let mut crc = Crc32::default();
            crc.update(&octets[..cut]);
            crc.update(&octets[cut..]);
            assert_eq!(crc.value(), crc_of(&octets));
        }
    }
}
