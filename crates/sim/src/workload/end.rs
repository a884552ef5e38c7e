//! An application's end of its connection: its name, and how it ended.

use crate::outcome::EndOutcome;
use tcp::{CloseReason, Conn, Stack, StackCx};
use trace::{ConnId, Observer};

/// State that both kinds of application keep about their connection.
#[derive(Debug, Default)]
pub(crate) struct End {
    conn: Option<Conn>,
    id: Option<ConnId>,
    outcome: EndOutcome,
}

impl End {
    pub(super) fn open(&mut self, conn: Conn) {
        (self.conn, self.id) = (Some(conn), Some(conn.id()));
    }

    /// Collects the final statistics of a connection before the stack drops it.
    pub(super) fn close<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, reason: CloseReason) {
        self.outcome.closed = Some(reason);
        if let Some(conn) = self.conn.take() {
            self.outcome.info = stack.info(conn);
            stack.release(cx, conn);
        }
    }

    /// Returns the connection while it exists.
    #[inline]
    pub(crate) fn conn(&self) -> Option<Conn> {
        self.conn
    }

    /// Returns its name in traces, kept after the end; `None` if there never was a connection.
    pub(crate) fn id(&self) -> Option<ConnId> {
        self.id
    }

    /// Returns whether there never was a connection.
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
        EndOutcome { conn: self.id, closed: self.outcome.closed, info: live.or(self.outcome.info) }
    }
}
