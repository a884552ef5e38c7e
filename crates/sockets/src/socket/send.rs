//! `write` and the like, as one attempt.

use super::{Socket, State};
use crate::host::Host;
use libc::{MSG_EOR, MSG_MORE, MSG_OOB, MSG_ZEROCOPY, SO_ZEROCOPY, SOL_SOCKET};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::{Boundary, Source};

/// Most buffers to which one packet refers (`MAX_SKB_FRAGS`).
const BUFFERS_OF_A_PACKET: usize = 17;

/// Progress of a sending call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sending {
    /// Bytes that the buffer has accepted.
    pub len: usize,
    /// An attempt found too little room. A waiting writer is not woken for every byte.
    pub waited: bool,
}

impl Host {
    /// One attempt to send what `pieces` hold after the bytes that earlier attempts have sent.
    ///
    /// # Errors
    /// `EAGAIN` until everything fits; `EPIPE`, and the connection's error, once.
    pub fn send(&mut self, fd: RawFd, pieces: &[&[u8]], flags: i32, sending: &mut Sending) -> Result<usize, Errno> {
        let socket = self.socket_mut(fd)?;
        let lends = socket.settings.options.is_on(SOL_SOCKET, SO_ZEROCOPY);
        let accepted = matches!(socket.state, State::Connected(_));
        let conn = match socket.state {
            // A caller that sends with an address opens the connection first.
            State::Fresh | State::Listening(_) | State::Deferred(_) => {
                return socket.take_error().and(Err(Errno::EPIPE));
            }
            State::Connecting(conn) | State::Connected(conn) => conn,
        };
        match self.stack.endpoint(conn).map(tcp::Endpoint::state) {
            // A connection accepted before its handshake completed (RFC 7413) can be written to at once.
            Some(tcp::State::SynReceived) if accepted => {}
            Some(tcp::State::SynSent | tcp::State::SynReceived) => return Err(Errno::EAGAIN),
            // Errors reported by the network (IP_RECVERR) come first.
            Some(tcp::State::Established | tcp::State::CloseWait) if sending.len == 0 => {
                self.socket_mut(fd)?.take_error()?;
            }
            Some(tcp::State::Established | tcp::State::CloseWait) => {}
            // The call returns what was accepted; the next call reports the error.
            _ if sending.len > 0 => return Ok(sending.len),
            _ => return self.socket_mut(fd)?.take_error().and(Err(Errno::EPIPE)),
        }
        let (stack, mut cx) = self.stack_and_cx();
        if sending.waited && !stack.poll_writable(&mut cx, conn) {
            return Err(Errno::EAGAIN);
        }
        let lends = flags & MSG_ZEROCOPY != 0 && lends;
        let mut at = 0;
        for (number, write) in writes(pieces, lends).into_iter().enumerate() {
            let rest = &write.bytes[sending.len.saturating_sub(at).min(write.bytes.len())..];
            at += write.bytes.len();
            if rest.is_empty() && number > 0 {
                continue;
            }
            let boundary = if write.is_last { boundary(flags) } else { Boundary::Record };
            let (stack, mut cx) = self.stack_and_cx();
            let taken = match flags & MSG_OOB {
                0 => stack.write_with(&mut cx, conn, Source::Bytes(rest), boundary).map(|taken| taken as usize),
                _ => stack.write_urgent(&mut cx, conn, rest),
            };
            let taken = taken.map_err(|_| Errno::EPIPE)?;
            sending.len += taken;
            self.socket_mut(fd)?.reports.wrote(taken);
            if taken < rest.len() {
                sending.waited = true;
                return Err(Errno::EAGAIN);
            }
        }
        Ok(sending.len)
    }

    /// Sends what callers wrote directly to sockets' descriptors, not through the interface.
    pub fn send_what_others_wrote(&mut self) {
        let connected = |socket: &&mut Socket| matches!(socket.state, State::Connected(_));
        let taken = |socket: &mut Socket| (socket.descriptor.fd(), socket.descriptor.take_written());
        let written: Vec<_> = self.sockets.values_mut().filter(connected).map(taken).collect();
        for (fd, bytes) in written.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
            // The caller already has its return value; what does not fit is lost.
            let _ = self.send(fd, &[&bytes], 0, &mut Sending::default());
        }
    }

    /// A sending call ends after the connection accepted some of its bytes: notes what to report about it later.
    pub fn watch_sent(&mut self, fd: RawFd, flags: i32) {
        let Some(socket) = self.sockets.get_mut(&fd) else { return };
        let options = &socket.settings.options;
        if flags & MSG_ZEROCOPY != 0 && options.is_on(SOL_SOCKET, SO_ZEROCOPY) {
            socket.reports.lend();
        }
        socket.reports.stamp(options.timestamping());
    }
}

/// A part of a call that is one write.
struct Write {
    bytes: Vec<u8>,
    is_last: bool,
}

/// One call is one write, whatever its buffers, unless it lends them: a packet refers to a limited number of buffers.
fn writes(pieces: &[&[u8]], lends: bool) -> Vec<Write> {
    let filled: Vec<&[u8]> = pieces.iter().copied().filter(|piece| !piece.is_empty()).collect();
    let size = if lends { BUFFERS_OF_A_PACKET } else { filled.len().max(1) };
    let mut writes: Vec<Write> =
        filled.chunks(size).map(|pieces| Write { bytes: pieces.concat(), is_last: false }).collect();
    if writes.is_empty() {
        writes.push(Write { bytes: Vec::new(), is_last: false });
    }
    if let Some(last) = writes.last_mut() {
        last.is_last = true;
    }
    writes
}

/// What the flags of a call say about its end. A record that is to continue still ends here.
fn boundary(flags: i32) -> Boundary {
    match (flags & MSG_EOR != 0, flags & MSG_MORE != 0) {
        (true, _) => Boundary::Record,
        (false, true) => Boundary::More,
        (false, false) => Boundary::None,
    }
}
