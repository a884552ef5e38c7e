//! The keys of what makes a path more than a pipe.

use super::key::{Form, Key};
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
use profiles::units::{self, Notation};

/// In the order of [`Point::settings`](crate::spec::Point::settings). A value that is the default is not shown: runs were recorded
/// before there were these keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "path.duplicate",
        form: Form::Optional(Notation::Share),
        says: "probability with which a packet arrives twice",
        set: |point, text| share(text).map(|value| point.life.duplicate = value),
        show: |point| Some(point.life.duplicate).filter(|share| !share.is_zero()).map(units::show_percent),
    },
    Key {
        name: "path.bursts",
        form: Form::Text("0.5%/4"),
        says: "losses in bursts: their share of packets and mean length, or none",
        set: |point, text| Bursts::parse(text).map(|bursts| point.life.bursts = bursts),
        show: |point| point.life.bursts.map(|bursts| bursts.to_string()),
    },
    Key {
        name: "path.policer",
        form: Form::Text("20Mbit/64kB"),
        says: "rate and burst of a policer, or none",
        set: |point, text| Policer::parse(text).map(|policer| point.life.policer = policer),
        show: |point| point.life.policer.map(|policer| policer.to_string()),
    },
    Key {
        name: "path.release",
        form: Form::Text("1ms..5ms"),
        says: "gaps between groups in which packets are released, or none",
        set: |point, text| Gaps::parse(text).map(|gaps| point.life.release = gaps),
        show: |point| point.life.release.map(|gaps| gaps.to_string()),
    },
    Key {
        name: "path.back.rate",
        form: Form::Optional(Notation::Rate),
        says: "rate of a bottleneck for ACKs",
        set: |point, text| present(text, units::rate).map(|rate| point.life.back.rate = rate),
        show: |point| point.life.back.rate.map(|rate| rate.to_string()),
    },
    Key {
        name: "path.back.buffer",
        form: Form::Text("20pkt"),
        says: "buffer of that bottleneck, or none",
        set: |point, text| present(text, BufferSize::parse).map(|size| point.life.back.buffer = size),
        show: |point| point.life.back.buffer.map(|size| size.to_string()),
    },
    Key {
        name: "path.back.queue",
        form: Form::Text("same"),
        says: "how that bottleneck manages its queue: same, droptail, codel, fq_codel, pie or dualpi2",
        set: |point, text| BackQueue::parse(text).map(|queue| point.life.back.queue = queue),
        show: |point| match point.life.back.queue {
            BackQueue::DropTail => None,
            BackQueue::Same => Some("same".to_owned()),
            BackQueue::Managed(queue) => Some(queue.to_string()),
        },
    },
    Key {
        name: "path.back.loss",
        form: Form::Optional(Notation::Share),
        says: "probability with which an ACK is lost",
        set: |point, text| share(text).map(|value| point.life.back.loss = value),
        show: |point| Some(point.life.back.loss).filter(|share| !share.is_zero()).map(units::show_percent),
    },
    Key {
        name: "path.back.release",
        form: Form::Text("1ms..5ms"),
        says: "gaps between groups in which ACKs are released, or none",
        set: |point, text| Gaps::parse(text).map(|gaps| point.life.back.release = gaps),
        show: |point| point.life.back.release.map(|gaps| gaps.to_string()),
    },
    Key {
        name: "path.back.thin",
        form: Form::Optional(Notation::Time),
        says: "time for which an ACK waits to be replaced by the next",
        set: |point, text| {
            let wait = present(text, units::duration)?;
            point.life.back.thin = wait.filter(|wait| !wait.is_zero());
            Ok(())
        },
        show: |point| point.life.back.thin.map(|wait| wait.to_string()),
    },
    Key {
        name: "path.second.rate",
        form: Form::Optional(Notation::Rate),
        says: "rate of a second bottleneck behind the first",
        set: |point, text| present(text, units::rate).map(|rate| point.life.second.rate = rate),
        show: |point| point.life.second.rate.map(|rate| rate.to_string()),
    },
    Key {
        name: "path.second.rtt",
        form: Form::Optional(Notation::Time),
        says: "round-trip time between the two bottlenecks and back",
        set: |point, text| {
            let rtt = present(text, units::duration)?;
            point.life.second.rtt = rtt.unwrap_or_default();
            Ok(())
        },
        show: |point| Some(point.life.second.rtt).filter(|rtt| !rtt.is_zero()).map(|rtt| rtt.to_string()),
    },
    Key {
        name: "path.second.buffer",
        form: Form::Text("1bdp"),
        says: "buffer of the second bottleneck",
        set: |point, text| BufferSize::parse(text).map(|size| point.life.second.buffer = size),
        show: |point| point.life.second.rate.map(|_| point.life.second.buffer.to_string()),
    },
    Key {
        name: "path.second.queue",
        form: Form::Text("fq_codel"),
        says: "how the second bottleneck manages its queue: droptail, codel, fq_codel, pie or dualpi2",
        set: |point, text| ManagedQueue::parse(text).map(|queue| point.life.second.queue = queue),
        show: |point| point.life.second.queue.map(|queue| queue.to_string()),
    },
    Key {
        name: "path.changes",
        form: Form::Text("10s rate=5Mbit + 12s outage=300ms"),
        says: "what changes on the path, and when, or none",
        set: |point, text| Changes::parse(text).map(|changes| point.life.changes = changes),
        show: |point| (!point.life.changes.is_empty()).then(|| point.life.changes.to_string()),
    },
    Key {
        name: "path.model",
        form: Form::Text("leo every=10s"),
        says: "a model of a link that varies: lte, leo or wifi with settings, or none",
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
