//! A cell's network as hops: its path in the direction of the data, and the way back.

use crate::spec::{Gaps, Point, Policer, ReorderMode};
use base::Duration;
use netem::{Jitter, JitterKind, LossSpec, PathSpec, QueueSpec, ReorderSpec};

/// The path of a cell in the direction of the data, and the way back.
pub fn paths(point: &Point) -> [PathSpec; 2] {
    let there = point.rtt / 2;
    [forward(point, there), back(point, point.rtt.saturating_sub(there))]
}

/// The path that carries the ACKs, with this much delay.
fn back(point: &Point, delay: Duration) -> PathSpec {
    let back = point.life.back;
    PathSpec {
        rate: back.rate,
        buffer: back.room(point.rtt),
        loss: if back.loss.is_zero() { LossSpec::None } else { LossSpec::Bernoulli(back.loss) },
        thin: back.thin,
        release: back.release.map(Gaps::spec),
        ..PathSpec::ideal(delay)
    }
}

/// The path that carries the data, with this much delay.
pub fn forward(point: &Point, delay: Duration) -> PathSpec {
    let jitter = Jitter { max: point.jitter, kind: JitterKind::KeepOrder };
    let reorder = point.reorder;
    PathSpec {
        rate: Some(point.rate),
        trace: point.trace.as_ref().map(|trace| trace.trace.clone()),
        buffer: point.buffer(),
        queue: point.queue.map_or(QueueSpec::DropTail, |queue| queue.spec),
        jitter: (!point.jitter.is_zero()).then_some(jitter),
        drops: point.drops.of(point.flow).expect("a plan's settings fit together"),
        loss: match point.life.bursts {
            Some(bursts) => LossSpec::GilbertElliott(bursts.chain),
            None if point.loss.is_zero() => LossSpec::None,
            None => LossSpec::Bernoulli(point.loss),
        },
        policer: point.life.policer.map(Policer::spec),
        release: point.life.release.map(Gaps::spec),
        duplicate: point.life.duplicate,
        reorder: match reorder.mode {
            _ if let Some(queues) = point.queues => queues.spec(),
            _ if reorder.probability.is_zero() => ReorderSpec::None,
            ReorderMode::Late => ReorderSpec::Late { probability: reorder.probability, extra: reorder.delay },
            ReorderMode::Early => ReorderSpec::Early { probability: reorder.probability, delay: reorder.delay },
        },
        ..PathSpec::ideal(delay)
    }
}
