//! `write` and its kin, as one attempt.

use super::State;
use crate::host::Host;
use libc::MSG_OOB;
use nix::errno::Errno;
use std::os::fd::RawFd;

impl Host {
    /// One attempt to send what `pieces` hold behind the octets that `so_far` counts.
    ///
    /// # Errors
    /// `EAGAIN` until everything has found room; `EPIPE`, and the connection's error, once.
    pub fn send(&mut self, fd: RawFd, pieces: &[&[u8]], flags: i32, so_far: &mut usize) -> Result<usize, Errno> {
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
            _ if *so_far > 0 => return Ok(*so_far),
            _ => return self.socket_mut(fd)?.take_error().and(Err(Errno::EPIPE)),
        }
        let mut at = 0;
        for piece in pieces {
            let rest = &piece[(*so_far - at).min(piece.len())..];
            at += piece.len();
            let (stack, mut cx) = self.stack_and_cx();
            let taken = stack.write(&mut cx, conn, rest).map_err(|_| Errno::EPIPE)?;
            *so_far += taken;
            if taken < rest.len() {
                return Err(Errno::EAGAIN);
            }
        }
        Ok(*so_far)
    }
}
