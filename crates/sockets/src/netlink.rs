//! Queries to the kernel about the namespace that a script prepares, over netlink (RFC 3549) as `tc` and `ip` use it.
//!
//! Owns the framing: one request, the messages that answer it, and the attributes inside them. If the kernel does not answer, the
//! result is `None`; nothing here fails a script.

use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket};
use nix::sys::time::TimeVal;
use std::os::fd::{AsRawFd, OwnedFd};

/// Size of a message header, and of an attribute header, in bytes.
const HEADER: usize = 16;
const ATTRIBUTE: usize = 4;
/// Messages and attributes begin at multiples of this.
const ALIGNMENT: usize = 4;
/// Size of the largest datagram that the kernel sends to a reader with this buffer.
const BUFFER: usize = 32_768;

/// How long an answer may take, in real time.
const LONGEST: TimeVal = TimeVal::new(1, 0);

const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const MULTI: u16 = 2;

/// How many objects an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One object.
    One,
    /// All objects of the kind.
    All,
}

/// An open socket to one of the kernel's services.
#[derive(Debug)]
pub(crate) struct Netlink(OwnedFd);

impl Netlink {
    /// Opens a socket to `service` in this thread's network namespace.
    pub fn open(service: SockProtocol) -> Option<Self> {
        let line = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, service).ok()?;
        setsockopt(&line, ReceiveTimeout, &LONGEST).ok()?;
        Some(Self(line))
    }

    /// Sends a request of `kind` and collects the bodies of the answers; `None` if no answer comes or the answer is an error.
    pub fn ask(&self, kind: u16, wanted: Wanted, body: &[u8]) -> Option<Vec<Vec<u8>>> {
        let flags = if wanted == Wanted::All { REQUEST | DUMP } else { REQUEST };
        send(self.0.as_raw_fd(), &request(kind, flags, body), MsgFlags::empty()).ok()?;
        let (mut answers, mut buffer) = (Vec::new(), vec![0; BUFFER]);
        loop {
            let len = recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty()).ok()?;
            match take_messages(&buffer[..len], &mut answers)? {
                More::Follow => {}
                More::None => return Some(answers),
            }
        }
    }
}

/// Whether the answer continues in further datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Follow,
    None,
}

fn request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let mut message = vec![0; HEADER];
    message[..4].copy_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
    message[4..6].copy_from_slice(&kind.to_ne_bytes());
    message[6..8].copy_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(body);
    message
}

/// Adds the bodies of a datagram's messages to `answers`; `None` for an error or a malformed message.
fn take_messages(mut datagram: &[u8], answers: &mut Vec<Vec<u8>>) -> Option<More> {
    let mut more = More::None;
    while !datagram.is_empty() {
        let header: &[u8; HEADER] = datagram.first_chunk()?;
        let len = u32::from_ne_bytes(*header.first_chunk()?) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let flags = u16::from_ne_bytes([header[6], header[7]]);
        match kind {
            ERROR => return None,
            DONE => return Some(More::None),
            _ => answers.push(datagram.get(HEADER..len)?.to_vec()),
        }
        if flags & MULTI != 0 {
            more = More::Follow;
        }
        datagram = datagram.get(len.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    }
    Some(more)
}

/// An attribute, encoded for a request.
pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((ATTRIBUTE + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    bytes
}

/// The value of the first attribute of `kind` among `attributes`.
pub(crate) fn find(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let header: &[u8; ATTRIBUTE] = attributes.first_chunk()?;
        let len = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let value = attributes.get(ATTRIBUTE..len)?;
        // The two highest bits tell how a value is encoded, not which attribute it is.
        if u16::from_ne_bytes([header[2], header[3]]) & 0x3fff == kind {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(ALIGNMENT)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_behind_others_and_what_is_cut_is_not() {
        let attributes = [attribute(3, b"abcde"), attribute(1, b""), attribute(7 | 0x8000, b"xy")].concat();
        assert_eq!(find(&attributes, 3), Some(b"abcde".as_slice()));
        assert_eq!(find(&attributes, 7), Some(b"xy".as_slice()));
        assert_eq!(find(&attributes, 2), None);
        assert_eq!(find(&attributes[..attributes.len() - 4], 7), None);
        assert_eq!(find(&[0, 0, 1, 0], 1), None, "shorter than itself");
    }

    #[test]
    fn an_answer_ends_with_its_last_message_or_an_error() {
        let mut answers = Vec::new();
        let two = [request(36, MULTI, b"first"), vec![0; 3], request(36, MULTI, b"next")].concat();
        assert_eq!(take_messages(&two, &mut answers), Some(More::Follow));
        assert_eq!(take_messages(&request(DONE, MULTI, &[0; 4]), &mut answers), Some(More::None));
        assert_eq!(answers, [b"first".to_vec(), b"next".to_vec()]);
        assert_eq!(take_messages(&request(36, 0, b"only"), &mut answers), Some(More::None));
        assert_eq!(take_messages(&request(ERROR, 0, &[0; 20]), &mut answers), None);
        assert_eq!(take_messages(&two[..7], &mut answers), None);
    }
}
