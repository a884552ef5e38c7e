//! The client of a flow: connects, writes the flow's bytes and closes.

use super::agenda::Agenda;
use super::end::End;
use super::pace::{CHUNK, chunk_for, next_after};
use super::seen::Source;
use crate::scenario::{AppPace, Carriage, FlowSpec, Workload};
use base::{Duration, Instant, Rng};
use core::net::SocketAddr;
use tcp::{ConnEvent, Read, Stack, StackCx, ValidConfig, fill_pattern};
use trace::Observer;

/// Writes a flow's bytes and closes.
#[derive(Debug)]
pub(crate) struct Sender {
    end: End,
    config: ValidConfig,
    remote: SocketAddr,
    start: Instant,
    /// What may be written.
    agenda: Agenda,
    /// When writing ends, however much was written.
    stop_at: Instant,
    pace: AppPace,
    unsent_max: Option<u64>,
    carriage: Carriage,
    phase: Phase,
    /// When a paced writer writes next; never, while it waits for room.
    next_write: Instant,
    written: u64,
    chunk: Vec<u8>,
}

/// How often a writer that keeps little in the send buffer looks for room.
const TOP_UP_EVERY: Duration = Duration::from_millis(1);

/// State of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Writing,
    Done,
}

impl Sender {
    /// The sender of `flow`, to connect to `remote`. Its random streams are forks of `rng`.
    pub(crate) fn new(flow: &FlowSpec, remote: SocketAddr, rng: &Rng) -> Self {
        let start = Instant::ZERO + flow.start;
        let stop_at = match flow.workload {
            Workload::For(span) => start + span,
            _ => Instant::MAX,
        };
        let stop_at = flow.stop.map_or(stop_at, |stop| stop_at.min(Instant::ZERO + stop));
        Self {
            end: End::default(),
            config: flow.client.clone(),
            remote,
            start,
            agenda: Agenda::new(flow, rng),
            stop_at,
            pace: flow.writer,
            unsent_max: flow.unsent_max,
            carriage: flow.carriage,
            phase: Phase::Waiting,
            next_write: Instant::MAX,
            written: 0,
            chunk: chunk_for(flow.carriage),
        }
    }

    /// Forgets when it writes next, except for the first time.
    #[cfg(test)]
    pub(crate) fn oversleep(&mut self) {
        self.next_write = Instant::MAX;
    }
    /// Port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.remote.port()
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Instant {
        match self.phase {
            Phase::Waiting => self.start,
            Phase::Connecting => self.stop_at,
            Phase::Writing => self.next_write.min(self.stop_at).min(self.agenda.next),
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
        if cx.now >= self.agenda.next {
            self.agenda.advance(cx.now, self.written);
        }
        let most = match self.pace {
            AppPace::Unlimited => u64::MAX,
            AppPace::Chunks { bytes, .. } => bytes,
        };
        let left = self.agenda.total - self.written;
        let wanted = most.min(left).min(self.room(stack));
        let taken = match self.carriage {
            Carriage::Described => self.write_described(stack, cx, wanted),
            Carriage::Bytes => self.write_bytes(stack, cx, wanted),
        };
        self.written += taken;
        let has_paused = self.written == self.agenda.total && self.agenda.next != Instant::MAX;
        self.next_write = match self.pace {
            AppPace::Chunks { every, .. } if taken == wanted && !has_paused => next_after(cx.now, every),
            AppPace::Unlimited if self.unsent_max.is_some() && wanted < left => next_after(cx.now, TOP_UP_EVERY),
            // The write was cut short: a `Writable` event follows.
            _ => Instant::MAX,
        };
        if self.written == self.agenda.total && !has_paused {
            self.finish(stack, cx);
        }
    }

    /// How much it wants to see in the send buffer in addition to what is there.
    #[inline]
    fn room(&self, stack: &Stack) -> u64 {
        match (self.unsent_max, self.end.conn()) {
            (Some(most), Some(conn)) => stack.info(conn).map_or(0, |info| {
                let sent = info.counters.bytes_acked + u64::from(info.flight_size);
                most.saturating_sub(self.written.saturating_sub(sent))
            }),
            _ => u64::MAX,
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

impl Source for Sender {
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
        let waits_for_its_time = self.next_write != Instant::MAX || self.written == self.agenda.total;
        self.phase == Phase::Writing && waits_for_its_time
    }
}
