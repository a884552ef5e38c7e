//! A one-way path: hops in a row, each with a separate random stream.
//!
//! A packet passes all hops in the one call that offers it, since hops know its exit time on entry; it then waits for its
//! arrival: one event per packet. Two kinds of hops need more. After a hop that reorders, packets wait in a *door* and enter the
//! next hop in the order of their times. A hop that returns `Queued` is served at its deadlines, and always before a later
//! packet is offered to it; it may hand a packet on ahead of the caller's clock, too. If a departure and an arrival coincide,
//! the departure comes first.
//!
//! Time must not decrease between calls. Hops are offered times ahead of the caller's clock; each sees its own arrivals in order,
//! and may rely on nothing more.

use crate::hop::{DropCause, Hop, HopKind, Left, Moved, Offer, Packet, Peak};
use crate::meter::Metered;
use crate::queue::timed::TimedQueue;
use base::{Instant, Rng};

/// Hops in a row, from entry to arrival.
#[derive(Debug)]
pub struct Path<P: Packet> {
    stages: Vec<Stage<P>>,
    arrivals: TimedQueue<P>,
    /// Not later than the next event inside: a packet in a door, or a hop's deadline. The end of time if there is none.
    next_event: Instant,
    /// The latest time any caller passed.
    clock: Instant,
    stats: PathStats,
    /// How the last packet offered was reordered.
    moved: Option<(HopKind, Moved)>,
}

/// One hop and the path's state for it.
#[derive(Debug)]
struct Stage<P: Packet> {
    hop: Box<dyn Hop<P>>,
    rng: Rng,
    kind: HopKind,
    /// Packets on their way to this hop; only after one that reorders.
    door: Option<TimedQueue<P>>,
    /// The hop's own deadline, or the end of time.
    deadline: Instant,
}

/// Statistics of a path so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// Packets offered by the caller.
    pub offered: u64,
    /// Bytes offered by the caller.
    pub offered_bytes: u64,
    /// Packets that left at the other end, copies included.
    pub delivered: u64,
    /// Bytes that left at the other end, copies included.
    pub delivered_bytes: u64,
    /// Copies made on the way.
    pub duplicated: u64,
    /// Packets that were dropped on the way.
    pub dropped: Drops,
    /// Congestion-experienced marks that hops set (RFC 3168 §5).
    pub marked: u64,
    /// The peak number of bytes in any one hop's queue, the packet in service counted whole.
    pub max_backlog_bytes: u64,
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// A full queue.
    pub tail: u64,
    /// Random or scripted loss.
    pub loss: u64,
    /// An active queue manager.
    pub aqm: u64,
    /// A policer.
    pub policed: u64,
    /// A newer ACK that took their place: nothing was lost.
    pub thinned: u64,
    /// They were too large to forward.
    pub too_big: u64,
}

impl Drops {
    /// Returns the packets dropped for any cause that loses something.
    pub const fn total(self) -> u64 {
        self.tail + self.loss + self.aqm + self.policed + self.too_big
    }

    /// Returns those of two paths together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tail: self.tail + other.tail,
            loss: self.loss + other.loss,
            aqm: self.aqm + other.aqm,
            policed: self.policed + other.policed,
            thinned: self.thinned + other.thinned,
            too_big: self.too_big + other.too_big,
        }
    }

    fn count(&mut self, cause: DropCause) {
        match cause {
            DropCause::Tail => self.tail += 1,
            DropCause::Loss => self.loss += 1,
            DropCause::Aqm => self.aqm += 1,
            DropCause::Policed => self.policed += 1,
            DropCause::Thinned => self.thinned += 1,
            DropCause::TooBig { .. } => self.too_big += 1,
        }
    }
}

impl<P: Packet + 'static> Path<P> {
    /// Keeps account of how much of each flow the bottleneck holds ([`Self::peaks`]); `flow_of` tells the flows apart. Call it before
    /// anything is offered.
    pub fn meter(&mut self, flow_of: fn(&P) -> usize) {
        let stages = core::mem::take(&mut self.stages).into_iter();
        let metered = stages.map(|stage| match stage.kind {
            HopKind::Rate => Stage { hop: Box::new(Metered::new(stage.hop, flow_of)), ..stage },
            _ => stage,
        });
        self.stages = metered.collect();
    }
}

impl<P: Packet> Path<P> {
    /// Creates a path through `hops` in this order.
    ///
    /// Each hop draws from the fork of `rng` named after its kind (`loss`; that of a second one is `loss#2`), so that adding or
    /// removing a hop does not change the decisions of the others.
    pub fn new(hops: Vec<Box<dyn Hop<P>>>, rng: &Rng) -> Self {
        let mut stages: Vec<Stage<P>> = Vec::with_capacity(hops.len());
        for hop in hops {
            let kind = hop.kind();
            let rng = match stages.iter().filter(|stage| stage.kind == kind).count() {
                0 => rng.fork(kind.stream()),
                earlier => rng.fork(&format!("{}#{}", kind.stream(), earlier + 1)),
            };
            let behind_reordering = stages.last().is_some_and(|stage| stage.hop.reorders());
            let door = behind_reordering.then(TimedQueue::new);
            stages.push(Stage { hop, rng, kind, door, deadline: Instant::MAX });
        }
        Self {
            stages,
            arrivals: TimedQueue::new(),
            next_event: Instant::MAX,
            clock: Instant::ZERO,
            stats: PathStats::default(),
            moved: None,
        }
    }

    /// Moves the beginning of what the path replays, the trace of a rate, from the start of time to `at`: a machine's clock does not
    /// begin with the run. Call it before anything is offered.
    pub fn begin(&mut self, at: Instant) {
        self.stages.iter_mut().for_each(|stage| stage.hop.begin(at));
    }

    /// Starts while packets of `old` still wait: a hop of this path with one of its kind there continues behind its waiting
    /// packets, at its own pace. Call it before anything is offered to this path, and after the last packet was offered to the
    /// other.
    pub fn take_over(&mut self, old: &mut Self) {
        for stage in &mut self.stages {
            if let Some(other) = old.stages.iter_mut().find(|other| other.kind == stage.kind) {
                stage.hop.take_over(&other.hop.hand_over());
            }
        }
    }

    /// Offers a packet at `now`, not earlier than any time this path received before.
    ///
    /// `dropped` gets every packet that is found to be lost during the call, with the kind of the hop and the cause, so that its
    /// storage can be reused and the drop traced.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: P, dropped: &mut impl FnMut(P, HopKind, DropCause)) {
        self.set_clock(now);
        self.moved = None;
        self.stats.offered += 1;
        self.stats.offered_bytes += u64::from(packet.wire_len());
        self.enter(0, now, packet, dropped);
    }

    /// Returns which hop reordered the last packet offered, if one did so at once.
    pub fn moved(&self) -> Option<(HopKind, Moved)> {
        self.moved
    }

    /// Returns when to call `poll` next: the next arrival or an event inside. Constant time.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        let next = self.arrivals.next_at().min(self.next_event);
        (next != Instant::MAX).then_some(next)
    }

    /// Returns the next packet that has arrived by `now`, with its arrival time; call until `None`.
    ///
    /// Packets come out by time, and on equal times in the order in which they left their last hop.
    #[inline]
    pub fn poll(&mut self, now: Instant, dropped: &mut impl FnMut(P, HopKind, DropCause)) -> Option<(Instant, P)> {
        self.set_clock(now);
        if self.next_event <= now {
            self.serve_events(now, dropped);
        }
        let arrival = self.arrivals.pop_due(now)?;
        self.stats.delivered += 1;
        self.stats.delivered_bytes += u64::from(arrival.1.wire_len());
        Some(arrival)
    }

    /// Returns the number of packets inside, wherever they wait.
    pub fn in_flight(&self) -> usize {
        let gone = self.stats.delivered + self.stats.dropped.total() + self.stats.dropped.thinned;
        (self.stats.offered + self.stats.duplicated - gone) as usize
    }

    /// Returns the bytes queued in the hops at `now`, packets in service counted whole; propagating packets are not queued.
    pub fn backlog(&self, now: Instant) -> u64 {
        self.stages.iter().map(|stage| stage.hop.backlog(now)).sum()
    }

    /// Returns each moment at which a flow had more bytes in the bottleneck than before, in order; none unless it is metered.
    pub fn peaks(&self, flow: usize) -> &[Peak] {
        self.stages.iter().map(|stage| stage.hop.peaks(flow)).find(|peaks| !peaks.is_empty()).unwrap_or_default()
    }

    /// What went through so far.
    pub fn stats(&self) -> PathStats {
        let max_backlog_bytes = self.stages.iter().map(|stage| stage.hop.max_backlog()).max().unwrap_or(0);
        let marked = self.stages.iter().map(|stage| stage.hop.marks()).sum();
        PathStats { max_backlog_bytes, marked, ..self.stats }
    }

    fn set_clock(&mut self, now: Instant) {
        assert!(now >= self.clock, "time runs backwards on a path");
        self.clock = now;
    }

    /// Moves a packet from the stage at `index` on until it waits somewhere or is dropped.
    #[inline]
    fn enter<F>(&mut self, mut index: usize, mut at: Instant, mut packet: P, dropped: &mut F)
    where
        F: FnMut(P, HopKind, DropCause),
    {
        while let Some(stage) = self.stages.get_mut(index) {
            if let Some(door) = &mut stage.door {
                door.push(at, packet);
                self.next_event = self.next_event.min(at);
                return;
            }
            match self.through(index, at, packet, dropped) {
                Some(left) => (at, packet) = left,
                None => return,
            }
            index += 1;
        }
        self.arrivals.push(at, packet);
    }

    /// Offers a packet to one hop; returns it if it leaves at once.
    #[inline]
    fn through<F>(&mut self, index: usize, at: Instant, packet: P, dropped: &mut F) -> Option<(Instant, P)>
    where
        F: FnMut(P, HopKind, DropCause),
    {
        while self.stages[index].deadline <= at {
            self.serve_deadline(index, dropped);
        }
        let stage = &mut self.stages[index];
        match stage.hop.offer(at, packet, &mut stage.rng) {
            Offer::Forwards(exit, packet) => Some((exit, packet)),
            Offer::Moves(exit, packet, moved) => {
                self.moved = Some((stage.kind, moved));
                Some((exit, packet))
            }
            Offer::Dropped(packet, cause) => {
                self.stats.dropped.count(cause);
                dropped(packet, stage.kind, cause);
                None
            }
            Offer::Queued => {
                // A queue may have dropped a packet to make room, this one or another.
                self.collect(index, at, dropped);
                None
            }
            Offer::Both(exit, packet, copy_exit, copy) => {
                self.stats.duplicated += 1;
                self.enter(index + 1, exit, packet, dropped);
                Some((copy_exit, copy))
            }
        }
    }

    /// Moves on everything that a hop releases at its deadline.
    #[cold]
    fn serve_deadline<F>(&mut self, index: usize, dropped: &mut F)
    where
        F: FnMut(P, HopKind, DropCause),
    {
        let at = self.stages[index].deadline;
        self.collect(index, at, dropped);
        assert!(self.stages[index].deadline > at, "hop {:?} is not done with its deadline", self.stages[index].kind);
    }

    /// Moves on or drops every packet whose fate a hop has decided by `at`, and learns its next deadline.
    fn collect<F>(&mut self, index: usize, at: Instant, dropped: &mut F)
    where
        F: FnMut(P, HopKind, DropCause),
    {
        while let Some(left) = self.stages[index].poll(at) {
            match left {
                Left::Leaves(exit, packet) => self.enter(index + 1, exit, packet, dropped),
                Left::Dropped(packet, cause) => {
                    self.stats.dropped.count(cause);
                    dropped(packet, self.stages[index].kind, cause);
                }
            }
        }
        let stage = &mut self.stages[index];
        stage.deadline = stage.hop.next_deadline().unwrap_or(Instant::MAX);
        self.next_event = self.next_event.min(stage.deadline);
    }

    /// Serves the events inside up to `now`, in order of time. Between hops the order of equal times has no effect: a hop is
    /// brought up to date before anything is offered to it.
    #[cold]
    fn serve_events<F>(&mut self, now: Instant, dropped: &mut F)
    where
        F: FnMut(P, HopKind, DropCause),
    {
        loop {
            let events = self.stages.iter().map(Stage::next_event).enumerate();
            let Some((index, at)) = events.min_by_key(|(_, at)| *at) else { return };
            self.next_event = at;
            if at > now || at == Instant::MAX {
                return;
            }
            if self.stages[index].deadline == at {
                self.serve_deadline(index, dropped);
            } else if let Some((at, packet)) = self.stages[index].door.as_mut().and_then(|door| door.pop_due(at))
                && let Some((exit, packet)) = self.through(index, at, packet, dropped)
            {
                self.enter(index + 1, exit, packet, dropped);
            }
        }
    }
}

impl<P: Packet> Stage<P> {
    fn poll(&mut self, now: Instant) -> Option<Left<P>> {
        self.hop.poll(now, &mut self.rng)
    }

    fn next_event(&self) -> Instant {
        self.door.as_ref().map_or(Instant::MAX, TimedQueue::next_at).min(self.deadline)
    }
}

#[cfg(test)]
mod tests;
