//! Which connections of a capture are analysed.

use super::headers::Segment;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An address, or a network of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    address: IpAddr,
    /// How many leading bits have to be equal.
    prefix: u8,
}

impl Host {
    /// Returns whether `address` is this one, or in this network. An IPv4 address never is in an IPv6 network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let differ = match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => return false,
        };
        differ >= self.prefix.into()
    }
}

/// What is not a [`Host`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an address nor a network; write 192.0.2.7, 2001:db8::7 or 192.0.2.0/24")]
pub struct NotAHost(String);

impl FromStr for Host {
    type Err = NotAHost;
    fn from_str(text: &str) -> Result<Self, NotAHost> {
        let error = || NotAHost(text.to_owned());
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| error())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), |bits| bits.parse().map_err(|_| error()))?;
        if prefix > most { Err(error()) } else { Ok(Self { address, prefix }) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.address.is_ipv4() { 32 } else { 128 };
        if self.prefix == whole { self.address.fmt(f) } else { write!(f, "{}/{}", self.address, self.prefix) }
    }
}

/// A choice of connections: those with one of the hosts at an end, and one of the ports at an end. An empty list admits all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// Addresses and networks.
    pub hosts: Vec<Host>,
    /// TCP ports.
    pub ports: Vec<u16>,
}

impl Only {
    /// Returns whether it admits every connection.
    pub fn is_all(&self) -> bool {
        self.hosts.is_empty() && self.ports.is_empty()
    }

    #[inline]
    pub(super) fn admits(&self, segment: &Segment) -> bool {
        let ends = [segment.src, segment.dst];
        let host = || ends.iter().any(|end| self.hosts.iter().any(|host| host.contains(end.ip())));
        let port = || ends.iter().any(|end| self.ports.contains(&end.port()));
        (self.hosts.is_empty() || host()) && (self.ports.is_empty() || port())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use test_case::test_case;

    fn host(text: &str) -> Host {
        text.parse().unwrap()
    }

    #[test_case("10.0.0.1", "10.0.0.1", true; "an address")]
    #[test_case("10.0.0.1", "10.0.0.2", false; "another address")]
    #[test_case("10.0.0.0/30", "10.0.0.3", true; "the last of a network")]
    #[test_case("10.0.0.0/30", "10.0.0.4", false; "the first behind a network")]
    #[test_case("0.0.0.0/0", "192.0.2.1", true; "all of the fourth version")]
    #[test_case("0.0.0.0/0", "2001:db8::1", false; "the sixth version is another")]
    #[test_case("2001:db8::/32", "2001:db8:ff::9", true; "a network of the sixth version")]
    fn addresses_are_compared_by_their_first_bits(one: &str, address: &str, is_in: bool) {
        assert_eq!(host(one).contains(address.parse().unwrap()), is_in);
        assert_eq!(host(one).to_string(), one);
    }

    #[test_case("example.org"; "a name")]
    #[test_case("10.0.0.1/33"; "too long")]
    #[test_case("10.0.0.1/x"; "no number")]
    #[test_case("10.0.0.1:80"; "with a port")]
    fn anything_else_is_refused_with_examples(text: &str) {
        let error = text.parse::<Host>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{text}` is neither")) && error.contains("192.0.2.0/24"), "{error}");
    }

    #[test_case(&[], &[], true; "all")]
    #[test_case(&["10.0.0.2"], &[], true; "either end's address")]
    #[test_case(&["10.0.0.9", "10.0.0.1"], &[], true; "one of two addresses")]
    #[test_case(&[], &[80], true; "either end's port")]
    #[test_case(&[], &[81], false; "another port")]
    #[test_case(&["10.0.0.1"], &[80], true; "both")]
    #[test_case(&["10.0.0.1"], &[81], false; "the address alone")]
    fn a_connection_is_admitted_in_both_directions_or_in_none(hosts: &[&str], ports: &[u16], admitted: bool) {
        let only = Only { hosts: hosts.iter().map(|text| host(text)).collect(), ports: ports.to_vec() };
        assert_eq!([0, 1].map(|side| only.admits(&testing::from(side))), [admitted; 2]);
    }
}
