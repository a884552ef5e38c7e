//! From bytes to meaning and back.

use crate::{IpRepr, Malformed, TcpRepr};

/// Octets that always suffice for an emitted header: IPv6 without extension headers plus a full TCP header.
pub const MAX_HEADER: usize = 40 + 60;

/// A raw IP packet cut into its header (IP and TCP, options included) and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// IP and TCP header.
    pub header: &'a [u8],
    /// TCP payload; trailing octets beyond the IP total length are cut off.
    pub payload: &'a [u8],
}

/// Cuts a device read into header and payload.
///
/// # Errors
/// Names the first thing that keeps `raw` from being a TCP segment in an IP packet.
pub fn split(raw: &[u8]) -> Result<Split<'_>, Malformed> {
    let _ = raw;
    Err(Malformed::Truncated)
}

/// Reads the meaning of a header whose payload has `payload_len` octets.
///
/// Unknown options are skipped (RFC 9293 MUST-6). The IPv4 header checksum is verified here; the TCP checksum is
/// [`crate::checksum::verify`]'s, because a device may have done it already. For a super-segment whose length field
/// describes one part only, the length check is left to the caller by passing the length that the header claims.
///
/// # Errors
/// Names the first malformation; never panics.
pub fn parse(header: &[u8], payload_len: u32) -> Result<(IpRepr, TcpRepr), Malformed> {
    let _ = (header, payload_len);
    Err(Malformed::Truncated)
}

/// Writes the header in its canonical encoding and returns its length.
///
/// IPv4: no options, DF set, identification zero (RFC 6864), header checksum filled. TCP: options in the order MSS,
/// SACK-permitted, timestamps, window scale, SACK, each group padded in front with NOPs so that 32-bit fields are
/// aligned; checksum zero, to be filled by [`crate::checksum`]. SACK blocks that do not fit are left out.
pub fn emit(ip: &IpRepr, tcp: &TcpRepr, payload_len: u32, out: &mut [u8; MAX_HEADER]) -> usize {
    let _ = (ip, tcp, payload_len, out);
    0
}
