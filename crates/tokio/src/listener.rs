//! Connections that peers open to a port of this stack.

use crate::error;
use crate::handles::Handles;
use crate::shared::{Handle, Stage};
use crate::stream::TcpStream;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use tcp::{ListenOn, ValidConfig};

/// Listens on a port. Dropping it resets the connections that were not accepted.
#[derive(Debug)]
pub struct TcpListener {
    handles: Arc<Handles>,
    /// The shards that listen.
    opened: usize,
    on: ListenOn,
    address: SocketAddr,
}

impl TcpListener {
    pub(crate) fn new(handles: Arc<Handles>, address: SocketAddr) -> Self {
        Self { handles, opened: 0, on: address.into(), address }
    }

    /// Listens in every shard. Dropped after an error, it listens in none.
    pub(crate) fn open(&mut self, backlog: u32, config: &ValidConfig) -> io::Result<()> {
        for handle in self.handles.all() {
            handle.with(|inner| {
                if inner.stage != Stage::Open {
                    return Err(error::driver_gone());
                }
                inner.runner.stack().listen(self.on, backlog, config).map_err(error::of_listen)?;
                inner.backlogs.open(self.on);
                Ok(())
            })?;
            self.opened += 1;
        }
        Ok(())
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
        let accepted = self.handles.in_turn().map(|handle| self.poll_shard(handle, cx)).find(Poll::is_ready);
        accepted.unwrap_or(Poll::Pending)
    }

    fn poll_shard(&self, handle: &Handle, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let next = handle.with(|inner| {
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
            let stream = TcpStream::new(handle.clone(), conn, tuple);
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
        for handle in &self.handles.all()[..self.opened] {
            handle.with(|inner| {
                inner.backlogs.close(self.on);
                inner.call(|stack, at| stack.unlisten(at, self.on));
            });
        }
    }
}
