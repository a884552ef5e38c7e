//! A cell's network as hops: its path in the direction of the data, and the way back.

use crate::run::course::{Way, delays, rates};
use crate::spec::{Gaps, Point, Policer, ReorderMode};
use base::Duration;
use netem::{Jitter, JitterKind, LossSpec, PathSpec, QueueSpec, ReorderSpec};
use sim::SecondHop;

/// The path of a cell in the direction of the data, and the way back. A model draws from `seed`, the run's.
pub fn paths(point: &Point, seed: u64) -> [PathSpec; 2] {
    let rtt = point.usual_rtt();
    let there = rtt / 2;
    [forward(point, there, seed), back(point, rtt.saturating_sub(there), seed)]
}

/// The second bottleneck of a cell, if it has one: its way back has the same delay and no limit.
pub(crate) fn second(point: &Point) -> Option<SecondHop> {
    let second = point.life.second;
    let (rate, there) = (second.rate?, second.rtt / 2);
    let forward = PathSpec {
        rate: Some(rate),
        buffer: second.room(rate, point.usual_rtt() + second.rtt),
        queue: second.queue.map_or(QueueSpec::DropTail, |queue| queue.spec),
        ..PathSpec::ideal(there)
    };
    Some(SecondHop { forward, reverse: PathSpec::ideal(second.rtt.saturating_sub(there)) })
}

/// The path that carries the ACKs, with this much delay.
fn back(point: &Point, delay: Duration, seed: u64) -> PathSpec {
    let back = point.life.back;
    let queue = back.queue.managed(point.queue);
    PathSpec {
        rate: back.rate,
        buffer: back.room(point.usual_rtt(), queue),
        queue: queue.map_or(QueueSpec::DropTail, |queue| queue.spec),
        loss: if back.loss.is_zero() { LossSpec::None } else { LossSpec::Bernoulli(back.loss) },
        delays: delays(point, seed, Way::Back, delay),
        thin: back.thin,
        release: back.release.map(Gaps::spec),
        ..PathSpec::ideal(delay)
    }
}

/// The path that carries the data, with this much delay, unless a model sets it.
pub fn forward(point: &Point, delay: Duration, seed: u64) -> PathSpec {
    let jitter = Jitter { max: point.jitter, kind: JitterKind::KeepOrder };
    let (life, reorder) = (&point.life, point.reorder);
    let of_model = life.model.and_then(|model| model.model.release());
    PathSpec {
        rate: Some(point.usual_rate()),
        rates: rates(point, seed),
        delays: delays(point, seed, Way::There, delay),
        trace: point.trace.as_ref().map(|trace| trace.trace.clone()),
        buffer: point.buffer(),
        queue: point.queue.map_or(QueueSpec::DropTail, |queue| queue.spec),
        jitter: (!point.jitter.is_zero()).then_some(jitter),
        drops: point.drops.of(point.flow).expect("a plan's settings fit together"),
        loss: match (life.bursts, life.changes.losses()) {
            (Some(bursts), _) => LossSpec::GilbertElliott(bursts.chain),
            (None, Some(changes)) => LossSpec::Changing(point.loss, changes),
            (None, None) if point.loss.is_zero() => LossSpec::None,
            (None, None) => LossSpec::Bernoulli(point.loss),
        },
        mtus: life.changes.mtus(),
        policer: life.policer.map(Policer::spec),
        release: life.release.map(Gaps::spec).or(of_model),
        duplicate: life.duplicate,
        reorder: match reorder.mode {
            _ if let Some(queues) = point.queues => queues.spec(),
            _ if reorder.probability.is_zero() => ReorderSpec::None,
            ReorderMode::Late => ReorderSpec::Late { probability: reorder.probability, extra: reorder.delay },
            ReorderMode::Early => ReorderSpec::Early { probability: reorder.probability, delay: reorder.delay },
        },
        ..PathSpec::ideal(delay)
    }
}
