//! Storage of endpoints: a slab addressed by index, and a lookup by addresses and ports.

use super::ListenOn;
use super::budget::Share;
use crate::chunked::Chunked;
use crate::endpoint::{Endpoint, FourTuple};
use base::{Bytes, Instant, Rng};
use core::net::IpAddr;
use std::collections::BTreeMap;
use trace::ConnId;

/// Identifies a connection of one stack; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conn {
    pub(super) slot: u32,
    pub(super) id: ConnId,
}

impl Conn {
    #[cfg(test)]
    pub(crate) fn for_tests(slot: u32) -> Self {
        Self { slot, id: ConnId(slot) }
    }
    /// The connection's place among those of its stack: a small number, which a later connection may have.
    pub fn index(self) -> usize {
        self.slot as usize
    }
    /// The connection's number in traces.
    pub fn id(self) -> ConnId {
        self.id
    }
}

/// The owner of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The application's: opened locally, or accepted from a listener.
    Owned,
    /// The listener's: the handshake is in progress.
    Embryonic(ListenOn),
    /// The listener's: established, and not accepted yet.
    Waiting(ListenOn),
    /// A request's: established, and not decided yet.
    Undecided,
}

/// An endpoint with the stack's state for it.
#[derive(Debug)]
pub(super) struct Slot {
    pub endpoint: Endpoint,
    pub rng: Rng,
    pub conn: Conn,
    /// Whose it is.
    pub admission: Admission,
    /// It is on the ready list.
    pub ready: bool,
    /// It is on the event list.
    pub has_events: bool,
    /// It is on the list of those that keep memory for their next flight.
    pub keeps: bool,
    /// The time of its entry in the timer heap; `Instant::MAX` without one.
    pub scheduled: Instant,
    /// The application has released it.
    pub released: bool,
    /// When an orphan is reset; `Instant::MAX` for others.
    pub release_until: Instant,
    /// Unacknowledged written bytes when `release_until` was set.
    pub release_left: Bytes,
    /// Its part of the stack's budget.
    pub share: Share,
}

/// Addresses and ports as few words, which a tree compares in a few instructions: strangers cause lookups that miss. The first
/// word alone distinguishes nearly any two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The last 32 bits of the remote address, and both ports.
    first: u64,
    remote: u128,
    local: u128,
    is_ipv4: bool,
}

impl From<&FourTuple> for Key {
    #[inline]
    fn from(tuple: &FourTuple) -> Self {
        let bits = |ip: IpAddr| match ip {
            IpAddr::V4(v4) => u128::from(v4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits(),
        };
        let (remote, local) = (bits(tuple.remote), bits(tuple.local));
        let ports = u64::from(tuple.remote_port) << 16 | u64::from(tuple.local_port);
        // The cast keeps the half that is shifted to the front.
        Self { first: (remote as u64) << 32 | ports, remote, local, is_ipv4: tuple.remote.is_ipv4() }
    }
}

/// All endpoints.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Chunked<Option<Box<Slot>>>,
    free: Chunked<u32>,
    by_tuple: BTreeMap<Key, u32>,
    /// The last hit: consecutive segments usually belong to one connection.
    last: u32,
    created: u32,
    live: usize,
}

impl Slots {
    pub fn insert(&mut self, endpoint: Endpoint, rng: Rng, id: ConnId, admission: Admission) -> Conn {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            // A stack holds fewer than 2^32 connections: each costs hundreds of bytes.
            (self.slots.len() - 1) as u32
        });
        let conn = Conn { slot: index, id };
        self.live += 1;
        self.by_tuple.insert(Key::from(&endpoint.tuple()), index);
        self.slots[index as usize] = Some(Box::new(Slot {
            endpoint,
            rng,
            conn,
            admission,
            ready: false,
            has_events: false,
            keeps: false,
            scheduled: Instant::MAX,
            released: false,
            release_until: Instant::MAX,
            release_left: 0,
            share: Share::default(),
        }));
        conn
    }
    /// Returns the number of the next connection.
    pub fn next_id(&mut self) -> ConnId {
        self.created += 1;
        ConnId(self.created - 1)
    }
    #[inline]
    pub fn find(&mut self, tuple: &FourTuple) -> Option<u32> {
        if let Some(Some(slot)) = self.slots.get(self.last as usize)
            && slot.endpoint.tuple() == *tuple
        {
            return Some(self.last);
        }
        self.search(tuple)
    }
    /// Searches the tree. Only the check of the last hit is inlined, because it is cheap and frequent.
    #[inline(never)]
    fn search(&mut self, tuple: &FourTuple) -> Option<u32> {
        let index = *self.by_tuple.get(&Key::from(tuple))?;
        self.last = index;
        Some(index)
    }
    #[inline]
    pub fn at(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)?.as_deref_mut()
    }
    #[inline]
    pub fn get(&self, conn: Conn) -> Option<&Slot> {
        self.slots.get(conn.slot as usize)?.as_deref().filter(|slot| slot.conn == conn)
    }
    #[inline]
    pub fn get_mut(&mut self, conn: Conn) -> Option<&mut Slot> {
        self.at(conn.slot).filter(|slot| slot.conn == conn)
    }
    pub fn remove(&mut self, index: u32) {
        self.detach(index);
        if self.slots[index as usize].take().is_some() {
            self.free.push(index);
            self.live -= 1;
        }
    }
    /// Detaches a connection that has ended from its addresses and ports: a new one may use them while the application still
    /// reads the old one's data.
    pub fn detach(&mut self, index: u32) {
        let Some(tuple) = self.at(index).map(|slot| slot.endpoint.tuple()) else { return };
        let key = Key::from(&tuple);
        if self.by_tuple.get(&key) == Some(&index) {
            self.by_tuple.remove(&key);
        }
        if self.last == index {
            self.last = u32::MAX;
        }
    }
    /// Returns the connections that a listener has not handed over.
    pub fn admitted_by(&self, on: ListenOn) -> Vec<(Conn, Admission)> {
        let waits = |admission| admission == Admission::Embryonic(on) || admission == Admission::Waiting(on);
        let waiting = self.iter().filter(|slot| waits(slot.admission));
        waiting.map(|slot| (slot.conn, slot.admission)).collect()
    }
    /// All connections, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten().map(|slot| &**slot)
    }
    /// All endpoints, in no particular order.
    pub fn endpoints_mut(&mut self) -> impl Iterator<Item = &mut Endpoint> {
        self.slots.iter_mut().flatten().map(|slot| &mut slot.endpoint)
    }
    pub fn len(&self) -> usize {
        self.live
    }
}

/// The label of a connection's random stream, built without an allocation: strangers can open connections too.
pub(super) struct Label {
    text: [u8; 21],
    len: usize,
}

impl Label {
    /// `connection/` and the number in decimal digits, of which there are at most ten.
    pub fn of(id: ConnId) -> Self {
        let mut text = *b"connection/0000000000";
        let first = "connection/".len();
        let digits = id.0.checked_ilog10().unwrap_or(0) as usize + 1;
        let mut left = id.0;
        for place in text[first..first + digits].iter_mut().rev() {
            *place = b'0' + (left % 10) as u8;
            left /= 10;
        }
        Self { text, len: first + digits }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_formatting_would_make() {
        for number in [0, 7, 10, 99, 100, 1_234_567_890, u32::MAX] {
            assert_eq!(Label::of(ConnId(number)).as_bytes(), format!("connection/{number}").as_bytes());
        }
    }
}
