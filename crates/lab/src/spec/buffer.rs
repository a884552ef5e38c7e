//! The size of a buffer, as experiments write it: `1bdp`, `400pkt`, `64kB`.

use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use core::fmt;
use netem::Buffer;
use profiles::units::{self, Fraction};

/// A full packet, bytes.
pub(crate) const FULL_PACKET: u64 = 1_500;

/// Size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// This many bandwidth-delay products, and no less than two full packets.
    Bdp(Fraction),
    /// This many bytes of IP packets.
    Bytes(u64),
    /// This many packets.
    Packets(u32),
}

impl BufferSize {
    /// Reads the text: bandwidth-delay products, packets or bytes.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let (number, unit) = units::split_unit(text);
        let size = match unit.to_ascii_lowercase().as_str() {
            "bdp" => Fraction::parse(number).filter(|share| share.num > 0).map(Self::Bdp),
            "pkt" => number.parse().ok().filter(|packets| *packets > 0).map(Self::Packets),
            _ => units::bytes(text).ok().filter(|bytes| *bytes > 0).map(Self::Bytes),
        };
        let size = size.ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` is not a valid buffer size"),
                "write for example `1bdp`, `400pkt` or `64kB`",
            )
        })?;
        match size {
            Self::Bytes(bytes) if bytes < FULL_PACKET => Err(Refusal::of_value(
                format!("a buffer of `{text}` takes no full packet"),
                format!("write {FULL_PACKET}B or more"),
            )),
            size => Ok(size),
        }
    }
}

impl BufferSize {
    /// Returns the room of a bottleneck of this rate on a path of this round-trip time.
    pub(crate) fn room(self, rate: Rate, rtt: Duration) -> Buffer {
        match self {
            Self::Bytes(bytes) => Buffer::Bytes(bytes),
            Self::Packets(packets) => Buffer::Packets(packets),
            Self::Bdp(share) => {
                let bytes = u128::from(rate.bytes_in(rtt)) * u128::from(share.num) / u128::from(share.den);
                // A slow path carries a packet only if one has room to wait behind the one in service. A path without delay has no product.
                let least = if bytes == 0 { 0 } else { 2 * FULL_PACKET };
                Buffer::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).max(least))
            }
        }
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bdp(share) => write!(f, "{share}bdp"),
            Self::Bytes(bytes) => f.write_str(&units::show_bytes(*bytes)),
            Self::Packets(packets) => write!(f, "{packets}pkt"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_path_is_never_less_than_two_packets_and_bytes_never_less_than_one() {
        let tenth = BufferSize::parse("0.1bdp").unwrap();
        let rate = |mbit: u64| Rate::from_bits_per_sec(mbit * 1_000_000).unwrap();
        let room = |mbit: u64| tenth.room(rate(mbit), Duration::from_millis(10));
        assert_eq!((room(5), room(24), room(100)), (Buffer::Bytes(3000), Buffer::Bytes(3000), Buffer::Bytes(12_500)));
        assert_eq!(BufferSize::parse("1500B").unwrap().room(rate(1), Duration::ZERO), Buffer::Bytes(1500));
        let refused = format!("{:?}", BufferSize::parse("1499B").unwrap_err());
        assert!(refused.contains("takes no full packet") && refused.contains("1500B"), "{refused}");
    }
}
