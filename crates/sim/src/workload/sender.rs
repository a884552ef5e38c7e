//! The client of a flow: connects, writes the flow's bytes and closes.

use super::end::End;
use super::pace::{CHUNK, chunk_for, next_after};
use crate::scenario::{AppPace, Carriage, FlowSpec, Workload};
use base::Instant;
use core::net::SocketAddr;
use tcp::{ConnEvent, Read, Stack, StackCx, ValidConfig, fill_pattern};
use trace::Observer;

/// Writes a flow's bytes and closes.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) end: End,
    config: ValidConfig,
    remote: SocketAddr,
    start: Instant,
    /// Bytes to be written in all.
    total: u64,
    /// When writing ends, however much was written.
    stop_at: Instant,
    pace: AppPace,
    carriage: Carriage,
    phase: Phase,
    /// When a paced writer writes next; never, while it waits for room.
    next_write: Instant,
    written: u64,
    chunk: Vec<u8>,
}

/// State of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Writing,
    Done,
}

impl Sender {
    /// The sender of `flow`, to connect to `remote`.
    pub(crate) fn new(flow: &FlowSpec, remote: SocketAddr) -> Self {
        let start = Instant::ZERO + flow.start;
        let (total, stop_at) = match flow.workload {
            Workload::Bytes(bytes) => (bytes, Instant::MAX),
            Workload::For(span) => (u64::MAX, start + span),
        };
        let stop_at = flow.stop.map_or(stop_at, |stop| stop_at.min(Instant::ZERO + stop));
        Self {
            end: End::default(),
            config: flow.client.clone(),
            remote,
            start,
            total,
            stop_at,
            pace: flow.writer,
            carriage: flow.carriage,
            phase: Phase::Waiting,
            next_write: Instant::MAX,
            written: 0,
            chunk: chunk_for(flow.carriage),
        }
    }

    /// When the first SYN leaves.
    pub(crate) fn started(&self) -> Instant {
        self.start
    }
    /// Bytes handed to the stack.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Forgets when it writes next, except for the first time.
    #[cfg(test)]
    pub(crate) fn oversleep(&mut self) {
        self.next_write = Instant::MAX;
    }
    /// Returns whether it waits for its own time to continue, and not for room.
    pub(crate) fn pauses(&self) -> bool {
        self.phase == Phase::Writing && self.next_write != Instant::MAX
    }

    /// Port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.remote.port()
    }

    pub(super) fn wake_at(&self) -> Instant {
        match self.phase {
            Phase::Waiting => self.start,
            Phase::Connecting => self.stop_at,
            Phase::Writing => self.next_write.min(self.stop_at),
            Phase::Done => Instant::MAX,
        }
    }

    pub(super) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if self.phase == Phase::Waiting {
            let conn = stack.connect(cx, &self.config, self.remote);
            self.end.open(conn.expect("a node has ports for all flows of a scenario"));
            self.phase = Phase::Connecting;
        } else if cx.now >= self.stop_at {
            self.finish(stack, cx);
        } else {
            self.write(stack, cx);
        }
    }

    pub(super) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match event {
            ConnEvent::Connected => {
                self.phase = Phase::Writing;
                self.write(stack, cx);
            }
            ConnEvent::Writable => self.write(stack, cx),
            ConnEvent::Readable => self.take_fin(stack, cx),
            ConnEvent::Icmp(_) => {}
            ConnEvent::Closed(reason) => {
                self.phase = Phase::Done;
                self.end.close(stack, cx, reason);
            }
            _ => {}
        }
    }

    fn write<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if self.phase != Phase::Writing {
            return;
        }
        let most = match self.pace {
            AppPace::Unlimited => u64::MAX,
            AppPace::Chunks { bytes, .. } => bytes,
        };
        let wanted = most.min(self.total - self.written);
        let taken = match self.carriage {
            Carriage::Described => self.write_described(stack, cx, wanted),
            Carriage::Bytes => self.write_bytes(stack, cx, wanted),
        };
        self.written += taken;
        self.next_write = match self.pace {
            AppPace::Chunks { every, .. } if taken == wanted => next_after(cx.now, every),
            // The write was cut short: a `Writable` event follows.
            _ => Instant::MAX,
        };
        if self.written == self.total {
            self.finish(stack, cx);
        }
    }

    fn write_described<O: Observer>(&self, stack: &mut Stack, cx: &mut StackCx<'_, O>, wanted: u64) -> u64 {
        let Some(conn) = self.end.conn() else { return 0 };
        stack.write_pattern(cx, conn, wanted).unwrap_or(0)
    }

    fn write_bytes<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, wanted: u64) -> u64 {
        let Some(conn) = self.end.conn() else { return 0 };
        let mut taken = 0;
        while taken < wanted {
            let len = (wanted - taken).min(CHUNK as u64) as usize;
            let chunk = &mut self.chunk[..len];
            fill_pattern(self.written + taken, chunk);
            let now_taken = stack.write(cx, conn, chunk).unwrap_or(0);
            taken += now_taken as u64;
            if now_taken < len {
                break;
            }
        }
        taken
    }

    fn finish<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        self.phase = Phase::Done;
        if let Some(conn) = self.end.conn() {
            stack.shutdown(cx, conn);
        }
    }

    /// Handles the server's FIN, the only thing that it sends.
    fn take_fin<O: Observer>(&self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        let Some(conn) = self.end.conn() else { return };
        let read = stack.read_pattern(cx, conn, u64::MAX);
        assert!(!matches!(read, Ok(Read::Data(1..))), "the server of a flow wrote something: {read:?}");
    }
}
