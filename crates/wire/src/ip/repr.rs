//! What TCP needs from an IP header (RFC 791, RFC 8200), of either version, and the rules that both versions share.
//!
//! Deviation: a length field of zero is accepted, and written, for a super-segment of more than 65,535 bytes, because
//! devices with segmentation offload exchange such packets with their host. On a link it never occurs.

use core::net::IpAddr;

/// TCP's protocol and next-header number.
pub(crate) const PROTOCOL_TCP: u8 = 6;
/// UDP's (RFC 768).
pub(crate) const PROTOCOL_UDP: u8 = 17;
/// ICMP's, which differs between the versions.
pub(crate) const PROTOCOL_ICMPV4: u8 = 1;
pub(crate) const PROTOCOL_ICMPV6: u8 = 58;

/// The meaning of an IPv4 or IPv6 header in front of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpRepr {
    /// Source; of the same version as `dst`.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Differentiated-services code point, 6 bits.
    pub dscp: u8,
    /// Congestion notification.
    pub ecn: Ecn,
    /// Whether routers may fragment the packet; never for IPv6 (RFC 8200 §5).
    pub fragmentation: Fragmentation,
}

/// The DF bit of an IPv4 header, and the identification that goes with it (RFC 791 §3.1, RFC 6864 §4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fragmentation {
    /// DF is set. The identification is then meaningless, and written as zero.
    #[default]
    Forbidden,
    /// DF is clear: the identification distinguishes fragments of one packet from another's.
    Allowed {
        /// Unique among the packets that may be in flight to the same destination.
        id: u16,
    },
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(1).
    Ect1,
    /// ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Takes the two low bits of the traffic class; ignores the others.
    #[inline]
    pub(crate) const fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

impl IpRepr {
    /// Combines the fields; `traffic_class` holds DSCP and ECN in the order of both versions.
    #[inline]
    pub(crate) fn new(src: IpAddr, dst: IpAddr, ttl: u8, traffic_class: u8) -> Self {
        let (dscp, ecn) = (traffic_class >> 2, Ecn::from_bits(traffic_class));
        Self { src, dst, ttl, dscp, ecn, fragmentation: Fragmentation::Forbidden }
    }

    /// DSCP and ECN in one byte.
    #[inline]
    pub(crate) fn traffic_class(&self) -> u8 {
        assert!(self.dscp < 64, "a code point has 6 bits");
        self.dscp << 2 | self.ecn as u8
    }
}

/// Returns the value of a length field for `bytes`: their number, or zero if that does not fit.
#[inline]
pub(crate) fn length_field(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or(0)
}

/// Returns how many of `available` bytes a length field claims.
#[inline]
pub(crate) fn claimed(field: u16, available: usize) -> usize {
    if field == 0 && available > usize::from(u16::MAX) { available } else { usize::from(field) }
}
