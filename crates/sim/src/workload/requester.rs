//! The client that asks: connects, asks, reads the answer, thinks, and asks again. Both ends draw the same sizes, so that the request
//! need not say how much it asks for.

use super::end::End;
use super::reading::Reading;
use super::seen::Sink;
use crate::draw::{Sizes, span};
use crate::outcome::Piece;
use crate::scenario::{FlowSpec, REQUEST};
use base::{Duration, Instant, Rng};
use core::net::SocketAddr;
use tcp::{ConnEvent, Read, Stack, StackCx, ValidConfig};
use trace::Observer;

/// Asks for answers, one after the other.
#[derive(Debug)]
pub(crate) struct Requester {
    end: End,
    config: ValidConfig,
    remote: SocketAddr,
    start: Instant,
    /// When it asks no more.
    stop_at: Instant,
    sizes: (Sizes, Rng),
    think: ((Duration, Duration), Rng),
    phase: Phase,
    /// Bytes of requests that are still to be written.
    unwritten: u64,
    /// Bytes of all answers that were asked for.
    asked: u64,
    reading: Reading,
    pieces: Vec<Piece>,
}

/// State of a client that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Unopened,
    Opening,
    /// Until it asks.
    Thinking(Instant),
    /// For the rest of an answer.
    Waiting,
    Done,
}

/// What requests are about: sizes of answers, and how long to think between them.
pub(crate) type Asking = (Sizes, (Duration, Duration));

impl Requester {
    /// The client of `flow`, to connect to `remote`. It counts what it reads in bins of this length, too.
    pub(crate) fn new(
        flow: &FlowSpec,
        (sizes, think): Asking,
        remote: SocketAddr,
        rng: &Rng,
        bin: Option<Duration>,
    ) -> Self {
        Self {
            end: End::default(),
            config: flow.client.clone(),
            remote,
            start: Instant::ZERO + flow.start,
            stop_at: flow.stop.map_or(Instant::MAX, |stop| Instant::ZERO + stop),
            sizes: (sizes, rng.fork("sizes")),
            think: (think, rng.fork("think")),
            phase: Phase::Unopened,
            unwritten: 0,
            asked: 0,
            reading: Reading::new(bin),
            pieces: Vec::new(),
        }
    }

    /// Port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.remote.port()
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Instant {
        match self.phase {
            Phase::Unopened => self.start,
            Phase::Thinking(until) => until.min(self.stop_at),
            Phase::Opening | Phase::Waiting | Phase::Done => Instant::MAX,
        }
    }

    pub(super) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        match self.phase {
            Phase::Unopened => {
                let conn = stack.connect(cx, &self.config, self.remote);
                self.end.open(conn.expect("a node has ports for all flows of a scenario"));
                self.phase = Phase::Opening;
            }
            Phase::Thinking(_) => self.ask(stack, cx),
            Phase::Opening | Phase::Waiting | Phase::Done => {}
        }
    }

    pub(super) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match event {
            ConnEvent::Connected => self.ask(stack, cx),
            ConnEvent::Writable => self.write(stack, cx),
            ConnEvent::Readable => self.read(stack, cx),
            ConnEvent::Closed(reason) => {
                self.read(stack, cx);
                self.phase = Phase::Done;
                self.end.close(stack, cx, reason);
            }
            _ => {}
        }
    }

    /// Asks, or closes when it is time to stop.
    fn ask<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if cx.now >= self.stop_at {
            self.phase = Phase::Done;
            if let Some(conn) = self.end.conn() {
                stack.shutdown(cx, conn);
            }
            return;
        }
        let (sizes, rng) = &mut self.sizes;
        let bytes = sizes.draw(rng);
        self.asked += bytes;
        self.pieces.push(Piece { asked: cx.now, bytes, done: None });
        self.phase = Phase::Waiting;
        self.unwritten += REQUEST;
        self.write(stack, cx);
    }

    fn write<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if let Some(conn) = self.end.conn().filter(|_| self.unwritten > 0) {
            self.unwritten -= stack.write_pattern(cx, conn, self.unwritten).unwrap_or(0);
        }
    }

    fn read<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        while let Some(conn) = self.end.conn() {
            match stack.read_pattern(cx, conn, u64::MAX) {
                Ok(Read::Data(bytes @ 1..)) => self.reading.add(cx.now, bytes),
                Ok(Read::Fin) => {
                    self.reading.end();
                    break;
                }
                Ok(Read::Data(0)) | Err(_) => break,
            }
        }
        if self.phase == Phase::Waiting && self.reading.bytes() >= self.asked {
            if let Some(piece) = self.pieces.last_mut() {
                piece.done = Some(cx.now);
            }
            let (think, rng) = &mut self.think;
            self.phase = Phase::Thinking(cx.now + span(*think, rng));
        }
    }
}

impl Sink for Requester {
    #[inline]
    fn end(&self) -> &End {
        &self.end
    }
    #[inline]
    fn reading(&self) -> &Reading {
        &self.reading
    }
    fn mismatch(&self) -> Option<u64> {
        None
    }
    fn pieces(&self, _: Instant) -> Vec<Piece> {
        self.pieces.clone()
    }
}
