//! Which tasks wait for which connection.

use std::task::{Context, Waker};
use tcp::{Conn, ConnEvent};

/// The tasks that wait for one connection.
#[derive(Debug, Default)]
struct Wait {
    /// Whose they are; the place may have belonged to an earlier connection.
    conn: Option<Conn>,
    /// Waits for bytes, or their end.
    reader: Option<Waker>,
    /// Waits for room, or for the acknowledgement of the FIN.
    writer: Option<Waker>,
    /// Wait for the handshake or for the end.
    watchers: Vec<Waker>,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// Something to read. One task: the last that asked.
    Reading,
    /// Room to write, or the acknowledgement of the FIN. One task: the last that asked.
    Writing,
    /// The end of the handshake, or of the connection. Any number of tasks.
    Change,
}

/// The tasks that wait, by the connections' places in their stack.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    by_index: Vec<Wait>,
}

impl Waits {
    /// Notes that a task waits.
    pub fn add(&mut self, conn: Conn, what: For, cx: &Context<'_>) {
        let index = conn.index();
        if self.by_index.len() <= index {
            self.by_index.resize_with(index + 1, Wait::default);
        }
        let wait = &mut self.by_index[index];
        if wait.conn != Some(conn) {
            *wait = Wait { conn: Some(conn), ..Wait::default() };
        }
        match what {
            For::Reading => keep(&mut wait.reader, cx),
            For::Writing => keep(&mut wait.writer, cx),
            For::Change => keep_beside(&mut wait.watchers, cx),
        }
    }

    /// Forgets who waits for a connection.
    pub fn remove(&mut self, conn: Conn) {
        if let Some(wait) = self.of(conn) {
            *wait = Wait::default();
        }
    }

    /// Moves to `due` the tasks whose wait an event ends.
    pub fn on_event(&mut self, conn: Conn, event: ConnEvent, due: &mut Vec<Waker>) {
        let Some(wait) = self.of(conn) else { return };
        match event {
            ConnEvent::Readable | ConnEvent::Urgent => due.extend(wait.reader.take()),
            ConnEvent::Writable | ConnEvent::FinAcknowledged => due.extend(wait.writer.take()),
            ConnEvent::Connected => due.append(&mut wait.watchers),
            ConnEvent::Closed(_) => {
                due.extend(wait.reader.take());
                due.extend(wait.writer.take());
                due.append(&mut wait.watchers);
            }
            ConnEvent::Unresponsive | ConnEvent::Icmp(_) => {}
        }
    }

    /// Moves every task to `due`.
    pub fn wake_all(&mut self, due: &mut Vec<Waker>) {
        for wait in &mut self.by_index {
            due.extend(wait.reader.take());
            due.extend(wait.writer.take());
            due.append(&mut wait.watchers);
        }
    }

    fn of(&mut self, conn: Conn) -> Option<&mut Wait> {
        self.by_index.get_mut(conn.index()).filter(|wait| wait.conn == Some(conn))
    }
}

/// Keeps the waker of a task; it may be there already.
pub(crate) fn keep(place: &mut Option<Waker>, cx: &Context<'_>) {
    match place {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *place = Some(cx.waker().clone()),
    }
}

/// Keeps the waker of a task beside those of others.
pub(crate) fn keep_beside(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}
