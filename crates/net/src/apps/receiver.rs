//! Applications that only read: a client that opens a connection and reads the data, and a server that discards (RFC 863).

use super::client::Client;
use super::session::{CHUNK, Drained, Hook, Session, Transfer};
use super::{App, AppCx, BACKLOG, StartError};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use tcp::{Conn, ConnEvent, StackEvent, ValidConfig};
use trace::Observer;

/// Opens a connection and reads until the peer closes.
pub struct Receiver {
    client: Client,
    sink: Option<Box<dyn io::Write>>,
    buf: Vec<u8>,
    progress: Hook<u64>,
    error: Option<io::Error>,
}

impl Receiver {
    /// Creates a client that reads from `remote` into `sink`, or discards. `progress` receives the bytes read so far.
    pub fn new(remote: SocketAddr, cfg: ValidConfig, sink: Option<Box<dyn io::Write>>, progress: Hook<u64>) -> Self {
        Self { client: Client::new(remote, cfg), sink, buf: vec![0; CHUNK], progress, error: None }
    }

    /// Returns the result, once the connection has ended.
    ///
    /// # Errors
    /// If the data could not be written.
    pub fn finish(mut self) -> io::Result<Option<Transfer>> {
        if let (None, Some(sink)) = (&self.error, &mut self.sink) {
            sink.flush()?;
        }
        self.error.map_or(Ok(self.client.transfer), Err)
    }

    fn on_readable<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        let Some(session) = &mut self.client.session else { return };
        let (sink, error) = (&mut self.sink, &mut self.error);
        let drained = session.drain(cx, &mut self.buf, |bytes| {
            if let (Some(sink), None) = (&mut *sink, &*error) {
                *error = sink.write_all(bytes).err();
            }
        });
        (self.progress)(&session.read.bytes);
        if self.error.is_some() {
            cx.abort(session.conn);
        } else if drained == Drained::Ended {
            cx.shutdown(session.conn);
        }
    }
}

impl App for Receiver {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        self.client.connect(cx)
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let (StackEvent::Conn { event, .. }, Some(session)) = (event, &mut self.client.session) else { return };
        match event {
            ConnEvent::Connected => session.began = Some(cx.now()),
            ConnEvent::Readable => self.on_readable(cx),
            ConnEvent::Closed(reason) => self.client.on_closed(cx, reason),
            _ => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.client.abort(cx);
    }

    fn is_done(&self) -> bool {
        self.client.transfer.is_some()
    }
}

/// Accepts connections and discards their data.
pub struct Discard {
    port: u16,
    cfg: ValidConfig,
    sessions: BTreeMap<Conn, Session>,
    buf: Vec<u8>,
    /// Connections left to serve before the server ends; `None` for no limit.
    left: Option<u64>,
    report: Hook<Transfer>,
}

impl Discard {
    /// Creates a server that listens on `port` and ends after `connections`, or never. `report` receives each finished one.
    pub fn new(port: u16, cfg: ValidConfig, connections: Option<u64>, report: Hook<Transfer>) -> Self {
        Self { port, cfg, sessions: BTreeMap::new(), buf: vec![0; CHUNK], left: connections, report }
    }
}

impl App for Discard {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        Ok(cx.listen(self.port, BACKLOG, &self.cfg)?)
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let (conn, event) = match event {
            StackEvent::Accepted { conn, .. } => {
                cx.accept(conn);
                self.sessions.insert(conn, Session::new(conn, Some(cx.now())));
                return;
            }
            StackEvent::Conn { conn, event } => (conn, event),
        };
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        match event {
            ConnEvent::Readable => {
                if session.drain(cx, &mut self.buf, |_| {}) == Drained::Ended {
                    cx.shutdown(conn);
                }
            }
            ConnEvent::Closed(reason) => {
                let transfer = session.finish(cx, reason);
                self.sessions.remove(&conn);
                self.left = self.left.map(|left| left.saturating_sub(1));
                (self.report)(&transfer);
            }
            ConnEvent::Connected
            | ConnEvent::Writable
            | ConnEvent::Urgent
            | ConnEvent::Unresponsive
            | ConnEvent::FinAcknowledged
            | ConnEvent::Icmp(_) => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.sessions.keys().for_each(|conn| cx.abort(*conn));
    }

    fn is_done(&self) -> bool {
        self.left == Some(0) && self.sessions.is_empty()
    }
}
