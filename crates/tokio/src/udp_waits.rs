//! Which tasks wait for which UDP socket or flow, and what happened to it that its owner has not heard.

use crate::waits::keep_beside;
use datagram::{DatagramEvent, SocketId};
use std::collections::BTreeMap;
use std::task::{Context, Waker};

#[derive(Debug, Default)]
struct Wait {
    readers: Vec<Waker>,
    writers: Vec<Waker>,
    /// A peer's host has reported that nothing has the port.
    is_refused: bool,
}

/// All sockets and flows that have an owner.
#[derive(Debug, Default)]
pub(crate) struct UdpWaits {
    by_id: BTreeMap<SocketId, Wait>,
}

impl UdpWaits {
    /// Adds a socket or a flow.
    pub fn open(&mut self, id: SocketId) {
        self.by_id.insert(id, Wait::default());
    }

    /// Forgets it.
    pub fn close(&mut self, id: SocketId) {
        self.by_id.remove(&id);
    }

    /// Notes that a task waits to read.
    pub fn add_reader(&mut self, id: SocketId, cx: &Context<'_>) {
        if let Some(wait) = self.by_id.get_mut(&id) {
            keep_beside(&mut wait.readers, cx);
        }
    }

    /// Notes that a task waits to send.
    pub fn add_writer(&mut self, id: SocketId, cx: &Context<'_>) {
        if let Some(wait) = self.by_id.get_mut(&id) {
            keep_beside(&mut wait.writers, cx);
        }
    }

    /// Returns once whether a datagram was refused.
    pub fn take_refusal(&mut self, id: SocketId) -> bool {
        self.by_id.get_mut(&id).is_some_and(|wait| std::mem::take(&mut wait.is_refused))
    }

    /// Moves to `due` the tasks whose wait an event ends.
    pub fn on_event(&mut self, event: DatagramEvent, due: &mut Vec<Waker>) {
        let Some(wait) = self.by_id.get_mut(&event.id()) else { return };
        match event {
            DatagramEvent::Readable(_) => due.append(&mut wait.readers),
            DatagramEvent::Writable(_) => due.append(&mut wait.writers),
            DatagramEvent::Ended(_) => {
                due.append(&mut wait.readers);
                due.append(&mut wait.writers);
            }
            DatagramEvent::Refused { .. } => {
                wait.is_refused = true;
                due.append(&mut wait.readers);
            }
            // Anybody can send this, and the program chooses its own sizes.
            DatagramEvent::TooBig { .. } => {}
        }
    }

    /// Moves every task to `due`.
    pub fn wake_all(&mut self, due: &mut Vec<Waker>) {
        for wait in self.by_id.values_mut() {
            due.append(&mut wait.readers);
            due.append(&mut wait.writers);
        }
    }
}
