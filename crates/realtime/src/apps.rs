//! The two applications of our transfers: one writes the position-coded pattern as fast as it is accepted, the other reads.
//!
//! They describe bytes instead of moving them, like the simulator's: an application's handling of its data is not part of the
//! comparison. The receiving stack checks every byte.

use base::Instant;
use lab::spec::Flow;
use net::{App, AppCx, StartError};
use std::net::SocketAddr;
use tcp::{CloseReason, Conn, ConnEvent, Read, StackEvent, TcpInfo, ValidConfig};
use trace::Observer;

/// How a connection ended, and its final statistics.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub reason: CloseReason,
    pub info: TcpInfo,
}

/// One end of the connection.
#[derive(Debug, Default)]
struct End {
    conn: Option<Conn>,
    ending: Option<Ending>,
}

impl End {
    fn close<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, reason: CloseReason) {
        if let Some(conn) = self.conn.take() {
            let info = cx.finish(conn).expect("only this application releases it");
            self.ending = Some(Ending { reason, info });
        }
    }

    fn has(&self, conn: Conn) -> bool {
        self.conn == Some(conn)
    }

    fn abort<O: Observer>(&self, cx: &mut AppCx<'_, O>) {
        if let Some(conn) = self.conn {
            cx.abort(conn);
        }
    }
}

/// Opens a connection, writes, and closes.
#[derive(Debug)]
pub struct Source {
    remote: SocketAddr,
    cfg: ValidConfig,
    flow: Flow,
    end: End,
    began: Instant,
    written: u64,
}

impl Source {
    pub fn new(remote: SocketAddr, cfg: ValidConfig, flow: Flow) -> Self {
        Self { remote, cfg, flow, end: End::default(), began: Instant::ZERO, written: 0 }
    }

    /// When the SYN was sent.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// How it ended.
    pub fn ending(&self) -> Option<Ending> {
        self.end.ending
    }

    /// Whether this is its connection.
    pub fn has(&self, conn: Conn) -> bool {
        self.end.has(conn)
    }

    /// Whether it has a connection that has not ended.
    pub fn is_open(&self) -> bool {
        self.end.conn.is_some()
    }

    /// Writes no more, and closes.
    pub fn stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.flow = Flow::Bytes(self.written);
        if let Some(conn) = self.end.conn {
            cx.shutdown(conn);
        }
    }

    fn fill<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        let Some(conn) = self.end.conn else { return };
        let left = match self.flow {
            Flow::Bytes(bytes) => bytes - self.written,
            Flow::Seconds(span) if cx.now() < self.began + span => u64::MAX - self.written,
            Flow::Seconds(_) => 0,
        };
        // A failed write means that the connection has ended, which a separate event reports.
        let taken = if left > 0 { cx.write_pattern(conn, left).unwrap_or(0) } else { 0 };
        self.written += taken;
        if taken == left {
            cx.shutdown(conn);
        }
    }
}

impl App for Source {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        self.began = cx.now();
        self.end.conn = Some(cx.connect(&self.cfg, self.remote)?);
        Ok(())
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let StackEvent::Conn { event, .. } = event else { return };
        match event {
            ConnEvent::Connected | ConnEvent::Writable => self.fill(cx),
            ConnEvent::Closed(reason) => self.end.close(cx, reason),
            _ => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.end.abort(cx);
    }

    fn is_done(&self) -> bool {
        self.end.ending.is_some()
    }
}

/// Takes one connection, reads to its end, and closes.
#[derive(Debug)]
pub struct Sink {
    port: u16,
    cfg: ValidConfig,
    end: End,
    read: u64,
    last_read: Instant,
}

impl Sink {
    pub fn new(port: u16, cfg: ValidConfig) -> Self {
        Self { port, cfg, end: End::default(), read: 0, last_read: Instant::ZERO }
    }

    /// Bytes read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// When the last of them were read.
    pub fn last_read(&self) -> Instant {
        self.last_read
    }

    /// How it ended.
    pub fn ending(&self) -> Option<Ending> {
        self.end.ending
    }

    /// Whether this is its connection.
    pub fn has(&self, conn: Conn) -> bool {
        self.end.has(conn)
    }

    /// Whether it has a connection that has not ended.
    pub fn is_open(&self) -> bool {
        self.end.conn.is_some()
    }

    /// Whether it listens there.
    pub fn listens_on(&self, port: u16) -> bool {
        self.port == port
    }

    fn drain<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, conn: Conn) {
        loop {
            match cx.read_pattern(conn, u64::MAX) {
                Ok(Read::Data(0)) => return,
                Ok(Read::Data(len)) => {
                    self.read += len;
                    self.last_read = cx.now();
                }
                Ok(Read::Fin) | Err(_) => return cx.shutdown(conn),
            }
        }
    }
}

impl App for Sink {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        Ok(cx.listen(self.port, 1, &self.cfg)?)
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        match event {
            StackEvent::Accepted { conn, .. } => {
                cx.accept(conn);
                self.end.conn = Some(conn);
            }
            StackEvent::Conn { conn, event: ConnEvent::Readable } => self.drain(cx, conn),
            StackEvent::Conn { event: ConnEvent::Closed(reason), .. } => self.end.close(cx, reason),
            StackEvent::Conn { .. } => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.end.abort(cx);
    }

    fn is_done(&self) -> bool {
        self.end.ending.is_some()
    }
}
