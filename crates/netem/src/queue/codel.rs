//! Controlled delay: keeps the standing queue at a target by signals whose rate grows with the square root of their number
//! (RFC 8289).
//!
//! The controller decides when a packet leaves, on the time it has waited. It starts to signal when every packet of an interval
//! has waited longer than the target: a burst that drains within an interval is what a queue is for. Deviation: where the RFC
//! divides by a square root in floating point, the integer square root of `interval² / count` stands, in nanoseconds.

use crate::hop::{DropCause, Packet};
use crate::queue::droptail::Buffer;
use crate::queue::seam::{Decided, FULL_PACKET, Fifo, Queue, Signal, has_room};
use base::{Duration, Instant, Rng};

/// Parameters of CoDel (RFC 8289 §4.2, §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time within which a burst may drain; about a round trip.
    pub interval: Duration,
    /// How ECN-capable flows learn of congestion.
    pub signal: Signal,
}

impl Default for Codel {
    /// 5 ms and 100 ms, by drops.
    fn default() -> Self {
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100), signal: Signal::Drop }
    }
}

/// Intervals since the last signal within which a new dropping state goes on from the signal rate of the one before.
const RECENT: u32 = 16;

/// The controller of one queue.
#[derive(Debug)]
pub(crate) struct Control {
    spec: Codel,
    /// When every packet will have waited too long for an interval; `None` while one has not.
    first_above: Option<Instant>,
    dropping: bool,
    /// Signals since the dropping state began, and that number when it began.
    count: u32,
    last_count: u32,
    /// Time of the next signal in the dropping state.
    drop_next: Instant,
}

impl Control {
    pub(crate) fn new(spec: Codel) -> Self {
        Self { spec, first_above: None, dropping: false, count: 0, last_count: 0, drop_next: Instant::ZERO }
    }

    /// Counts signals given by another hand: packets dropped because there was no room.
    pub(crate) fn add(&mut self, signals: u32) {
        self.count = self.count.saturating_add(signals);
    }

    /// Returns the next packet to send; `pop` removes a head and returns the time it has waited, and the bytes left behind it.
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        now: Instant,
        decided: &mut Decided<P>,
        mut pop: impl FnMut() -> Option<(Duration, P, u64)>,
    ) -> Option<P> {
        let Some((mut packet, mut above)) = self.next(now, &mut pop) else {
            self.dropping = false;
            return None;
        };
        if !self.dropping {
            return if above { self.begin(now, packet, decided, pop) } else { Some(packet) };
        }
        if !above {
            self.dropping = false;
        }
        while self.dropping && now >= self.drop_next {
            self.add(1);
            if let Some(marked) = decided.signal(packet, self.spec.signal) {
                self.drop_next += self.spacing();
                return Some(marked);
            }
            let Some(next) = self.next(now, &mut pop) else {
                self.dropping = false;
                return None;
            };
            (packet, above) = next;
            if above {
                self.drop_next += self.spacing();
            } else {
                self.dropping = false;
            }
        }
        Some(packet)
    }

    /// Enters the dropping state with a signal; returns the packet to send.
    fn begin<P: Packet>(
        &mut self,
        now: Instant,
        packet: P,
        decided: &mut Decided<P>,
        mut pop: impl FnMut() -> Option<(Duration, P, u64)>,
    ) -> Option<P> {
        let marked = decided.signal(packet, self.spec.signal);
        let packet = marked.or_else(|| self.next(now, &mut pop).map(|(next, _)| next));
        self.dropping = true;
        // A queue that stands again soon goes on at the rate that controlled it last (RFC 8289 §5.5).
        let signals = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < self.spec.interval * RECENT;
        self.count = if signals > 1 && recent { signals } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.spacing();
        packet
    }

    /// Removes a head; returns it, and whether packets have waited too long for an interval.
    fn next<P>(&mut self, now: Instant, pop: &mut impl FnMut() -> Option<(Duration, P, u64)>) -> Option<(P, bool)> {
        let Some((waited, packet, left)) = pop() else {
            self.first_above = None;
            return None;
        };
        // With a full packet or less behind it, a drop would leave the link idle (RFC 8289 §4.1).
        if waited < self.spec.target || left <= FULL_PACKET {
            self.first_above = None;
            return Some((packet, false));
        }
        let above = match self.first_above {
            Some(at) => now > at,
            None => {
                self.first_above = Some(now + self.spec.interval);
                false
            }
        };
        Some((packet, above))
    }

    /// The control law: an interval divided by the square root of the signals.
    fn spacing(&self) -> Duration {
        let interval = u128::from(self.spec.interval.as_nanos());
        Duration::from_nanos((interval * interval / u128::from(self.count.max(1))).isqrt() as u64)
    }
}

/// One queue under one controller.
#[derive(Debug)]
pub(crate) struct CodelQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    room: Buffer,
}

impl<P: Packet> CodelQueue<P> {
    pub(crate) fn new(spec: Codel, room: Buffer) -> Self {
        Self { fifo: Fifo::new(), control: Control::new(spec), room }
    }
}

impl<P: Packet + Send> Queue<P> for CodelQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P, _rng: &mut Rng, decided: &mut Decided<P>) {
        if has_room(self.room, self.fifo.len(), self.fifo.bytes(), &packet) {
            self.fifo.push(now, packet);
        } else {
            decided.drop(packet, DropCause::Tail);
        }
    }

    fn dequeue(&mut self, now: Instant, _rng: &mut Rng, decided: &mut Decided<P>) -> Option<P> {
        let fifo = &mut self.fifo;
        self.control.dequeue(now, decided, || fifo.pop(now).map(|(waited, packet)| (waited, packet, fifo.bytes())))
    }

    fn packets(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests;
