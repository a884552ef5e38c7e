//! Fast Open as applications request it when they connect: `MSG_FASTOPEN` and `TCP_FASTOPEN_CONNECT` (RFC 7413 §4.2).

use super::{Address, State};
use crate::device;
use crate::host::Host;
use crate::sysctl::Sysctls;
use libc::{MSG_FASTOPEN, SOL_TCP, TCP_FASTOPEN_CONNECT};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use tcp::config::FastOpenClient;

impl Host {
    /// Whether a sending call with these flags also opens the connection.
    pub fn sending_opens(&self, fd: RawFd, flags: i32) -> bool {
        let deferred = self.sockets.get(&fd).is_some_and(|socket| matches!(socket.state, State::Deferred(_)));
        flags & MSG_FASTOPEN != 0 || deferred
    }

    /// Opens a connection with the first bytes of `data` in its SYN, as many as may be sent there: none without a cookie.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where Fast Open is off or the call gives no address, `EALREADY` and `EISCONN` when the connection was opened
    /// before, `EINVAL` without an address, and the errors of `connect`.
    pub fn open_with_data(&mut self, fd: RawFd, to: Option<Address>, data: &[u8]) -> Result<usize, Errno> {
        self.forget_if_flushed();
        let off = self.fast_open_is_off(fd)?;
        let socket = self.socket(fd)?;
        let remote = match socket.state {
            State::Deferred(remote) => remote,
            _ if off || to == Some(Address::Unspecified) => return Err(Errno::EOPNOTSUPP),
            State::Connecting(_) => {
                // Once the connection is open, data is sent the usual way.
                let outcome = self.connected(fd);
                return outcome
                    .map(|()| 0)
                    .map_err(|error| if error == Errno::EAGAIN { Errno::EALREADY } else { error });
            }
            State::Connected(_) | State::Listening(_) => return Err(Errno::EISCONN),
            State::Fresh => to.ok_or(Errno::EINVAL)?.of_family(socket.family)?,
        };
        let conn = self.send_syn(fd, remote)?;
        let (stack, mut cx) = self.stack_and_cx();
        let taken = stack.fast_open(&mut cx, conn, data).map_err(|_| Errno::EOPNOTSUPP)?;
        self.socket_mut(fd)?.reports.wrote(taken);
        Ok(taken)
    }

    /// Whether the namespace currently forbids data in SYNs.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn fast_open_is_off(&mut self, fd: RawFd) -> Result<bool, Errno> {
        let sysctls = Sysctls::in_force(&self.flags.profile);
        let socket = self.socket_mut(fd)?;
        if let (Some(sysctls), State::Fresh) = (sysctls, &socket.state) {
            socket.settings.options.renew_fast_open(&sysctls);
            socket.config = socket.settings.options.config();
        }
        Ok(socket.config.fastopen.client == FastOpenClient::Off)
    }

    /// How `TCP_FASTOPEN_CONNECT` changes `connect`: with a cookie available, the call completes and no packet is sent before
    /// there is data. Otherwise the SYN requests a cookie.
    pub(super) fn defer_or_ask(&mut self, fd: RawFd, remote: SocketAddr) -> Result<super::Opening, Errno> {
        self.forget_if_flushed();
        let config = self.socket(fd)?.config.clone().validate().map_err(|_| Errno::EINVAL)?;
        if self.stack.fast_open_is_ready(&config, remote.ip(), self.now()) {
            self.socket_mut(fd)?.state = State::Deferred(remote);
            return Ok(super::Opening::Done);
        }
        let conn = self.send_syn(fd, remote)?;
        let (stack, mut cx) = self.stack_and_cx();
        stack.fast_open(&mut cx, conn, &[]).map_err(|_| Errno::EOPNOTSUPP)?;
        Ok(super::Opening::Begun)
    }

    /// A script that flushes the namespace's memory of peers (`ip tcp_metrics flush`) means ours as well.
    fn forget_if_flushed(&mut self) {
        if device::has_device() && self.metrics.were_flushed() {
            self.stack.forget_fast_open_servers();
        }
    }

    /// Whether `connect` on this socket uses Fast Open.
    pub(super) fn connects_fast(&self, fd: RawFd) -> bool {
        let socket = self.sockets.get(&fd);
        socket.is_some_and(|socket| socket.settings.options.is_on(SOL_TCP, TCP_FASTOPEN_CONNECT))
    }
}
