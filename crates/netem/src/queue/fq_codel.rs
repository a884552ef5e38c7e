//! A queue for each flow, served in turn by bytes, each under its own CoDel (RFC 8290).
//!
//! Flows that have just become active go first, so a flow that sends less than its share never waits behind those that fill the
//! link. The hash spreads flows over a fixed number of queues with a number drawn for the run. Two deviations from usual
//! implementations: bytes are those of IP packets, without a link layer, in the quantum as elsewhere; and CoDel's check for the
//! last full packet looks at the flow's own queue (RFC 8290 §4.2), not at all of them.

use crate::hop::{DropCause, Packet};
use crate::queue::codel::{Codel, Control};
use crate::queue::droptail::Buffer;
use crate::queue::seam::{Decided, FULL_PACKET, Fifo, Queue, Signal};
use base::{Instant, Rng};
use std::collections::VecDeque;

/// Parameters of FQ-CoDel (RFC 8290 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodel {
    /// Those of each queue's controller.
    pub codel: Codel,
    /// Bytes of IP packets that a flow may send in its turn.
    pub quantum: u32,
    /// Number of queues that flows are hashed to.
    pub flows: u32,
}

impl Default for FqCodel {
    /// A quantum of one full packet, 1,024 queues, and marks for ECN-capable flows.
    fn default() -> Self {
        let codel = Codel { signal: Signal::Mark, ..Codel::default() };
        Self { codel, quantum: FULL_PACKET as u32, flows: 1_024 }
    }
}

/// Most packets that are dropped at once to make room: a flood costs a search among the queues for each so many packets.
const BATCH: u32 = 64;

/// Where a queue stands in the order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Nowhere: it has been empty for a full round.
    Idle,
    /// Among the new or the old ones.
    Listed,
}

#[derive(Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that it may still send before others get their turn.
    deficit: i64,
    turn: Turn,
}

/// Queues by flow.
#[derive(Debug)]
pub(crate) struct FqCodelQueue<P> {
    flows: Vec<Flow<P>>,
    /// Queues that became active since their last turn, and the others that are active, in the order of service.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    room: Buffer,
    key: u64,
    packets: usize,
    bytes: u64,
}

impl<P: Packet> FqCodelQueue<P> {
    /// `key` is the number that the hash is mixed with.
    ///
    /// # Panics
    /// If the quantum or the number of queues is zero.
    pub(crate) fn new(spec: FqCodel, room: Buffer, key: u64) -> Self {
        assert!(spec.quantum > 0 && spec.flows > 0, "a turn without bytes, or no queue at all, serves no flow");
        let control = || Control::new(spec.codel);
        let flow = || Flow { fifo: Fifo::new(), control: control(), deficit: 0, turn: Turn::Idle };
        Self {
            flows: (0..spec.flows).map(|_| flow()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: i64::from(spec.quantum),
            room,
            key,
            packets: 0,
            bytes: 0,
        }
    }

    fn index_of(&self, packet: &P) -> usize {
        let mut hash = packet.flow() ^ self.key;
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            hash = (hash ^ hash >> 33).wrapping_mul(factor);
        }
        // Multiply and shift: the upper bits choose, as evenly as they are mixed.
        ((u128::from(hash ^ hash >> 33) * self.flows.len() as u128) >> 64) as usize
    }

    fn is_too_full(&self) -> bool {
        match self.room {
            Buffer::Bytes(limit) => self.bytes > limit,
            Buffer::Packets(limit) => self.packets > limit as usize,
            Buffer::Unlimited => false,
        }
    }

    /// Drops packets at the head of the fattest queue, up to half its bytes (RFC 8290 §4.1): a flow that fills the buffer pays
    /// for it, and learns of it a queue's length earlier than by drops at the tail.
    fn make_room(&mut self, now: Instant, decided: &mut Decided<P>) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.fifo.bytes());
        let flow = fattest.expect("there is a queue");
        let (target, mut dropped) = (flow.fifo.bytes().div_ceil(2), 0);
        let before = flow.fifo.bytes();
        while dropped < BATCH && before - flow.fifo.bytes() < target {
            let Some((_, packet)) = flow.fifo.pop(now) else { break };
            dropped += 1;
            decided.drop(packet, DropCause::Tail);
        }
        flow.control.add(dropped);
        self.packets -= dropped as usize;
        self.bytes -= before - flow.fifo.bytes();
    }
}

impl<P: Packet + Send> Queue<P> for FqCodelQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P, _rng: &mut Rng, decided: &mut Decided<P>) {
        let index = self.index_of(&packet);
        self.packets += 1;
        self.bytes += u64::from(packet.wire_len());
        let flow = &mut self.flows[index];
        flow.fifo.push(now, packet);
        if flow.turn == Turn::Idle {
            (flow.turn, flow.deficit) = (Turn::Listed, self.quantum);
            self.new.push_back(index);
        }
        while self.is_too_full() {
            self.make_room(now, decided);
        }
    }

    fn dequeue(&mut self, now: Instant, _rng: &mut Rng, decided: &mut Decided<P>) -> Option<P> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let Flow { fifo, control, deficit, turn } = &mut self.flows[index];
            if *deficit <= 0 {
                *deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (&mut self.packets, &mut self.bytes);
            let sent = control.dequeue(now, decided, || {
                let (waited, packet) = fifo.pop(now)?;
                *packets -= 1;
                *bytes -= u64::from(packet.wire_len());
                Some((waited, packet, fifo.bytes()))
            });
            if let Some(packet) = sent {
                *deficit -= i64::from(packet.wire_len());
                return Some(packet);
            }
            list.pop_front();
            // A queue that runs dry among the new ones takes a turn among the old ones before it counts as new again, or it
            // could keep them waiting (RFC 8290 §4.2).
            if is_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                *turn = Turn::Idle;
            }
        }
    }

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
