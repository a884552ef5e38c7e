//! The server of a flow: reads the flow's bytes to their end and closes.

use super::end::End;
use super::pace::{CHUNK, chunk_for, next_after};
use super::reading::Reading;
use super::repetitions::Repetitions;
use super::seen::Sink;
use crate::outcome::Piece;
use crate::scenario::{AppPace, Carriage, FlowSpec};
use base::{Duration, Instant};
use tcp::{Conn, ConnEvent, Read, Stack, StackCx, fill_pattern};
use trace::Observer;

/// Reads a flow's bytes to the end and closes.
#[derive(Debug)]
pub(crate) struct Receiver {
    end: End,
    port: u16,
    pace: AppPace,
    carriage: Carriage,
    /// When a slow reader reads next.
    next_read: Instant,
    reading: Reading,
    repetitions: Repetitions,
    /// Position of the first byte that was not what it should be.
    mismatch: Option<u64>,
    chunk: Vec<u8>,
    expected: Vec<u8>,
}

/// Whether more data may follow a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// Perhaps there is more.
    More,
    /// Everything available has been read.
    Nothing,
}

impl Receiver {
    /// The receiver of `flow`, to be reached on `port`. It counts what it reads in bins of this length, too.
    pub(crate) fn new(flow: &FlowSpec, port: u16, bin: Option<Duration>) -> Self {
        Self {
            end: End::default(),
            port,
            pace: flow.reader,
            carriage: flow.carriage,
            next_read: Instant::MAX,
            reading: Reading::new(bin),
            repetitions: Repetitions::new(flow),
            mismatch: None,
            chunk: chunk_for(flow.carriage),
            expected: chunk_for(flow.carriage),
        }
    }

    /// Notes that a client got through.
    pub(crate) fn on_accepted(&mut self, conn: Conn) {
        self.end.open(conn);
    }

    /// Forgets when it wants to read next.
    #[cfg(test)]
    pub(crate) fn oversleep(&mut self) {
        self.next_read = Instant::MAX;
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Instant {
        self.next_read
    }

    pub(super) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        self.next_read = Instant::MAX;
        if let AppPace::Chunks { bytes, every } = self.pace {
            // If no data is left, a `Readable` event follows.
            if self.read(stack, cx, bytes) == After::More {
                self.next_read = next_after(cx.now, every);
            }
        }
    }

    pub(super) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match (event, self.pace) {
            (ConnEvent::Readable, AppPace::Unlimited) => {
                self.read(stack, cx, u64::MAX);
            }
            // A slow reader takes its time after the first byte came.
            (ConnEvent::Readable, AppPace::Chunks { every, .. }) if self.next_read == Instant::MAX => {
                self.next_read = next_after(cx.now, every);
            }
            (ConnEvent::Closed(reason), pace) => {
                // Data that arrived before the end is still available.
                if pace != AppPace::Unlimited {
                    self.read(stack, cx, u64::MAX);
                }
                self.next_read = Instant::MAX;
                self.end.close(stack, cx, reason);
            }
            _ => {}
        }
    }

    fn read<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, most: u64) -> After {
        let mut left = most;
        while let Some(conn) = self.end.conn().filter(|_| left > 0) {
            match self.read_once(stack, cx, conn, left) {
                Some(Read::Data(0)) | None => return After::Nothing,
                Some(Read::Data(bytes)) => {
                    left -= bytes;
                    self.reading.add(cx.now, bytes);
                    self.repetitions.note(cx.now, self.reading.bytes());
                }
                Some(Read::Fin) => {
                    self.reading.end();
                    stack.shutdown(cx, conn);
                    return After::Nothing;
                }
            }
        }
        After::More
    }

    fn read_once<O: Observer>(
        &mut self,
        stack: &mut Stack,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        most: u64,
    ) -> Option<Read> {
        if self.carriage == Carriage::Described {
            return stack.read_pattern(cx, conn, most).ok();
        }
        let room = most.min(CHUNK as u64) as usize;
        let read = stack.read(cx, conn, &mut self.chunk[..room]).ok()?;
        if let Read::Data(bytes) = read {
            self.compare(bytes as usize);
        }
        Some(read)
    }

    fn compare(&mut self, len: usize) {
        let (seen, expected) = (&self.chunk[..len], &mut self.expected[..len]);
        fill_pattern(self.reading.bytes(), expected);
        if self.mismatch.is_none()
            && let Some(index) = seen.iter().zip(expected.iter()).position(|(seen, expected)| seen != expected)
        {
            self.mismatch = Some(self.reading.bytes() + index as u64);
        }
    }
}

impl Sink for Receiver {
    #[inline]
    fn end(&self) -> &End {
        &self.end
    }
    #[inline]
    fn reading(&self) -> &Reading {
        &self.reading
    }
    fn mismatch(&self) -> Option<u64> {
        self.mismatch
    }
    fn pieces(&self, now: Instant) -> Vec<Piece> {
        self.repetitions.pieces(now)
    }
}
