//! `connect`: opening, waiting for the outcome, and dissolving the association again (`AF_UNSPEC`).

use super::{Address, Family, PortOf, Socket, State};
use crate::device;
use crate::host::Host;
use crate::options::names::IP_LOCAL_PORT_RANGE;
use base::Duration;
use nix::errno::Errno;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::ops::RangeInclusive;
use std::os::fd::RawFd;
use tcp::config::TimeWaitReuse;
use tcp::{AckPace, Conn, ConnectError, LocalEnd};

/// The local addresses that packetdrill's scripts use when they name none.
const DEFAULT_V4: &str = "192.168.0.1";
const DEFAULT_V6: &str = "fd3d:0a0b:17d6::1";

/// The outcome of a call to `connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The call is done.
    Done,
    /// This call has sent the SYN.
    Begun,
    /// An earlier call did, and its outcome is not known yet.
    UnderWay,
}

impl Host {
    /// `connect(2)` without the wait.
    ///
    /// # Errors
    /// `EISCONN`, `EAFNOSUPPORT`, `ENETUNREACH` and `EADDRNOTAVAIL`; the error of an earlier attempt that failed.
    pub fn connect(&mut self, fd: RawFd, address: Address) -> Result<Opening, Errno> {
        let socket = self.socket(fd)?;
        if address == Address::Unspecified {
            return self.disconnect(fd).map(|()| Opening::Done);
        }
        match socket.state {
            State::Fresh => {
                let remote = address.of_family(socket.family)?;
                if self.connects_fast(fd) {
                    return self.defer_or_ask(fd, remote);
                }
                self.send_syn(fd, remote).map(|_| Opening::Begun)
            }
            State::Connecting(_) => match self.connected(fd) {
                Err(Errno::EAGAIN) => Ok(Opening::UnderWay),
                outcome => outcome.map(|()| Opening::Done),
            },
            State::Listening(_) | State::Deferred(_) | State::Connected(_) => Err(Errno::EISCONN),
        }
    }

    /// Opens a connection; its SYN leaves with the turn after this call.
    ///
    /// # Errors
    /// `ENETUNREACH` and `EADDRNOTAVAIL`; `EINVAL` when the settings are invalid in combination.
    pub(super) fn send_syn(&mut self, fd: RawFd, remote: SocketAddr) -> Result<Conn, Errno> {
        let socket = self.socket(fd)?;
        let bound = socket.bound;
        let mut config = socket.config.clone();
        if bound.is_some() && socket.port_of == PortOf::Application {
            // The application chose the port deliberately; timestamps must still distinguish the connections.
            config.timers.time_wait_reuse = TimeWaitReuse::After(Duration::ZERO);
        }
        let config = config.validate().map_err(|_| Errno::EINVAL)?;
        let range = port_range(socket);
        let ip = bound.map(|bound| bound.ip()).filter(|ip| !ip.is_unspecified());
        let ip = ip.unwrap_or_else(|| self.local_address(remote));
        self.stack.add_address(ip);
        let ports = match (bound, range) {
            (Some(bound), _) => bound.port()..=bound.port(),
            (None, Some(range)) => range,
            (None, None) => {
                let port = self.free_port();
                port..=port
            }
        };
        let from = LocalEnd { address: Some(ip), ports };
        let (stack, mut cx) = self.stack_and_cx();
        let conn = stack.connect_from(&mut cx, &config, &from, remote).map_err(|error| match error {
            ConnectError::InvalidRemote | ConnectError::NoLocalAddress => Errno::ENETUNREACH,
            _ => Errno::EADDRNOTAVAIL,
        })?;
        let port = stack.endpoint(conn).map_or(0, |endpoint| endpoint.tuple().local_port);
        self.owners.insert(conn, fd);
        if !self.socket(fd)?.settings.options.is_on(libc::SOL_TCP, libc::TCP_QUICKACK) {
            let (stack, mut cx) = self.stack_and_cx();
            stack.set_ack_pace(&mut cx, conn, AckPace::Delayed);
        }
        let socket = self.socket_mut(fd)?;
        socket.error = None;
        socket.reports.begin();
        socket.bound = Some(SocketAddr::new(ip, port));
        socket.state = State::Connecting(conn);
        Ok(conn)
    }

    /// An attempt to learn the outcome of an opening.
    ///
    /// # Errors
    /// `EAGAIN` while it is pending; otherwise why it failed.
    pub fn connected(&mut self, fd: RawFd) -> Result<(), Errno> {
        let State::Connecting(conn) = self.socket(fd)?.state else { return Ok(()) };
        let state = self.stack.endpoint(conn).map_or(tcp::State::Closed, tcp::Endpoint::state);
        match state {
            tcp::State::SynSent | tcp::State::SynReceived => Err(Errno::EAGAIN),
            tcp::State::Closed => {
                self.discard(conn);
                let socket = self.socket_mut(fd)?;
                socket.unconnect();
                Err(socket.error.take().unwrap_or(Errno::ECONNABORTED))
            }
            _ => {
                let socket = self.socket_mut(fd)?;
                socket.state = State::Connected(conn);
                socket.take_error()
            }
        }
    }

    /// Disconnects: a connection the peer knows of ends with a reset, and the application sees a reset as well.
    pub(super) fn disconnect(&mut self, fd: RawFd) -> Result<(), Errno> {
        let conn = self.socket(fd)?.conn();
        let open = conn.is_some_and(|conn| !self.is_over(conn));
        let socket = self.socket_mut(fd)?;
        let was = socket.unconnect();
        let reset = open || matches!(was, State::Deferred(_));
        socket.error = reset.then_some(Errno::ECONNRESET);
        socket.shut_read = false;
        if let Some(conn) = conn {
            self.discard(conn);
        }
        if let State::Listening(listener) = was {
            self.unlisten(listener);
        }
        Ok(())
    }

    /// Our address towards `remote`: from the flags, or learned from packets and `bind`, or chosen by the kernel, or
    /// packetdrill's default.
    fn local_address(&self, remote: SocketAddr) -> IpAddr {
        let fits = |ip: &&IpAddr| Family::of(**ip) == Family::of(remote.ip());
        let known = self.flags.local.iter().find(fits).or_else(|| self.stack.addresses().iter().find(fits));
        known.copied().or_else(|| kernels_choice(remote)).unwrap_or_else(|| {
            let text = if remote.is_ipv4() { DEFAULT_V4 } else { DEFAULT_V6 };
            text.parse().expect("an address")
        })
    }
}

/// The source address from which the kernel routes to `remote`; `None` without the device that scripts configure, because the
/// routes are then not the script's. Connecting a datagram socket sends no packet.
fn kernels_choice(remote: SocketAddr) -> Option<IpAddr> {
    if !device::has_device() {
        return None;
    }
    let probe = UdpSocket::bind(SocketAddr::new(Family::of(remote.ip()).any(), 0)).ok()?;
    probe.connect(remote).ok()?;
    Some(probe.local_addr().ok()?.ip())
}

/// The range of ports from which the application allows the host to choose (`IP_LOCAL_PORT_RANGE`), if it sets one.
fn port_range(socket: &Socket) -> Option<RangeInclusive<u16>> {
    let asked = socket.settings.options.number(libc::SOL_IP, IP_LOCAL_PORT_RANGE) as u32;
    let (first, last) = (asked as u16, (asked >> 16) as u16);
    (asked != 0).then(|| first.max(1)..=if last == 0 { u16::MAX } else { last })
}
