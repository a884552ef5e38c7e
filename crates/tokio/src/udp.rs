//! UDP beside the TCP: sockets that receive from anyone, and flows with one peer.

use crate::error;
use crate::shared::{Handle, Inner};
use datagram::{Datagrams, Flow, Received, SendError, SocketId};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

/// A socket or a flow that closes with its owner.
#[derive(Debug)]
struct Owned {
    handle: Handle,
    id: SocketId,
}

impl Owned {
    fn new(handle: Handle, id: SocketId) -> Self {
        handle.with(|inner| inner.udp.open(id));
        Self { handle, id }
    }

    fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<Received>> {
        self.handle.with(|inner| {
            if let Some(received) = datagrams(inner)?.recv(self.id, buf) {
                return Poll::Ready(Ok(received));
            }
            self.check(inner)?;
            inner.udp.add_reader(self.id, cx);
            Poll::Pending
        })
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        source: Option<SocketAddr>,
        to: SocketAddr,
        payload: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.handle.with(|inner| {
            self.check(inner)?;
            let now = inner.clock.now();
            match datagrams(inner)?.send(now, self.id, source, to, payload) {
                Ok(()) => Poll::Ready(Ok(payload.len())),
                Err(SendError::Full) => {
                    inner.udp.add_writer(self.id, cx);
                    Poll::Pending
                }
                Err(failed) => Poll::Ready(Err(error::of_send(failed))),
            }
        })
    }

    /// Returns what happened to the socket, if it ends the call.
    fn check(&self, inner: &mut Inner) -> io::Result<()> {
        if inner.is_over() {
            return Err(error::driver_gone());
        }
        if inner.udp.take_refusal(self.id) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        if datagrams(inner)?.local(self.id).is_none() {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the flow was idle for too long, or gave way to another",
            ));
        }
        Ok(())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.handle.with(|inner| {
            inner.udp.close(self.id);
            if let Some(datagrams) = inner.runner.datagrams() {
                datagrams.close(self.id);
            }
        });
    }
}

fn datagrams(inner: &mut Inner) -> io::Result<&mut Datagrams> {
    inner
        .runner
        .datagrams()
        .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "this stack was built without UDP"))
}

/// A UDP socket of the stack. Its methods may be called by several tasks at once, and every future may be dropped: a datagram is
/// returned, or stays.
#[derive(Debug)]
pub struct UdpSocket {
    owned: Owned,
    local: SocketAddr,
}

impl UdpSocket {
    /// Binds a socket; port zero chooses one.
    pub(crate) fn bind(handle: Handle, at: SocketAddr) -> io::Result<Self> {
        let (id, local) = handle.with(|inner| {
            let datagrams = datagrams(inner)?;
            let id = datagrams.bind(at).map_err(error::of_bind)?;
            io::Result::Ok((id, datagrams.local(id).unwrap_or(at)))
        })?;
        Ok(Self { owned: Owned::new(handle, id), local })
    }

    /// Returns where it receives; the port is never zero.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Waits for a datagram, and returns its bytes and its sender. What does not fit into `buf` is lost.
    ///
    /// # Errors
    /// `ConnectionRefused`, once, after a host has reported that nothing has the port that something was sent to; `NotConnected` without
    /// a driver.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.owned.poll_recv(cx, buf)).await.map(|received| (received.len, received.source))
    }

    /// Waits for a datagram, and returns everything that is known of it.
    ///
    /// # Errors
    /// As for [`Self::recv_from`].
    pub async fn recv_message(&self, buf: &mut [u8]) -> io::Result<Received> {
        poll_fn(|cx| self.owned.poll_recv(cx, buf)).await
    }

    /// Sends a datagram, and waits for room before.
    ///
    /// # Errors
    /// `InvalidInput` for a datagram that does not fit into a packet, and for a destination that is not a host; `AddrNotAvailable` for want
    /// of an address of its version; the others as for [`Self::recv_from`].
    pub async fn send_to(&self, payload: &[u8], to: SocketAddr) -> io::Result<usize> {
        poll_fn(|cx| self.owned.poll_send(cx, None, to, payload)).await
    }

    /// The same in the name of another address, which the stack has to stand for.
    ///
    /// # Errors
    /// As for [`Self::send_to`].
    pub async fn send_from(&self, source: SocketAddr, payload: &[u8], to: SocketAddr) -> io::Result<usize> {
        poll_fn(|cx| self.owned.poll_send(cx, Some(source), to, payload)).await
    }
}

/// Datagrams between one address of the stack and one peer. It ends when nothing has come or gone for some time.
#[derive(Debug)]
pub struct UdpFlow {
    owned: Owned,
    local: SocketAddr,
    peer: SocketAddr,
}

impl UdpFlow {
    /// Takes over a flow that a peer's datagram began.
    pub(crate) fn new(handle: Handle, flow: Flow) -> Self {
        Self { owned: Owned::new(handle, flow.id), local: flow.local, peer: flow.remote }
    }

    /// Begins a flow.
    pub(crate) fn open(handle: Handle, local: SocketAddr, peer: SocketAddr) -> io::Result<Self> {
        let (id, local) = handle.with(|inner| {
            let now = inner.clock.now();
            let datagrams = datagrams(inner)?;
            let id = datagrams.open(now, local, peer).map_err(error::of_bind)?;
            io::Result::Ok((id, datagrams.local(id).unwrap_or(local)))
        })?;
        Ok(Self { owned: Owned::new(handle, id), local, peer })
    }

    /// Returns who sent the first datagram, or is to receive it.
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// Returns this side's address and port: of a flow that a peer began, where it sent its datagram.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Waits for a datagram, and returns the number of its bytes. What does not fit into `buf` is lost.
    ///
    /// # Errors
    /// `TimedOut` when the flow has ended, `ConnectionRefused`, once, after the peer's host has reported that nothing has the port.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.owned.poll_recv(cx, buf)).await.map(|received| received.len)
    }

    /// Sends a datagram, and waits for room before.
    ///
    /// # Errors
    /// As for [`Self::recv`]; `InvalidInput` for a datagram that does not fit into a packet.
    pub async fn send(&self, payload: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| self.owned.poll_send(cx, None, self.peer, payload)).await
    }

    /// Ends the flow, and reports to its peer by ICMP that nothing has the port, if a datagram of it was not read.
    pub fn refuse(self) {
        self.owned.handle.with(|inner| {
            let now = inner.clock.now();
            if let Some(datagrams) = inner.runner.datagrams() {
                datagrams.refuse(now, self.owned.id);
            }
        });
    }
}
