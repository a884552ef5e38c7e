//! One script's host: a stack, its clock, the descriptor tables, and the packets waiting to be fetched.
//!
//! Virtual time stands still during a call. A call changes the host and ends with [`Host::drive`], the only place that runs a
//! turn; [`crate::waiting`] advances the clock and lets blocked calls check again.

use crate::clock::Clock;
use crate::cut::{Cut, TSO_MAX_BYTES, device_cut, packets};
use crate::device;
use crate::epoll::Epoll;
use crate::flags::Flags;
use crate::metrics::Metrics;
use crate::pipe::Pipes;
use crate::queue::Queue;
use crate::reports::{Blame, Progress};
use crate::socket::{Socket, State};
use crate::watch::Watch;
use base::{Instant, Rng};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;
use tcp::config::{Config, FrameGrowth, GuardConfig, ReceiveAccounting, ValidConfig};
use tcp::{
    Budget, CloseReason, Conn, ConnEvent, DeviceCaps, FinProgress, IcmpError, ListenOn, Queues, RxFrame, Segmentation,
    Sent, Stack, StackConfig, StackCx, StackEvent, TxChecksum, turn,
};
use wire::Unreachable;

/// A packet sent by the stack, with the time it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Emitted {
    pub at: Instant,
    pub bytes: Vec<u8>,
}

/// The host.
#[derive(Debug)]
pub(crate) struct Host {
    pub flags: Flags,
    pub clock: Clock,
    pub stack: Stack,
    pub sockets: BTreeMap<RawFd, Socket>,
    pub epolls: BTreeMap<RawFd, Epoll>,
    pub pipes: Pipes,
    /// The descriptor to which a connection belongs; a connection waiting to be accepted has none.
    pub owners: BTreeMap<Conn, RawFd>,
    pub out: VecDeque<Emitted>,
    /// How the device cuts bursts.
    cut: Cut,
    /// The device's queue and the room it has.
    queue: Queue,
    /// Detects whether the script has flushed the memory of peers.
    pub metrics: Metrics,
    pub watch: Watch,
    /// The ICMP message that has just arrived.
    pub blame: Option<Blame>,
    /// The next port for a socket that does not ask for a particular one.
    pub next_port: u16,
    begun: bool,
}

/// The first port given to a socket that asks for any.
const FIRST_PORT: u16 = 32_768;

impl Host {
    /// A host without sockets. It does not look at the machine before the first call, because the script's init command, which
    /// configures the machine, runs in between.
    pub fn new(flags: Flags) -> Self {
        Self {
            clock: Clock::new(),
            stack: stack(&flags, device::DEFAULT_MTU),
            sockets: BTreeMap::new(),
            epolls: BTreeMap::new(),
            pipes: Pipes::default(),
            owners: BTreeMap::new(),
            out: VecDeque::new(),
            cut: Cut::Never,
            queue: Queue::default(),
            metrics: Metrics::default(),
            watch: Watch::new(flags.trace.as_deref()),
            blame: None,
            next_port: FIRST_PORT,
            begun: false,
            flags,
        }
    }

    /// A host with this stack, at this moment, independent of the machine's device.
    #[cfg(test)]
    pub fn with_stack(flags: Flags, stack: Stack, now: Instant) -> Self {
        Self { stack, clock: Clock::begun_at(now), begun: true, ..Self::new(flags) }
    }

    /// A call about sockets or packets has arrived; the first one makes the host read the device's settings.
    pub fn begin(&mut self) {
        if self.begun {
            return;
        }
        self.begun = true;
        self.clock.begin();
        let mtu = self.flags.mtu.or_else(device::device_mtu).unwrap_or(device::DEFAULT_MTU);
        self.cut = device_cut();
        self.queue = Queue::open();
        self.stack = stack(&self.flags, mtu);
    }

    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The stack, with the context it borrows for a call at the current moment.
    pub fn stack_and_cx(&mut self) -> (&mut Stack, StackCx<'_, Watch>) {
        (&mut self.stack, StackCx::new(self.clock.now(), &mut self.watch))
    }

    /// The socket of this number.
    ///
    /// # Errors
    /// `ENOTSOCK` when it is another kind of descriptor, `EBADF` when it is none.
    pub fn socket_mut(&mut self, fd: RawFd) -> Result<&mut Socket, Errno> {
        let other = self.epolls.contains_key(&fd) || self.pipes.contains(fd);
        self.sockets.get_mut(&fd).ok_or(if other { Errno::ENOTSOCK } else { Errno::EBADF })
    }

    /// As [`Self::socket_mut`].
    ///
    /// # Errors
    /// As there.
    pub fn socket(&self, fd: RawFd) -> Result<&Socket, Errno> {
        let other = self.epolls.contains_key(&fd) || self.pipes.contains(fd);
        self.sockets.get(&fd).ok_or(if other { Errno::ENOTSOCK } else { Errno::EBADF })
    }

    /// One turn at the current moment: what arrived, timers that are due, what is ready to leave; then the events.
    pub fn drive(&mut self, rx: Option<RxFrame<'_>>) {
        let now = self.clock.now();
        let refuses = self.device_refuses(rx.is_some());
        self.stack.set_device_refuses(refuses);
        let (out, cut) = (&mut self.out, self.cut);
        let mut tx = |frame: tcp::TxFrame<'_>| {
            if refuses {
                return Sent::Accepted;
            }
            out.extend(packets(&frame, cut).into_iter().map(|bytes| Emitted { at: now, bytes }));
            Sent::Accepted
        };
        let mut cx = StackCx::new(now, &mut self.watch);
        turn(&mut self.stack, &mut cx, rx, &mut tx, Budget::UNLIMITED);
        while let Some(event) = self.stack.poll_event() {
            self.take_event(event);
        }
        self.blame = None;
        self.report_progress();
    }

    /// Whether the device refuses what the coming turn may send. A script may change that between two calls.
    fn device_refuses(&self, arrives: bool) -> bool {
        let due = self.stack.next_deadline().is_some_and(|at| at <= self.clock.now());
        (arrives || due || self.stack.has_ready()) && self.queue.refuses()
    }

    /// Reports progress to the sockets that track how far their connections have come.
    fn report_progress(&mut self) {
        let now = self.clock.now();
        for socket in self.sockets.values_mut().filter(|socket| socket.reports.waits()) {
            let conn = socket.conn();
            let over =
                conn.and_then(|conn| self.stack.endpoint(conn)).is_none_or(|endpoint| endpoint.closed().is_some());
            let progress = conn
                .filter(|_| !over)
                .and_then(|conn| self.stack.queues(conn))
                .map(|queues| Progress { unsent: queues.unsent.into(), unacknowledged: queues.unacknowledged.into() });
            socket.wakes.reports += socket.reports.look(progress, now) as u64;
        }
    }

    fn take_event(&mut self, event: StackEvent) {
        match event {
            StackEvent::Accepted { conn, port } => self.on_accepted(conn, port),
            StackEvent::Conn { conn, event } => {
                let Some(socket) = self.owners.get(&conn).and_then(|fd| self.sockets.get_mut(fd)) else { return };
                match event {
                    ConnEvent::Readable => socket.wakes.readable += 1,
                    ConnEvent::Writable => socket.wakes.writable += 1,
                    // Nothing that a socket reports.
                    ConnEvent::Unresponsive | ConnEvent::FinAcknowledged => {}
                    ConnEvent::Urgent => socket.wakes.readable += 1,
                    ConnEvent::Connected => {
                        socket.wakes.readable += 1;
                        socket.wakes.writable += 1;
                    }
                    // Only a socket that asked for it (IP_RECVERR) is informed before the connection ends.
                    ConnEvent::Icmp(error) => {
                        if socket.hears_of_the_path() {
                            socket.error = Some(errno_of(error));
                            socket.wakes.reports += 1;
                        }
                    }
                    ConnEvent::Closed(reason) => {
                        if let (CloseReason::Icmp(error), Some(blame)) = (reason, self.blame)
                            && (blame.from.is_ipv4() || socket.hears_of_the_path())
                        {
                            // IPv4 reports a failed attempt to connect whether or not the application asked.
                            socket.reports.blame(errno_of(error), blame);
                            socket.wakes.reports += 1;
                        }
                        socket.wakes.readable += 1;
                        socket.wakes.writable += 1;
                        socket.error = error_of(reason, self.stack.queues(conn)).or(socket.error);
                    }
                }
            }
        }
    }

    /// A listener has a new connection: a listener bound to its address takes precedence over one bound to every address.
    fn on_accepted(&mut self, conn: Conn, port: u16) {
        let local = self.stack.endpoint(conn).map(|endpoint| endpoint.tuple().local);
        let fits = |address| {
            let on = ListenOn { port, address };
            let listens = |socket: &Socket| matches!(&socket.state, State::Listening(listener) if listener.on == on);
            self.sockets.iter().find(|(_, socket)| listens(socket)).map(|(fd, _)| *fd)
        };
        let fits = [local, None].into_iter().find_map(fits);
        let Some(socket) = fits.and_then(|fd| self.sockets.get_mut(&fd)) else { return self.discard(conn) };
        socket.wakes.readable += 1;
        if let State::Listening(listener) = &mut socket.state {
            listener.waiting.push_back(conn);
        }
    }

    /// Resets a connection that no application wants.
    pub fn discard(&mut self, conn: Conn) {
        self.owners.remove(&conn);
        let (stack, mut cx) = self.stack_and_cx();
        stack.abort(&mut cx, conn);
        stack.release(&mut cx, conn);
    }

    /// The next time at which a timer is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.stack.next_deadline()
    }

    /// A socket's settings have changed: its connection and listener continue with the new ones.
    ///
    /// # Errors
    /// `EINVAL` when they are invalid in combination; then only the socket's own copy has changed.
    pub fn config_changed(&mut self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        let config = socket.config.clone().validate().map_err(|_| Errno::EINVAL)?;
        match &socket.state {
            State::Fresh | State::Deferred(_) => {}
            State::Listening(listener) => {
                let (on, backlog) = (listener.on, listener.backlog);
                let config = unattended(&socket.config)?;
                self.stack.relisten(on, backlog, &config);
            }
            State::Connecting(conn) | State::Connected(conn) => {
                let conn = *conn;
                let (stack, mut cx) = self.stack_and_cx();
                stack.reconfigure(&mut cx, conn, &config);
            }
        }
        Ok(())
    }
}

/// The settings of connections that the application has not accepted yet: their buffers do not grow.
///
/// # Errors
/// `EINVAL` when the settings are invalid in combination.
pub(crate) fn unattended(config: &Config) -> Result<ValidConfig, Errno> {
    let mut config = config.clone();
    if let ReceiveAccounting::Frames(frames) = &mut config.receive.accounting {
        frames.growth = FrameGrowth::Fixed;
    }
    config.validate().map_err(|_| Errno::EINVAL)
}

/// The error a socket reports for a connection that ended for `reason` with these queues. In CLOSE-WAIT the application can only
/// write, and a reset means that the peer no longer reads; once our own direction is closed as well, a reset is reported as a
/// reset.
pub(crate) fn error_of(reason: CloseReason, queues: Option<Queues>) -> Option<Errno> {
    let in_close_wait = queues.is_some_and(|queues| queues.fin_received && queues.fin == FinProgress::Open);
    match reason {
        CloseReason::Normal | CloseReason::Aborted => None,
        CloseReason::Refused => Some(Errno::ECONNREFUSED),
        CloseReason::Reset if in_close_wait => Some(Errno::EPIPE),
        CloseReason::Reset => Some(Errno::ECONNRESET),
        CloseReason::TimedOut => Some(Errno::ETIMEDOUT),
        CloseReason::Icmp(error) => Some(errno_of(error)),
        _ => Some(Errno::EIO),
    }
}

/// The `errno` for an ICMP error (RFC 792, RFC 4443; the names of POSIX and of the socket API's extensions).
fn errno_of(error: IcmpError) -> Errno {
    use Unreachable as U;
    match error {
        IcmpError::ParameterProblem => Errno::EPROTO,
        IcmpError::TimeExceeded => Errno::EHOSTUNREACH,
        IcmpError::Unreachable(why) => match why {
            U::Network | U::NetworkUnknown | U::NetworkProhibited | U::NetworkForService => Errno::ENETUNREACH,
            U::Protocol => Errno::ENOPROTOOPT,
            U::Port => Errno::ECONNREFUSED,
            U::SourceRouteFailed => Errno::EOPNOTSUPP,
            U::HostUnknown => Errno::EHOSTDOWN,
            U::SourceIsolated => Errno::ENONET,
            U::SourcePolicy | U::RouteRejected => Errno::EACCES,
            U::Host
            | U::HostProhibited
            | U::HostForService
            | U::Prohibited
            | U::PrecedenceViolation
            | U::PrecedenceCutoff
            | U::BeyondScope => Errno::EHOSTUNREACH,
        },
    }
}

/// A stack without connections. Its secrets are fixed: the same script gives the same packets.
fn stack(flags: &Flags, mtu: u16) -> Stack {
    let rng = Rng::new(0).fork("packetdrill");
    let mut secret = rng.fork("isn");
    let segmentation = Segmentation::Tso { max_bytes: TSO_MAX_BYTES };
    let device = DeviceCaps { mtu, checksum: TxChecksum::Compute, segmentation };
    let isn_secret = [secret.next_u64(), secret.next_u64()];
    let guards = GuardConfig::default();
    Stack::new(StackConfig { addresses: flags.local.clone(), device, isn_secret, guards }, rng.fork("stack"))
}
