//! The applications of a node, found by connection, by port and by the time at which they act: what a step costs does not depend on how
//! many there are.

use crate::workload::App;
use base::Instant;
use core::ops::{Index, IndexMut};
use std::collections::{BTreeMap, BTreeSet};
use tcp::Conn;

/// No application.
const NONE: u32 = u32::MAX;

/// The applications of a node, by number.
#[derive(Debug)]
pub(crate) struct Apps {
    all: Vec<App>,
    /// Who listens on a port of this node.
    listeners: BTreeMap<u16, usize>,
    /// Who connects to a port of another node.
    clients: BTreeMap<u16, usize>,
    /// Who has the connection in a place of the stack, or had it: the connection itself tells.
    by_place: Vec<u32>,
    /// When each acts without an event, for all that ever do.
    wakes: BTreeSet<(Instant, usize)>,
    /// The first of them.
    next_wake: Instant,
    /// The same by number; `Instant::MAX` for never.
    wake_of: Vec<Instant>,
}

impl Default for Apps {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            listeners: BTreeMap::new(),
            clients: BTreeMap::new(),
            by_place: Vec::new(),
            wakes: BTreeSet::new(),
            next_wake: Instant::MAX,
            wake_of: Vec::new(),
        }
    }
}

impl Apps {
    /// Adds one; the first has number 0.
    pub(crate) fn push(&mut self, app: App) {
        let number = self.all.len();
        if let Some(port) = app.connects_to() {
            self.clients.insert(port, number);
        }
        if let Some(port) = app.listens_on() {
            self.listeners.insert(port, number);
        }
        self.all.push(app);
        self.wake_of.push(Instant::MAX);
        self.note(number);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns when the next one acts without an event.
    #[inline]
    pub(crate) fn wake_at(&self) -> Instant {
        self.next_wake
    }

    /// Returns the numbers of those whose time has come, in ascending order.
    pub(crate) fn due(&self, now: Instant) -> Vec<usize> {
        let mut due: Vec<usize> = self.wakes.iter().take_while(|(at, _)| *at <= now).map(|(_, app)| *app).collect();
        due.sort_unstable();
        due
    }

    /// Takes note of one that acted: its connection and its time may have changed.
    pub(crate) fn note(&mut self, number: usize) {
        if let Some(conn) = self.all[number].end().conn() {
            let place = conn.index();
            if place >= self.by_place.len() {
                self.by_place.resize(place + 1, NONE);
            }
            self.by_place[place] = number as u32;
        }
        self.note_time(number);
    }

    /// Takes note of one whose connection is known: its time may have changed.
    #[inline]
    pub(crate) fn note_time(&mut self, number: usize) {
        let (at, known) = (self.all[number].wake_at(), self.wake_of[number]);
        if at != known {
            self.wakes.remove(&(known, number));
            if at != Instant::MAX {
                self.wakes.insert((at, number));
            }
            self.wake_of[number] = at;
            self.next_wake = self.wakes.first().map_or(Instant::MAX, |(first, _)| *first);
        }
    }

    /// Returns who has a connection.
    #[inline]
    pub(crate) fn of_conn(&self, conn: Conn) -> Option<usize> {
        let number = *self.by_place.get(conn.index()).filter(|number| **number != NONE)? as usize;
        (self.all[number].end().conn() == Some(conn)).then_some(number)
    }

    /// Returns who waits for a connection on `port`.
    pub(crate) fn listening(&self, port: u16) -> Option<usize> {
        let number = *self.listeners.get(&port)?;
        self.all[number].end().is_unused().then_some(number)
    }

    /// Returns who sends from local port `local` to `remote`: the server's port identifies the flow.
    pub(crate) fn between(&self, local: u16, remote: u16) -> Option<&App> {
        let number = self.listeners.get(&local).or_else(|| self.clients.get(&remote))?;
        Some(&self.all[*number])
    }
}

impl Index<usize> for Apps {
    type Output = App;
    #[inline]
    fn index(&self, number: usize) -> &App {
        &self.all[number]
    }
}

impl IndexMut<usize> for Apps {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut App {
        &mut self.all[number]
    }
}
