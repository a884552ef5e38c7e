//! What a socket is ready for, as Linux's `tcp_poll` defines it; `poll` and `epoll` ask the same function.

use super::State;
use crate::host::Host;
use crate::wakes::PollFlags;
use libc::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, POLLWRNORM};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::FinProgress;
use tcp::config::UrgentDelivery;

const READABLE: PollFlags = POLLIN | POLLRDNORM;
const WRITABLE: PollFlags = POLLOUT | POLLWRNORM;

impl Host {
    /// What the descriptor is ready for.
    ///
    /// # Errors
    /// `EBADF`; `EPERM` for a descriptor that does not support waiting.
    pub fn readiness(&self, fd: RawFd) -> Result<PollFlags, Errno> {
        if let Some(flags) = self.pipes.readiness(fd) {
            return Ok(flags);
        }
        if self.epolls.contains_key(&fd) {
            return self.epoll_readiness(fd);
        }
        let socket = self.socket(fd)?;
        let error = if socket.error.is_some() || !socket.reports.is_empty() { POLLERR } else { 0 };
        let conn = match &socket.state {
            State::Fresh if socket.shut_read => return Ok(WRITABLE | READABLE | POLLRDHUP | POLLHUP | error),
            State::Fresh => return Ok(WRITABLE | POLLHUP | error),
            State::Listening(listener) => return Ok(if listener.waiting.is_empty() { 0 } else { READABLE }),
            State::Deferred(_) => return Ok(WRITABLE | error),
            State::Connecting(conn) | State::Connected(conn) => *conn,
        };
        let (Some(endpoint), Some(queues)) = (self.stack.endpoint(conn), self.stack.queues(conn)) else {
            return Ok(WRITABLE | READABLE | POLLRDHUP | POLLHUP | error);
        };
        let over = self.is_over(conn);
        let no_more_in = socket.shut_read || queues.fin_received || over;
        let no_more_out = queues.fin != FinProgress::Open || over;
        let mut flags = error;
        if no_more_in && no_more_out {
            flags |= POLLHUP;
        }
        if no_more_in {
            flags |= READABLE | POLLRDHUP;
        }
        // A connection accepted before its handshake completed (RFC 7413) can be read and written during the handshake.
        let opening = matches!(endpoint.state(), tcp::State::SynSent | tcp::State::SynReceived);
        if opening && matches!(socket.state, State::Connecting(_)) {
            return Ok(flags);
        }
        // Inline or out of band, an urgent byte that has arrived is reported until it was read or passed.
        let inline = socket.config.receive.urgent == UrgentDelivery::InStream;
        let arrived = endpoint.urgent_ahead().is_some_and(|ahead| ahead < queues.readable);
        if (inline && arrived) || endpoint.urgent_byte().is_ok() {
            flags |= POLLPRI;
        }
        if self.readable(fd) >= u64::from(socket.settings.receive_low) {
            flags |= READABLE;
        }
        if no_more_out || endpoint.is_writable() {
            flags |= WRITABLE;
        }
        Ok(flags)
    }
}
