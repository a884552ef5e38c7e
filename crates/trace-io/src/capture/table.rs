//! The open connections: found by their ends; the longest idle one is dropped when there are too many.

use super::copies::Copies;
use super::flow::{Flow, Interface};
use super::headers::Segment;
use std::collections::HashMap;
use std::net::SocketAddr;

/// Connections that are followed at the same time.
const FLOWS: usize = 16_384;
/// Maximum memory of their records, beyond the fixed part.
const HEAP: usize = 96 << 20;

/// Both ends, the lower first, and the interface: the same packet at two interfaces counts as two packets.
type Key = (SocketAddr, SocketAddr, Interface);

/// How a segment was classified.
#[derive(Debug)]
pub(super) enum Taken {
    /// It belongs to the newest connection; another one between the same ports may have ended by it.
    New {
        /// That one.
        ended: Option<Box<Flow>>,
    },
    /// It was captured before, and counts as nothing else.
    Copy,
}

#[derive(Debug)]
struct Slot {
    key: Key,
    flow: Flow,
    newer: u32,
    older: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

/// Connections, in order of their last packet.
#[derive(Debug)]
pub(super) struct Table {
    by_key: HashMap<Key, u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
    heap: usize,
    copies: Copies,
    seen: u64,
    most: usize,
    /// Connections dropped to make room for others.
    pub given_up: u64,
    /// Connections whose records were cleared because all together took too much memory.
    pub forgotten: u64,
}

impl Default for Table {
    fn default() -> Self {
        Self::of(FLOWS)
    }
}

impl Table {
    fn of(most: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            slots: Vec::new(),
            newest: NONE,
            oldest: NONE,
            heap: 0,
            copies: Copies::default(),
            seen: 0,
            most,
            given_up: 0,
            forgotten: 0,
        }
    }

    /// Passes a segment to its connection; returns a connection that ends by it.
    #[inline]
    pub fn on_segment(&mut self, at: u64, interface: Interface, segment: &Segment) -> Taken {
        let (low, high) =
            if segment.src <= segment.dst { (segment.src, segment.dst) } else { (segment.dst, segment.src) };
        let key = (low, high, interface);
        let (index, ended) = match self.by_key.get(&key) {
            Some(&index) => (index, self.renew(index, at, segment)),
            None => self.insert(key, at, segment),
        };
        self.touch(index);
        let flow = &mut self.slots[index as usize].flow;
        if self.copies.is_copy(at, flow, segment) {
            flow.on_copy(segment);
            return Taken::Copy;
        }
        let before = flow.heap();
        flow.on_segment(at, segment);
        self.heap = self.heap + flow.heap() - before;
        if self.heap > HEAP {
            self.make_room();
        }
        Taken::New { ended: ended.map(Box::new) }
    }

    /// The connection that had a segment last.
    pub fn newest(&self) -> Option<&Flow> {
        self.slots.get(self.newest as usize).map(|slot| &slot.flow)
    }

    /// The connections that are left, oldest last packet first.
    pub fn finish(self) -> impl Iterator<Item = Flow> {
        self.slots.into_iter().map(|slot| slot.flow)
    }

    fn renew(&mut self, index: u32, at: u64, segment: &Segment) -> Option<Flow> {
        let interface = self.slots[index as usize].key.2;
        self.slots[index as usize].flow.is_another(segment).then(|| self.replace(index, interface, at, segment))
    }

    fn replace(&mut self, index: u32, interface: Interface, at: u64, segment: &Segment) -> Flow {
        self.seen += 1;
        let flow = &mut self.slots[index as usize].flow;
        self.heap -= flow.heap();
        std::mem::replace(flow, Flow::new(self.seen, interface, at, segment))
    }

    fn insert(&mut self, key: Key, at: u64, segment: &Segment) -> (u32, Option<Flow>) {
        if self.slots.len() < self.most {
            let index = self.slots.len() as u32;
            self.seen += 1;
            let flow = Flow::new(self.seen, key.2, at, segment);
            self.slots.push(Slot { key, flow, newer: NONE, older: self.newest });
            match self.slots.get_mut(self.newest as usize) {
                Some(second) => second.newer = index,
                None => self.oldest = index,
            }
            self.newest = index;
            self.by_key.insert(key, index);
            return (index, None);
        }
        let index = self.oldest;
        self.given_up += 1;
        let gone = self.replace(index, key.2, at, segment);
        let old_key = std::mem::replace(&mut self.slots[index as usize].key, key);
        self.by_key.remove(&old_key);
        self.by_key.insert(key, index);
        (index, Some(gone))
    }

    /// Makes a connection the newest.
    #[inline]
    fn touch(&mut self, index: u32) {
        if self.newest == index {
            return;
        }
        let Slot { newer, older, .. } = self.slots[index as usize];
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        if let Some(slot) = self.slots.get_mut(newer as usize) {
            slot.older = older;
        }
        self.slots[self.newest as usize].newer = index;
        (self.slots[index as usize].newer, self.slots[index as usize].older) = (NONE, self.newest);
        self.newest = index;
    }

    /// Clears records, those of the longest idle first, until a quarter is free.
    fn make_room(&mut self) {
        let mut index = self.oldest;
        while self.heap > HEAP / 4 * 3
            && let Some(slot) = self.slots.get_mut(index as usize)
        {
            let had = slot.flow.heap();
            if had > 0 {
                slot.flow.streams.iter_mut().for_each(super::stream::Stream::forget);
                self.heap -= had - slot.flow.heap();
                self.forgotten += 1;
            }
            index = slot.newer;
        }
    }
}

#[cfg(test)]
mod tests;
