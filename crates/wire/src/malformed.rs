//! Why bytes are not a packet.

use core::fmt;

/// Why bytes could not be read as an IP packet that carries a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than its own headers.
    Truncated,
    /// Neither IPv4 nor IPv6.
    IpVersion,
    /// The IPv4 header length is below 20 bytes or beyond the packet.
    IpHeaderLength,
    /// The total length disagrees with what was read.
    IpLength,
    /// The IPv4 header checksum is wrong.
    IpChecksum,
    /// A fragment; the endpoint does not reassemble.
    Fragment,
    /// A protocol other than TCP.
    NotTcp,
    /// The TCP data offset is below 20 bytes or beyond the packet.
    TcpHeaderLength,
    /// An option whose length is 0, 1, wrong for its kind, or beyond the header (RFC 9293 MUST-7).
    OptionLength,
    /// A source or destination port of zero.
    ZeroPort,
}

impl Malformed {
    /// The reason as one lower-case word for counters and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::IpVersion => "ip_version",
            Self::IpHeaderLength => "ip_header_length",
            Self::IpLength => "ip_length",
            Self::IpChecksum => "ip_checksum",
            Self::Fragment => "fragment",
            Self::NotTcp => "not_tcp",
            Self::TcpHeaderLength => "tcp_header_length",
            Self::OptionLength => "option_length",
            Self::ZeroPort => "zero_port",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::error::Error for Malformed {}
