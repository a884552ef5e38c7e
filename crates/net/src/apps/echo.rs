//! A server that sends back what it receives (RFC 862).
//!
//! It reads only after everything read before has been written: it does not read from a peer that does not read.

use super::session::{CHUNK, Hook, Session, Transfer};
use super::{App, AppCx, BACKLOG, StartError};
use std::collections::BTreeMap;
use tcp::{Conn, ConnEvent, Read, StackEvent, ValidConfig};
use trace::Observer;

/// Accepts connections and sends back what they bring.
pub struct Echo {
    port: u16,
    cfg: ValidConfig,
    sessions: BTreeMap<Conn, Reflector>,
    /// Connections left to serve before the server ends; `None` for no limit.
    left: Option<u64>,
    report: Hook<Transfer>,
    buf: Vec<u8>,
}

/// One connection.
struct Reflector {
    session: Session,
    /// Read and not yet written.
    rest: Vec<u8>,
}

impl Echo {
    /// Creates a server that listens on `port` and ends after `connections`, or never. `report` receives each finished one.
    pub fn new(port: u16, cfg: ValidConfig, connections: Option<u64>, report: Hook<Transfer>) -> Self {
        Self { port, cfg, sessions: BTreeMap::new(), left: connections, report, buf: vec![0; CHUNK] }
    }
}

impl Reflector {
    /// Moves bytes from one direction to the other until no data or no room is left.
    fn pump<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, buf: &mut [u8]) {
        let conn = self.session.conn;
        let rest = core::mem::take(&mut self.rest);
        if !self.write(cx, &rest) {
            return;
        }
        loop {
            match cx.read(conn, buf) {
                Ok(Read::Data(0)) | Err(_) => return,
                Ok(Read::Data(len)) => {
                    let came = &buf[..len as usize];
                    self.session.take_in(cx.now(), came);
                    if !self.write(cx, came) {
                        return;
                    }
                }
                Ok(Read::Fin) => return cx.shutdown(conn),
            }
        }
    }

    /// Writes `bytes` and keeps those that do not fit. Returns whether all of them did.
    fn write<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match cx.write(self.session.conn, bytes) {
                Ok(taken) if taken > 0 => {
                    self.session.written.count(&bytes[..taken]);
                    bytes = &bytes[taken..];
                }
                // If full, `Writable` follows; after a failure, `Closed` does.
                _ => {
                    self.rest = bytes.to_vec();
                    return false;
                }
            }
        }
        true
    }
}

impl App for Echo {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        Ok(cx.listen(self.port, BACKLOG, &self.cfg)?)
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let (conn, event) = match event {
            StackEvent::Accepted { conn, .. } => {
                cx.accept(conn);
                let session = Session::new(conn, Some(cx.now()));
                self.sessions.insert(conn, Reflector { session, rest: Vec::new() });
                return;
            }
            StackEvent::Conn { conn, event } => (conn, event),
        };
        let Some(reflector) = self.sessions.get_mut(&conn) else { return };
        match event {
            ConnEvent::Readable | ConnEvent::Writable => reflector.pump(cx, &mut self.buf),
            ConnEvent::Closed(reason) => {
                let transfer = reflector.session.finish(cx, reason);
                self.sessions.remove(&conn);
                self.left = self.left.map(|left| left.saturating_sub(1));
                (self.report)(&transfer);
            }
            _ => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        self.sessions.keys().for_each(|conn| cx.abort(*conn));
    }

    fn is_done(&self) -> bool {
        self.left == Some(0) && self.sessions.is_empty()
    }
}
