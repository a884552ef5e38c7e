//! The two directions of a stream apart: borrowed, or owned by different tasks.

use crate::connection::Connection;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The half of a [`crate::TcpStream`] that reads, borrowed.
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a Connection);

/// The half of a [`crate::TcpStream`] that writes, borrowed. Dropping it closes nothing.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a Connection);

/// The half of a [`crate::TcpStream`] that reads.
#[derive(Debug)]
pub struct OwnedReadHalf(Arc<Connection>);

/// The half of a [`crate::TcpStream`] that writes. Dropping it closes that direction: a FIN follows the last byte.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    connection: Arc<Connection>,
    /// Dropping it closes the direction.
    closes: bool,
}

impl<'a> ReadHalf<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self(connection)
    }
}

impl<'a> WriteHalf<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self(connection)
    }
}

impl OwnedReadHalf {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self(connection)
    }

    /// Returns this side's address and port.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// Returns the other side's address and port.
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.peer_addr()
    }
}

impl OwnedWriteHalf {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, closes: true }
    }

    /// Returns this side's address and port.
    pub fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    /// Returns the other side's address and port.
    pub fn peer_addr(&self) -> SocketAddr {
        self.connection.peer_addr()
    }

    /// Drops the half without closing its direction: it closes with the other half.
    pub fn forget(mut self) {
        self.closes = false;
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.closes {
            self.connection.shutdown();
        }
    }
}

/// Returns the connection of two halves.
pub(crate) fn join(
    read: OwnedReadHalf,
    mut write: OwnedWriteHalf,
) -> Result<Arc<Connection>, (OwnedReadHalf, OwnedWriteHalf)> {
    if !Arc::ptr_eq(&read.0, &write.connection) {
        return Err((read, write));
    }
    write.closes = false;
    Ok(read.0)
}

macro_rules! reads {
    ($half:ty, $connection:tt) => {
        impl AsyncRead for $half {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
                self.$connection.poll_read(cx, buf)
            }
        }
    };
}

macro_rules! writes {
    ($half:ty, $connection:tt) => {
        impl AsyncWrite for $half {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                self.$connection.poll_write(cx, &[IoSlice::new(buf)])
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.$connection.poll_write(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.$connection.poll_shutdown(cx)
            }
        }
    };
}

reads!(ReadHalf<'_>, 0);
reads!(OwnedReadHalf, 0);
writes!(WriteHalf<'_>, 0);
writes!(OwnedWriteHalf, connection);
