//! Where a client of the proxy wants to connect to, and what came of it: the vocabulary of both protocols.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The longest name of a host (RFC 1035 §2.3.4), with room for a final dot.
const NAME_MAX: usize = 254;

/// A destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its host.
    pub host: Host,
    /// Its port; not zero.
    pub port: u16,
}

/// A destination's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A name for the resolver.
    Name(String),
}

/// The protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// SOCKS version 5 (RFC 1928).
    Socks,
    /// CONNECT of HTTP/1 (RFC 9110 §9.3.6).
    Http,
}

/// Why there is no connection to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconnected {
    /// The proxy's rules forbid it.
    Forbidden,
    /// No route to the network, or no address of its IP version here.
    NetworkUnreachable,
    /// No route to the host, or no host.
    HostUnreachable,
    /// The name has no address.
    UnknownName,
    /// The host refuses.
    Refused,
    /// No answer in time.
    TimedOut,
    /// Something else.
    Failed,
}

impl Host {
    /// Reads an address, or a name of a shape that a resolver can be asked for.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse() {
            return Some(Self::Address(address));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_name = (1..=NAME_MAX).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.');
        is_name.then(|| Self::Name(text.to_owned()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

impl From<&io::Error> for Unconnected {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            // A SYN that is answered by a reset is refused, whichever word the error has for it.
            io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => Self::Refused,
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::AddrNotAvailable => Self::NetworkUnreachable,
            io::ErrorKind::HostUnreachable => Self::HostUnreachable,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("10.0.0.1", true; "version four")]
    #[test_case("fd00::1", true; "version six")]
    #[test_case("a-host.example.", true; "a name")]
    #[test_case("_service.example", true; "an underscore")]
    #[test_case("", false; "nothing")]
    #[test_case("a b", false; "a space")]
    #[test_case("a\0b", false; "a zero")]
    #[test_case("ä.example", false; "beyond ascii")]
    #[test_case(".example", false; "a dot first")]
    #[test_case("[fd00::1]", false; "brackets")]
    fn a_host_is_an_address_or_a_name_that_a_resolver_takes(text: &str, is_host: bool) {
        assert_eq!(Host::parse(text).is_some(), is_host);
    }

    #[test]
    fn a_name_is_no_longer_than_the_domain_system_allows() {
        assert!(Host::parse(&"a".repeat(254)).is_some());
        assert!(Host::parse(&"a".repeat(255)).is_none());
    }
}
