//! The keys of a constant path.

use super::key::{Form, Key, positive};
use crate::spec::buffer::BufferSize;
use crate::spec::drops::Drops;
use crate::spec::managed_queue::{DROP_TAIL, ManagedQueue};
use crate::spec::queues::Queues;
use crate::spec::rate_trace::RateTrace;
use crate::spec::refusal::Refusal;
use crate::spec::setting::ReorderMode;
use profiles::units::{self, Notation};

/// In the order of [`Point::settings`](crate::spec::Point::settings).
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "path.rate",
        form: Form::Text("100Mbit"),
        says: "rate of the bottleneck in bits of IP packets per second, or a trace of opportunities",
        set: |point, text| {
            point.trace = RateTrace::parse(text)?;
            point.rate = match &point.trace {
                Some(trace) => trace.trace.mean_rate(),
                None => units::rate(text)?,
            };
            Ok(())
        },
        show: |point| Some(point.trace.as_ref().map_or_else(|| point.rate.to_string(), ToString::to_string)),
    },
    Key {
        name: "path.rtt",
        form: Form::Quantity(Notation::Time),
        says: "round-trip time without queueing",
        set: |point, text| positive(text).map(|rtt| point.rtt = rtt),
        show: |point| Some(point.rtt.to_string()),
    },
    Key {
        name: "path.buffer",
        form: Form::Text("1bdp"),
        says: "buffer of the bottleneck: bandwidth-delay products, bytes as `64kB` or packets as `100pkt`",
        set: |point, text| BufferSize::parse(text).map(|buffer| point.buffer = buffer),
        show: |point| Some(point.buffer.to_string()),
    },
    Key {
        name: "path.queue",
        form: Form::Text("fq_codel"),
        says: "how the bottleneck manages its queue: droptail, codel, fq_codel, pie or dualpi2",
        set: |point, text| ManagedQueue::parse(text).map(|queue| point.queue = queue),
        show: |point| Some(point.queue.map_or(DROP_TAIL.to_owned(), |queue| queue.to_string())),
    },
    Key {
        name: "path.jitter",
        form: Form::Quantity(Notation::Time),
        says: "largest extra delay, drawn for each packet; the order is kept",
        set: |point, text| units::duration(text).map(|value| point.jitter = value).map_err(Refusal::from),
        show: |point| Some(point.jitter.to_string()),
    },
    Key {
        name: "path.loss",
        form: Form::Quantity(Notation::Share),
        says: "probability with which a packet is lost",
        set: |point, text| units::ratio(text).map(|value| point.loss = value).map_err(Refusal::from),
        show: |point| Some(units::show_percent(point.loss)),
    },
    Key {
        name: "path.drop",
        form: Form::Text("1MB x2 + last 3"),
        says: "places of the data whose segments are lost",
        set: |point, text| Drops::parse(text).map(|drops| point.drops = drops),
        show: |point| (!point.drops.is_empty()).then(|| point.drops.to_string()),
    },
    Key {
        name: "path.reorder.probability",
        form: Form::Quantity(Notation::Share),
        says: "probability with which a packet changes its place",
        set: |point, text| units::ratio(text).map(|value| point.reorder.probability = value).map_err(Refusal::from),
        show: |point| Some(units::show_percent(point.reorder.probability)),
    },
    Key {
        name: "path.reorder.delay",
        form: Form::Quantity(Notation::Time),
        says: "delay of packets that change their place",
        set: |point, text| units::duration(text).map(|value| point.reorder.delay = value).map_err(Refusal::from),
        show: |point| Some(point.reorder.delay.to_string()),
    },
    Key {
        name: "path.reorder.mode",
        form: Form::Words(&["late", "early"]),
        says: "whether such packets take that much more time, or that instead",
        set: |point, text| reorder_mode(text).map(|mode| point.reorder.mode = mode),
        show: |point| Some(point.reorder.mode.word().to_owned()),
    },
    Key {
        name: "path.reorder.queues",
        form: Form::Text("4x8/2ms"),
        says: "parallel queues that reorder packets, or none",
        set: |point, text| Queues::parse(text).map(|queues| point.queues = queues),
        show: |point| point.queues.map(|queues| queues.to_string()),
    },
];

fn reorder_mode(text: &str) -> Result<ReorderMode, Refusal> {
    let modes = [ReorderMode::Late, ReorderMode::Early];
    let mode = modes.into_iter().find(|mode| mode.word().eq_ignore_ascii_case(text.trim()));
    mode.ok_or_else(|| {
        Refusal::of_value(
            format!("`{text}` is not a valid reordering mode"),
            "write `late` (that much more) or `early` (that instead)",
        )
    })
}
