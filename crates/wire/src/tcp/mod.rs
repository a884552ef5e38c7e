//! TCP headers (RFC 9293 §3.1) and options.

mod fast_open;
mod options;
pub(crate) mod packet;
mod repr;

pub use fast_open::{Cookie, FastOpen, FastOpenKind, MAX_COOKIE};
pub use options::{MAX_SACK_BLOCKS, Options, SackBlocks, Timestamps};
pub use repr::{Flags, TcpRepr};

/// Reads a TCP header that fills `header`, options included, whatever carried it.
///
/// # Errors
/// Same as [`crate::parse`] for the same defects.
pub fn parse(header: &[u8]) -> Result<TcpRepr, crate::Malformed> {
    let unspecified = core::net::IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED);
    packet::parse_behind(crate::IpRepr::new(unspecified, unspecified, 0, 0), header).map(|(_, tcp)| tcp)
}
