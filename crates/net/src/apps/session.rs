//! Counters of one connection, and the report at its end.

use super::AppCx;
use crate::crc::Crc32;
use base::{Duration, Instant};
use tcp::{CloseReason, Conn, Read, TcpInfo};
use trace::Observer;

/// Called with what there is to report.
pub type Hook<T> = Box<dyn FnMut(&T)>;

/// One direction of a connection that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// How the connection ended.
    pub end: CloseReason,
    /// From the end of the handshake to the end of the connection; zero when there was no handshake.
    pub elapsed: Duration,
    /// From the end of the handshake to the last read that returned data; zero if none did.
    pub last_read: Duration,
    /// Bytes the application wrote.
    pub written: Stream,
    /// Bytes the application read.
    pub read: Stream,
    /// The connection's own statistics.
    pub info: TcpInfo,
}

/// Bytes that went in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// How many.
    pub bytes: u64,
    /// Their checksum so far.
    pub crc: Crc32,
}

impl Stream {
    pub(super) fn count(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.crc.update(bytes);
    }
}

/// An open connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    pub(super) conn: Conn,
    pub(super) began: Option<Instant>,
    last_read: Option<Instant>,
    pub(super) written: Stream,
    pub(super) read: Stream,
}

/// The result of reading everything available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// More may come.
    Open,
    /// The peer closed its direction, or the connection has ended.
    Ended,
}

impl Session {
    pub(super) fn new(conn: Conn, began: Option<Instant>) -> Self {
        Self { conn, began, last_read: None, written: Stream::default(), read: Stream::default() }
    }

    /// Reads everything available, passing it to `sink` piece by piece.
    pub(super) fn drain<O: Observer>(
        &mut self,
        cx: &mut AppCx<'_, O>,
        buf: &mut [u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Drained {
        loop {
            match cx.read(self.conn, buf) {
                Ok(Read::Data(0)) => return Drained::Open,
                Ok(Read::Data(len)) => {
                    let bytes = &buf[..len as usize];
                    self.take_in(cx.now(), bytes);
                    sink(bytes);
                }
                Ok(Read::Fin) | Err(_) => return Drained::Ended,
            }
        }
    }

    /// Counts what was read at `now`.
    pub(super) fn take_in(&mut self, now: Instant, bytes: &[u8]) {
        self.last_read = Some(now);
        self.read.count(bytes);
    }

    /// Collects the final statistics of a connection that has ended, and drops it.
    pub(super) fn finish<O: Observer>(self, cx: &mut AppCx<'_, O>, end: CloseReason) -> Transfer {
        let info = cx.finish(self.conn).expect("only this application releases it");
        let since_began = |at: Instant| self.began.map_or(Duration::ZERO, |began| at.since(began));
        let last_read = self.last_read.map_or(Duration::ZERO, since_began);
        Transfer { end, elapsed: since_began(cx.now()), last_read, written: self.written, read: self.read, info }
    }
}

/// Bytes moved between an application and its connection per call.
pub(super) const CHUNK: usize = 256 << 10;
