//! Initial sequence numbers (RFC 6528): a clock of one tick per 4 µs plus a keyed hash of the connection.

use crate::endpoint::{FourTuple, Numbering};
use base::{Instant, SeqNum};
use core::net::IpAddr;

/// Makes initial sequence numbers that an outsider cannot guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsnGenerator {
    secret: [u64; 2],
}

impl IsnGenerator {
    /// `secret` must be unpredictable on a real host; a simulation takes it from its seed.
    pub fn new(secret: [u64; 2]) -> Self {
        Self { secret }
    }
    //= specs/rfc6528.md#generation
    //# The initial sequence number is a clock plus a hash of addresses, ports and a secret.
    //= specs/rfc6528.md#generation
    //# The clock ticks once every four microseconds.
    //= specs/rfc9293.md#opening
    //# Initial sequence numbers follow a clock.
    /// Returns the starting numbers of a connection that opens now.
    pub fn numbering(&self, tuple: &FourTuple, now: Instant) -> Numbering {
        // Truncation is intended: the clock wraps every 4.77 hours (RFC 9293 §3.4.1).
        let clock = (now.as_nanos() / 4_000) as u32;
        let hash = self.hash(tuple);
        // The other half of the hash: timestamps reveal nothing about the sequence numbers.
        Numbering { iss: SeqNum(clock.wrapping_add(hash as u32)), ts_offset: (hash >> 32) as u32, recent: None }
    }

    //= specs/rfc6528.md#generation
    //# The hash cannot be computed from the outside.
    //= specs/rfc9293.md#opening
    //# What is added to the clock cannot be computed by somebody without the key.
    /// SipHash-2-4 (Aumasson and Bernstein) over the tuple.
    fn hash(&self, tuple: &FourTuple) -> u64 {
        sip_hash(self.secret, &words(tuple))
    }
}

/// Returns addresses and ports as words for a hash.
pub(super) fn words(tuple: &FourTuple) -> [u64; 5] {
    let address = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    };
    let (local, remote) = (address(tuple.local), address(tuple.remote));
    let ports = u64::from(tuple.local_port) << 16 | u64::from(tuple.remote_port);
    [local as u64, (local >> 64) as u64, remote as u64, (remote >> 64) as u64, ports]
}

fn sip_round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

/// SipHash-2-4 of whole words, which are taken as little-endian bytes.
pub(super) fn sip_hash(key: [u64; 2], words: &[u64]) -> u64 {
    let mut v = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let length = (words.len() as u64 * 8) << 56;
    for &word in words.iter().chain([&length]) {
        v[3] ^= word;
        sip_round(&mut v);
        sip_round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for _ in 0..4 {
        sip_round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Duration;
    use core::net::Ipv4Addr;

    //= specs/rfc6528.md#generation
    //= type=test
    //# The hash cannot be computed from the outside.
    //= specs/rfc9293.md#opening
    //= type=test
    //# What is added to the clock cannot be computed by somebody without the key.
    /// The vector of eight bytes 00..07 under the key 00..0f, from the algorithm's reference test.
    #[test]
    fn matches_the_reference_vector() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(sip_hash(key, &[0x0706_0504_0302_0100]), 0x93f5_f579_9a93_2462);
    }

    //= specs/rfc6528.md#generation
    //= type=test
    //# The initial sequence number is a clock plus a hash of addresses, ports and a secret.
    //= specs/rfc6528.md#generation
    //= type=test
    //# The clock ticks once every four microseconds.
    //= specs/rfc9293.md#opening
    //= type=test
    //# Initial sequence numbers follow a clock.
    #[test]
    fn advances_250_a_millisecond_for_one_connection_and_differs_between_connections() {
        let tuple = |port| FourTuple {
            remote_port: port,
            local_port: 80,
            remote: IpAddr::V4(Ipv4Addr::LOCALHOST),
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        let generator = IsnGenerator::new([1, 2]);
        let isn = |tuple: &FourTuple, now| generator.numbering(tuple, now).iss;
        let t = Instant::from_nanos(1_000_000_000);
        let later = isn(&tuple(1000), t + Duration::from_millis(1));
        assert_eq!(later.distance_from(isn(&tuple(1000), t)), 250);
        assert_ne!(isn(&tuple(1001), t), isn(&tuple(1000), t));
        assert_ne!(IsnGenerator::new([1, 3]).numbering(&tuple(1000), t).iss, isn(&tuple(1000), t));
    }
}
