//! A connection as tokio's programs know it.

use crate::connection::{Connection, ShutdownEnds};
use crate::halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::shared::Handle;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tcp::{CloseReason, Conn, FourTuple, TcpInfo, ValidConfig};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TCP connection: `AsyncRead` and `AsyncWrite`, as `tokio::net::TcpStream` is.
///
/// Reads and writes go straight to the stack's buffers: what is not read closes the receive window, and writing waits for room in the
/// send buffer.
///
/// **Cancellation.** Every future and every `poll_*` of this type may be dropped or forgotten at any time: bytes leave the receive
/// buffer only into a buffer that the call returns, and bytes enter the send buffer only if the call says how many. (`read_exact` and
/// `write_all` of tokio keep their progress in the future, here as everywhere.)
///
/// **Dropping** closes the connection in the background, within the bounds of the stack (`docs/SECURITY.md`): what was written is still
/// delivered. If received data was not read, the peer gets a reset instead (RFC 9293 §3.6.1), as from a kernel.
///
/// Of the errors, `ConnectionReset`, `TimedOut` and the others are those of a kernel; [`crate::close_reason`] has the reason.
#[derive(Debug)]
pub struct TcpStream {
    connection: Arc<Connection>,
}

impl TcpStream {
    pub(crate) fn new(handle: Handle, conn: Conn, tuple: FourTuple) -> Self {
        Self { connection: Arc::new(Connection::new(handle, conn, tuple)) }
    }

    /// Returns the connection's number, as traces and [`crate::Net::connections`] name it; no other connection of the stack ever has it.
    pub fn id(&self) -> u32 {
        self.connection.id()
    }

    /// Returns this side's address and port. On a stack that stands for every destination it is the one that the peer asked for:
    /// [`Self::original_destination`].
    pub fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    /// Returns the other side's address and port.
    pub fn peer_addr(&self) -> SocketAddr {
        self.connection.peer_addr()
    }

    /// Returns where the peer of a [`crate::TcpRequest`] wanted to connect to: the same as [`Self::local_addr`], under the name by
    /// which a proxy looks for it.
    pub fn original_destination(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    /// Waits for the end of the handshake. Needed by who accepted a request and has to know whether its peer is there before it
    /// writes; reads and writes wait by themselves.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn established(&self) -> io::Result<()> {
        self.connection.established().await
    }

    /// Waits for the end of the connection in both directions and returns its reason. What has arrived can still be read.
    ///
    /// # Errors
    /// `NotConnected` if the driver ends first.
    pub async fn closed(&self) -> io::Result<CloseReason> {
        self.connection.closed().await
    }

    /// Copies bytes that can be read, and leaves them to be read. Returns how many; zero if the peer closed its direction. Waits while
    /// none are there.
    ///
    /// # Errors
    /// As for reading.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.connection.poll_peek(cx, buf)).await
    }

    /// Resets the connection: the peer gets a reset, and what was not delivered is lost.
    pub fn abort(&self) {
        self.connection.abort();
    }

    /// Returns the state of the connection for people and checkers; `None` once the driver has freed it.
    pub fn info(&self) -> Option<TcpInfo> {
        self.connection.info()
    }

    /// Returns the configuration of the connection: its profile with what was changed since.
    pub fn config(&self) -> Option<ValidConfig> {
        self.connection.config()
    }

    /// Changes the configuration as far as an open connection can change: rules for small segments, time limits, retries, delays of
    /// ACKs, keep-alive, the send buffer. What was agreed on or built at the beginning stays: choose it with
    /// [`crate::TcpRequest::accept_with`], [`crate::Net::connect_with`] or [`crate::Net::listen_with`].
    pub fn set_config(&self, config: &ValidConfig) {
        self.connection.set_config(config);
    }

    /// Sends small segments at once (`true`), or one at a time (`false`: Minshall's form of Nagle's rule).
    ///
    /// # Errors
    /// `NotConnected` once the connection is gone.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.connection.set_nodelay(nodelay)
    }

    /// Returns whether small segments leave at once.
    pub fn nodelay(&self) -> bool {
        self.connection.nodelay()
    }

    /// Accepts writes only while less than this many bytes wait to be sent for the first time, so that what is written late is not
    /// stale; `None` fills the send buffer. A profile chosen by its name begins with 512 KiB.
    ///
    /// # Errors
    /// `NotConnected` once the connection is gone, `InvalidInput` for a number out of bounds.
    pub fn set_not_sent_lowat(&self, bytes: Option<u32>) -> io::Result<()> {
        self.connection.set_not_sent_lowat(bytes)
    }

    /// With a time of zero, dropping the stream resets the connection. With `None`, and with any other time, dropping closes it in the
    /// background: a drop cannot wait.
    pub fn set_linger(&self, linger: Option<std::time::Duration>) {
        self.connection.set_resets_on_drop(linger == Some(std::time::Duration::ZERO));
    }

    /// Returns a linger time of zero if dropping the stream resets the connection.
    pub fn linger(&self) -> Option<std::time::Duration> {
        self.connection.resets_on_drop().then_some(std::time::Duration::ZERO)
    }

    /// Chooses when shutting down is done.
    pub fn set_shutdown_ends(&self, ends: ShutdownEnds) {
        self.connection.set_shutdown_ends(ends);
    }

    /// Borrows the two directions.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        (ReadHalf::new(&self.connection), WriteHalf::new(&self.connection))
    }

    /// Splits the stream in two that can go to different tasks. Dropping the half that writes closes that direction.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        (OwnedReadHalf::new(self.connection.clone()), OwnedWriteHalf::new(self.connection))
    }

    /// Puts the halves of one stream together again.
    ///
    /// # Errors
    /// Returns the halves if they are of different streams.
    pub fn reunite(read: OwnedReadHalf, write: OwnedWriteHalf) -> Result<Self, (OwnedReadHalf, OwnedWriteHalf)> {
        crate::halves::join(read, write).map(|connection| Self { connection })
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_read(cx, buf)
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.connection.poll_write(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.connection.poll_write(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// What was written is on its way already.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes the direction of writing: a FIN follows the last byte. Done as [`ShutdownEnds`] says; can be called again.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_shutdown(cx)
    }
}
