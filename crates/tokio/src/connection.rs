//! One connection as its streams and halves share it. Dropped, it is released: closed in the background, or reset if data was not read.

use crate::error;
use crate::shared::{Handle, Inner};
use crate::waits::For;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tcp::config::{Config, NagleConfig};
use tcp::{CloseReason, Conn, FourTuple, Read, State, TcpInfo, ValidConfig};
use tokio::io::ReadBuf;

/// When shutting down a stream is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShutdownEnds {
    /// At once, as with a kernel's sockets: what was written and the FIN leave in the background.
    #[default]
    Queued,
    /// When the peer has acknowledged everything written and the FIN.
    Acknowledged,
}

#[derive(Debug)]
pub(crate) struct Connection {
    handle: Handle,
    conn: Conn,
    tuple: FourTuple,
    resets_on_drop: AtomicBool,
    waits_for_fin: AtomicBool,
}

impl Connection {
    pub fn new(handle: Handle, conn: Conn, tuple: FourTuple) -> Self {
        handle.with(|inner| inner.on_stream(conn, &tuple));
        let (resets_on_drop, waits_for_fin) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { handle, conn, tuple, resets_on_drop, waits_for_fin }
    }

    pub fn id(&self) -> u32 {
        self.conn.id().0
    }

    pub fn local_addr(&self) -> SocketAddr {
        SocketAddr::new(self.tuple.local, self.tuple.local_port)
    }

    pub fn peer_addr(&self) -> SocketAddr {
        SocketAddr::new(self.tuple.remote, self.tuple.remote_port)
    }

    pub fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.handle.with(|inner| {
            let unfilled = buf.initialize_unfilled();
            match inner.call(|stack, at| stack.read(at, self.conn, unfilled)) {
                Ok(Read::Data(0)) => self.wait(inner, For::Reading, cx),
                Ok(Read::Data(len)) => {
                    // No longer than the buffer, so it fits.
                    buf.advance(len as usize);
                    Poll::Ready(Ok(()))
                }
                Ok(Read::Fin) => Poll::Ready(Ok(())),
                Err(failed) => Poll::Ready(Err(error::of_read(failed))),
            }
        })
    }

    /// Copies bytes that can be read and leaves them to be read; zero at their end.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.handle.with(|inner| {
            let Some(endpoint) = inner.runner.stack().endpoint(self.conn) else { return Poll::Ready(Ok(0)) };
            match (endpoint.peek(buf), endpoint.closed()) {
                (0, Some(reason)) if reason != CloseReason::Normal => Poll::Ready(Err(error::ended(reason))),
                (0, None) if !endpoint.queues().fin_received && !buf.is_empty() => self.wait(inner, For::Reading, cx),
                (len, _) => Poll::Ready(Ok(len)),
            }
        })
    }

    pub fn poll_write(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.handle.with(|inner| {
            let mut written = 0;
            for buf in bufs.iter().filter(|buf| !buf.is_empty()) {
                match inner.call(|stack, at| stack.write(at, self.conn, buf)) {
                    Ok(taken) => {
                        written += taken;
                        if taken < buf.len() {
                            break;
                        }
                    }
                    Err(_) if written > 0 => break,
                    Err(failed) => return Poll::Ready(Err(error::of_write(failed))),
                }
            }
            if written > 0 || bufs.iter().all(|buf| buf.is_empty()) {
                return Poll::Ready(Ok(written));
            }
            self.wait(inner, For::Writing, cx)
        })
    }

    pub fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waits = self.waits_for_fin.load(Relaxed);
        self.handle.with(|inner| {
            inner.call(|stack, at| stack.shutdown(at, self.conn));
            let Some(endpoint) = inner.runner.stack().endpoint(self.conn) else { return Poll::Ready(Ok(())) };
            match endpoint.closed() {
                Some(CloseReason::Normal) => Poll::Ready(Ok(())),
                // The peer may not have everything that was written.
                Some(reason) if waits => Poll::Ready(Err(error::ended(reason))),
                _ if !waits || endpoint.queues().fin == tcp::FinProgress::Acknowledged => Poll::Ready(Ok(())),
                _ => self.wait(inner, For::Writing, cx),
            }
        })
    }

    /// Waits for the end of the handshake.
    pub async fn established(&self) -> io::Result<()> {
        let opening = |inner: &mut Inner| {
            let Some(endpoint) = inner.runner.stack().endpoint(self.conn) else { return Err(error::driver_gone()) };
            match (endpoint.closed(), endpoint.state()) {
                (Some(CloseReason::Normal), _) => Ok(false),
                (Some(reason), _) => Err(error::ended(reason)),
                (None, state) => Ok(matches!(state, State::SynSent | State::SynReceived)),
            }
        };
        poll_fn(|cx| {
            self.handle
                .with(|inner| if opening(inner)? { self.wait(inner, For::Change, cx) } else { Poll::Ready(Ok(())) })
        })
        .await
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) -> io::Result<CloseReason> {
        poll_fn(|cx| {
            self.handle.with(|inner| match inner.runner.stack().endpoint(self.conn).map(tcp::Endpoint::closed) {
                Some(Some(reason)) => Poll::Ready(Ok(reason)),
                Some(None) => {
                    ready!(self.wait::<()>(inner, For::Change, cx))?;
                    Poll::Pending
                }
                None => Poll::Ready(Err(error::driver_gone())),
            })
        })
        .await
    }

    /// Waits for an event, unless none will come.
    fn wait<T>(&self, inner: &mut Inner, what: For, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if inner.is_over() {
            return Poll::Ready(Err(error::driver_gone()));
        }
        inner.waits.add(self.conn, what, cx);
        Poll::Pending
    }

    /// Closes the direction of writing, without waiting.
    pub fn shutdown(&self) {
        self.handle.with(|inner| inner.call(|stack, at| stack.shutdown(at, self.conn)));
    }

    pub fn abort(&self) {
        self.handle.with(|inner| inner.call(|stack, at| stack.abort(at, self.conn)));
    }

    pub fn info(&self) -> Option<TcpInfo> {
        self.handle.with(|inner| inner.runner.stack().info(self.conn))
    }

    pub fn config(&self) -> Option<ValidConfig> {
        self.handle.with(|inner| inner.runner.stack().config(self.conn).cloned())
    }

    pub fn set_config(&self, config: &ValidConfig) {
        self.handle.with(|inner| inner.call(|stack, at| stack.reconfigure(at, self.conn, config)));
    }

    /// Changes one setting of the connection's own configuration.
    fn change(&self, change: impl FnOnce(&mut Config)) -> io::Result<()> {
        let Some(present) = self.config() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut config = Config::clone(&present);
        change(&mut config);
        let config = config.validate().map_err(|errors| {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            io::Error::new(io::ErrorKind::InvalidInput, text.join(", "))
        })?;
        self.set_config(&config);
        Ok(())
    }

    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.change(|config| config.send.nagle = if nodelay { NagleConfig::Off } else { NagleConfig::Minshall })
    }

    pub fn nodelay(&self) -> bool {
        self.config().is_some_and(|config| config.send.nagle == NagleConfig::Off)
    }

    pub fn set_not_sent_lowat(&self, bytes: Option<u32>) -> io::Result<()> {
        self.change(|config| config.send.notsent_lowat = bytes)
    }

    pub fn set_resets_on_drop(&self, resets: bool) {
        self.resets_on_drop.store(resets, Relaxed);
    }

    pub fn resets_on_drop(&self) -> bool {
        self.resets_on_drop.load(Relaxed)
    }

    pub fn set_shutdown_ends(&self, ends: ShutdownEnds) {
        self.waits_for_fin.store(ends == ShutdownEnds::Acknowledged, Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (conn, resets) = (self.conn, self.resets_on_drop());
        self.handle.with(|inner| {
            inner.on_stream_end(conn, &self.tuple);
            inner.call(|stack, at| {
                if resets {
                    stack.abort(at, conn);
                }
                stack.release(at, conn);
            });
            inner.waits.remove(conn);
        });
    }
}
