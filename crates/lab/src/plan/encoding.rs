//! The text of a network and its flow from which seeds and digests are computed.
//!
//! Frozen: settings looked like this when the first results were published. Their display may change; this must not, because
//! every seed would. A setting added after the first results appears only where it is used, so that older networks keep their
//! seeds.

use crate::spec::company::hops_word;
use crate::spec::{
    App, Arrivals, Back, BufferSize, Bursts, Company, Figure, Flow, Gaps, Group, Life, LinkModel, LinkValue,
    ManagedQueue, Orders, Point, Policer, Queues, RateTrace, Reorder, ReorderMode, Value, What, Whereabouts, Window,
};
use crate::spec::{BackQueue, Hosts, PauseSpec, Remembered, Second};
use base::{Duration, Rate, Ratio};
use cc::SavedPath;
use netem::{QueueSpec, Signal};
use sim::{Direction, Hops, Sizes};
use trace::Digest;

/// The network and the flow of a cell, key by key. What is measured of a run changes no seed.
pub(crate) fn network(point: &Point) -> String {
    let Point {
        rate,
        trace,
        rtt,
        buffer,
        queue,
        jitter,
        loss,
        drops,
        reorder,
        queues,
        hosts,
        life,
        flow,
        company,
        startup: _,
    } = point;
    let mut text = format!(
        "path.rate={} path.rtt={} path.buffer={} path.jitter={} path.loss={}",
        bits(*rate),
        span(*rtt),
        size(*buffer),
        span(*jitter),
        percent(*loss)
    );
    if let Some(RateTrace { trace, .. }) = trace {
        let mut digest = Digest::default();
        trace.times_ms().iter().for_each(|time| digest.word(u64::from(*time)));
        text += &format!(" path.trace={:016x}", digest.finish());
    }
    if let Some(queue) = queue {
        text += &managed(queue);
    }
    let losses: Vec<String> = drops.terms().map(|(place, times)| lost(place, times)).collect();
    if !losses.is_empty() {
        text += &format!(" path.drop={}", losses.join(" + "));
    }
    let Reorder { probability, delay, mode } = reorder;
    let mode = match mode {
        ReorderMode::Late => "late",
        ReorderMode::Early => "early",
    };
    text += &format!(" path.reorder.probability={} path.reorder.delay={}", percent(*probability), span(*delay));
    text += &format!(" path.reorder.mode={mode}");
    if let Some(Queues { count, burst, skew }) = queues {
        text += &format!(" path.reorder.queues={count}x{burst}/{}", span(*skew));
    }
    text += &living(life);
    text += &of_hosts(hosts);
    if !company.is_empty() {
        return text + &several(company);
    }
    text + &match flow {
        Flow::Bytes(count) => format!(" flow.bytes={}", bytes(*count)),
        Flow::Seconds(length) => format!(" flow.seconds={}", span(*length)),
    }
}

/// What makes a path more than a pipe; every part with all its parameters.
fn living(life: &Life) -> String {
    let Life { duplicate, bursts, policer, release, back, second, changes, model } = life;
    let mut text = String::new();
    if !duplicate.is_zero() {
        text += &format!(" path.duplicate={}", percent(*duplicate));
    }
    if let Some(Bursts { loss, length, .. }) = bursts {
        text += &format!(" path.bursts={}/{}", percent(*loss), fraction(length.num, length.den));
    }
    if let Some(Policer { rate, burst }) = policer {
        text += &format!(" path.policer={}/{}", bits(*rate), bytes(*burst));
    }
    if let Some(gaps) = release {
        text += &format!(" path.release={}", between(gaps));
    }
    text += &way_back(back);
    if let Second { rate: Some(rate), rtt, buffer, queue } = second {
        text += &format!(" path.second={}/{}/{}", bits(*rate), span(*rtt), size(*buffer));
        text +=
            &queue.as_ref().map_or(String::new(), |queue| managed(queue).replace("path.queue", "path.second.queue"));
    }
    let changes: Vec<String> =
        changes.terms().map(|change| format!("{} {}", span(change.at), changed(&change.what))).collect();
    if !changes.is_empty() {
        text += &format!(" path.changes={}", changes.join(" + "));
    }
    if let Some(model) = model {
        text += &modelled(model);
    }
    text
}

fn changed(what: &What) -> String {
    match what {
        What::Rate(rate) => format!("rate={}", bits(*rate)),
        What::Outage(length) => format!("outage={}", span(*length)),
        What::Rtt(rtt) => format!("rtt={}", span(*rtt)),
        What::Loss(loss) => format!("loss={}", percent(*loss)),
        What::Mtu(bytes) => format!("mtu={bytes}"),
        What::BlackHole(bytes) => format!("blackhole={bytes}"),
    }
}

/// Every parameter is written, as of queues.
fn modelled(model: &LinkModel) -> String {
    let values = model.parameters().map(|(key, value)| match value {
        LinkValue::Spans(range) => format!(" {key}={}..{}", span(range.least), span(range.most)),
        LinkValue::Rates(range) => format!(" {key}={}..{}", bits(range.least), bits(range.most)),
    });
    format!(" path.model={}{}", model.word(), values.collect::<String>())
}

fn way_back(back: &Back) -> String {
    let Back { rate, buffer, queue, loss, release, thin } = back;
    let mut text = String::new();
    if let Some(rate) = rate {
        text += &format!(" path.back.rate={}", bits(*rate));
    }
    if let Some(buffer) = buffer {
        text += &format!(" path.back.buffer={}", size(*buffer));
    }
    match queue {
        BackQueue::DropTail => {}
        BackQueue::Same => text += " path.back.queue=same",
        BackQueue::Managed(queue) => text += &managed(queue).replace(" path.queue=", " path.back.queue="),
    }
    if !loss.is_zero() {
        text += &format!(" path.back.loss={}", percent(*loss));
    }
    if let Some(gaps) = release {
        text += &format!(" path.back.release={}", between(gaps));
    }
    if let Some(wait) = thin {
        text += &format!(" path.back.thin={}", span(*wait));
    }
    text
}

fn between(gaps: &Gaps) -> String {
    format!("{}..{}", span(gaps.least), span(gaps.most))
}

/// Every property of every group is written; a mix has changed their counts.
fn several(company: &Company) -> String {
    let Company { groups, window: Window { from, until }, orders, harm, mix: _ } = company;
    let groups = groups.iter().map(|group| {
        let Group { profile, count, start, own_rtt, direction, bytes: size, pace, .. } = group;
        let profile = profile.word();
        let direction = match direction {
            Direction::Forward => "forward",
            Direction::Back => "back",
        };
        let more = applications(group);
        format!(
            " flow.group={profile}x{count}/{}..{}/{}/{direction}/{}/{}{more}",
            span(start.0),
            span(start.1),
            span(*own_rtt),
            size.map_or("all".to_owned(), bytes),
            pace.map_or("free".to_owned(), bits)
        )
    });
    let orders = match orders {
        Orders::Given => "given",
        Orders::Both => "both",
    };
    let harm = match harm {
        Figure::Unknown => "",
        Figure::Measured => " flow.harm=measured",
    };
    format!("{} flow.window={}..{} flow.orders={orders}{harm}", groups.collect::<String>(), span(*from), span(*until))
}

/// Words younger than the first results: each appears where it is used.
fn applications(group: &Group) -> String {
    let Group { hops, stop, arrivals, sizes, app, think, on, off, every, size, .. } = group;
    let times = |(from, until): (Duration, Duration)| format!("{}..{}", span(from), span(until));
    let words = [
        ("hops", Some(*hops).filter(|hops| *hops != Hops::Both).map(|hops| hops_word(hops).to_owned())),
        ("stop", stop.map(span)),
        ("arrivals", arrivals.map(|Arrivals { per_gigasecond }| per_gigasecond.to_string())),
        ("sizes", sizes.map(drawn)),
        (
            "app",
            app.map(|app| match app {
                App::Request => "request".to_owned(),
                App::OnOff => "onoff".to_owned(),
            }),
        ),
        ("think", think.map(times)),
        ("on", on.map(times)),
        ("off", off.map(times)),
        ("every", every.map(span)),
        ("size", size.map(|size| size.to_string())),
    ];
    words.into_iter().filter_map(|(word, value)| Some(format!("/{word}={}", value?))).collect()
}

fn drawn(sizes: Sizes) -> String {
    match sizes {
        Sizes::One(size) => format!("{size}"),
        Sizes::Uniform { from, to } => format!("{from}..{to}"),
        Sizes::Pareto { from, to, shape_milli } => format!("{from}..{to}^{shape_milli}"),
    }
}

/// Every parameter is written, so that another default does not give two queues one text.
fn managed(queue: &ManagedQueue) -> String {
    let values = queue.parameters().map(|(key, value)| match value {
        Value::Span(length) => format!(" {key}={}", span(length)),
        Value::Count(count) => format!(" {key}={count}"),
        Value::Ecn(Signal::Drop) => format!(" {key}=off"),
        Value::Ecn(Signal::Mark) => format!(" {key}=on"),
        Value::Room(room) => format!(" {key}={}", size(room)),
    });
    let name = match queue.spec {
        QueueSpec::DropTail => "droptail",
        QueueSpec::Codel(_) => "codel",
        QueueSpec::FqCodel(_) => "fq_codel",
        QueueSpec::Pie(_) => "pie",
        QueueSpec::DualPi2(_) => "dualpi2",
    };
    format!(" path.queue={name}{}", values.collect::<String>())
}

/// Only what is not ideal.
fn of_hosts(hosts: &Hosts) -> String {
    let Hosts { sender_pause, receiver_pause, remembers, .. } = hosts;
    let Hosts { first_flight, sender_merge, receiver_merge, offload, receiver, .. } = hosts;
    let mut text = String::new();
    for (end, pause) in [("sender", sender_pause), ("receiver", receiver_pause)] {
        if let Some(PauseSpec { length, count }) = pause {
            text += &format!(" host.{end}.pause={}x{count}", span(*length));
        }
    }
    if let Some(Remembered(SavedPath { cwnd, rtt })) = remembers {
        text += &format!(" host.sender.remembers={}/{}", bytes(u64::from(*cwnd)), span(*rtt));
    }
    let spans =
        [("sender.first_flight", first_flight), ("sender.merge", sender_merge), ("receiver.merge", receiver_merge)];
    for (name, length) in spans.into_iter().filter(|(_, length)| !length.is_zero()) {
        text += &format!(" host.{name}={}", span(*length));
    }
    if let Some(receiver) = receiver {
        text += &format!(" host.receiver.profile={receiver}");
    }
    text + if *offload { " host.offload=on" } else { "" }
}

/// Returns the largest unit that divides a number, and the quotient.
fn in_units(number: u64, units: &[(u64, &'static str)], rest: &'static str) -> String {
    let found = units.iter().find(|(size, _)| number != 0 && number.is_multiple_of(*size));
    let (size, name) = found.copied().unwrap_or((1, rest));
    format!("{}{name}", number / size)
}

fn bits(rate: Rate) -> String {
    in_units(rate.bits_per_sec(), &[(1_000_000_000, "Gbit"), (1_000_000, "Mbit"), (1_000, "kbit")], "bit")
}

fn span(span: Duration) -> String {
    in_units(span.as_nanos(), &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")], "ns")
}

fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 6] =
        [(1_000_000_000, "GB"), (1 << 30, "GiB"), (1_000_000, "MB"), (1 << 20, "MiB"), (1_000, "kB"), (1 << 10, "KiB")];
    in_units(count, &UNITS, "B")
}

fn size(buffer: BufferSize) -> String {
    match buffer {
        BufferSize::Bdp(share) => format!("{}bdp", fraction(share.num, share.den)),
        BufferSize::Bytes(count) => bytes(count),
        BufferSize::Packets(packets) => format!("{packets}pkt"),
    }
}

fn percent(share: Ratio) -> String {
    let hundredfold = share.num().checked_mul(100).and_then(|num| decimal(num, share.den()));
    hundredfold.map_or_else(|| fraction(share.num(), share.den()), |percent| format!("{percent}%"))
}

fn fraction(num: u64, den: u64) -> String {
    decimal(num, den).unwrap_or_else(|| format!("{num}/{den}"))
}

/// Formats with as few decimals as are exact, at most nine.
fn decimal(num: u64, den: u64) -> Option<String> {
    (0..=9).find_map(|places| {
        let product = u128::from(num) * 10_u128.pow(places);
        let exact = product.is_multiple_of(u128::from(den)).then(|| product / u128::from(den))?;
        let scaled = u64::try_from(exact).ok()?;
        let places = places as usize;
        let digits = format!("{scaled:0>width$}", width = places + 1);
        let (whole, decimals) = digits.split_at(digits.len() - places);
        Some(if places == 0 { whole.to_owned() } else { format!("{whole}.{decimals}") })
    })
}

fn lost(place: &Whereabouts, times: u32) -> String {
    let place = match place {
        Whereabouts::Last(segments) => format!("last {segments}"),
        Whereabouts::Within(range) if range.end - range.start > 1 => {
            format!("{}..{}", bytes(range.start), bytes(range.end))
        }
        Whereabouts::Within(range) => bytes(range.start),
    };
    if times == 1 { place } else { format!("{place} x{times}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use netem::DeliveryTrace;
    use std::sync::Arc;
    use test_case::test_case;

    const DEFAULT: &str = "path.rate=100Mbit path.rtt=100ms path.buffer=1bdp path.jitter=0ns path.loss=0% \
                           path.reorder.probability=0% path.reorder.delay=0ns path.reorder.mode=late flow.bytes=32MB";

    #[test]
    fn a_network_without_disturbance_has_the_shortest_text() {
        assert_eq!(network(&Point::default()), DEFAULT);
    }

    #[test]
    fn a_trace_counts_by_its_contents() {
        let of = |file: &str, text: &str| {
            let trace = Some(RateTrace { file: file.to_owned(), trace: Arc::new(DeliveryTrace::parse(text).unwrap()) });
            network(&Point { trace, ..Point::default() })
        };
        assert_eq!(of("a", "1\n3\n"), of("b", "1\n3\n"));
        assert_ne!(of("a", "1\n3\n"), of("a", "2\n3\n"));
        assert!(of("a", "1\n3\n").contains(" path.trace="));
    }

    #[test_case("path.rate", "34.5Mbit", "path.rate=34500kbit")]
    #[test_case("path.rate", "9601bit", "path.rate=9601bit")]
    #[test_case("path.rate", "10Gbit", "path.rate=10Gbit")]
    #[test_case("path.rtt", "1500us", "path.rtt=1500us")]
    #[test_case("path.queue", "codel", "path.queue=codel target=5ms interval=100ms ecn=off limit=1000pkt")]
    #[test_case(
        "path.queue",
        "fq_codel limit=2bdp",
        "path.queue=fq_codel target=5ms interval=100ms quantum=1500 flows=1024 ecn=on limit=2bdp"
    )]
    #[test_case(
        "path.queue",
        "pie burst=0ms",
        "path.queue=pie target=15ms tupdate=15ms burst=0ns ecn=off limit=1000pkt"
    )]
    #[test_case(
        "path.queue",
        "dualpi2",
        "path.queue=dualpi2 target=15ms tupdate=16ms step=1ms coupling=2 limit=10000pkt"
    )]
    #[test_case("path.rtt", "2s", "path.rtt=2s")]
    #[test_case("path.rtt", "7ns", "path.rtt=7ns")]
    #[test_case("path.buffer", "0.25bdp", "path.buffer=0.25bdp")]
    #[test_case("path.buffer", "64KiB", "path.buffer=64KiB")]
    #[test_case("path.buffer", "400pkt", "path.buffer=400pkt")]
    #[test_case("path.jitter", "100us", "path.jitter=100us")]
    #[test_case("path.loss", "0.01%", "path.loss=0.01%")]
    #[test_case("path.loss", "1/300", "path.loss=1/300")]
    #[test_case("path.drop", "1MB x2 + 1GiB..3GB + last 3", "path.drop=1MB x2 + 1GiB..3GB + last 3")]
    #[test_case("path.reorder.probability", "7/10", "path.reorder.probability=70%")]
    #[test_case("path.reorder.delay", "5ms", "path.reorder.delay=5ms")]
    #[test_case("path.reorder.mode", "early", "path.reorder.mode=early")]
    #[test_case("path.reorder.queues", "4x8/2ms", "path.reorder.queues=4x8/2ms")]
    #[test_case("host.sender.pause", "50ms x3", "host.sender.pause=50msx3")]
    #[test_case("host.sender.first_flight", "50ms", "host.sender.first_flight=50ms")]
    #[test_case("host.sender.remembers", "2500kB/200ms", "host.sender.remembers=2500kB/200ms")]
    #[test_case("host.receiver.merge", "5ms", "host.receiver.merge=5ms")]
    #[test_case("host.receiver.profile", "linux ack.delay=200ms", "host.receiver.profile=linux ack.delay=200ms")]
    #[test_case("host.offload", "on", "host.offload=on")]
    #[test_case("path.duplicate", "1%", "path.duplicate=1%")]
    #[test_case("path.bursts", "1/300/4", "path.bursts=1/300/4")]
    #[test_case("path.policer", "20Mbit/64kB", "path.policer=20Mbit/64kB")]
    #[test_case("path.release", "1ms..5ms", "path.release=1ms..5ms")]
    #[test_case("path.release", "5ms", "path.release=5ms..5ms"; "equal gaps")]
    #[test_case("path.back.rate", "1Mbit", "path.back.rate=1Mbit")]
    #[test_case("path.back.buffer", "2bdp", "path.back.buffer=2bdp")]
    #[test_case("path.back.loss", "1%", "path.back.loss=1%")]
    #[test_case("path.back.release", "5ms", "path.back.release=5ms..5ms")]
    #[test_case("path.back.thin", "5ms", "path.back.thin=5ms")]
    #[test_case("path.changes", "1s rtt=40ms + 2s loss=1%", "path.changes=1s rtt=40ms + 2s loss=1%")]
    #[test_case(
        "path.changes",
        "1s rate=5Mbit + 2s outage=300ms",
        "path.changes=1s rate=5Mbit + 2s outage=300ms"; "the rate"
    )]
    #[test_case("path.model", "lte", "path.model=lte mean=20Mbit..20Mbit hold=10ms..500ms")]
    #[test_case(
        "path.model",
        "leo",
        "path.model=leo every=15s..15s rtt=20ms..60ms rate=50Mbit..200Mbit outage=50ms..150ms"
    )]
    #[test_case("path.model", "wifi", "path.model=wifi rate=20Mbit..120Mbit hold=100ms..1s release=1ms..5ms")]
    #[test_case("flow.bytes", "1460", "flow.bytes=1460B")]
    #[test_case("flow.bytes", "2MiB", "flow.bytes=2MiB")]
    #[test_case("flow.seconds", "10", "flow.seconds=10s")]
    #[test_case(
        "flow.company",
        "arm stop=9s arrivals=2.5/s sizes=pareto:12kB..10MB:1.2",
        "flow.group=armx1/0ns..0ns/0ns/forward/all/free/stop=9s/arrivals=2500000000/sizes=12000..10000000^1200"
    )]
    #[test_case(
        "flow.company",
        "arm + ping every=1s + datagrams pace=5Mbit size=1000",
        "flow.group=pingx1/0ns..0ns/0ns/forward/all/free/every=1s \
         flow.group=datagramsx1/0ns..0ns/0ns/forward/all/5Mbit/size=1000"
    )]
    #[test_case(
        "flow.company",
        "arm app=request sizes=1kB..2kB think=1s + arm app=onoff on=1s..2s off=3s + arm bytes=1MB every=5s",
        "flow.group=armx1/0ns..0ns/0ns/forward/all/free/sizes=1000..2000/app=request/think=1s..1s \
         flow.group=armx1/0ns..0ns/0ns/forward/all/free/app=onoff/on=1s..2s/off=3s..3s \
         flow.group=armx1/0ns..0ns/0ns/forward/1MB/free/every=5s"
    )]
    fn every_setting_has_its_text(key: &str, value: &str, text: &str) {
        let mut point = Point::default();
        Key::find(key).unwrap().set(&mut point, value).unwrap();
        let network = format!("{} ", network(&point));
        assert!(network.contains(&format!("{text} ")), "{network}");
    }
}
