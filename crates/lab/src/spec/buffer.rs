//! The size of a buffer, as experiments write it: `1bdp`, `400pkt`, `64kB`.

use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use core::fmt;
use netem::Buffer;
use profiles::units::{self, Fraction};

/// Size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// This many bandwidth-delay products.
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
        size.ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` is not a valid buffer size"),
                "write for example `1bdp`, `400pkt` or `64kB`",
            )
        })
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
                Buffer::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
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
