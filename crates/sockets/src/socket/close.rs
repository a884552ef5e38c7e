//! `shutdown` and `close`.

use super::{Listener, Socket, State};
use crate::host::Host;
use base::Duration;
use libc::{SHUT_RD, SHUT_RDWR, SHUT_WR};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::{Conn, FinProgress};

impl Host {
    /// `shutdown(2)`.
    ///
    /// # Errors
    /// `EINVAL` for an unknown direction, `ENOTCONN` without a connection.
    pub fn shutdown(&mut self, fd: RawFd, how: i32) -> Result<(), Errno> {
        let (read, write) = match how {
            SHUT_RD => (true, false),
            SHUT_WR => (false, true),
            SHUT_RDWR => (true, true),
            _ => return Err(Errno::EINVAL),
        };
        let socket = self.socket_mut(fd)?;
        let conn = match socket.state {
            State::Fresh => {
                socket.shut_read |= read;
                return Err(Errno::ENOTCONN);
            }
            State::Listening(_) if !read => return Ok(()),
            State::Listening(_) => return self.disconnect(fd),
            State::Deferred(_) => return self.disconnect(fd),
            State::Connecting(conn) | State::Connected(conn) => conn,
        };
        let state = self.stack.endpoint(conn).map_or(tcp::State::Closed, tcp::Endpoint::state);
        if matches!(state, tcp::State::Closed | tcp::State::TimeWait) {
            return Err(Errno::ENOTCONN);
        }
        if state == tcp::State::SynSent {
            return self.disconnect(fd);
        }
        let socket = self.socket_mut(fd)?;
        socket.shut_read |= read;
        socket.wakes.readable += 1;
        socket.wakes.writable += 1;
        let (stack, mut cx) = self.stack_and_cx();
        if read {
            stack.stop_reading(&mut cx, conn);
        }
        if write {
            stack.shutdown(&mut cx, conn);
        }
        Ok(())
    }

    /// `close(2)` without the wait: frees the number. A caller that lingers until data is acknowledged gets the connection back
    /// with the time to wait, and must then call [`Self::release_connection`].
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, fd: RawFd) -> Result<Option<(Conn, Duration)>, Errno> {
        self.forget_watched(fd);
        if self.epolls.remove(&fd).is_some() || self.pipes.close(fd) {
            return Ok(None);
        }
        let socket = self.sockets.remove(&fd).ok_or(Errno::EBADF)?;
        let lingers = socket.settings.linger.filter(|time| *time > Duration::ZERO);
        match (socket.conn(), lingers) {
            (Some(conn), Some(time)) if self.may_linger(conn) => {
                self.owners.remove(&conn);
                let (stack, mut cx) = self.stack_and_cx();
                stack.shutdown(&mut cx, conn);
                Ok(Some((conn, time)))
            }
            _ => {
                self.end(socket);
                Ok(None)
            }
        }
    }

    fn may_linger(&self, conn: Conn) -> bool {
        self.stack.queues(conn).is_some_and(|queues| queues.readable == 0) && !self.is_over(conn)
    }

    /// An attempt to see all data of a lingering connection acknowledged.
    ///
    /// # Errors
    /// `EAGAIN` while it is not.
    pub fn lingered(&mut self, conn: Conn) -> Result<(), Errno> {
        let queues = self.stack.queues(conn);
        let done = self.is_over(conn) || queues.is_none_or(|queues| queues.fin == FinProgress::Acknowledged);
        if done { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// The connection belongs to no socket any longer; it ends by itself.
    pub fn release_connection(&mut self, conn: Conn) {
        self.owners.remove(&conn);
        let (stack, mut cx) = self.stack_and_cx();
        stack.release(&mut cx, conn);
    }

    /// Ends a socket. The peer receives a reset if its data was not read, or if the socket does not linger at
    /// all.
    pub(super) fn end(&mut self, socket: Socket) {
        let conn = socket.conn();
        if let State::Listening(listener) = socket.state {
            return self.unlisten(listener);
        }
        let Some(conn) = conn else { return };
        let unread = self.stack.queues(conn).is_some_and(|queues| queues.readable > 0);
        if unread || socket.settings.linger == Some(Duration::ZERO) {
            self.discard(conn);
        } else {
            self.release_connection(conn);
        }
    }

    /// Ends a listener: resets the connections that were not accepted.
    pub(super) fn unlisten(&mut self, listener: Listener) {
        let (stack, mut cx) = self.stack_and_cx();
        stack.unlisten(&mut cx, listener.on);
    }
}
