//! The server that answers: reads requests, and sends for each what it draws. It closes when its client has.

use super::end::End;
use super::seen::Source;
use crate::draw::Sizes;
use crate::scenario::{FlowSpec, REQUEST};
use base::{Instant, Rng};
use tcp::{Conn, ConnEvent, Read, Stack, StackCx};
use trace::Observer;

/// Answers requests.
#[derive(Debug)]
pub(crate) struct Responder {
    end: End,
    port: u16,
    start: Instant,
    sizes: (Sizes, Rng),
    /// Bytes read of a request that is not complete.
    of_request: u64,
    /// Bytes of all answers.
    total: u64,
    written: u64,
}

impl Responder {
    /// The server of `flow`, to be reached on `port`.
    pub(crate) fn new(flow: &FlowSpec, sizes: Sizes, port: u16, rng: &Rng) -> Self {
        let (sizes, start) = ((sizes, rng.fork("sizes")), Instant::ZERO + flow.start);
        Self { end: End::default(), port, start, sizes, of_request: 0, total: 0, written: 0 }
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Notes that a client got through.
    pub(crate) fn on_accepted(&mut self, conn: Conn) {
        self.end.open(conn);
    }

    pub(super) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match event {
            ConnEvent::Readable => self.read(stack, cx),
            ConnEvent::Writable => self.write(stack, cx),
            ConnEvent::Closed(reason) => self.end.close(stack, cx, reason),
            _ => {}
        }
    }

    fn read<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        while let Some(conn) = self.end.conn() {
            match stack.read_pattern(cx, conn, u64::MAX) {
                Ok(Read::Data(bytes @ 1..)) => self.of_request += bytes,
                Ok(Read::Fin) => {
                    // A client closes when it has read everything that it asked for.
                    stack.shutdown(cx, conn);
                    return;
                }
                Ok(Read::Data(0)) | Err(_) => break,
            }
        }
        while self.of_request >= REQUEST {
            self.of_request -= REQUEST;
            let (sizes, rng) = &mut self.sizes;
            self.total += sizes.draw(rng);
        }
        self.write(stack, cx);
    }

    fn write<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if let Some(conn) = self.end.conn().filter(|_| self.written < self.total) {
            self.written += stack.write_pattern(cx, conn, self.total - self.written).unwrap_or(0);
        }
    }
}

impl Source for Responder {
    #[inline]
    fn end(&self) -> &End {
        &self.end
    }
    fn started(&self) -> Instant {
        self.start
    }
    fn written(&self) -> u64 {
        self.written
    }
    fn pauses(&self) -> bool {
        self.written == self.total
    }
}
