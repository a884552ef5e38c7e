//! The keys of what makes a path more than a pipe.

use super::key::Key;
use crate::spec::back::BackQueue;
use crate::spec::buffer::BufferSize;
use crate::spec::bursts::Bursts;
use crate::spec::changes::Changes;
use crate::spec::gaps::Gaps;
use crate::spec::link_model::LinkModel;
use crate::spec::managed_queue::ManagedQueue;
use crate::spec::policer::Policer;
use crate::spec::refusal::Refusal;
use base::Ratio;
use profiles::units;

/// In the order of [`Point::settings`](crate::spec::Point::settings). A value that is the default is not shown: runs were recorded
/// before there were these keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "path.duplicate",
        set: |point, text| share(text).map(|value| point.life.duplicate = value),
        show: |point| Some(point.life.duplicate).filter(|share| !share.is_zero()).map(units::show_percent),
    },
    Key {
        name: "path.bursts",
        set: |point, text| Bursts::parse(text).map(|bursts| point.life.bursts = bursts),
        show: |point| point.life.bursts.map(|bursts| bursts.to_string()),
    },
    Key {
        name: "path.policer",
        set: |point, text| Policer::parse(text).map(|policer| point.life.policer = policer),
        show: |point| point.life.policer.map(|policer| policer.to_string()),
    },
    Key {
        name: "path.release",
        set: |point, text| Gaps::parse(text).map(|gaps| point.life.release = gaps),
        show: |point| point.life.release.map(|gaps| gaps.to_string()),
    },
    Key {
        name: "path.back.rate",
        set: |point, text| present(text, units::rate).map(|rate| point.life.back.rate = rate),
        show: |point| point.life.back.rate.map(|rate| rate.to_string()),
    },
    Key {
        name: "path.back.buffer",
        set: |point, text| present(text, BufferSize::parse).map(|size| point.life.back.buffer = size),
        show: |point| point.life.back.buffer.map(|size| size.to_string()),
    },
    Key {
        name: "path.back.queue",
        set: |point, text| BackQueue::parse(text).map(|queue| point.life.back.queue = queue),
        show: |point| match point.life.back.queue {
            BackQueue::DropTail => None,
            BackQueue::Same => Some("same".to_owned()),
            BackQueue::Managed(queue) => Some(queue.to_string()),
        },
    },
    Key {
        name: "path.back.loss",
        set: |point, text| share(text).map(|value| point.life.back.loss = value),
        show: |point| Some(point.life.back.loss).filter(|share| !share.is_zero()).map(units::show_percent),
    },
    Key {
        name: "path.back.release",
        set: |point, text| Gaps::parse(text).map(|gaps| point.life.back.release = gaps),
        show: |point| point.life.back.release.map(|gaps| gaps.to_string()),
    },
    Key {
        name: "path.back.thin",
        set: |point, text| {
            let wait = present(text, units::duration)?;
            point.life.back.thin = wait.filter(|wait| !wait.is_zero());
            Ok(())
        },
        show: |point| point.life.back.thin.map(|wait| wait.to_string()),
    },
    Key {
        name: "path.second.rate",
        set: |point, text| present(text, units::rate).map(|rate| point.life.second.rate = rate),
        show: |point| point.life.second.rate.map(|rate| rate.to_string()),
    },
    Key {
        name: "path.second.rtt",
        set: |point, text| {
            let rtt = present(text, units::duration)?;
            point.life.second.rtt = rtt.unwrap_or_default();
            Ok(())
        },
        show: |point| Some(point.life.second.rtt).filter(|rtt| !rtt.is_zero()).map(|rtt| rtt.to_string()),
    },
    Key {
        name: "path.second.buffer",
        set: |point, text| BufferSize::parse(text).map(|size| point.life.second.buffer = size),
        show: |point| point.life.second.rate.map(|_| point.life.second.buffer.to_string()),
    },
    Key {
        name: "path.second.queue",
        set: |point, text| ManagedQueue::parse(text).map(|queue| point.life.second.queue = queue),
        show: |point| point.life.second.queue.map(|queue| queue.to_string()),
    },
    Key {
        name: "path.changes",
        set: |point, text| Changes::parse(text).map(|changes| point.life.changes = changes),
        show: |point| (!point.life.changes.is_empty()).then(|| point.life.changes.to_string()),
    },
    Key {
        name: "path.model",
        set: |point, text| LinkModel::parse(text).map(|model| point.life.model = model),
        show: |point| point.life.model.map(|model| model.to_string()),
    },
];

/// Reads what may be absent: `none`.
fn present<T, E>(text: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, Refusal>
where
    Refusal: From<E>,
{
    if text.trim().eq_ignore_ascii_case("none") { Ok(None) } else { Ok(Some(read(text.trim())?)) }
}

/// Reads a share; `none` is zero.
fn share(text: &str) -> Result<Ratio, Refusal> {
    present(text, units::ratio).map(|share| share.unwrap_or(Ratio::ZERO))
}
