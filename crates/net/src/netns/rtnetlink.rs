//! The part of rtnetlink (RFC 3549) that a namespace needs: bringing up its loopback device, and adding a default route.
//!
//! A message is a header of 16 bytes, a fixed part, and attributes; all numbers are in the machine's byte order.

use nix::libc;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// The loopback device is the first of every namespace.
const LOOPBACK: u32 = 1;

const HEADER: usize = 16;

/// Brings the loopback device of the thread's namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    let up = (libc::IFF_UP as u32).to_ne_bytes();
    // Family and type do not matter; the index, the flags, and the mask of changed flags.
    let link = [&[0; 4][..], &LOOPBACK.to_ne_bytes(), &up, &up].concat();
    ask(libc::RTM_NEWLINK, 0, &link)
}

/// Adds a route to everywhere in the thread's namespace.
pub(super) fn add_default_route(gateway: IpAddr) -> io::Result<()> {
    let (family, bytes) = match gateway {
        IpAddr::V4(v4) => (libc::AF_INET, v4.octets().to_vec()),
        IpAddr::V6(v6) => (libc::AF_INET6, v6.octets().to_vec()),
    };
    // Lengths of both prefixes and the type of service are 0; then table, origin, scope and type.
    let (table, made_by) = (libc::RT_TABLE_MAIN, libc::RTPROT_STATIC);
    let (scope, kind) = (libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST);
    let route = [&[family as u8, 0, 0, 0, table, made_by, scope, kind][..], &[0; 4]].concat();
    let attribute = (bytes.len() + 4) as u16;
    let message = [&route[..], &attribute.to_ne_bytes(), &libc::RTA_GATEWAY.to_ne_bytes(), &bytes].concat();
    ask(libc::RTM_NEWROUTE, libc::NLM_F_CREATE, &message)
}

/// Sends one request and waits for the kernel's answer.
fn ask(kind: u16, flags: i32, body: &[u8]) -> io::Result<()> {
    let (family, protocol) = (AddressFamily::Netlink, SockProtocol::NetlinkRoute);
    let socket = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    let len = (HEADER + body.len()) as u32;
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let (number, port) = ([0; 4], [0; 4]);
    let message = [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &number, &port, body].concat();
    send(socket.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 512];
    let read = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    verdict(&answer[..read])
}

/// Returns the kernel's verdict: an error code, which is 0 on success.
fn verdict(answer: &[u8]) -> io::Result<()> {
    let bytes = answer.get(HEADER..HEADER + 4).ok_or(io::ErrorKind::UnexpectedEof)?;
    match i32::from_ne_bytes(bytes.try_into().expect("four bytes")) {
        0 => Ok(()),
        negative => Err(io::Error::from_raw_os_error(-negative)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_is_an_error_of_zero() {
        let answer = |error: i32| [&[0; HEADER][..], &error.to_ne_bytes()].concat();
        verdict(&answer(0)).unwrap();
        assert_eq!(verdict(&answer(-libc::EPERM)).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(verdict(&answer(0)[..18]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
