//! `fcntl` and `ioctl`: blocking or not, and how much waits in the queues.

use super::State;
use crate::host::Host;
use libc::{F_GETFD, F_GETFL, F_SETFD, F_SETFL, FIONBIO, FIONREAD, O_NONBLOCK, O_RDWR, TIOCOUTQ};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::config::UrgentDelivery;
use tcp::{FinProgress, Queues};

/// `SIOCOUTQNSD`: bytes written but not yet sent (linux/sockios.h).
pub(crate) const SIOCOUTQNSD: u64 = 0x894b;
/// `SIOCATMARK`: whether the next byte is the last urgent one (asm-generic/sockios.h).
const SIOCATMARK: u64 = 0x8905;

impl Host {
    /// `fcntl(2)`.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for commands that are not about blocking.
    pub fn fcntl(&mut self, fd: RawFd, command: i32, argument: i32) -> Result<i32, Errno> {
        if self.epolls.contains_key(&fd) {
            return if command == F_GETFL { Ok(O_RDWR) } else { Ok(0) };
        }
        if self.pipes.contains(fd) {
            return self.pipes.fcntl(fd, command, argument);
        }
        let socket = self.socket_mut(fd)?;
        match command {
            F_GETFL => Ok(O_RDWR | if socket.nonblocking { O_NONBLOCK } else { 0 }),
            F_SETFL => {
                socket.nonblocking = argument & O_NONBLOCK != 0;
                Ok(0)
            }
            // No program is started that could inherit it.
            F_GETFD | F_SETFD => Ok(0),
            _ => Err(Errno::EINVAL),
        }
    }

    /// `ioctl(2)`: returns the number to store for the caller. `argument` is the number the caller stored.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` on a listening socket, `ENOTTY` for requests that a socket does not have.
    pub fn ioctl(&mut self, fd: RawFd, request: u64, argument: i32) -> Result<i32, Errno> {
        if request == FIONBIO {
            self.socket_mut(fd)?.nonblocking = argument != 0;
            return Ok(argument);
        }
        let socket = self.socket(fd)?;
        if !matches!(request, FIONREAD | TIOCOUTQ | SIOCOUTQNSD | SIOCATMARK) {
            return Err(Errno::ENOTTY);
        }
        if matches!(socket.state, State::Listening(_)) {
            return Err(Errno::EINVAL);
        }
        let inline = socket.config.receive.urgent == UrgentDelivery::InStream;
        let Some(endpoint) = socket.conn().and_then(|conn| self.stack.endpoint(conn)) else { return Ok(0) };
        let (queues, ahead) = (endpoint.queues(), endpoint.urgent_ahead());
        // Queues are small enough to be reported as an `i32`.
        Ok(match request {
            SIOCATMARK => i32::from(ahead == Some(0)),
            // Bytes behind a mark are not counted until the mark has been passed.
            FIONREAD => ahead.filter(|ahead| !inline && *ahead < queues.readable).unwrap_or(queues.readable) as i32,
            TIOCOUTQ => (queues.unacknowledged + fin_waits(&queues)) as i32,
            _ => queues.unsent as i32 + i32::from(queues.fin == FinProgress::Queued),
        })
    }
}

/// An unacknowledged FIN occupies one byte of the queue.
fn fin_waits(queues: &Queues) -> u32 {
    u32::from(matches!(queues.fin, FinProgress::Queued | FinProgress::Sent))
}
