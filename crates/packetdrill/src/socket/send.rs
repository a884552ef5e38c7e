//! `write` and its kin, as one attempt.

use super::State;
use crate::host::Host;
use libc::{MSG_EOR, MSG_MORE, MSG_OOB};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::Boundary;

/// How far a sending call has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sending {
    /// Octets that the buffer has taken.
    pub len: usize,
    /// An attempt has found too little room. A writer that waits is not woken for every octet.
    pub waited: bool,
}

impl Host {
    /// One attempt to send what `pieces` hold behind the octets that earlier attempts have brought under.
    ///
    /// # Errors
    /// `EAGAIN` until everything has found room; `EPIPE`, and the connection's error, once.
    pub fn send(&mut self, fd: RawFd, pieces: &[&[u8]], flags: i32, sending: &mut Sending) -> Result<usize, Errno> {
        let socket = self.socket_mut(fd)?;
        if flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let accepted = matches!(socket.state, State::Connected(_));
        let conn = match socket.state {
            // Whoever sends there opens the connection first.
            State::Fresh | State::Listening(_) | State::Deferred(_) => {
                return socket.take_error().and(Err(Errno::EPIPE));
            }
            State::Connecting(conn) | State::Connected(conn) => conn,
        };
        match self.stack.endpoint(conn).map(tcp::Endpoint::state) {
            // Accepted ahead of its handshake (RFC 7413), a connection is written to at once.
            Some(tcp::State::SynReceived) if accepted => {}
            Some(tcp::State::SynSent | tcp::State::SynReceived) => return Err(Errno::EAGAIN),
            Some(tcp::State::Established | tcp::State::CloseWait) => {}
            // What was taken counts; the next call learns the rest.
            _ if sending.len > 0 => return Ok(sending.len),
            _ => return self.socket_mut(fd)?.take_error().and(Err(Errno::EPIPE)),
        }
        let (stack, mut cx) = self.stack_and_cx();
        if sending.waited && !stack.poll_writable(&mut cx, conn) {
            return Err(Errno::EAGAIN);
        }
        // One call is one write, whatever its pieces.
        let data = pieces.concat();
        let rest = &data[sending.len..];
        let taken = stack.write_with(&mut cx, conn, rest, boundary(flags)).map_err(|_| Errno::EPIPE)?;
        sending.len += taken;
        if taken < rest.len() {
            sending.waited = true;
            return Err(Errno::EAGAIN);
        }
        Ok(sending.len)
    }
}

/// What the flags of a call say of its end. A record that is to go on ends nevertheless.
fn boundary(flags: i32) -> Boundary {
    match (flags & MSG_EOR != 0, flags & MSG_MORE != 0) {
        (true, _) => Boundary::Record,
        (false, true) => Boundary::More,
        (false, false) => Boundary::None,
    }
}
