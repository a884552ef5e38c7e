//! Socket addresses as C lays them out (`sockaddr_in`, `sockaddr_in6`), read and written byte by byte.

use libc::{AF_INET, AF_INET6, AF_UNSPEC};
use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Sizes of a `sockaddr_in`, of a `sockaddr_in6`, and the smallest size accepted for the latter (RFC 2133 had no scope).
const V4_LEN: usize = 16;
const V6_LEN: usize = 28;
const V6_LEAST: usize = 24;

/// The IP version of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// An address as the caller passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `AF_UNSPEC`: no address at all.
    Unspecified,
    /// An address and a port.
    Inet(SocketAddr),
    /// Of an address family unknown to this crate.
    Foreign,
}

impl Family {
    pub fn of(ip: IpAddr) -> Self {
        if ip.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// The wildcard address, which stands for every address.
    pub fn any(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::UNSPECIFIED.into(),
            Self::V6 => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// An address as a socket of this family reports it.
    pub fn shown(self, address: SocketAddr) -> SocketAddr {
        match (self, address.ip()) {
            (Self::V6, IpAddr::V4(ip)) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
            _ => address,
        }
    }
}

impl Address {
    /// Reads a `sockaddr`.
    ///
    /// # Errors
    /// `EINVAL` when it is shorter than its family requires.
    pub fn read(bytes: &[u8]) -> Result<Self, Errno> {
        let family = bytes.first_chunk().map(|family| i32::from(u16::from_ne_bytes(*family))).ok_or(Errno::EINVAL)?;
        let port = |bytes: &[u8]| u16::from_be_bytes([bytes[2], bytes[3]]);
        match family {
            AF_UNSPEC => Ok(Self::Unspecified),
            AF_INET => {
                let bytes: &[u8; V4_LEN] = bytes.first_chunk().ok_or(Errno::EINVAL)?;
                let ip = Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
                Ok(Self::Inet(SocketAddr::new(ip.into(), port(bytes))))
            }
            AF_INET6 => {
                let bytes: &[u8; V6_LEAST] = bytes.first_chunk().ok_or(Errno::EINVAL)?;
                let ip: [u8; 16] = bytes[8..].try_into().expect("24 less 8 bytes");
                Ok(Self::Inet(SocketAddr::new(Ipv6Addr::from(ip).into(), port(bytes))))
            }
            _ => Ok(Self::Foreign),
        }
    }

    /// The address, in the family of the socket; IPv6 sockets also accept IPv4 addresses, mapped (RFC 4291 §2.5.5.2), and then
    /// use IPv4.
    ///
    /// # Errors
    /// `EAFNOSUPPORT` for everything else.
    pub fn of_family(self, family: Family) -> Result<SocketAddr, Errno> {
        match self {
            Self::Inet(address) if Family::of(address.ip()) == family => {
                Ok(SocketAddr::new(address.ip().to_canonical(), address.port()))
            }
            _ => Err(Errno::EAFNOSUPPORT),
        }
    }
}

/// The `sockaddr` of an address.
pub(crate) fn encode(address: SocketAddr) -> Vec<u8> {
    let (family, len) = if address.is_ipv4() { (AF_INET, V4_LEN) } else { (AF_INET6, V6_LEN) };
    let mut bytes = vec![0; len];
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    match address.ip() {
        IpAddr::V4(ip) => bytes[4..8].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => bytes[8..24].copy_from_slice(&ip.octets()),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("192.0.2.1:80"; "version 4")]
    #[test_case("[2001:db8::7]:65535"; "version 6")]
    fn what_was_written_reads_the_same(text: &str) {
        let address: SocketAddr = text.parse().unwrap();
        let bytes = encode(address);
        assert_eq!(Address::read(&bytes), Ok(Address::Inet(address)));
        assert_eq!(Address::read(&bytes[..12]), Err(Errno::EINVAL));
        assert_eq!(Address::Inet(address).of_family(Family::of(address.ip())), Ok(address));
    }

    #[test]
    fn families_are_distinguished() {
        assert_eq!(Address::read(&[0; 16]), Ok(Address::Unspecified));
        assert_eq!(Address::read(&[1; 16]), Ok(Address::Foreign));
        assert_eq!(Address::read(&[2]), Err(Errno::EINVAL));
        let v4: SocketAddr = "192.0.2.1:80".parse().unwrap();
        assert_eq!(Address::Inet(v4).of_family(Family::V6), Err(Errno::EAFNOSUPPORT));
        let mapped = Family::V6.shown(v4);
        assert_eq!((mapped.to_string().as_str(), Family::V4.shown(v4)), ("[::ffff:192.0.2.1]:80", v4));
        assert_eq!(Address::Inet(mapped).of_family(Family::V6), Ok(v4));
    }
}
