//! Connections that peers open to a port of this stack.

use crate::error;
use crate::shared::Handle;
use crate::stream::TcpStream;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use tcp::ListenOn;

/// Listens on a port. Dropping it resets the connections that were not accepted.
#[derive(Debug)]
pub struct TcpListener {
    handle: Handle,
    on: ListenOn,
    address: SocketAddr,
}

impl TcpListener {
    pub(crate) fn new(handle: Handle, address: SocketAddr) -> Self {
        Self { handle, on: address.into(), address }
    }

    /// Waits for an established connection, and returns it with its peer's address. Dropping the future loses none.
    ///
    /// # Errors
    /// `NotConnected` once the stack no longer listens: it was shut down, or its driver has ended.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// The same for a task.
    ///
    /// # Errors
    /// As for [`Self::accept`].
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let next = self.handle.with(|inner| {
            loop {
                if inner.is_over() || !inner.backlogs.is_open(self.on) {
                    return Poll::Ready(Err(error::driver_gone()));
                }
                let Some(conn) = inner.backlogs.poll(self.on, cx) else { return Poll::Pending };
                let stack = inner.runner.stack();
                // A connection that ended in the queue is handed over all the same, as by a kernel: its data can be read.
                if let Some(tuple) = stack.endpoint(conn).map(tcp::Endpoint::tuple) {
                    stack.accept(conn);
                    return Poll::Ready(Ok((conn, tuple)));
                }
            }
        });
        next.map_ok(|(conn, tuple)| {
            let stream = TcpStream::new(self.handle.clone(), conn, tuple);
            let peer = stream.peer_addr();
            (stream, peer)
        })
    }

    /// Returns where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        self.handle.with(|inner| {
            inner.backlogs.close(self.on);
            inner.call(|stack, at| stack.unlisten(at, self.on));
        });
    }
}
