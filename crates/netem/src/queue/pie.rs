//! Proportional integral controller, enhanced: drops or marks at random on arrival, with a probability that a controller of the
//! queueing delay sets (RFC 8033).
//!
//! The delay is measured, not estimated from a departure rate: it is the time that the last packet to leave has waited, and zero
//! once the queue is empty (RFC 8033 §4.3). Updates fall on multiples of the period and are caught up with before the next
//! arrival or departure, which changes nothing: between the two, no packet moves. The probability is an integer in units of
//! 2⁻⁵⁶.

use crate::hop::{DropCause, Packet};
use crate::queue::droptail::Buffer;
use crate::queue::seam::{Decided, FULL_PACKET, Fifo, Queue, Signal, has_room};
use base::{Duration, Instant, Rng};

/// Parameters of PIE (RFC 8033 §4, §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    /// Delay that the controller aims at.
    pub target: Duration,
    /// Time between two updates of the probability.
    pub update: Duration,
    /// Time for which a queue that was idle drops nothing.
    pub burst: Duration,
    /// How ECN-capable flows learn of congestion while the probability is at most 10 %.
    pub signal: Signal,
}

impl Default for Pie {
    /// 15 ms, 15 ms and 150 ms (RFC 8033 §4.2, §4.4), by drops.
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { target: ms(15), update: ms(15), burst: ms(150), signal: Signal::Drop }
    }
}

/// Probability of one.
const ONE: u64 = 1 << 56;
/// Gains for the distance from the target and for the change of the delay, in sixteenths per second: 0.125 and 1.25.
const ALPHA: i128 = 2;
const BETA: i128 = 20;
const SIXTEENTHS: i128 = 16;
const NANOS: i128 = 1_000_000_000;
/// The smaller the probability, the gentler its steps: below so many millionths, they are divided by this (RFC 8033 §4.2).
const STEPS: [(u128, i128); 6] = [(1, 2_048), (10, 512), (100, 128), (1_000, 32), (10_000, 8), (100_000, 2)];
/// Largest step once the probability is 10 % (RFC 8033 §5.5), and the addition while the delay is above 250 ms: 2 %.
const TWO_PERCENT: i128 = ONE as i128 / 50;
const TENTH: u64 = ONE / 10;
const VERY_LATE: Duration = Duration::from_millis(250);
/// Sum of probabilities below which no packet is dropped, and from which one is (RFC 8033 §5.4): 0.85 and 8.5.
const SUM_LEAST: u64 = ONE / 100 * 85;
const SUM_MOST: u64 = ONE / 10 * 85;

/// The controller of the probability.
#[derive(Debug)]
pub(crate) struct Control {
    spec: Pie,
    probability: u64,
    /// Delay at the last update.
    delay: Duration,
    /// Time that is left of the burst allowance.
    allowance: Duration,
    /// Sum of the probabilities since the last drop.
    sum: u64,
}

impl Control {
    fn new(spec: Pie) -> Self {
        Self { spec, probability: 0, delay: Duration::ZERO, allowance: spec.burst, sum: 0 }
    }

    /// Computes the probability from the delay and the one at the update before (RFC 8033 §4.2, §4.4).
    fn update(&mut self, delay: Duration) {
        let old = core::mem::replace(&mut self.delay, delay);
        let [now, before, target] = [delay, old, self.spec.target].map(|span| i128::from(span.as_nanos()));
        let scaled = ALPHA * (now - target) + BETA * (now - before);
        let millionths = u128::from(self.probability) * 1_000_000;
        let divisor = STEPS.iter().find(|(below, _)| millionths < u128::from(ONE) * below);
        let divisor = divisor.map_or(1, |(_, divisor)| *divisor);
        let mut step = scaled * i128::from(ONE) / (SIXTEENTHS * NANOS * divisor);
        if self.probability >= TENTH {
            step = step.min(TWO_PERCENT);
        }
        if delay > VERY_LATE {
            step += TWO_PERCENT;
        }
        self.probability = (i128::from(self.probability) + step).clamp(0, i128::from(ONE)) as u64;
        if delay.is_zero() && old.is_zero() {
            self.probability -= self.probability / 64;
        }
        self.allowance = self.allowance.saturating_sub(self.spec.update);
        let half = self.spec.target / 2;
        if delay < half && old < half && self.probability == 0 {
            (self.allowance, self.sum) = (self.spec.burst, 0);
        }
    }

    /// Whether an update without delay would change nothing.
    fn is_at_rest(&self) -> bool {
        self.probability == 0 && self.delay.is_zero() && self.allowance == self.spec.burst && self.sum == 0
    }

    /// Whether an arriving packet is chosen, by one draw: `backlog` bytes wait (RFC 8033 §4.1, §5.4).
    fn chooses(&mut self, backlog: u64, rng: &mut Rng) -> bool {
        // Drawn for every packet, so that decisions stay with their packets whatever happened before.
        let by_chance = rng.below(ONE) < self.probability;
        let is_calm = self.delay < self.spec.target / 2 && self.probability < ONE / 5;
        if !self.allowance.is_zero() || is_calm || backlog < 2 * FULL_PACKET {
            return false;
        }
        // Without the sum, drops would come in clusters.
        self.sum = if self.probability == 0 { 0 } else { self.sum.saturating_add(self.probability) };
        let chosen = self.sum >= SUM_LEAST && (self.sum >= SUM_MOST || by_chance);
        if chosen {
            self.sum = 0;
        }
        chosen
    }

    /// How an ECN-capable flow learns of congestion: marks alone no longer help at a high probability (RFC 8033 §5.1).
    fn signal(&self) -> Signal {
        if self.probability <= TENTH { self.spec.signal } else { Signal::Drop }
    }
}

/// One queue under one controller.
#[derive(Debug)]
pub(crate) struct PieQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    room: Buffer,
    /// Time that the last packet to leave has waited; zero once none is left.
    delay: Duration,
    next_update: Instant,
}

impl<P: Packet> PieQueue<P> {
    /// # Panics
    /// If the time between updates is zero.
    pub(crate) fn new(spec: Pie, room: Buffer) -> Self {
        assert!(!spec.update.is_zero(), "updates without time between them never end");
        let next_update = Instant::ZERO + spec.update;
        Self { fifo: Fifo::new(), control: Control::new(spec), room, delay: Duration::ZERO, next_update }
    }

    /// Catches up with the updates that are due.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.delay.is_zero() && self.control.is_at_rest() {
                // All updates up to now would change nothing: an idle hour costs no loop.
                let periods = now.since(self.next_update).as_nanos() / self.control.spec.update.as_nanos() + 1;
                let span = self.control.spec.update.as_nanos().saturating_mul(periods);
                self.next_update += Duration::from_nanos(span);
                return;
            }
            self.control.update(self.delay);
            self.next_update += self.control.spec.update;
        }
    }
}

impl<P: Packet + Send> Queue<P> for PieQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P, rng: &mut Rng, decided: &mut Decided<P>) {
        self.advance(now);
        let chosen = self.control.chooses(self.fifo.bytes(), rng);
        if !has_room(self.room, self.fifo.len(), self.fifo.bytes(), &packet) {
            return decided.drop(packet, DropCause::Tail);
        }
        let admitted = if chosen { decided.signal(packet, self.control.signal()) } else { Some(packet) };
        if let Some(packet) = admitted {
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _rng: &mut Rng, _decided: &mut Decided<P>) -> Option<P> {
        self.advance(now);
        let (waited, packet) = self.fifo.pop(now)?;
        self.delay = if self.fifo.len() == 0 { Duration::ZERO } else { waited };
        Some(packet)
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
