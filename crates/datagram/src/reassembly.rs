//! The packets of which fragments are missing: how many, how large, for how long (RFC 791 §3.2, RFC 8200 §4.5).
//!
//! Owns the bounds; what fragments make of a packet is [`Partial`]'s. The oldest packet gives way to a new fragment: keeping the old ones
//! would let a stranger who sends first fragments alone stop all reassembly for the time of the patience.

use crate::config::ReassemblyConfig;
use crate::counters::{DatagramCounters, DropReason};
use crate::partial::{Added, FRAGMENT_BYTES, Partial, check};
use base::Instant;
use core::net::IpAddr;
use std::collections::BTreeMap;
use wire::{Fragment, IpView};

/// What a packet costs beside its fragments.
pub(crate) const PARTIAL_BYTES: usize = 256;

/// What fragments of one packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    src: IpAddr,
    dst: IpAddr,
    id: u32,
    /// Of IPv4 alone: IPv6 numbers the packets of all protocols (RFC 791 §3.2, RFC 8200 §4.5).
    protocol: Option<u8>,
}

#[derive(Debug)]
struct Kept {
    partial: Partial,
    /// Its number in the order of age.
    number: u64,
    until: Instant,
}

/// What became of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It waits for the others.
    Kept,
    /// It was dropped, and those that it spoiled with it.
    Dropped(DropReason),
    /// It completed this packet.
    Whole(Vec<u8>),
}

/// The packets that are incomplete.
#[derive(Debug)]
pub(crate) struct Reassembly {
    cfg: ReassemblyConfig,
    packets: BTreeMap<Key, Kept>,
    /// By number: the oldest first, which is also the first to expire.
    by_age: BTreeMap<u64, Key>,
    next: u64,
    bytes: usize,
}

impl Reassembly {
    pub fn new(cfg: ReassemblyConfig) -> Self {
        Self { cfg, packets: BTreeMap::new(), by_age: BTreeMap::new(), next: 0, bytes: 0 }
    }

    /// Takes a fragment in.
    pub fn add(
        &mut self,
        now: Instant,
        packet: &IpView<'_>,
        fragment: &Fragment,
        counters: &mut DatagramCounters,
    ) -> Outcome {
        if let Err(reason) = check(packet, fragment) {
            return Outcome::Dropped(reason);
        }
        if fragment.is_atomic() {
            return whole_of_one(packet);
        }
        let protocol = packet.src.is_ipv4().then_some(packet.protocol);
        let key = Key { src: packet.src, dst: packet.dst, id: fragment.id, protocol };
        if !self.make_room(&key, packet, counters) {
            return Outcome::Dropped(DropReason::FragmentMemory);
        }
        let (number, until) = (self.next, now + self.cfg.patience);
        let kept = self.packets.entry(key).or_insert_with(|| {
            self.by_age.insert(number, key);
            self.next += 1;
            self.bytes += PARTIAL_BYTES;
            Kept { partial: Partial::default(), number, until }
        });
        let before = kept.partial.cost();
        let added = kept.partial.add(packet, fragment, self.cfg.fragments_max);
        self.bytes = self.bytes - before + kept.partial.cost();
        match added {
            Added::Kept => Outcome::Kept,
            Added::Repeated => {
                counters.fragments_repeated += 1;
                Outcome::Kept
            }
            Added::Spoiled(reason) => Outcome::Dropped(reason),
            Added::Complete => {
                let whole = kept.partial.put_together();
                self.remove(&key);
                match whole {
                    Ok(whole) => {
                        counters.reassembled += 1;
                        Outcome::Whole(whole)
                    }
                    Err(reason) => Outcome::Dropped(reason),
                }
            }
        }
    }

    /// Drops the oldest packets until a fragment has room; returns whether it has.
    fn make_room(&mut self, key: &Key, packet: &IpView<'_>, counters: &mut DatagramCounters) -> bool {
        let cost = packet.packet().len() + FRAGMENT_BYTES;
        loop {
            let is_new = !self.packets.contains_key(key);
            let (more_packets, more_bytes) = if is_new { (1, cost + PARTIAL_BYTES) } else { (0, cost) };
            let has_place = self.packets.len() + more_packets <= self.cfg.packets_max;
            if has_place && self.bytes + more_bytes <= self.cfg.bytes_max {
                return true;
            }
            let Some((_, oldest)) = self.by_age.first_key_value().map(|(number, key)| (*number, *key)) else {
                return false;
            };
            let was_spoiled = self.remove(&oldest);
            counters.reassembly_evicted += u64::from(!was_spoiled);
            // A packet that is its own oldest cannot be completed any more.
            if oldest == *key {
                return false;
            }
        }
    }

    /// Forgets a packet; returns whether it was spoiled.
    fn remove(&mut self, key: &Key) -> bool {
        let Some(kept) = self.packets.remove(key) else { return false };
        self.by_age.remove(&kept.number);
        self.bytes -= PARTIAL_BYTES + kept.partial.cost();
        kept.partial.is_spoiled()
    }

    /// Returns when the oldest packet expires.
    pub fn next_deadline(&self) -> Option<Instant> {
        let (_, key) = self.by_age.first_key_value()?;
        self.packets.get(key).map(|kept| kept.until)
    }

    /// Drops the packets whose time is over.
    pub fn expire(&mut self, now: Instant, counters: &mut DatagramCounters) {
        while self.next_deadline().is_some_and(|until| until <= now)
            && let Some((_, &key)) = self.by_age.first_key_value()
        {
            let was_spoiled = self.remove(&key);
            counters.reassembly_expired += u64::from(!was_spoiled);
        }
    }

    /// Returns the bytes that are kept, and the number of packets.
    pub fn usage(&self) -> (usize, usize) {
        (self.bytes, self.packets.len())
    }
}

/// A packet with a fragment header that is all of it: it is handled alone, whatever others have its identification (RFC 6946 §4).
fn whole_of_one(packet: &IpView<'_>) -> Outcome {
    let mut whole = Vec::with_capacity(packet.packet().len());
    let payload = core::iter::once(packet.payload());
    match wire::put_together(packet.header(), packet.protocol, packet.ecn, payload, &mut whole) {
        true => Outcome::Whole(whole),
        false => Outcome::Dropped(DropReason::FragmentTooLong),
    }
}

#[cfg(test)]
mod tests;
