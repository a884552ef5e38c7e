//! What the TCP needs of an IP header (RFC 791, RFC 8200), whichever version.

use core::net::IpAddr;

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
