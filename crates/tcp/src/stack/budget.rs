//! The stack's memory budget, and the order in which the stack frees memory ([`crate::config::GuardConfig`]).
//!
//! Owns the sum of the connections' memory and their roles. A connection is *expendable* while it serves no application: in
//! TIME-WAIT, before its handshake is over, or as an orphan. Each role has a queue by age, so that an eviction costs time
//! logarithmic in the number of connections.
//!
//! Relief comes in two steps. From half of the budget on no window opens beyond an equal share of what is free, but for 16 KiB
//! while there is a multiple of that ([`Budget::window_max`]); what was promised before may still arrive. When the budget is spent, [`super::relief`] evicts the oldest holders,
//! in this order:
//!
//! 1. connections in TIME-WAIT end,
//! 2. pending handshakes are dropped,
//! 3. orphans are reset, first those with nothing left to send,
//! 4. connections discard their out-of-order data, the last block first, which RFC 2018 §8 allows,
//! 5. new data and new connections are rejected.
//!
//! Connections that an application uses are never ended.

use crate::config::{GuardConfig, WrittenData};
use base::Bytes;
use core::ops::AddAssign;
use std::collections::BTreeMap;

/// Memory of a connection that holds no data: its slot, its endpoint with its boxes, and its places in the lookups, in bytes.
pub(super) const CONNECTION_BYTES: u64 = 2_048;
/// Minimum window offered while a multiple of it is free, in bytes.
const WINDOW_LEAST: u64 = 16_384;
/// Bytes that a connection with nothing unacknowledged may always write.
const WRITE_LEAST: u64 = 1_024;
/// The part of the free memory that one write may take while memory is not short.
const WRITE_PART: u64 = 16;
/// Memory of a queued reply, in bytes.
pub(super) const REPLY_BYTES: u64 = 256;
/// Memory of an undecided request and its places in the lookups, in bytes; a test compares it with the types.
pub(super) const REQUEST_BYTES: u64 = 256;

/// Why a connection can be evicted, in the order of eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expendable {
    /// It waits for old segments to expire, and the application has released it.
    TimeWait,
    /// Its handshake is in progress, or the application has not decided on it.
    Embryonic,
    /// The application has released it, and the peer has received everything: only the peer's FIN is missing.
    Idle,
    /// The application has released it, and it still sends.
    Orphan,
}

impl Expendable {
    /// All roles, in the order of eviction.
    pub const ORDER: [Self; 4] = [Self::TimeWait, Self::Embryonic, Self::Idle, Self::Orphan];

    /// Returns whether it is a released connection that has not ended.
    pub fn is_orphan(self) -> bool {
        matches!(self, Self::Idle | Self::Orphan)
    }
}

/// A slot's part of the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Memory beyond [`CONNECTION_BYTES`], in bytes.
    pub held: usize,
    /// The role in which it is expendable.
    pub role: Option<Expendable>,
    /// Its ticket in the queue of that role.
    pub ticket: u64,
    /// Its ticket in the queue of connections with out-of-order data.
    pub out_of_order: Option<u64>,
}

/// The sum, and the queues by age.
#[derive(Debug)]
pub(super) struct Budget {
    /// Memory that may be held, in bytes.
    max: u64,
    used: u64,
    /// Expendable connections in each role, by ticket.
    queues: [BTreeMap<u64, u32>; 4],
    /// Connections with out-of-order data, by ticket.
    out_of_order: BTreeMap<u64, u32>,
    /// Tickets issued; a lower one is older.
    tickets: u64,
    /// The largest window that may be offered, in bytes.
    window_max: Bytes,
    /// A limit is exceeded: [`Stack::relieve`] has work to do.
    exceeded: bool,
    /// Written data counts.
    counts_written: bool,
}

impl Budget {
    pub fn new(guards: &GuardConfig) -> Self {
        Self {
            max: guards.memory_max,
            used: 0,
            queues: [const { BTreeMap::new() }; 4],
            out_of_order: BTreeMap::new(),
            tickets: 0,
            window_max: Bytes::MAX,
            exceeded: false,
            counts_written: guards.written == WrittenData::Counted,
        }
    }

    /// Returns whether data that applications have written counts.
    #[inline]
    pub fn counts_written(&self) -> bool {
        self.counts_written
    }

    /// Returns whether windows are bounded because memory is short.
    pub fn is_pressed(&self) -> bool {
        self.window_max != Bytes::MAX
    }

    /// Returns how many bytes a connection may write that has `queued` already.
    pub fn write_max(&self, queued: Bytes) -> usize {
        let free = self.max.saturating_sub(self.used);
        let share = if self.is_pressed() { u64::from(self.window_max) } else { free / WRITE_PART };
        let queued = if self.is_pressed() { u64::from(queued) } else { 0 };
        share.max(WRITE_LEAST).saturating_sub(queued) as usize
    }

    /// Returns the largest window that a connection may be offered now, in bytes.
    #[inline]
    pub fn window_max(&self) -> Bytes {
        self.window_max
    }

    /// Returns whether a limit is exceeded.
    #[inline]
    pub fn exceeded(&self) -> bool {
        self.exceeded
    }

    /// Returns whether `more` bytes no longer fit.
    pub fn refuses(&self, more: u64) -> bool {
        self.used + more > self.max
    }

    /// Returns whether `more` bytes do not fit even after `leaving` bytes are freed.
    pub fn refuses_beyond(&self, more: u64, leaving: u64) -> bool {
        self.used + more > self.max.saturating_add(leaving)
    }

    pub fn used(&self) -> u64 {
        self.used
    }

    /// Number of connections in a role.
    pub fn count(&self, role: Expendable) -> usize {
        self.queues[role as usize].len()
    }

    /// Returns the number of released connections that have not ended.
    pub fn orphans(&self) -> usize {
        self.count(Expendable::Idle) + self.count(Expendable::Orphan)
    }

    /// Records a change of held memory from `before` to `now` bytes, while `connections` share the free memory.
    pub fn charge(&mut self, before: u64, now: u64, connections: usize) {
        self.used = self.used - before + now;
        self.exceeded |= self.used > self.max;
        let free = self.max.saturating_sub(self.used);
        self.window_max = match free >= self.max / 2 {
            true => Bytes::MAX,
            false => {
                let share = free / (connections as u64).max(1);
                // A share below a segment would close every window although memory is free.
                Bytes::try_from(share.max(WINDOW_LEAST.min(free / 16))).unwrap_or(Bytes::MAX)
            }
        };
    }

    /// Moves a connection between queues, according to its role `role` and its out-of-order data.
    pub fn assign(&mut self, index: u32, share: &mut Share, role: Option<Expendable>, out_of_order: bool) {
        if role != share.role {
            if let Some(before) = share.role {
                self.queues[before as usize].remove(&share.ticket);
            }
            if let Some(role) = role {
                self.tickets += 1;
                self.queues[role as usize].insert(self.tickets, index);
                share.ticket = self.tickets;
            }
            share.role = role;
        }
        match share.out_of_order {
            None if out_of_order => {
                self.tickets += 1;
                self.out_of_order.insert(self.tickets, index);
                share.out_of_order = Some(self.tickets);
            }
            Some(ticket) if !out_of_order => {
                self.out_of_order.remove(&ticket);
                share.out_of_order = None;
            }
            _ => {}
        }
    }

    /// Removes a connection.
    pub fn forget(&mut self, index: u32, mut share: Share, connections: usize) {
        self.assign(index, &mut share, None, false);
        self.charge(CONNECTION_BYTES + share.held as u64, 0, connections);
    }

    /// Returns the connection that has been in this role longest.
    pub fn oldest(&self, role: Expendable) -> Option<u32> {
        self.queues[role as usize].first_key_value().map(|(_, index)| *index)
    }

    /// Returns the connection that has had out-of-order data longest.
    pub fn oldest_out_of_order(&self) -> Option<u32> {
        self.out_of_order.first_key_value().map(|(_, index)| *index)
    }

    /// Notes that a limit outside the budget is exceeded.
    pub fn note_excess(&mut self) {
        self.exceeded = true;
    }

    /// Notes that every limit holds again, or nothing is left to evict.
    pub fn settle(&mut self) {
        self.exceeded = false;
    }
}

/// What a stack holds on behalf of its peers, compared with the limits of its [`crate::config::GuardConfig`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardedUsage {
    /// Memory that counts against the budget, in bytes.
    pub memory: u64,
    /// The largest window offered now, in bytes; `u32::MAX` while memory is not scarce.
    pub window_max: u32,
    /// Handshakes under way.
    pub embryonic: usize,
    /// Connections in TIME-WAIT that the application has released.
    pub time_wait: usize,
    /// Orphans.
    pub orphans: usize,
    /// Replies that wait for the device.
    pub replies: usize,
    /// Entries of the deadline heap.
    pub deadlines: usize,
}

/// What guards have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardCounters {
    /// Connections whose TIME-WAIT ended early.
    pub time_wait_evicted: u64,
    /// Handshakes that were dropped.
    pub embryonic_evicted: u64,
    /// Orphans that were reset: there were too many, their memory was needed, or their time expired.
    pub orphans_reset: u64,
    /// Blocks of out-of-order data that were discarded.
    pub out_of_order_discarded: u64,
    /// Segments with data, and attempts to connect, that were dropped because the budget was exhausted.
    pub refused_for_memory: u64,
    /// Replies that were dropped because too many waited for the device.
    pub replies_dropped: u64,
    /// Resets withheld by the rate limit.
    pub resets_withheld: u64,
}

impl AddAssign for GuardedUsage {
    /// The window is the smallest of both.
    fn add_assign(&mut self, other: Self) {
        self.memory += other.memory;
        self.window_max = self.window_max.min(other.window_max);
        self.embryonic += other.embryonic;
        self.time_wait += other.time_wait;
        self.orphans += other.orphans;
        self.replies += other.replies;
        self.deadlines += other.deadlines;
    }
}

impl AddAssign for GuardCounters {
    fn add_assign(&mut self, other: Self) {
        self.time_wait_evicted += other.time_wait_evicted;
        self.embryonic_evicted += other.embryonic_evicted;
        self.orphans_reset += other.orphans_reset;
        self.out_of_order_discarded += other.out_of_order_discarded;
        self.refused_for_memory += other.refused_for_memory;
        self.replies_dropped += other.replies_dropped;
        self.resets_withheld += other.resets_withheld;
    }
}
