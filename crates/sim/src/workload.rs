//! The applications of the simulated world: a client that writes, a server that reads.
//!
//! They use the stack as any application does, through its calls and events, and they run after the turn that notified them.
//! Time enters as the moments at which an application wants to act by itself: to start, to write or read the next chunk, to
//! stop.

mod receiver;
mod sender;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use crate::outcome::EndOutcome;
use crate::scenario::Carriage;
use base::{Duration, Instant};
use tcp::{CloseReason, Conn, ConnEvent, Stack, StackCx};
use trace::{ConnId, Observer};

/// Bytes that an application moves at a time when it moves bytes.
const CHUNK: usize = 16 << 10;

/// An application on a node.
#[derive(Debug)]
pub(crate) enum App {
    /// Writes.
    Sender(Sender),
    /// Reads.
    Receiver(Receiver),
}

impl App {
    /// When it wants to act by itself; `Instant::MAX` for never.
    pub(crate) fn wake_at(&self) -> Instant {
        match self {
            Self::Sender(sender) => sender.wake_at(),
            Self::Receiver(receiver) => receiver.wake_at(),
        }
    }

    /// Its time has come.
    pub(crate) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        match self {
            Self::Sender(sender) => sender.on_wake(stack, cx),
            Self::Receiver(receiver) => receiver.on_wake(stack, cx),
        }
    }

    /// Its connection has something to say.
    pub(crate) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match self {
            Self::Sender(sender) => sender.on_event(stack, cx, event),
            Self::Receiver(receiver) => receiver.on_event(stack, cx, event),
        }
    }

    /// Its end of the connection.
    #[inline]
    pub(crate) fn end(&self) -> &End {
        match self {
            Self::Sender(sender) => &sender.end,
            Self::Receiver(receiver) => &receiver.end,
        }
    }

    /// Whether it sends from local port `local` to `remote`: the server's port identifies the flow.
    pub(crate) fn sends_from(&self, local: u16, remote: u16) -> bool {
        match self {
            Self::Sender(sender) => sender.port() == remote,
            Self::Receiver(receiver) => receiver.port() == local,
        }
    }

    /// The port on which it waits for a connection.
    pub(crate) fn listens_on(&self) -> Option<u16> {
        match self {
            Self::Receiver(receiver) if receiver.end.is_unused() => Some(receiver.port()),
            _ => None,
        }
    }
}

/// What both kinds know about their connection.
#[derive(Debug, Default)]
pub(crate) struct End {
    conn: Option<Conn>,
    id: Option<ConnId>,
    outcome: EndOutcome,
}

impl End {
    fn open(&mut self, conn: Conn) {
        (self.conn, self.id) = (Some(conn), Some(conn.id()));
    }

    /// The last words of a connection are kept before the stack forgets it.
    fn close<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, reason: CloseReason) {
        self.outcome.closed = Some(reason);
        if let Some(conn) = self.conn.take() {
            self.outcome.info = stack.info(conn);
            stack.release(cx, conn);
        }
    }

    /// The connection, as long as it lasts.
    #[inline]
    pub(crate) fn conn(&self) -> Option<Conn> {
        self.conn
    }

    /// Its name in traces, kept after the end; `None` when there never was one.
    pub(crate) fn id(&self) -> Option<ConnId> {
        self.id
    }

    /// Whether there never was a connection.
    pub(crate) fn is_unused(&self) -> bool {
        self.conn.is_none() && self.outcome.closed.is_none()
    }

    /// How the connection ended, if it did.
    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.outcome.closed
    }

    /// The outcome so far.
    pub(crate) fn outcome(&self, stack: &Stack) -> EndOutcome {
        let live = self.conn.and_then(|conn| stack.info(conn));
        EndOutcome { closed: self.outcome.closed, info: live.or(self.outcome.info) }
    }
}

fn chunk_for(carriage: Carriage) -> Vec<u8> {
    match carriage {
        Carriage::Described => Vec::new(),
        Carriage::Bytes => vec![0; CHUNK],
    }
}

fn next_after(now: Instant, every: Duration) -> Instant {
    assert!(!every.is_zero(), "an application that acts all the time has no pace");
    now + every
}
