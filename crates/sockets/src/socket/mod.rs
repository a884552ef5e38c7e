//! Sockets over connections: what a socket keeps, and the calls by the part of its life they belong to.
//!
//! A call that could block is written as an *attempt*: it does what can be done at this moment and says `EAGAIN` when that
//! is not enough. [`crate::waiting`] tries again whenever something has happened, for as long as the caller is patient.

mod address;
mod close;
mod connect;
mod control;
mod fast_open;
mod open;
mod readiness;
mod receive;
mod send;

pub(crate) use address::{Address, Family, encode};
pub(crate) use connect::Opening;
pub(crate) use receive::Receiving;
pub(crate) use send::Sending;

use crate::descriptor::Descriptor;
use crate::reports::Reports;
use crate::settings::Settings;
use crate::wakes::Wakes;
use libc::{IP_RECVERR, IPV6_RECVERR, SOL_IP, SOL_IPV6};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::SocketAddr;
use tcp::{Conn, ListenOn};

/// One socket.
#[derive(Debug)]
pub(crate) struct Socket {
    /// Keeps the number ours.
    pub descriptor: Descriptor,
    pub family: Family,
    pub state: State,
    /// The connection's settings: the profile's with this socket's options on top.
    pub config: tcp::Config,
    /// The socket's own settings.
    pub settings: Settings,
    /// What `bind` chose, or a call that needed a port; the address may be the one that means every address.
    pub bound: Option<SocketAddr>,
    /// Whose choice the port is.
    pub port_of: PortOf,
    /// An error that no call has reported yet.
    pub error: Option<Errno>,
    /// `O_NONBLOCK`.
    pub nonblocking: bool,
    /// `SHUT_RD` was asked for.
    pub shut_read: bool,
    pub wakes: Wakes,
    /// Its error queue.
    pub reports: Reports,
}

/// Whose choice a socket's port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortOf {
    /// The application's: it stays when a connection ends.
    Application,
    /// Not chosen by the application.
    Nobody,
}

/// How far a socket has come.
#[derive(Debug)]
pub(crate) enum State {
    /// Neither listening nor connected: new, bound, or after an attempt that failed.
    Fresh,
    /// It accepts connections.
    Listening(Listener),
    /// `connect` has reported success ahead of everything: the SYN leaves with the first data.
    Deferred(SocketAddr),
    /// `connect` was called and has not reported success yet.
    Connecting(Conn),
    /// It was connected; the connection may be over by now.
    Connected(Conn),
}

/// A listening socket's queue.
#[derive(Debug)]
pub(crate) struct Listener {
    pub on: ListenOn,
    /// Connections that wait for `accept`, oldest first.
    pub waiting: VecDeque<Conn>,
    /// As `listen` was called.
    pub backlog: u32,
}

impl Socket {
    pub fn new(descriptor: Descriptor, family: Family, config: tcp::Config) -> Self {
        Self {
            descriptor,
            family,
            state: State::Fresh,
            config,
            settings: Settings::default(),
            bound: None,
            port_of: PortOf::Nobody,
            error: None,
            nonblocking: false,
            shut_read: false,
            wakes: Wakes::default(),
            reports: Reports::default(),
        }
    }

    /// It has no connection any more: a port that the application did not choose is free again.
    pub fn unconnect(&mut self) -> State {
        if self.port_of == PortOf::Nobody {
            self.bound = None;
        }
        std::mem::replace(&mut self.state, State::Fresh)
    }

    /// Its connection, opened or being opened.
    pub fn conn(&self) -> Option<Conn> {
        match self.state {
            State::Connecting(conn) | State::Connected(conn) => Some(conn),
            State::Fresh | State::Listening(_) | State::Deferred(_) => None,
        }
    }

    /// Whether it was asked to report what the network says of the path (`IP_RECVERR`).
    pub fn hears_of_the_path(&self) -> bool {
        let (level, name) = match self.family {
            Family::V4 => (SOL_IP, IP_RECVERR),
            Family::V6 => (SOL_IPV6, IPV6_RECVERR),
        };
        self.settings.options.is_on(level, name)
    }

    /// Reports the error that waits, once.
    pub fn take_error(&mut self) -> Result<(), Errno> {
        self.error.take().map_or(Ok(()), Err)
    }
}
