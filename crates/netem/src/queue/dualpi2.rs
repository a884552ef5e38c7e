//! Two coupled queues: one for scalable congestion control, with marks from a millisecond of delay on, and one for all other
//! traffic under a PI controller, whose probability is squared for the one and coupled into the other, so that both kinds of flow
//! get about equal rates (RFC 9332).
//!
//! ECT(1) and CE go to the low-latency queue (RFC 9331 §5.1). The choice to drop or mark falls on departure, as in RFC 9332
//! appendix A. Updates fall on multiples of the period and are caught up with before the next arrival or departure.
//! Probabilities are integers in units of 2⁻⁵⁶.

use crate::hop::{DropCause, Packet};
use crate::ip::Ecn;
use crate::queue::droptail::Buffer;
use crate::queue::seam::{Decided, FULL_PACKET, Fifo, Queue, Signal, has_room};
use base::{Duration, Instant, Rng};

/// Parameters of DualPI2 (RFC 9332 appendix A.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2 {
    /// Delay that the controller of the classic queue aims at.
    pub target: Duration,
    /// Time between two updates of the probability.
    pub update: Duration,
    /// Delay above which the low-latency queue marks every packet.
    pub step: Duration,
    /// Factor from the controller's probability to that of a mark in the low-latency queue.
    pub coupling: u32,
}

impl Default for DualPi2 {
    /// 15 ms, updates each 16 ms, a step at 1 ms, a factor of two.
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { target: ms(15), update: ms(16), step: ms(1), coupling: 2 }
    }
}

/// Probability of one.
const ONE: u64 = 1 << 56;
/// Gains for the distance from the target and for the change of the delay, in hundredths per second: 0.16 and 3.2.
const ALPHA: i128 = 16;
const BETA: i128 = 320;
const HUNDREDTHS: i128 = 100;
const NANOS: i128 = 1_000_000_000;
/// Parts of the link, in per cent, that each queue gets at least while both wait: what keeps the classic queue from starving.
const CLASSIC_SHARE: i64 = 10;
const LOW_LATENCY_SHARE: i64 = 90;
/// Credit of the classic queue once both are empty: the low-latency queue goes first.
const FIRST_CREDIT: i64 = (CLASSIC_SHARE - LOW_LATENCY_SHARE) * FULL_PACKET as i64;

/// The PI controller.
#[derive(Debug)]
struct Control {
    target: Duration,
    probability: u64,
    /// Delay at the last update.
    delay: Duration,
}

impl Control {
    /// Computes the probability from the delay and the one at the update before.
    fn update(&mut self, delay: Duration) {
        let old = core::mem::replace(&mut self.delay, delay);
        let [now, before, target] = [delay, old, self.target].map(|span| i128::from(span.as_nanos()));
        let scaled = ALPHA * (now - target) + BETA * (now - before);
        let step = scaled * i128::from(ONE) / (HUNDREDTHS * NANOS);
        self.probability = (i128::from(self.probability) + step).clamp(0, i128::from(ONE)) as u64;
    }
}

/// What becomes of a packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Signals(Signal),
}

/// Both queues.
#[derive(Debug)]
pub(crate) struct DualPi2Queue<P> {
    spec: DualPi2,
    classic: Fifo<P>,
    low_latency: Fifo<P>,
    control: Control,
    room: Buffer,
    next_update: Instant,
    /// Share of the link, in hundredths of bytes, that the classic queue has been kept waiting for: it goes first if positive.
    credit: i64,
}

impl<P: Packet> DualPi2Queue<P> {
    /// # Panics
    /// If the time between updates is zero.
    pub(crate) fn new(spec: DualPi2, room: Buffer) -> Self {
        assert!(!spec.update.is_zero(), "updates without time between them never end");
        Self {
            spec,
            classic: Fifo::new(),
            low_latency: Fifo::new(),
            control: Control { target: spec.target, probability: 0, delay: Duration::ZERO },
            room,
            next_update: Instant::ZERO + spec.update,
            credit: FIRST_CREDIT,
        }
    }

    fn waiting(&self) -> (usize, u64) {
        (self.classic.len() + self.low_latency.len(), self.classic.bytes() + self.low_latency.bytes())
    }

    /// Catches up with the updates that are due.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            let is_empty = self.waiting().0 == 0;
            if is_empty && self.control.probability == 0 && self.control.delay.is_zero() {
                // All updates up to now would change nothing: an idle hour costs no loop.
                let periods = now.since(self.next_update).as_nanos() / self.spec.update.as_nanos() + 1;
                self.next_update += Duration::from_nanos(self.spec.update.as_nanos().saturating_mul(periods));
                return;
            }
            let at = self.next_update;
            self.control.update(self.classic.head_wait(at).max(self.low_latency.head_wait(at)));
            self.next_update += self.spec.update;
        }
    }

    /// Removes the head of the queue whose turn it is: returns it, how long it has waited, which queue it is from, and by how
    /// much its departure would change the credit.
    fn head(&mut self, now: Instant) -> Option<(Duration, P, Kind, i64)> {
        let others = |fifo: &Fifo<P>| i64::from(fifo.len() > 0);
        let takes_low_latency = self.low_latency.len() > 0 && (self.credit <= 0 || self.classic.len() == 0);
        let (fifo, other, kind, weight) = if takes_low_latency {
            (&mut self.low_latency, &self.classic, Kind::LowLatency, CLASSIC_SHARE)
        } else {
            (&mut self.classic, &self.low_latency, Kind::Classic, -LOW_LATENCY_SHARE)
        };
        let (waited, packet) = fifo.pop(now)?;
        let change = others(other) * weight * i64::from(packet.wire_len());
        Some((waited, packet, kind, change))
    }

    /// Decides by two draws; `backlog` bytes wait, the packet's own among them.
    fn decide(&self, kind: Kind, waited: Duration, backlog: u64, rng: &mut Rng) -> Fate {
        // Drawn for every packet, so that decisions stay with their packets whatever happened before.
        let draws = [0; 2].map(|_| rng.below(ONE));
        let is_late = kind == Kind::LowLatency && waited > self.spec.step;
        if backlog < 2 * FULL_PACKET {
            return if is_late { Fate::Signals(Signal::Mark) } else { Fate::Passes };
        }
        let base = self.control.probability;
        let coupled = u128::from(base) * u128::from(self.spec.coupling);
        // Once marks alone cannot say more, drops have to, in both queues (RFC 9332 §4.2).
        let is_overload = coupled >= u128::from(ONE);
        let squared = draws.iter().all(|draw| *draw < base);
        match kind {
            _ if is_overload && squared => Fate::Signals(Signal::Drop),
            Kind::Classic if squared => Fate::Signals(Signal::Mark),
            Kind::Classic => Fate::Passes,
            Kind::LowLatency if is_late || u128::from(draws[0]) < coupled => Fate::Signals(Signal::Mark),
            Kind::LowLatency => Fate::Passes,
        }
    }
}

/// Which of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Classic,
    LowLatency,
}

impl<P: Packet + Send> Queue<P> for DualPi2Queue<P> {
    fn enqueue(&mut self, now: Instant, packet: P, _rng: &mut Rng, decided: &mut Decided<P>) {
        self.advance(now);
        let (packets, bytes) = self.waiting();
        if !has_room(self.room, packets, bytes, &packet) {
            return decided.drop(packet, DropCause::Tail);
        }
        match packet.ecn() {
            Ecn::Ect1 | Ecn::Ce => self.low_latency.push(now, packet),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(now, packet),
        }
    }

    fn dequeue(&mut self, now: Instant, rng: &mut Rng, decided: &mut Decided<P>) -> Option<P> {
        self.advance(now);
        loop {
            let (_, backlog) = self.waiting();
            let Some((waited, packet, kind, change)) = self.head(now) else {
                self.credit = FIRST_CREDIT;
                return None;
            };
            let sent = match self.decide(kind, waited, backlog, rng) {
                Fate::Passes => Some(packet),
                Fate::Signals(signal) => decided.signal(packet, signal),
            };
            if sent.is_some() {
                self.credit = self.credit.saturating_add(change);
                return sent;
            }
        }
    }

    fn packets(&self) -> usize {
        self.waiting().0
    }

    fn bytes(&self) -> u64 {
        self.waiting().1
    }
}

#[cfg(test)]
mod tests;
