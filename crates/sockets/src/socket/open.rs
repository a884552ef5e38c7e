//! `socket`, `bind`, `listen`, `accept`.

use super::{Address, Family, Listener, PortOf, Socket, State};
use crate::descriptor::Descriptor;
use crate::host::{Host, error_of, unattended};
use crate::sysctl;
use libc::{AF_INET, AF_INET6, IPPROTO_TCP, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use tcp::ListenOn;

impl Host {
    /// `socket(2)`: a stream socket of either family.
    ///
    /// # Errors
    /// `EAFNOSUPPORT`, `ESOCKTNOSUPPORT` and `EPROTONOSUPPORT` for other protocols, and errors of opening a descriptor.
    pub fn socket_call(&mut self, domain: i32, kind: i32, protocol: i32) -> Result<RawFd, Errno> {
        let family = match domain {
            AF_INET => Family::V4,
            AF_INET6 => Family::V6,
            _ => return Err(Errno::EAFNOSUPPORT),
        };
        if kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC) != SOCK_STREAM {
            return Err(Errno::ESOCKTNOSUPPORT);
        }
        if protocol != 0 && protocol != IPPROTO_TCP {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let mut config = tcp::Config::clone(self.flags.profile.config());
        let mut settings = Default::default();
        // Read every time: scripts change the settings between two sockets.
        sysctl::apply(&mut config, &mut settings, &self.flags.profile);
        let descriptor = Descriptor::open()?;
        let fd = descriptor.fd();
        let mut socket = Socket::new(descriptor, family, config);
        socket.settings = settings;
        socket.nonblocking = kind & SOCK_NONBLOCK != 0;
        self.insert(fd, socket);
        Ok(fd)
    }

    /// Adds a socket to the table. A socket that still has this number was closed without our knowledge.
    fn insert(&mut self, fd: RawFd, socket: Socket) {
        if let Some(old) = self.sockets.insert(fd, socket) {
            self.end(old);
        }
        self.epolls.remove(&fd);
    }

    /// `bind(2)`. Any address counts as ours: packetdrill binds only to the local one.
    ///
    /// # Errors
    /// `EAFNOSUPPORT`, `EINVAL` when bound or in use already, `EADDRINUSE`.
    pub fn bind(&mut self, fd: RawFd, address: Address) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        let family = socket.family;
        let mut address = match address {
            // An exception on which old programs rely: no family, wildcard address.
            Address::Unspecified if family == Family::V4 => SocketAddr::new(family.any(), 0),
            given => given.of_family(family)?,
        };
        if socket.bound.is_some() || !matches!(socket.state, State::Fresh) {
            return Err(Errno::EINVAL);
        }
        let mut port_of = PortOf::Application;
        if address.port() == 0 {
            address.set_port(self.free_port());
            port_of = PortOf::Ephemeral;
        } else if self.port_is_taken(fd, address) {
            return Err(Errno::EADDRINUSE);
        }
        if !address.ip().is_unspecified() {
            self.stack.add_address(address.ip());
        }
        let socket = self.socket_mut(fd)?;
        (socket.bound, socket.port_of) = (Some(address), port_of);
        Ok(())
    }

    /// Whether another socket blocks this port: it listens there, or one of the two does not reuse addresses.
    fn port_is_taken(&self, fd: RawFd, address: SocketAddr) -> bool {
        let reuses = self.sockets.get(&fd).is_some_and(|socket| socket.settings.reuse_address);
        self.sockets.iter().any(|(other_fd, other)| {
            let same = other.bound.is_some_and(|bound| {
                let apart = bound.is_ipv4() != address.is_ipv4()
                    || !(bound.ip().is_unspecified() || address.ip().is_unspecified() || bound.ip() == address.ip());
                bound.port() == address.port() && !apart
            });
            let shares = reuses && other.settings.reuse_address && !matches!(other.state, State::Listening(_));
            *other_fd != fd && same && !shares
        })
    }

    /// A port to which no socket is bound.
    pub(super) fn free_port(&mut self) -> u16 {
        loop {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(1_024);
            if !self.sockets.values().any(|socket| socket.bound.is_some_and(|bound| bound.port() == port)) {
                return port;
            }
        }
    }

    /// `listen(2)`; on a listening socket it changes the backlog.
    ///
    /// # Errors
    /// `EINVAL` for a connected socket or invalid settings, `EADDRINUSE`.
    pub fn listen(&mut self, fd: RawFd, backlog: i32) -> Result<(), Errno> {
        // A negative number means as many as possible, as does any number that is too large.
        let backlog = u32::try_from(backlog).unwrap_or(u32::MAX);
        let socket = self.socket_mut(fd)?;
        match &mut socket.state {
            State::Listening(listener) => {
                listener.backlog = backlog;
                return self.config_changed(fd);
            }
            State::Deferred(_) | State::Connecting(_) | State::Connected(_) => return Err(Errno::EINVAL),
            State::Fresh => {}
        }
        socket.config = socket.settings.options.listening(socket.config.clone(), backlog);
        let config = unattended(&socket.config)?;
        let on = ListenOn::from(self.bound_to(fd)?);
        self.stack.listen(on, backlog, &config).map_err(|_| Errno::EADDRINUSE)?;
        let listener = Listener { on, waiting: VecDeque::new(), backlog };
        self.socket_mut(fd)?.state = State::Listening(listener);
        self.fast_open_keys_changed(fd)
    }

    /// The address of a socket; it gets a port if it has none.
    fn bound_to(&mut self, fd: RawFd) -> Result<SocketAddr, Errno> {
        let socket = self.socket(fd)?;
        if let Some(bound) = socket.bound {
            return Ok(bound);
        }
        let bound = SocketAddr::new(socket.family.any(), self.free_port());
        self.socket_mut(fd)?.bound = Some(bound);
        Ok(bound)
    }

    /// An attempt at `accept(2)`: the new descriptor and the peer's address.
    ///
    /// # Errors
    /// `EAGAIN` while no connection waits; `EINVAL` when the socket does not listen.
    pub fn accept(&mut self, fd: RawFd) -> Result<(RawFd, SocketAddr), Errno> {
        let socket = self.socket_mut(fd)?;
        let State::Listening(listener) = &mut socket.state else { return Err(Errno::EINVAL) };
        let conn = *listener.waiting.front().ok_or(Errno::EAGAIN)?;
        let descriptor = Descriptor::open()?;
        listener.waiting.pop_front();
        let socket_family = socket.family;
        let mut child = Socket::new(descriptor, socket_family, socket.config.clone());
        child.settings = socket.settings.clone();
        child.state = State::Connected(conn);
        let endpoint = self.stack.endpoint(conn).ok_or(Errno::ECONNABORTED)?;
        let tuple = endpoint.tuple();
        let peer = socket_family.shown(SocketAddr::new(tuple.remote, tuple.remote_port));
        // The connection may have ended before the application accepted it.
        child.error = endpoint.closed().and_then(|reason| error_of(reason, Some(endpoint.queues())));
        child.bound = Some(SocketAddr::new(tuple.local, tuple.local_port));
        let child_fd = child.descriptor.fd();
        self.owners.insert(conn, child_fd);
        self.insert(child_fd, child);
        self.stack.accept(conn);
        self.config_changed(child_fd)?;
        Ok((child_fd, peer))
    }
}
