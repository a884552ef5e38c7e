//! What is counted of one connection, and what is told of it at its end.

use crate::crc::Crc32;
use base::{Duration, Instant};
use tcp::{CloseReason, Conn, Read, Stack, StackCx, TcpInfo};
use trace::Observer;

/// Called with what there is to tell.
pub type Hook<T> = Box<dyn FnMut(&T)>;

/// One direction of a connection that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// How the connection ended.
    pub end: CloseReason,
    /// From the end of the handshake to the end of the connection; zero when there was no handshake.
    pub elapsed: Duration,
    /// Octets the application wrote.
    pub written: Stream,
    /// Octets the application read.
    pub read: Stream,
    /// What the connection says about itself.
    pub info: TcpInfo,
}

/// Octets that went one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// How many.
    pub bytes: u64,
    /// Their checksum so far.
    pub crc: Crc32,
}

impl Stream {
    pub(super) fn count(&mut self, octets: &[u8]) {
        self.bytes += octets.len() as u64;
        self.crc.update(octets);
    }
}

/// A connection under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    pub(super) conn: Conn,
    pub(super) began: Option<Instant>,
    pub(super) written: Stream,
    pub(super) read: Stream,
}

/// What came of reading all there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// More may come.
    Open,
    /// The peer closed its direction, or the connection is over.
    Ended,
}

impl Session {
    pub(super) fn new(conn: Conn, began: Option<Instant>) -> Self {
        Self { conn, began, written: Stream::default(), read: Stream::default() }
    }

    /// Reads all there is, handing it to `sink` piece by piece.
    pub(super) fn drain<O: Observer>(
        &mut self,
        stack: &mut Stack,
        cx: &mut StackCx<'_, O>,
        buf: &mut [u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Drained {
        loop {
            match stack.read(cx, self.conn, buf) {
                Ok(Read::Data(0)) => return Drained::Open,
                Ok(Read::Data(len)) => {
                    let octets = &buf[..len as usize];
                    self.read.count(octets);
                    sink(octets);
                }
                Ok(Read::Fin) | Err(_) => return Drained::Ended,
            }
        }
    }

    /// The connection is over: its last words, and it is forgotten.
    pub(super) fn finish<O: Observer>(self, stack: &mut Stack, cx: &mut StackCx<'_, O>, end: CloseReason) -> Transfer {
        let info = stack.info(self.conn).expect("nobody else releases it");
        stack.release(cx, self.conn);
        let elapsed = self.began.map_or(Duration::ZERO, |began| cx.now.since(began));
        Transfer { end, elapsed, written: self.written, read: self.read, info }
    }
}

/// Octets moved between an application and its connection at once.
pub(super) const CHUNK: usize = 256 << 10;
