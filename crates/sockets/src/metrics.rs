//! The namespace's memory of TCP peers, which scripts flush with `ip tcp_metrics flush`: that also forgets Fast Open's cookies.
//!
//! The stack's own memory is separate from the kernel's, and the kernel does not announce a flush. So we put an entry of our own
//! there, and look for it whenever a cookie is about to be used. The entry is for an address of the loopback device: a connection
//! to ourselves that asks for a cookie creates it. An entry for the script's peer could only come from the peer, so deleting that
//! peer's entry alone goes unnoticed.

use crate::netlink::{Netlink, Wanted, attribute, find};
use libc::MSG_FASTOPEN;
use nix::sys::socket::sockopt::SendTimeout;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, setsockopt, socket,
};
use nix::sys::time::TimeVal;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::AsRawFd;

/// The address of the entry.
const MARK: Ipv4Addr = Ipv4Addr::new(127, 7, 4, 13);

/// How long the connection to ourselves may take, in real time; a firewall might drop its packets.
const LONGEST: TimeVal = TimeVal::new(0, 200_000);

/// Generic netlink: the service that knows the other services' numbers, its request, and its attributes.
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// The request for entries, the attribute with their address, and the bytes before it.
const GET: u8 = 1;
const ADDRESS_V4: u16 = 1;
const FIXED: usize = 4;

/// Detects a flush of the memory.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// The netlink socket and the service's number, once the entry exists.
    marked: Option<(Netlink, u16)>,
}

impl Metrics {
    /// Whether the memory was flushed since the last call; the first call reports no flush.
    pub fn were_flushed(&mut self) -> bool {
        let flushed = self.marked.as_ref().is_some_and(|(line, family)| is_marked(line, *family) == Some(false));
        if flushed || self.marked.is_none() {
            self.marked = mark();
        }
        flushed
    }
}

/// Creates the entry; `None` where that fails, as in a namespace that forbids data in SYNs.
fn mark() -> Option<(Netlink, u16)> {
    let line = Netlink::open(SockProtocol::NetlinkGeneric)?;
    let question = [vec![GET_FAMILY, 1, 0, 0], attribute(FAMILY_NAME, b"tcp_metrics\0")].concat();
    let answer = line.ask(CONTROL, Wanted::One, &question)?;
    let family = find(answer.first()?.get(FIXED..)?, FAMILY_ID)?;
    let family = u16::from_ne_bytes(*family.first_chunk()?);
    let listener = TcpListener::bind(SocketAddrV4::new(MARK, 0)).ok()?;
    let port = listener.local_addr().ok()?.port();
    let client = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).ok()?;
    setsockopt(&client, SendTimeout, &LONGEST).ok()?;
    let to = SockaddrIn::from(SocketAddrV4::new(MARK, port));
    sendto(client.as_raw_fd(), b"", &to, MsgFlags::from_bits_retain(MSG_FASTOPEN)).ok()?;
    (is_marked(&line, family)?).then_some((line, family))
}

/// Whether the entry exists.
fn is_marked(line: &Netlink, family: u16) -> Option<bool> {
    let entries = line.ask(family, Wanted::All, &[GET, 1, 0, 0])?;
    let ours = |entry: &Vec<u8>| entry.get(FIXED..).and_then(|rest| find(rest, ADDRESS_V4)) == Some(&MARK.octets());
    Some(entries.iter().any(ours))
}
