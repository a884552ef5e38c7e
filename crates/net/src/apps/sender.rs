//! Opens a connection, writes a stream, closes, and waits until the peer has closed too.
//!
//! The peer's data is read and counted, so that the sender works with an echo server as well as with one that discards.

use super::client::Client;
use super::session::{CHUNK, Hook, Transfer};
use super::{App, AppCx, StartError};
use std::io;
use std::net::SocketAddr;
use tcp::{ConnEvent, StackEvent, ValidConfig, fill_pattern};
use trace::Observer;

/// What is sent.
pub enum Payload {
    /// This many bytes, each determined by its position.
    Pattern(u64),
    /// All that can be read.
    Reader(Box<dyn io::Read>),
}

/// The data to send could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read what is to be sent: {0}")]
pub struct SourceError(#[from] io::Error);

/// Sends one stream.
pub struct Sender {
    client: Client,
    payload: Payload,
    chunk: Vec<u8>,
    /// How much of the chunk has been written.
    used: usize,
    input: Input,
    sink: Vec<u8>,
    progress: Hook<u64>,
    error: Option<SourceError>,
}

/// State of reading the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// More may follow.
    Open,
    /// All of it is in the chunk or written.
    Ended,
    /// The same, and the connection's direction is closed.
    Closed,
}

impl Sender {
    /// Creates a sender of `payload` to `remote`. `progress` receives the bytes written so far.
    pub fn new(remote: SocketAddr, cfg: ValidConfig, payload: Payload, progress: Hook<u64>) -> Self {
        Self {
            client: Client::new(remote, cfg),
            payload,
            chunk: Vec::new(),
            used: 0,
            input: Input::Open,
            sink: vec![0; CHUNK],
            progress,
            error: None,
        }
    }

    /// Returns the result, once the connection has ended.
    ///
    /// # Errors
    /// If the payload could not be read.
    pub fn finish(self) -> Result<Option<Transfer>, SourceError> {
        self.error.map_or(Ok(self.client.transfer), Err)
    }

    /// Writes until the connection is full or the payload ends.
    fn fill<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        while self.input != Input::Closed {
            if self.used == self.chunk.len() && !self.refill(cx) {
                return;
            }
            let Some(session) = &mut self.client.session else { return };
            if self.used == self.chunk.len() {
                cx.shutdown(session.conn);
                self.input = Input::Closed;
                return;
            }
            let rest = &self.chunk[self.used..];
            // A failed write means that the connection has ended, which a separate event reports.
            let Ok(taken) = cx.write(session.conn, rest) else { return };
            session.written.count(&rest[..taken]);
            self.used += taken;
            (self.progress)(&session.written.bytes);
            if self.used < self.chunk.len() {
                return;
            }
        }
    }

    /// Loads the next piece of the payload, empty at its end; returns `false` if it cannot be read.
    fn refill<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> bool {
        self.used = 0;
        if self.input != Input::Open {
            self.chunk.clear();
            return true;
        }
        let written = self.client.session.map_or(0, |session| session.written.bytes);
        match next_chunk(&mut self.payload, written, &mut self.chunk) {
            Ok(input) => self.input = input,
            Err(error) => {
                self.error = Some(error.into());
                self.client.abort(cx);
                return false;
            }
        }
        true
    }
}

fn next_chunk(payload: &mut Payload, written: u64, chunk: &mut Vec<u8>) -> io::Result<Input> {
    chunk.resize(CHUNK, 0);
    let len = match payload {
        Payload::Pattern(total) => {
            let len = (*total - written).min(CHUNK as u64) as usize;
            fill_pattern(written, &mut chunk[..len]);
            len
        }
        Payload::Reader(reader) => read_some(reader, chunk)?,
    };
    chunk.truncate(len);
    Ok(if len == 0 { Input::Ended } else { Input::Open })
}

fn read_some(reader: &mut impl io::Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl App for Sender {
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        self.client.connect(cx)
    }

    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent) {
        let StackEvent::Conn { event, .. } = event else { return };
        let Some(session) = &mut self.client.session else { return };
        match event {
            ConnEvent::Connected => {
                session.began = Some(cx.now());
                self.fill(cx);
            }
            ConnEvent::Writable => self.fill(cx),
            ConnEvent::Readable => {
                session.drain(cx, &mut self.sink, |_| {});
            }
            ConnEvent::Icmp(_) => {}
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
