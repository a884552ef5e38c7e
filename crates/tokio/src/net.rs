//! The application's handle of a stack.

use crate::error;
use crate::handles::Handles;
use crate::listener::TcpListener;
use crate::request::TcpRequest;
use crate::shared::{Handle, Inner, Stage};
use crate::stats::{ConnectionInfo, Stats};
use crate::stream::TcpStream;
use crate::udp::{UdpFlow, UdpSocket};
use crate::waits::keep_beside;
use base::Duration;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use tcp::{FourTuple, LateRequests, LocalEnd, ValidConfig};

/// Connections that may wait in a listener, minus one.
const BACKLOG: u32 = 1_024;
/// The dynamic ports (RFC 6335 §6), for a listener without a port of its own.
const DYNAMIC: std::ops::RangeInclusive<u16> = 49_152..=u16::MAX;

/// Opens connections and takes those that peers open. Cheap to clone; the clones share everything.
#[derive(Clone, Debug)]
pub struct Net {
    handles: Arc<Handles>,
}

/// What comes to a stack and waits for a decision.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A request for a connection.
    Tcp(TcpRequest),
    /// Datagrams from a peer that no socket has; only on a stack that stands for every destination.
    Udp(UdpFlow),
    /// A packet that this stack has no use for, as it came: of another protocol, or to another destination.
    Other(pipe::Packet),
}

impl Net {
    pub(crate) fn new(handles: Handles) -> Self {
        Self { handles: Arc::new(handles) }
    }

    /// Waits for the next request or packet; `None` after [`Self::shutdown`] and when the driver has ended. Dropping the future
    /// loses nothing. Of several tasks that wait, any may get it.
    ///
    /// Requests come only to a stack that was built to ask ([`crate::StackBuilder::any_destination`],
    /// [`crate::StackBuilder::requests`]).
    pub async fn incoming(&self) -> Option<Incoming> {
        poll_fn(|cx| self.poll_incoming(cx)).await
    }

    /// The same for a task.
    pub fn poll_incoming(&self, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        let mut result = Poll::Ready(None);
        for handle in self.handles.in_turn() {
            match poll_incoming(handle, cx) {
                Poll::Ready(Some(incoming)) => return Poll::Ready(Some(incoming)),
                Poll::Ready(None) => {}
                Poll::Pending => result = Poll::Pending,
            }
        }
        result
    }

    /// Opens a connection and waits for the end of its handshake. Dropping the future gives it up.
    ///
    /// # Errors
    /// The kind that a kernel gives: `ConnectionRefused`, `TimedOut`, `HostUnreachable`, `AddrNotAvailable` for want of an address or
    /// a port, `InvalidInput` for an address that cannot be connected to, `NotConnected` without a driver.
    pub async fn connect(&self, remote: SocketAddr) -> io::Result<TcpStream> {
        let config = self.config();
        self.connect_with(None, remote, &config).await
    }

    /// The same, from a local address of the application's choice; port zero means any. A stack that stands for every destination may
    /// use every address.
    ///
    /// # Errors
    /// As for [`Self::connect`].
    pub async fn connect_from(&self, local: SocketAddr, remote: SocketAddr) -> io::Result<TcpStream> {
        let config = self.config();
        self.connect_with(Some(local), remote, &config).await
    }

    /// The same, with a configuration of its own.
    ///
    /// # Errors
    /// As for [`Self::connect`].
    pub async fn connect_with(
        &self,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        config: &ValidConfig,
    ) -> io::Result<TcpStream> {
        let from = local.map_or_else(LocalEnd::default, |local| LocalEnd {
            address: Some(local.ip()).filter(|ip| !ip.is_unspecified()),
            ports: if local.port() == 0 { DYNAMIC } else { local.port()..=local.port() },
        });
        let stream = self.open(&from, remote, config)?;
        stream.established().await?;
        Ok(stream)
    }

    /// Begins to connect, in the shard of the port that the application has named, or in any that has a free one.
    fn open(&self, from: &LocalEnd, remote: SocketAddr, config: &ValidConfig) -> io::Result<TcpStream> {
        let is_named = from.ports.len() == 1;
        let own = self.addresses().into_iter().find(|own| own.is_ipv4() == remote.is_ipv4());
        let named = from.address.or(own).filter(|_| is_named).map(|local| {
            let (remote, remote_port) = (remote.ip(), remote.port());
            self.handles.of(&FourTuple { remote_port, local_port: *from.ports.start(), remote, local })
        });
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for handle in self.handles.in_turn().filter(|handle| named.is_none_or(|named| std::ptr::eq(named, *handle))) {
            match open_in(handle, from, remote, config) {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => failed = error,
                done => return done,
            }
        }
        Err(failed)
    }

    /// Listens on a port; port zero chooses one. The unspecified address stands for all of the stack's addresses.
    ///
    /// # Errors
    /// `AddrInUse` if the port has a listener, `NotConnected` without a driver.
    pub fn listen(&self, address: SocketAddr) -> io::Result<TcpListener> {
        let config = self.config();
        self.listen_with(address, BACKLOG, &config)
    }

    /// The same, with a configuration for its connections, and the number of connections that may wait, minus one.
    ///
    /// # Errors
    /// As for [`Self::listen`].
    pub fn listen_with(&self, address: SocketAddr, backlog: u32, config: &ValidConfig) -> io::Result<TcpListener> {
        let ports = if address.port() == 0 { DYNAMIC } else { address.port()..=address.port() };
        let mut taken = io::Error::from(io::ErrorKind::AddrInUse);
        for address in ports.into_iter().map(|port| SocketAddr::new(address.ip(), port)) {
            let mut listener = TcpListener::new(self.handles.clone(), address);
            match listener.open(backlog, config) {
                Ok(()) => return Ok(listener),
                Err(failed) if failed.kind() == io::ErrorKind::AddrInUse => taken = failed,
                Err(failed) => return Err(failed),
            }
        }
        Err(taken)
    }

    /// Binds a UDP socket; port zero chooses one, and the unspecified address stands for all of the stack's addresses.
    ///
    /// # Errors
    /// `AddrInUse`, `AddrNotAvailable` for an address that is not the stack's, `Unsupported` on a stack without UDP, `NotConnected` without
    /// a driver.
    pub fn udp_bind(&self, at: SocketAddr) -> io::Result<UdpSocket> {
        self.handles.first().with(|inner| check_open(inner))?;
        UdpSocket::bind(self.handles.first().clone(), at)
    }

    /// Begins to exchange datagrams with one peer, from an address of the stack; port zero chooses one.
    ///
    /// # Errors
    /// As for [`Self::udp_bind`]; `InvalidInput` for a peer that is not a host, `OutOfMemory` if too many flows exist.
    pub fn udp_connect(&self, local: SocketAddr, peer: SocketAddr) -> io::Result<UdpFlow> {
        self.handles.first().with(|inner| check_open(inner))?;
        UdpFlow::open(self.handles.first().clone(), local, peer)
    }

    /// Returns the configuration of connections for which nothing else is chosen.
    pub fn config(&self) -> ValidConfig {
        self.handles.first().with(|inner| inner.config.clone())
    }

    /// Changes it for connections to come.
    pub fn set_config(&self, config: &ValidConfig) {
        for handle in self.handles.all() {
            handle.with(|inner| {
                inner.config = config.clone();
                let stack = inner.runner.stack();
                if let Some(late) = stack.late_requests().cloned() {
                    stack.set_late_requests(Some(LateRequests { cfg: config.clone(), ..late }));
                }
            });
        }
    }

    /// Adapts to a path that takes packets of up to `mtu` bytes from now on. Open connections adapt as well: to a larger MTU as far as
    /// the segment size goes that their handshakes agreed on.
    ///
    /// # Errors
    /// `InvalidInput` for less than 576 bytes (RFC 791 §3.2), or less than 1,280 (RFC 8200 §5) on a stack with IPv6.
    pub fn set_mtu(&self, mtu: u16) -> io::Result<()> {
        let least = self.handles.first().with(|inner| inner.least_mtu);
        if mtu < least {
            let text = format!("an MTU of {mtu} bytes: this stack needs {least} at least");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        for handle in self.handles.all() {
            handle.with(|inner| {
                inner.call(|stack, at| stack.set_mtu(at, mtu));
                if let Some(datagrams) = inner.runner.datagrams() {
                    datagrams.set_mtu(mtu);
                }
            });
        }
        Ok(())
    }

    /// Returns totals of the stack, all shards together.
    pub fn stats(&self) -> Stats {
        let mut total = self.handles.first().with(Stats::of);
        self.handles.all()[1..].iter().for_each(|handle| total += handle.with(Stats::of));
        total
    }

    /// Returns totals of each shard.
    pub fn shard_stats(&self) -> Vec<Stats> {
        self.handles.all().iter().map(|handle| handle.with(Stats::of)).collect()
    }

    /// Returns every connection, in no particular order.
    pub fn connections(&self) -> Vec<ConnectionInfo> {
        let mut connections = Vec::new();
        for (shard, handle) in self.handles.all().iter().enumerate() {
            handle.with(|inner| {
                let here = inner.runner.stack().iter();
                connections.extend(here.map(|(conn, endpoint)| ConnectionInfo::of(shard, conn, endpoint)));
            });
        }
        connections
    }

    /// Accepts nothing more, waits until every connection is closed, and ends the driver; after `grace` those that are left are
    /// reset. Streams that the application still holds count as open until it drops them.
    pub async fn shutdown(&self, grace: std::time::Duration) {
        let grace = Duration::from_nanos(u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX));
        self.handles.all().iter().for_each(|handle| handle.with(|inner| begin_shutdown(inner, grace)));
        for handle in self.handles.all() {
            poll_fn(|cx| {
                handle.with(|inner| {
                    if inner.is_over() {
                        return Poll::Ready(());
                    }
                    keep_beside(&mut inner.mourners, cx);
                    Poll::Pending
                })
            })
            .await;
        }
    }

    /// Returns the stack's own addresses.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.handles.first().with(|inner| inner.addresses.clone())
    }
}

/// What came, without a handle.
enum Next {
    Request(tcp::Request, tcp::FourTuple),
    Flow(datagram::Flow),
    Other(pipe::Packet),
}

pub(crate) fn check_open(inner: &Inner) -> io::Result<()> {
    if inner.stage == Stage::Open { Ok(()) } else { Err(error::driver_gone()) }
}

/// Returns what has come to one shard.
fn poll_incoming(handle: &Handle, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
    let next = handle.with(|inner| {
        if let Some((request, tuple)) = inner.runner.stack().poll_request() {
            return Poll::Ready(Some(Next::Request(request, tuple)));
        }
        if let Some(flow) = inner.runner.datagrams().and_then(datagram::Datagrams::poll_flow) {
            return Poll::Ready(Some(Next::Flow(flow)));
        }
        if let Some(packet) = inner.runner.take_other() {
            return Poll::Ready(Some(Next::Other(packet)));
        }
        if inner.stage != Stage::Open {
            return Poll::Ready(None);
        }
        keep_beside(&mut inner.askers, cx);
        Poll::Pending
    });
    next.map(|next| {
        next.map(|next| match next {
            Next::Request(request, tuple) => Incoming::Tcp(TcpRequest::new(handle.clone(), request, tuple)),
            Next::Flow(flow) => Incoming::Udp(UdpFlow::new(handle.clone(), flow)),
            Next::Other(packet) => Incoming::Other(packet),
        })
    })
}

/// Begins to connect in one shard.
fn open_in(handle: &Handle, from: &LocalEnd, remote: SocketAddr, config: &ValidConfig) -> io::Result<TcpStream> {
    let opened: io::Result<_> = handle.with(|inner| {
        check_open(inner)?;
        inner.call(|stack, at| {
            let conn = stack.connect_from(at, config, from, remote).map_err(error::of_connect)?;
            Ok((conn, stack.endpoint(conn).map(tcp::Endpoint::tuple)))
        })
    });
    let (conn, tuple) = opened?;
    let tuple = tuple.ok_or(io::ErrorKind::NotConnected)?;
    Ok(TcpStream::new(handle.clone(), conn, tuple))
}

/// Lets connections end, and takes no new ones.
fn begin_shutdown(inner: &mut Inner, grace: Duration) {
    if inner.stage != Stage::Open {
        return;
    }
    inner.stage = Stage::Closing { until: inner.clock.now() + grace };
    let places = inner.backlogs.places();
    inner.call(|stack, at| {
        stack.set_requests(None);
        places.iter().for_each(|on| stack.unlisten(at, *on));
    });
    inner.close_backlogs();
    inner.nudge();
}
