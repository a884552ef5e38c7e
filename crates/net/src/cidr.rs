//! An address and the length of its network prefix, as `10.9.0.2/24` (RFC 4632 §3.1, RFC 4291 §2.3).
//!
//! The address belongs to our stack. The kernel needs another one on the device, in the same network: it gets the first host
//! address, or the second if ours is the first.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address inside a network that also has room for the kernel's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a [`Cidr`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CidrError {
    /// Not `ADDRESS/PREFIX`.
    #[error("`{0}` is not ADDRESS/PREFIX, like 10.9.0.2/24 or fd09::2/64")]
    Syntax(String),
    /// More bits than the address has, or so many that no room for a second address is left.
    #[error("a prefix of {prefix} bits leaves no room for the kernel's own address; at most {max} do")]
    NoRoom {
        /// The given length.
        prefix: u8,
        /// The longest prefix that works.
        max: u8,
    },
    /// Not a host's address: unspecified, multicast, or the network's own or broadcast address.
    #[error("{0} is not an address that a host can have in this network")]
    NotAHost(IpAddr),
}

impl Cidr {
    /// An address and its prefix length in bits.
    ///
    /// # Errors
    /// If the address is not a host's, or the network has no second one.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Self, CidrError> {
        let max = bits(address) - 2;
        if prefix > max {
            return Err(CidrError::NoRoom { prefix, max });
        }
        let cidr = Self { address, prefix };
        let is_broadcast = address.is_ipv4() && cidr.host_part() == low_bits(32 - prefix);
        if address.is_unspecified() || address.is_multicast() || cidr.host_part() == 0 || is_broadcast {
            return Err(CidrError::NotAHost(address));
        }
        Ok(cidr)
    }

    /// Our address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Length of the network prefix, bits.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// The kernel's address on the device.
    pub fn kernel_address(&self) -> IpAddr {
        let network = to_bits(self.address) & !low_bits(bits(self.address) - self.prefix);
        let host = if self.host_part() == 1 { 2 } else { 1 };
        match self.address {
            IpAddr::V4(_) => Ipv4Addr::from_bits((network | host) as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(network | host).into(),
        }
    }

    fn host_part(&self) -> u128 {
        to_bits(self.address) & low_bits(bits(self.address) - self.prefix)
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let parsed = text
            .split_once('/')
            .and_then(|(address, prefix)| Some((address.parse::<IpAddr>().ok()?, prefix.parse::<u8>().ok()?)));
        let (address, prefix) = parsed.ok_or_else(|| CidrError::Syntax(text.to_owned()))?;
        Self::new(address, prefix)
    }
}

impl std::fmt::Display for Cidr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

const fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

const fn to_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_bits() as u128,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// `count` ones.
const fn low_bits(count: u8) -> u128 {
    match 1u128.checked_shl(count as u32) {
        Some(beyond) => beyond - 1,
        None => u128::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("10.9.0.2/24" => "10.9.0.1"; "the first host address")]
    #[test_case("10.9.0.1/24" => "10.9.0.2"; "the second when ours is the first")]
    #[test_case("10.9.7.200/16" => "10.9.0.1"; "in the network, not beside the address")]
    #[test_case("192.0.2.2/30" => "192.0.2.1"; "the smallest network")]
    #[test_case("fd09::2/64" => "fd09::1"; "version six")]
    #[test_case("fd09::1/126" => "fd09::2"; "version six, smallest")]
    #[test_case("64.0.0.2/0" => "0.0.0.1"; "no prefix at all")]
    fn kernel_address(text: &str) -> String {
        text.parse::<Cidr>().unwrap().kernel_address().to_string()
    }

    #[test_case("10.9.0.2"; "no prefix")]
    #[test_case("10.9.0.2/x"; "no number")]
    #[test_case("10.9.0/24"; "no address")]
    #[test_case("10.9.0.2/31"; "no room")]
    #[test_case("10.9.0.2/33"; "more bits than there are")]
    #[test_case("10.9.0.0/24"; "the network itself")]
    #[test_case("10.9.0.255/24"; "broadcast")]
    #[test_case("224.0.0.2/24"; "multicast")]
    #[test_case("fd09::/64"; "the anycast address of routers")]
    fn is_refused(text: &str) {
        text.parse::<Cidr>().unwrap_err();
    }

    #[test]
    fn text_goes_there_and_back() {
        assert_eq!("fd09::2/64".parse::<Cidr>().unwrap().to_string(), "fd09::2/64");
    }
}
