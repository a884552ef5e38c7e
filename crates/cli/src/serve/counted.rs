//! A stream of ours whose bytes are counted for the summary of its connection.

use crate::activity::Activity;
use longhaul::TcpStream;
use net::{Stream, Transfer};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, copy, sink};
use tokio::time::timeout;

/// After the end of a service, what the client still sends is read for so long and up to so many bytes: unread bytes would reset the
/// connection.
const LAST_WORDS: Duration = Duration::from_secs(1);
const LAST_BYTES: u64 = 1 << 20;
/// The summary waits no longer than this for the end of the connection.
const END: Duration = Duration::from_secs(5);

/// A stream and its counts; the clones share both.
#[derive(Clone, Debug)]
pub struct Counted(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    stream: RefCell<TcpStream>,
    active: Activity,
    began: Instant,
    last_read: Cell<Instant>,
    read: Cell<Stream>,
    written: Cell<Stream>,
}

impl Counted {
    /// Counts from now on. Until [`Self::finish`], dropping it resets the connection.
    pub fn new(stream: TcpStream) -> Self {
        stream.set_linger(Some(Duration::ZERO));
        let began = Instant::now();
        Self(Rc::new(Shared {
            stream: RefCell::new(stream),
            active: Activity::default(),
            began,
            last_read: Cell::new(began),
            read: Cell::default(),
            written: Cell::default(),
        }))
    }

    /// Waits until no byte has come or left for `limit`.
    pub async fn idle_for(&self, limit: Duration) {
        self.0.active.idle_for(limit).await;
    }

    /// Resets the connection.
    pub fn abort(&self) {
        self.0.stream.borrow().abort();
    }

    /// Closes in peace: the other side gets everything, and its last bytes are read.
    pub async fn close(&mut self) {
        self.0.stream.borrow().set_linger(None);
        let _ = self.shutdown().await;
        let _ = timeout(LAST_WORDS, copy(&mut self.take(LAST_BYTES), &mut sink())).await;
    }

    /// Waits for the end of the connection, and returns what it came to.
    pub async fn finish(&mut self) -> Option<Transfer> {
        // Polled anew each time: the stream is borrowed no longer than a poll takes.
        let end = poll_fn(|cx| pin!(self.0.stream.borrow().closed()).poll(cx));
        let end = timeout(END, end).await.ok()?.ok()?;
        let of = |time: Duration| base::Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Some(Transfer {
            end,
            elapsed: of(self.0.began.elapsed()),
            last_read: of(self.0.last_read.get() - self.0.began),
            written: self.0.written.get(),
            read: self.0.read.get(),
            info: self.0.stream.borrow().info()?,
        })
    }

    /// Calls the stream.
    fn with<T>(&self, call: impl FnOnce(Pin<&mut TcpStream>) -> T) -> T {
        call(Pin::new(&mut *self.0.stream.borrow_mut()))
    }
}

fn count(counts: &Cell<Stream>, bytes: &[u8]) {
    let mut stream = counts.get();
    stream.bytes += bytes.len() as u64;
    stream.crc.update(bytes);
    counts.set(stream);
}

impl AsyncRead for Counted {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = self.with(|stream| stream.poll_read(cx, buf));
        let came = &buf.filled()[before..];
        if !came.is_empty() {
            count(&self.0.read, came);
            self.0.last_read.set(Instant::now());
            self.0.active.touch();
        }
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.with(|stream| stream.poll_write(cx, buf));
        if let Poll::Ready(Ok(len)) = written {
            count(&self.0.written, &buf[..len]);
            self.0.active.touch();
        }
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.with(|stream| stream.poll_write_vectored(cx, bufs));
        if let Poll::Ready(Ok(mut left)) = written {
            for buf in bufs {
                let len = buf.len().min(left);
                count(&self.0.written, &buf[..len]);
                left -= len;
            }
            self.0.active.touch();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(cx))
    }
}
