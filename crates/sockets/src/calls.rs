//! The blocking calls: repeated attempts, for as long as the caller is willing to wait.

use crate::host::Host;
use crate::reports::Ancillary;
use crate::socket::{Address, Opening, Receiving, Sending, State};
use crate::waiting::{Plugin, Wait};
use base::Duration;
use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB, POLLERR, POLLHUP, POLLNVAL, epoll_event, pollfd};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use tcp::Conn;

impl Host {
    /// How long a call waits for data or a connection to arrive.
    fn wait_to_receive(&self, fd: RawFd, flags: i32) -> Wait {
        self.wait_limit(fd, flags, |settings| settings.receive_timeout)
    }

    /// How long a call waits for buffer space, or for the peer to answer.
    fn wait_to_send(&self, fd: RawFd, flags: i32) -> Wait {
        self.wait_limit(fd, flags, |settings| settings.send_timeout)
    }

    fn wait_limit(
        &self,
        fd: RawFd,
        flags: i32,
        timeout: impl FnOnce(&crate::settings::Settings) -> Option<Duration>,
    ) -> Wait {
        let blocks = match self.sockets.get(&fd) {
            Some(socket) => !socket.nonblocking,
            None => self.pipes.blocks(fd),
        };
        if flags & MSG_DONTWAIT != 0 || !blocks {
            return Wait::None;
        }
        let limit = self.sockets.get(&fd).and_then(|socket| timeout(&socket.settings));
        limit.map_or(Wait::Endless, Wait::For)
    }

    /// A writing call is about to wait for a connection that is still being opened: returns that connection if the call does
    /// wait.
    fn announce_writer(&mut self, fd: RawFd, flags: i32) -> Option<Conn> {
        let State::Connecting(conn) = self.sockets.get(&fd)?.state else { return None };
        if self.wait_to_send(fd, flags) == Wait::None {
            return None;
        }
        let (stack, mut cx) = self.stack_and_cx();
        stack.announce_writer(&mut cx, conn, true);
        Some(conn)
    }

    /// The call has ended, whatever its outcome.
    fn withdraw_writer(&mut self, conn: Conn) {
        let (stack, mut cx) = self.stack_and_cx();
        stack.announce_writer(&mut cx, conn, false);
    }
}

/// How long a call with a timeout given in milliseconds waits.
fn wait_of(timeout_ms: i32) -> Wait {
    match u64::try_from(timeout_ms) {
        Err(_) => Wait::Endless,
        Ok(0) => Wait::None,
        Ok(ms) => Wait::For(Duration::from_millis(ms)),
    }
}

impl Plugin {
    pub fn accept(&self, fd: RawFd) -> Result<(RawFd, SocketAddr), Errno> {
        self.call_blocking(|host| host.wait_to_receive(fd, 0), |host| host.accept(fd))
    }

    pub fn connect(&self, fd: RawFd, address: Address) -> Result<(), Errno> {
        let at_once = match self.call(|host| host.connect(fd, address))? {
            Opening::Done => return Ok(()),
            Opening::Begun => Errno::EINPROGRESS,
            Opening::UnderWay => Errno::EALREADY,
        };
        let outcome = self.call_blocking(|host| host.wait_to_send(fd, 0), |host| host.connected(fd));
        // The wait has ended, not the attempt.
        outcome.map_err(|error| if error == Errno::EAGAIN { at_once } else { error })
    }

    /// What `recvmsg` on the error queue returns.
    pub fn receive_report(&self, fd: RawFd) -> Result<Ancillary, Errno> {
        self.call(|host| host.receive_report(fd))
    }

    /// `read`, which requests nothing when the caller passes no room.
    pub fn read(&self, fd: RawFd, pieces: &mut [&mut [u8]]) -> Result<usize, Errno> {
        if pieces.iter().all(|piece| piece.is_empty()) && self.call(|host| host.socket(fd).is_ok()) {
            return Ok(0);
        }
        self.receive(fd, pieces, 0)
    }

    /// `recv` and its kin.
    pub fn receive(&self, fd: RawFd, pieces: &mut [&mut [u8]], flags: i32) -> Result<usize, Errno> {
        let mut receiving = Receiving::default();
        // A call never waits for reports or for urgent data.
        let dont_wait = if flags & (MSG_ERRQUEUE | MSG_OOB) != 0 { MSG_DONTWAIT } else { 0 };
        let result = self.call_blocking(
            |host| host.wait_to_receive(fd, flags | dont_wait),
            |host| {
                if host.pipes.contains(fd) {
                    return host.pipe_read(fd, pieces);
                }
                host.receive(fd, pieces, flags, &mut receiving)
            },
        );
        or_so_far(result, receiving.len)
    }

    /// `write` and its kin.
    pub fn send(&self, fd: RawFd, pieces: &[&[u8]], flags: i32) -> Result<usize, Errno> {
        self.send_to(fd, pieces, flags, None)
    }

    /// As [`Self::call_blocking`], for a writing call: the connection being opened is informed that a writer is waiting.
    fn wait_to_write<T>(
        &self,
        fd: RawFd,
        flags: i32,
        attempt: impl FnMut(&mut Host) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let opening = self.call(|host| host.announce_writer(fd, flags));
        let result = self.call_blocking(|host| host.wait_to_send(fd, flags), attempt);
        if let Some(conn) = opening {
            self.call(|host| host.withdraw_writer(conn));
        }
        result
    }

    /// Sends the part of the data that earlier attempts have not sent.
    fn send_on(&self, fd: RawFd, pieces: &[&[u8]], flags: i32, mut sending: Sending) -> Result<usize, Errno> {
        let result = self.wait_to_write(fd, flags, |host| {
            if host.pipes.contains(fd) {
                return host.pipe_write(fd, pieces, &mut sending.len);
            }
            host.send(fd, pieces, flags, &mut sending)
        });
        let len = or_so_far(result, sending.len)?;
        if len > 0 {
            self.call(|host| host.watch_sent(fd, flags));
        }
        Ok(len)
    }

    /// As [`Self::send`], with an address: redundant on a connection, but with `MSG_FASTOPEN` the peer to connect to.
    pub fn send_to(&self, fd: RawFd, pieces: &[&[u8]], flags: i32, to: Option<Address>) -> Result<usize, Errno> {
        let mut sending = Sending::default();
        if self.call(|host| host.sending_opens(fd, flags)) {
            sending.len = self.call(|host| host.open_with_data(fd, to, &pieces.concat()))?;
            match self.wait_to_write(fd, flags, |host| host.connected(fd)) {
                Err(Errno::EAGAIN) if sending.len > 0 => {
                    self.call(|host| host.watch_sent(fd, flags));
                    return Ok(sending.len);
                }
                Err(Errno::EAGAIN) => return Err(Errno::EINPROGRESS),
                outcome => outcome?,
            }
        }
        self.send_on(fd, pieces, flags, sending)
    }

    pub fn close(&self, fd: RawFd) -> Result<(), Errno> {
        let Some((conn, time)) = self.call(|host| host.close(fd))? else { return Ok(()) };
        // `close` does not report what happens to the data.
        let _ = self.call_blocking(|_| Wait::For(time), |host| host.lingered(conn));
        self.call(|host| host.release_connection(conn));
        Ok(())
    }

    pub fn poll(&self, entries: &mut [pollfd], timeout_ms: i32) -> Result<i32, Errno> {
        let ready = self.call_blocking(
            |_| wait_of(timeout_ms),
            |host| {
                let ready = entries.iter_mut().map(|entry| i32::from(look(host, entry))).sum();
                if ready > 0 { Ok(ready) } else { Err(Errno::EAGAIN) }
            },
        );
        none_in_time(ready, 0)
    }

    pub fn epoll_wait(&self, epfd: RawFd, events: &mut [epoll_event], timeout_ms: i32) -> Result<usize, Errno> {
        none_in_time(self.call_blocking(|_| wait_of(timeout_ms), |host| host.epoll_wait(epfd, events)), 0)
    }

    pub fn splice(&self, from: RawFd, to: RawFd, len: usize, flags: u32) -> Result<usize, Errno> {
        let dont_wait = if flags & libc::SPLICE_F_NONBLOCK == 0 { 0 } else { MSG_DONTWAIT };
        let wait = |host: &Host| match host.wait_to_receive(from, dont_wait) {
            Wait::None => Wait::None,
            waits => match host.wait_to_send(to, dont_wait) {
                Wait::None => Wait::None,
                _ => waits,
            },
        };
        self.call_blocking(wait, |host| host.splice(from, to, len, flags))
    }
}

/// Fills in what an entry of `poll` is ready for; returns whether it is ready for anything.
fn look(host: &Host, entry: &mut pollfd) -> bool {
    if entry.fd < 0 {
        entry.revents = 0;
        return false;
    }
    let asked = entry.events | POLLERR | POLLHUP;
    entry.revents = host.readiness(entry.fd).map_or(POLLNVAL, |flags| flags & asked);
    entry.revents != 0
}

/// An interrupted call reports the progress it made.
fn or_so_far(result: Result<usize, Errno>, so_far: usize) -> Result<usize, Errno> {
    match result {
        Err(_) if so_far > 0 => Ok(so_far),
        result => result,
    }
}

/// A timeout without data is a valid answer, not an error.
fn none_in_time<T>(result: Result<T, Errno>, none: T) -> Result<T, Errno> {
    if matches!(result, Err(Errno::EAGAIN)) { Ok(none) } else { result }
}
