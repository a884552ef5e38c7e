//! A server that sends back what it gets (RFC 862).
//!
//! It reads only when everything read before has been written: a peer that does not read is not read from either.

use super::session::{CHUNK, Hook, Session, Transfer};
use super::{App, BACKLOG};
use crate::driver::StartError;
use std::collections::BTreeMap;
use tcp::{Conn, ConnEvent, Read, Stack, StackCx, StackEvent, ValidConfig};
use trace::Observer;

/// Accepts connections and sends back what they bring.
pub struct Echo {
    port: u16,
    cfg: ValidConfig,
    sessions: BTreeMap<Conn, Reflector>,
    /// Connections that may still end before the server does; `None` for no bound.
    left: Option<u64>,
    report: Hook<Transfer>,
}

/// One connection.
struct Reflector {
    session: Session,
    /// What was read last, and how much of it has been written.
    chunk: Vec<u8>,
    used: usize,
}

impl Echo {
    /// Will listen on `port` and end after `connections` of them, or never. `report` is told of every one that is over.
    pub fn new(port: u16, cfg: ValidConfig, connections: Option<u64>, report: Hook<Transfer>) -> Self {
        Self { port, cfg, sessions: BTreeMap::new(), left: connections, report }
    }
}

impl Reflector {
    /// Moves octets from one direction to the other until either has no more to give or to take.
    fn pump<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        let conn = self.session.conn;
        loop {
            while self.used < self.chunk.len() {
                let rest = &self.chunk[self.used..];
                match stack.write(cx, conn, rest) {
                    Ok(taken) if taken > 0 => {
                        self.session.written.count(&rest[..taken]);
                        self.used += taken;
                    }
                    // Full: `Writable` follows. Failed: `Closed` does.
                    _ => return,
                }
            }
            self.used = 0;
            self.chunk.resize(CHUNK, 0);
            let read = stack.read(cx, conn, &mut self.chunk);
            self.chunk.truncate(if let Ok(Read::Data(len)) = read { len as usize } else { 0 });
            self.session.read.count(&self.chunk);
            match read {
                Ok(Read::Data(0)) | Err(_) => return,
                Ok(Read::Data(_)) => {}
                Ok(Read::Fin) => return stack.shutdown(cx, conn),
            }
        }
    }
}

impl App for Echo {
    fn start<O: Observer>(&mut self, stack: &mut Stack, _cx: &mut StackCx<'_, O>) -> Result<(), StartError> {
        Ok(stack.listen(self.port, BACKLOG, &self.cfg)?)
    }

    fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: StackEvent) {
        let (conn, event) = match event {
            StackEvent::Accepted { conn, .. } => {
                stack.accept(conn);
                let session = Session::new(conn, Some(cx.now));
                self.sessions.insert(conn, Reflector { session, chunk: Vec::new(), used: 0 });
                return;
            }
            StackEvent::Conn { conn, event } => (conn, event),
        };
        let Some(reflector) = self.sessions.get_mut(&conn) else { return };
        match event {
            ConnEvent::Readable | ConnEvent::Writable => reflector.pump(stack, cx),
            ConnEvent::Closed(reason) => {
                let transfer = reflector.session.finish(stack, cx, reason);
                self.sessions.remove(&conn);
                self.left = self.left.map(|left| left.saturating_sub(1));
                (self.report)(&transfer);
            }
            _ => {}
        }
    }

    fn on_stop<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        self.sessions.keys().for_each(|conn| stack.abort(cx, *conn));
    }

    fn is_done(&self) -> bool {
        self.left == Some(0) && self.sessions.is_empty()
    }
}
