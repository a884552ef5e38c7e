//! Packets as bytes: a script's packet in wire format, and a view of live packets.
//!
//! Headers are deliberately read and written here instead of with the `wire` crate: a script's packet must be able to be wrong in
//! every way a script can express, and a stack must not be checked against its own parser.

mod build;
mod icmp;
mod live;
mod show;

pub use build::{Addresses, reset, tcp};
pub use icmp::{icmp, icmp_names};
pub use live::{Ip, Live};
pub use show::spec;

/// The Internet checksum (RFC 1071) of several pieces, each of which but the last has an even length.
pub fn checksum(pieces: &[&[u8]]) -> u16 {
    let mut sum: u64 = 0;
    for piece in pieces {
        for pair in piece.chunks(2) {
            sum += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
        }
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests;
