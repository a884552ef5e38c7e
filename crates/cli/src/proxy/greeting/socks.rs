//! The messages of SOCKS version 5 (RFC 1928), and of its user names and passwords (RFC 1929): read from the start of a buffer,
//! each of them at most 513 bytes long, and written.

use super::credentials::Credentials;
use crate::proxy::target::{Host, Target, Unconnected};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The version of all messages but those of RFC 1929.
pub const VERSION: u8 = 5;
/// The version of RFC 1929's messages.
const LOGIN_VERSION: u8 = 1;

/// RFC 1928 §3: the ways to authenticate.
const NO_AUTHENTICATION: u8 = 0;
const LOGIN: u8 = 2;
const NONE_ACCEPTABLE: u8 = 0xff;

/// RFC 1928 §4: the one command that is served, and the forms of addresses.
const CONNECT: u8 = 1;
const V4: u8 = 1;
const NAME: u8 = 3;
const V6: u8 = 4;

/// RFC 1928 §6: the replies that concern the request itself.
const SUCCEEDED: u8 = 0;
const FAILED: u8 = 1;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_TYPE_NOT_SUPPORTED: u8 = 8;

/// A message that can be served, or the last reply and its reason.
pub type Read<T> = Result<T, Refusal>;

/// A reply after which the connection closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The bytes; there may be none.
    pub reply: Vec<u8>,
    /// For the operator.
    pub why: &'static str,
}

impl Refusal {
    fn new(reply: &[u8], why: &'static str) -> Self {
        Self { reply: reply.to_vec(), why }
    }
}

/// Reads which ways to authenticate a client offers, and chooses. Returns the length of the message and the answer; `None` until all
/// of it is there.
pub fn methods(bytes: &[u8], wants_login: bool) -> Option<Read<(usize, [u8; 2])>> {
    let (&[_, count], rest) = bytes.split_first_chunk::<2>()?;
    let offered = rest.get(..count.into())?;
    let method = if wants_login { LOGIN } else { NO_AUTHENTICATION };
    Some(if offered.contains(&method) {
        Ok((2 + offered.len(), [VERSION, method]))
    } else {
        let why = if wants_login { "the client offers no user name" } else { "the client insists on authentication" };
        Err(Refusal::new(&[VERSION, NONE_ACCEPTABLE], why))
    })
}

/// Reads a user name and a password and compares them.
pub fn login(bytes: &[u8], wanted: &Credentials) -> Option<Read<(usize, [u8; 2])>> {
    let (&[version, user_len], rest) = bytes.split_first_chunk::<2>()?;
    if version != LOGIN_VERSION {
        return Some(Err(Refusal::new(&[LOGIN_VERSION, FAILED], "malformed user name and password")));
    }
    let (user, rest) = rest.split_at_checked(user_len.into())?;
    let (&password_len, rest) = rest.split_first()?;
    let password = rest.get(..password_len.into())?;
    Some(if wanted.are(user, password) {
        Ok((3 + user.len() + password.len(), [LOGIN_VERSION, SUCCEEDED]))
    } else {
        Err(Refusal::new(&[LOGIN_VERSION, FAILED], "wrong user name or password"))
    })
}

/// Reads a request and returns its length and its destination.
pub fn request(bytes: &[u8]) -> Option<Read<(usize, Target)>> {
    let (&[version, command, _, form], rest) = bytes.split_first_chunk::<4>()?;
    let refuse = |code, why| Some(Err(Refusal::new(&reply(code, None), why)));
    if version != VERSION {
        return refuse(FAILED, "malformed request");
    }
    if command != CONNECT {
        return refuse(COMMAND_NOT_SUPPORTED, "a command other than CONNECT");
    }
    let (host, rest, len) = match form {
        V4 => {
            let (address, rest) = rest.split_first_chunk::<4>()?;
            (Some(Host::Address(Ipv4Addr::from(*address).into())), rest, 4)
        }
        V6 => {
            let (address, rest) = rest.split_first_chunk::<16>()?;
            (Some(Host::Address(Ipv6Addr::from(*address).into())), rest, 16)
        }
        NAME => {
            let (&len, rest) = rest.split_first()?;
            let (name, rest) = rest.split_at_checked(len.into())?;
            (std::str::from_utf8(name).ok().and_then(Host::parse), rest, 1 + name.len())
        }
        _ => return refuse(ADDRESS_TYPE_NOT_SUPPORTED, "an unknown form of address"),
    };
    let port = u16::from_be_bytes(*rest.first_chunk::<2>()?);
    match host {
        Some(host) if port != 0 => Some(Ok((4 + len + 2, Target { host, port }))),
        _ => refuse(FAILED, "a destination that cannot be"),
    }
}

/// The reply to a request whose connection is open, with the address that it has on this side.
pub fn connected(local: SocketAddr) -> Vec<u8> {
    reply(SUCCEEDED, Some(local))
}

/// The reply to a request that came to nothing.
pub fn unconnected(why: Unconnected) -> Vec<u8> {
    let code = match why {
        Unconnected::Failed => FAILED,
        Unconnected::Forbidden => 2,
        Unconnected::NetworkUnreachable => 3,
        Unconnected::HostUnreachable | Unconnected::UnknownName | Unconnected::TimedOut => 4,
        Unconnected::Refused => 5,
    };
    reply(code, None)
}

fn reply(code: u8, bound: Option<SocketAddr>) -> Vec<u8> {
    let bound = bound.unwrap_or(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    let mut bytes = vec![VERSION, code, 0];
    match bound.ip() {
        IpAddr::V4(address) => {
            bytes.push(V4);
            bytes.extend(address.octets());
        }
        IpAddr::V6(address) => {
            bytes.push(V6);
            bytes.extend(address.octets());
        }
    }
    bytes.extend(bound.port().to_be_bytes());
    bytes
}
