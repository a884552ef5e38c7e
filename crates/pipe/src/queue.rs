//! The state that both ends of a pipe share: two bounded queues, the pool of buffers, and who waits for what.

use crate::outlet::Straight;
use crate::packet::{Batch, Buffers, Packet};
use std::collections::VecDeque;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

/// Limits of a queue. It is full when either is reached; one packet always fits into an empty queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most packets.
    pub packets: usize,
    /// Most bytes of all packets together.
    pub bytes: usize,
}

impl Default for Bounds {
    /// 512 packets and a mebibyte: 700 packets of 1,500 bytes, or 16 super-segments.
    fn default() -> Self {
        Self { packets: 512, bytes: 1 << 20 }
    }
}

/// What went through a pipe, and what did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipeCounters {
    /// Packets that the tunnel sent to the stack.
    pub inbound: u64,
    /// Packets that the stack sent to the tunnel.
    pub outbound: u64,
    /// Times that the tunnel found the inbound queue full.
    pub inbound_full: u64,
    /// Times that the stack found the outbound queue full.
    pub outbound_full: u64,
    /// Packets from the tunnel that are not IP packets, or disagree with their own lengths: dropped.
    pub malformed: u64,
    /// Packets that were handed up because they are not TCP's.
    pub others: u64,
    /// Packets among the inbound ones that came to another shard's tunnel and were handed over.
    pub handed_over: u64,
    /// Packets that were to be handed up and were dropped because too many waited.
    pub others_dropped: u64,
}

impl AddAssign for PipeCounters {
    fn add_assign(&mut self, other: Self) {
        self.inbound += other.inbound;
        self.outbound += other.outbound;
        self.inbound_full += other.inbound_full;
        self.outbound_full += other.outbound_full;
        self.malformed += other.malformed;
        self.others += other.others;
        self.handed_over += other.handed_over;
        self.others_dropped += other.others_dropped;
    }
}

/// The stack is gone: its runner was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stack behind this pipe is gone")]
pub struct Closed;

/// What a queue can still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    packets: usize,
    bytes: usize,
    /// Nothing is in the queue.
    is_empty: bool,
}

impl Room {
    /// No limit: what is sent is dropped.
    pub const UNLIMITED: Self = Self { packets: usize::MAX, bytes: usize::MAX, is_empty: true };

    /// Returns whether a packet of `len` bytes fits beside `more` packets of `more_bytes`.
    pub fn has(&self, len: usize, more: usize, more_bytes: usize) -> bool {
        self.is_empty && more == 0 || more < self.packets && more_bytes.saturating_add(len) <= self.bytes
    }
}

/// Packets in one direction.
#[derive(Debug)]
pub(crate) struct Queue {
    packets: VecDeque<Packet>,
    bytes: usize,
    bounds: Bounds,
}

impl Queue {
    fn new(bounds: Bounds) -> Self {
        Self { packets: VecDeque::new(), bytes: 0, bounds }
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns the room that is left.
    pub fn room(&self) -> Room {
        let (packets, bytes) = (self.packets.len(), self.bytes);
        Room {
            packets: self.bounds.packets.saturating_sub(packets),
            bytes: self.bounds.bytes.saturating_sub(bytes),
            is_empty: packets == 0,
        }
    }

    pub fn push(&mut self, packet: Packet) {
        self.bytes += packet.bytes().len();
        self.packets.push_back(packet);
    }

    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.bytes().len();
        Some(packet)
    }
}

/// Buffers that wait for their next packet. They take no more memory than the queues may.
#[derive(Debug)]
pub(crate) struct Pool {
    empty: Buffers,
    bytes: usize,
    bytes_max: usize,
}

impl Pool {
    /// Returns an empty packet for `len` bytes, if there is one.
    pub fn take(&mut self, len: usize) -> Option<Packet> {
        let packet = self.empty.take(len)?;
        self.bytes -= packet.capacity();
        Some(packet)
    }

    pub fn put_back(&mut self, packet: Packet) {
        if self.bytes + packet.capacity() <= self.bytes_max {
            self.bytes += packet.capacity();
            self.empty.put(packet);
        }
    }
}

/// Everything both ends share.
#[derive(Debug)]
pub(crate) struct State {
    pub inbound: Queue,
    pub outbound: Queue,
    pub pool: Pool,
    pub counters: PipeCounters,
    /// Waits for room in the inbound queue.
    pub sender: Option<Waker>,
    /// Wait for the same, as tunnels of other shards.
    guests: Vec<Waker>,
    /// Waits for a packet in the outbound queue.
    pub receiver: Option<Waker>,
    /// Waits for a packet in the inbound queue, or for room in the outbound one if `runner_wants_room`.
    pub runner: Option<Waker>,
    pub runner_wants_room: bool,
    pub straight: Straight,
    /// The tunnel reads a device, in which packets may wait that have not reached the queue.
    pub reads_device: bool,
    /// Since the last run the device was read empty, and everything that came out of it is in the queue.
    pub device_is_empty: bool,
    /// The runner has to know whether the device is empty before it serves a timer.
    pub runner_asks: bool,
    /// Waits for that question.
    pub reader: Option<Waker>,
    pub tunnel_is_gone: bool,
    pub runner_is_gone: bool,
    /// To be woken after the present work: sender, receiver, runner, reader.
    due: [Option<Waker>; 4],
    /// To be woken beside them: the guests.
    due_guests: Vec<Waker>,
    /// Most calls wake no task.
    has_due: bool,
}

impl State {
    /// Wakes the tunnel's task that waits for room.
    pub fn wake_sender(&mut self) {
        if let Some(waker) = self.sender.take() {
            self.wake(0, waker);
        }
        if !self.guests.is_empty() {
            self.due_guests.append(&mut self.guests);
            self.has_due = true;
        }
    }

    /// Lets a task of another shard's tunnel wait for room.
    pub fn add_guest(&mut self, cx: &Context<'_>) {
        if !self.guests.iter().any(|guest| guest.will_wake(cx.waker())) {
            self.guests.push(cx.waker().clone());
        }
    }

    /// Wakes the tunnel's task that waits for a packet.
    pub fn wake_receiver(&mut self) {
        if let Some(waker) = self.receiver.take() {
            self.wake(1, waker);
        }
    }

    /// Wakes the task that runs the stack.
    pub fn wake_runner(&mut self) {
        if let Some(waker) = self.runner.take() {
            self.wake(2, waker);
        }
    }

    /// Wakes the tunnel's task that reads the device.
    pub fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            self.wake(3, waker);
        }
    }

    fn wake(&mut self, place: usize, waker: Waker) {
        self.due[place] = Some(waker);
        self.has_due = true;
    }

    /// Moves packets from the queue into `batch`, up to `max`; its earlier packets become empty buffers.
    pub fn fill(&mut self, batch: &mut Batch, max: usize, direction: Direction) -> usize {
        batch.clear();
        while let Some(empty) = batch.empty.pop() {
            self.pool.put_back(empty);
        }
        let queue = match direction {
            Direction::Inbound => &mut self.inbound,
            Direction::Outbound => &mut self.outbound,
        };
        while batch.packets.len() < max
            && let Some(packet) = queue.pop()
        {
            batch.packets.push(packet);
        }
        batch.packets.len()
    }
}

/// Which queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Inbound,
    Outbound,
}

/// A handle of the shared state.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub fn new(inbound: Bounds, outbound: Bounds) -> Self {
        let bytes_max = inbound.bytes + outbound.bytes;
        Self(Arc::new(Mutex::new(State {
            inbound: Queue::new(inbound),
            outbound: Queue::new(outbound),
            pool: Pool { empty: Buffers::default(), bytes: 0, bytes_max },
            counters: PipeCounters::default(),
            sender: None,
            guests: Vec::new(),
            receiver: None,
            runner: None,
            runner_wants_room: false,
            straight: Straight::default(),
            reads_device: false,
            device_is_empty: false,
            runner_asks: false,
            reader: None,
            tunnel_is_gone: false,
            runner_is_gone: false,
            due: [const { None }; 4],
            due_guests: Vec::new(),
            has_due: false,
        })))
    }

    /// Works on the state, then wakes whom the work has named: outside the lock, because a waker is the program's code.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        // No code panics between two changes of the state, so a poisoned lock still guards a whole one.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut state);
        if !std::mem::take(&mut state.has_due) {
            return result;
        }
        let (due, guests) = (std::mem::take(&mut state.due), std::mem::take(&mut state.due_guests));
        drop(state);
        due.into_iter().flatten().chain(guests).for_each(Waker::wake);
        result
    }
}
