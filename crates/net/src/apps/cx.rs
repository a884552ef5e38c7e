//! What an application borrows for one callback: its stack, the current time, and the rest of the step's allowance.
//!
//! Every byte that an application writes or reads passes through here and counts against the allowance. To the
//! application, a call cut short by the allowance looks like a full buffer (or an empty one), and a later step reports the
//! same readiness again. So no application, however its loop is written, delays frames for longer than the allowance
//! takes.

use base::Instant;
use std::collections::VecDeque;
use std::net::SocketAddr;
use tcp::{
    Conn, ConnEvent, ConnectError, ListenError, Read, ReadError, Stack, StackCx, StackEvent, TcpInfo, ValidConfig,
    WriteError,
};
use trace::Observer;

/// Bytes that an application may write and read in one step of the driver, all connections together: some fifty microseconds
/// of work.
pub const ALLOWANCE: usize = 256 << 10;

/// An application's view of its stack during one callback.
#[derive(Debug)]
pub struct AppCx<'a, O: Observer> {
    stack: &'a mut Stack,
    cx: StackCx<'a, O>,
    allowance: &'a mut usize,
    resumed: &'a mut VecDeque<StackEvent>,
}

impl<'a, O: Observer> AppCx<'a, O> {
    /// Creates a view at the time of `cx`. Events of calls that are cut short go to `resumed`, each once.
    pub(crate) fn new(
        stack: &'a mut Stack,
        cx: StackCx<'a, O>,
        allowance: &'a mut usize,
        resumed: &'a mut VecDeque<StackEvent>,
    ) -> Self {
        Self { stack, cx, allowance, resumed }
    }

    /// The moment of this callback.
    pub fn now(&self) -> Instant {
        self.cx.now
    }

    /// Opens a connection, as [`Stack::connect`].
    ///
    /// # Errors
    /// As there.
    pub fn connect(&mut self, cfg: &ValidConfig, remote: SocketAddr) -> Result<Conn, ConnectError> {
        self.stack.connect(&mut self.cx, cfg, remote)
    }

    /// Listens on a port, as [`Stack::listen`].
    ///
    /// # Errors
    /// As there.
    pub fn listen(&mut self, port: u16, backlog: u32, cfg: &ValidConfig) -> Result<(), ListenError> {
        self.stack.listen(port, backlog, cfg)
    }

    /// Takes a connection out of its listener's queue, as [`Stack::accept`].
    pub fn accept(&mut self, conn: Conn) {
        self.stack.accept(conn);
    }

    /// Writes as many bytes of `data` as room and allowance permit; a `Writable` event follows a short count.
    ///
    /// # Errors
    /// As [`Stack::write`].
    pub fn write(&mut self, conn: Conn, data: &[u8]) -> Result<usize, WriteError> {
        let allowed = data.len().min(*self.allowance);
        let taken = self.stack.write(&mut self.cx, conn, &data[..allowed])?;
        *self.allowance -= taken;
        if taken == allowed && allowed < data.len() {
            self.resume(conn, ConnEvent::Writable);
        }
        Ok(taken)
    }

    /// Writes up to `len` bytes of the position-coded pattern; a `Writable` event follows a short count.
    ///
    /// # Errors
    /// As [`Stack::write_pattern`].
    pub fn write_pattern(&mut self, conn: Conn, len: u64) -> Result<u64, WriteError> {
        let allowed = len.min(*self.allowance as u64);
        let taken = self.stack.write_pattern(&mut self.cx, conn, allowed)?;
        *self.allowance -= taken as usize;
        if taken == allowed && allowed < len {
            self.resume(conn, ConnEvent::Writable);
        }
        Ok(taken)
    }

    /// Reads into `buf`, as far as the allowance permits; a `Readable` event follows a read that the allowance cut short.
    ///
    /// # Errors
    /// As [`Stack::read`].
    pub fn read(&mut self, conn: Conn, buf: &mut [u8]) -> Result<Read, ReadError> {
        if *self.allowance == 0 {
            self.resume(conn, ConnEvent::Readable);
            return Ok(Read::Data(0));
        }
        let allowed = buf.len().min(*self.allowance);
        let read = self.stack.read(&mut self.cx, conn, &mut buf[..allowed])?;
        self.count(conn, read, allowed as u64, buf.len() as u64);
        Ok(read)
    }

    /// Checks and drops up to `max` bytes of the position-coded pattern; `Readable` follows a read that the allowance cut short.
    ///
    /// # Errors
    /// As [`Stack::read_pattern`].
    pub fn read_pattern(&mut self, conn: Conn, max: u64) -> Result<Read, ReadError> {
        if *self.allowance == 0 {
            self.resume(conn, ConnEvent::Readable);
            return Ok(Read::Data(0));
        }
        let allowed = max.min(*self.allowance as u64);
        let read = self.stack.read_pattern(&mut self.cx, conn, allowed)?;
        self.count(conn, read, allowed, max);
        Ok(read)
    }

    /// Closes the direction of writing, as [`Stack::shutdown`].
    pub fn shutdown(&mut self, conn: Conn) {
        self.stack.shutdown(&mut self.cx, conn);
    }

    /// Resets the connection, as [`Stack::abort`].
    pub fn abort(&mut self, conn: Conn) {
        self.stack.abort(&mut self.cx, conn);
    }

    /// Takes the final statistics of a connection and drops it; `None` when it is unknown.
    pub fn finish(&mut self, conn: Conn) -> Option<TcpInfo> {
        let info = self.stack.info(conn)?;
        self.stack.release(&mut self.cx, conn);
        Some(info)
    }

    /// Counts a read of `allowed` bytes out of `asked`. An application may take a count below `asked` for the end of the data,
    /// and not call again; the stack does not repeat an event that it reported before.
    fn count(&mut self, conn: Conn, read: Read, allowed: u64, asked: u64) {
        let Read::Data(len) = read else { return };
        *self.allowance -= len as usize;
        if len == allowed && allowed < asked {
            self.resume(conn, ConnEvent::Readable);
        }
    }

    fn resume(&mut self, conn: Conn, event: ConnEvent) {
        let event = StackEvent::Conn { conn, event };
        // A callback serves one connection in nearly all applications, and two kinds of calls can be cut short.
        if !self.resumed.iter().rev().take(2).any(|resumed| *resumed == event) {
            self.resumed.push_back(event);
        }
    }
}
