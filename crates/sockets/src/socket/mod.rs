//! Sockets over connections: the state of a socket, and the calls grouped by the stage of its life.
//!
//! A call that could block is written as an *attempt*: it does what is possible at this moment and returns `EAGAIN` when that is
//! not enough. [`crate::waiting`] repeats it whenever something has happened, for as long as the caller is willing to wait.

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
    /// Keeps the descriptor number reserved.
    pub descriptor: Descriptor,
    pub family: Family,
    pub state: State,
    /// The connection's settings: the profile's, overlaid with this socket's options.
    pub config: tcp::Config,
    /// The socket's own settings.
    pub settings: Settings,
    /// The address and port chosen by `bind` or by a call that needed a port; the address may be the wildcard.
    pub bound: Option<SocketAddr>,
    /// Who chose the port.
    pub port_of: PortOf,
    /// A pending error that no call has reported yet.
    pub error: Option<Errno>,
    /// `O_NONBLOCK`.
    pub nonblocking: bool,
    /// `SHUT_RD` was requested.
    pub shut_read: bool,
    pub wakes: Wakes,
    /// Its error queue.
    pub reports: Reports,
}

/// Who chose a socket's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortOf {
    /// The application: the port stays when a connection ends.
    Application,
    /// Not the application: the port, if there is one, goes with the connection.
    Ephemeral,
}

/// How far a socket has come.
#[derive(Debug)]
pub(crate) enum State {
    /// Neither listening nor connected: new, bound, or after a failed attempt.
    Fresh,
    /// It accepts connections.
    Listening(Listener),
    /// `connect` has reported success early: the SYN leaves with the first data.
    Deferred(SocketAddr),
    /// `connect` was called and has not reported success yet.
    Connecting(Conn),
    /// It was connected; the connection may have ended since.
    Connected(Conn),
}

/// A listening socket's queue.
#[derive(Debug)]
pub(crate) struct Listener {
    pub on: ListenOn,
    /// Connections that wait for `accept`, oldest first.
    pub waiting: VecDeque<Conn>,
    /// The backlog passed to `listen`.
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
            port_of: PortOf::Ephemeral,
            error: None,
            nonblocking: false,
            shut_read: false,
            wakes: Wakes::default(),
            reports: Reports::default(),
        }
    }

    /// The socket loses its connection: a port that the application did not choose becomes free again.
    pub fn unconnect(&mut self) -> State {
        if self.port_of == PortOf::Ephemeral {
            self.bound = None;
        }
        std::mem::replace(&mut self.state, State::Fresh)
    }

    /// Its connection, open or being opened.
    pub fn conn(&self) -> Option<Conn> {
        match self.state {
            State::Connecting(conn) | State::Connected(conn) => Some(conn),
            State::Fresh | State::Listening(_) | State::Deferred(_) => None,
        }
    }

    /// Whether the application asked for reports about the path (`IP_RECVERR`).
    pub fn hears_of_the_path(&self) -> bool {
        let (level, name) = match self.family {
            Family::V4 => (SOL_IP, IP_RECVERR),
            Family::V6 => (SOL_IPV6, IPV6_RECVERR),
        };
        self.settings.options.is_on(level, name)
    }

    /// Returns the pending error, once.
    pub fn take_error(&mut self) -> Result<(), Errno> {
        self.error.take().map_or(Ok(()), Err)
    }
}
