//! `write` and its kin, as one attempt.

use super::State;
use crate::host::Host;
use libc::MSG_OOB;
use nix::errno::Errno;
use std::os::fd::RawFd;

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
        let conn = match socket.state {
            State::Fresh | State::Listening(_) => return socket.take_error().and(Err(Errno::EPIPE)),
            State::Connecting(conn) | State::Connected(conn) => conn,
        };
        match self.stack.endpoint(conn).map(tcp::Endpoint::state) {
            Some(tcp::State::SynSent | tcp::State::SynReceived) => return Err(Errno::EAGAIN),
            Some(tcp::State::Established | tcp::State::CloseWait) => {}
            // What was taken counts; the next call learns the rest.
            _ if sending.len > 0 => return Ok(sending.len),
            _ => return self.socket_mut(fd)?.take_error().and(Err(Errno::EPIPE)),
        }
        if sending.waited && !self.stack.queues(conn).is_some_and(|queues| self.has_room(&queues)) {
            return Err(Errno::EAGAIN);
        }
        let mut at = 0;
        for piece in pieces {
            let rest = &piece[(sending.len - at).min(piece.len())..];
            at += piece.len();
            let (stack, mut cx) = self.stack_and_cx();
            let taken = stack.write(&mut cx, conn, rest).map_err(|_| Errno::EPIPE)?;
            sending.len += taken;
            if taken < rest.len() {
                sending.waited = true;
                return Err(Errno::EAGAIN);
            }
        }
        Ok(sending.len)
    }
}
