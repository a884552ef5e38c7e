//! The listeners of a stack, and the connections that wait in them to be accepted.

use crate::waits::keep_beside;
use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Waker};
use tcp::{Conn, FourTuple, ListenOn};

/// A listener's connections, and the tasks that wait for them.
#[derive(Debug, Default)]
struct Backlog {
    ready: VecDeque<Conn>,
    waiting: Vec<Waker>,
}

/// All listeners.
#[derive(Debug, Default)]
pub(crate) struct Backlogs {
    by_place: BTreeMap<ListenOn, Backlog>,
}

impl Backlogs {
    /// Adds a listener.
    pub fn open(&mut self, on: ListenOn) {
        self.by_place.insert(on, Backlog::default());
    }

    /// Removes a listener.
    pub fn close(&mut self, on: ListenOn) {
        self.by_place.remove(&on);
    }

    /// Returns where all of them listen.
    pub fn places(&self) -> Vec<ListenOn> {
        self.by_place.keys().copied().collect()
    }

    /// Takes in an established connection; the listener with an address has precedence, as in the stack.
    pub fn on_accepted(&mut self, conn: Conn, tuple: &FourTuple, due: &mut Vec<Waker>) {
        let on = ListenOn { port: tuple.local_port, address: Some(tuple.local) };
        let on = if self.by_place.contains_key(&on) { on } else { ListenOn { address: None, ..on } };
        if let Some(backlog) = self.by_place.get_mut(&on) {
            backlog.ready.push_back(conn);
            due.append(&mut backlog.waiting);
        }
    }

    /// Returns the connection that has waited the longest; without one, the task waits.
    pub fn poll(&mut self, on: ListenOn, cx: &Context<'_>) -> Option<Conn> {
        let backlog = self.by_place.get_mut(&on)?;
        let next = backlog.ready.pop_front();
        if next.is_none() {
            keep_beside(&mut backlog.waiting, cx);
        }
        next
    }

    /// Returns whether somebody listens there.
    pub fn is_open(&self, on: ListenOn) -> bool {
        self.by_place.contains_key(&on)
    }

    /// Moves every task to `due`.
    pub fn wake_all(&mut self, due: &mut Vec<Waker>) {
        self.by_place.values_mut().for_each(|backlog| due.append(&mut backlog.waiting));
    }
}
