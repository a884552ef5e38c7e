//! The network and the flow of one cell, and the table of keys that set them.
//!
//! A key (`path.rtt`, `flow.bytes`) means the same in an experiment file, in a sweep and after `--set`, because all three
//! go through [`KEYS`].

use crate::spec::buffer::BufferSize;
use crate::spec::company::{Company, Orders, Window};
use crate::spec::drops::Drops;
use crate::spec::flow::Flow;
use crate::spec::managed_queue::{DROP_TAIL, ManagedQueue};
use crate::spec::queues::Queues;
use crate::spec::rate_trace::RateTrace;
use crate::spec::refusal::Refusal;
use base::{Duration, Rate, Ratio};
use netem::Buffer;
use profiles::units::{self, Fraction};

/// One point of a sweep: everything about a cell that is not an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Rate of the bottleneck in the direction of the data, in bits of IP packets per second.
    pub rate: Rate,
    /// When the bottleneck passes packets, if it follows a trace; `rate` is then the trace's mean.
    pub trace: Option<RateTrace>,
    /// Round-trip time without queueing, half of it each way.
    pub rtt: Duration,
    /// Buffer of the bottleneck behind a drop-tail queue.
    pub buffer: BufferSize,
    /// How the bottleneck manages its queue; `None` for drop-tail.
    pub queue: Option<ManagedQueue>,
    /// Maximum extra delay after the bottleneck; the order is kept.
    pub jitter: Duration,
    /// Probability that a packet is lost on entry.
    pub loss: Ratio,
    /// Segments that are lost by their place in the stream.
    pub drops: Drops,
    /// Reordered packets.
    pub reorder: Reorder,
    /// Queues through which packets pass in turn.
    pub queues: Option<Queues>,
    /// What is transferred.
    pub flow: Flow,
    /// The flows, if there are several; `flow` has no effect then.
    pub company: Company,
}

/// Reordered packets, drawn by packet index after the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// How often a packet is chosen.
    pub probability: Ratio,
    /// The delay: additional, or instead of the path's.
    pub delay: Duration,
    /// Which of the two.
    pub mode: ReorderMode,
}

/// What a chosen packet's delay means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderMode {
    /// It takes that much more.
    Late,
    /// It takes that instead of the path's one-way delay.
    Early,
}

impl Default for Point {
    /// 100 Mbit/s over 100 ms with a buffer of one bandwidth-delay product, 32 MB, no disturbance.
    fn default() -> Self {
        Self {
            rate: Rate::from_bits_per_sec(100_000_000).expect("not zero"),
            trace: None,
            rtt: Duration::from_millis(100),
            buffer: BufferSize::Bdp(Fraction::whole(1)),
            queue: None,
            jitter: Duration::ZERO,
            loss: Ratio::ZERO,
            drops: Drops::default(),
            reorder: Reorder { probability: Ratio::ZERO, delay: Duration::ZERO, mode: ReorderMode::Late },
            queues: None,
            flow: Flow::Bytes(32_000_000),
            company: Company::default(),
        }
    }
}

impl Point {
    /// Returns the room of the bottleneck's queue in the path's form: the buffer, or a managed queue's limit.
    pub fn buffer(&self) -> Buffer {
        match self.queue.map_or(self.buffer, |queue| queue.limit) {
            BufferSize::Bytes(bytes) => Buffer::Bytes(bytes),
            BufferSize::Packets(packets) => Buffer::Packets(packets),
            BufferSize::Bdp(share) => {
                let bytes = u128::from(self.rate.bytes_in(self.rtt)) * u128::from(share.num) / u128::from(share.den);
                Buffer::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
        }
    }

    /// Returns the settings that apply, key and canonical value, in a fixed order. The drop-tail queue is left out: runs over it
    /// were recorded before there were others.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let one = self.company.is_empty();
        let applies = move |name: &str| match name {
            "flow.bytes" | "flow.seconds" => one,
            "flow.company" | "flow.window" | "flow.orders" => !one,
            _ => true,
        };
        let shown =
            KEYS.iter().filter(move |key| applies(key.name)).filter_map(|key| Some((key.name, (key.show)(self)?)));
        shown.filter(|(_, value)| value != DROP_TAIL)
    }

    /// Returns every setting in a fixed order and in display form: two points with the same text are the same network.
    pub fn canonical(&self) -> String {
        self.settings().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// Returns whether the seed has any effect: jitter, loss, reordering, a place of losses or a queue's decision is drawn.
    /// Endpoints draw only numbers without effect on time, ports and initial sequence numbers, so all runs of a path that draws
    /// nothing are identical.
    pub fn is_drawn(&self) -> bool {
        let by_queue = self.queue.is_some_and(|queue| queue.spec.is_drawn());
        let on_the_way = !self.jitter.is_zero() || !self.loss.is_zero() || !self.reorder.probability.is_zero();
        on_the_way || by_queue || self.drops.is_drawn() || self.company.is_drawn()
    }

    /// Checks whether the settings fit together.
    ///
    /// # Errors
    /// Names what does not fit, and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.queues.is_some() && !self.reorder.probability.is_zero() {
            return Err(Refusal::of_value(
                "packets leave the order by probability and by queues",
                "set `path.reorder.probability` to 0, or `path.reorder.queues` to none",
            ));
        }
        if !self.company.is_empty() && !self.drops.is_empty() {
            return Err(Refusal::of_value(
                "losses by position need a run of one flow",
                "set `path.drop` or `flow.company` to none",
            ));
        }
        self.company.check()?;
        self.drops.of(self.flow).map(drop)
    }
}

/// A key of an experiment: its name and how to read, write and check it.
#[derive(Debug)]
pub struct Key {
    /// As users write it.
    pub name: &'static str,
    set: fn(&mut Point, &str) -> Result<(), Refusal>,
    /// `None` for what is absent.
    show: fn(&Point) -> Option<String>,
}

/// Every key except those of arms.
pub const KEYS: &[Key] = &[
    Key {
        name: "path.rate",
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
        set: |point, text| positive(text).map(|rtt| point.rtt = rtt),
        show: |point| Some(point.rtt.to_string()),
    },
    Key {
        name: "path.buffer",
        set: |point, text| BufferSize::parse(text).map(|buffer| point.buffer = buffer),
        show: |point| Some(point.buffer.to_string()),
    },
    Key {
        name: "path.queue",
        set: |point, text| ManagedQueue::parse(text).map(|queue| point.queue = queue),
        show: |point| Some(point.queue.map_or(DROP_TAIL.to_owned(), |queue| queue.to_string())),
    },
    Key {
        name: "path.jitter",
        set: |point, text| units::duration(text).map(|value| point.jitter = value).map_err(Refusal::from),
        show: |point| Some(point.jitter.to_string()),
    },
    Key {
        name: "path.loss",
        set: |point, text| units::ratio(text).map(|value| point.loss = value).map_err(Refusal::from),
        show: |point| Some(units::show_percent(point.loss)),
    },
    Key {
        name: "path.drop",
        set: |point, text| Drops::parse(text).map(|drops| point.drops = drops),
        show: |point| (!point.drops.is_empty()).then(|| point.drops.to_string()),
    },
    Key {
        name: "path.reorder.probability",
        set: |point, text| units::ratio(text).map(|value| point.reorder.probability = value).map_err(Refusal::from),
        show: |point| Some(units::show_percent(point.reorder.probability)),
    },
    Key {
        name: "path.reorder.delay",
        set: |point, text| units::duration(text).map(|value| point.reorder.delay = value).map_err(Refusal::from),
        show: |point| Some(point.reorder.delay.to_string()),
    },
    Key {
        name: "path.reorder.mode",
        set: |point, text| reorder_mode(text).map(|mode| point.reorder.mode = mode),
        show: |point| Some(point.reorder.mode.word().to_owned()),
    },
    Key {
        name: "path.reorder.queues",
        set: |point, text| Queues::parse(text).map(|queues| point.queues = queues),
        show: |point| point.queues.map(|queues| queues.to_string()),
    },
    Key {
        name: "flow.bytes",
        set: |point, text| flow_bytes(text).map(|bytes| point.flow = Flow::Bytes(bytes)),
        show: |point| match point.flow {
            Flow::Bytes(bytes) => Some(units::show_bytes(bytes)),
            Flow::Seconds(_) => None,
        },
    },
    Key {
        name: "flow.seconds",
        set: |point, text| flow_seconds(text).map(|span| point.flow = Flow::Seconds(span)),
        show: |point| match point.flow {
            Flow::Seconds(span) => Some(span.to_string()),
            Flow::Bytes(_) => None,
        },
    },
    Key {
        name: "flow.company",
        set: |point, text| Company::parse_groups(text).map(|groups| point.company.groups = groups),
        show: |point| (!point.company.is_empty()).then(|| point.company.show_groups()),
    },
    Key {
        name: "flow.window",
        set: |point, text| Window::parse(text).map(|window| point.company.window = window),
        show: |point| Some(point.company.window.to_string()),
    },
    Key {
        name: "flow.orders",
        set: |point, text| Orders::parse(text).map(|orders| point.company.orders = orders),
        show: |point| Some(point.company.orders.word().to_owned()),
    },
];

impl Key {
    /// The key of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Sets a point's value, and returns it in canonical form.
    ///
    /// # Errors
    /// If the text is not a valid value: the problem and the remedy.
    pub fn set(&self, point: &mut Point, text: &str) -> Result<String, Refusal> {
        (self.set)(point, text)?;
        Ok((self.show)(point).unwrap_or_else(|| "none".to_owned()))
    }
}

fn positive(text: &str) -> Result<Duration, Refusal> {
    let span = units::duration(text)?;
    if span.is_zero() {
        Err(Refusal::of_value(format!("`{text}` is not a delay between two ends"), "write for example `25ms`"))
    } else {
        Ok(span)
    }
}

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

fn flow_bytes(text: &str) -> Result<u64, Refusal> {
    match units::bytes(text)? {
        0 => Err(Refusal::of_value("a flow of 0 bytes measures nothing", "write for example `32MB`")),
        bytes => Ok(bytes),
    }
}

/// A bare number is in the unit of the key's name.
fn flow_seconds(text: &str) -> Result<Duration, Refusal> {
    let with_unit = if Fraction::parse(text.trim()).is_some() { format!("{}s", text.trim()) } else { text.to_owned() };
    positive(&with_unit)
}

impl ReorderMode {
    /// The word in experiment files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Early => "early",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn set(name: &str, text: &str) -> Result<String, String> {
        let set = Key::find(name).expect("the key exists").set(&mut Point::default(), text);
        set.map_err(|refusal| refusal.to_string())
    }

    #[test_case("path.rate", "34.5MBIT", "34500kbit")]
    #[test_case("path.rate", "40 Mbit/s", "40Mbit")]
    #[test_case("path.rtt", "0.2s", "200ms")]
    #[test_case("path.buffer", "1BDP", "1bdp")]
    #[test_case("path.buffer", "0.5bdp", "0.5bdp")]
    #[test_case("path.buffer", "400pkt", "400pkt")]
    #[test_case("path.buffer", "64kb", "64kB")]
    #[test_case("path.queue", "DropTail", "droptail")]
    #[test_case("path.queue", "CODEL/target=10000us", "codel target=10ms")]
    #[test_case("path.jitter", "100us", "100us")]
    #[test_case("path.loss", "0.1%", "0.1%")]
    #[test_case("path.loss", "0.001", "0.1%")]
    #[test_case("path.drop", "1000kB x2 + last 3", "1MB x2 + last 3")]
    #[test_case("path.drop", "none", "none")]
    #[test_case("path.reorder.mode", "EARLY", "early")]
    #[test_case("path.reorder.queues", "4X8/0.002s", "4x8/2ms")]
    #[test_case("path.reorder.queues", "none", "none")]
    #[test_case("flow.bytes", "32mb", "32MB")]
    #[test_case("flow.seconds", "10", "10s")]
    fn a_setting_is_shown_in_canonical_form_and_reads_back(name: &str, text: &str, canonical: &str) {
        assert_eq!(set(name, text).as_deref(), Ok(canonical));
        assert_eq!(set(name, canonical).as_deref(), Ok(canonical));
    }

    #[test_case("path.rtt", "25")]
    #[test_case("path.rtt", "0ms")]
    #[test_case("path.rate", "100MB")]
    #[test_case("path.buffer", "0bdp")]
    #[test_case("path.buffer", "1.5pkt")]
    #[test_case("path.buffer", "1xyz")]
    #[test_case("path.queue", "red")]
    #[test_case("path.loss", "2")]
    #[test_case("path.drop", "first 3")]
    #[test_case("path.reorder.mode", "sideways")]
    #[test_case("path.reorder.queues", "8")]
    #[test_case("flow.bytes", "0")]
    fn a_wrong_setting_is_refused_with_what_would_be_right(name: &str, text: &str) {
        let problem = set(name, text).unwrap_err();
        assert!(problem.contains("write ") || problem.contains("use "), "{problem}");
    }

    #[test_case("1bdp", Buffer::Bytes(1_250_000))]
    #[test_case("0.25bdp", Buffer::Bytes(312_500))]
    #[test_case("10pkt", Buffer::Packets(10))]
    fn a_buffer_in_bandwidth_delay_products_follows_the_path(text: &str, expected: Buffer) {
        let mut point = Point::default();
        Key::find("path.buffer").unwrap().set(&mut point, text).unwrap();
        assert_eq!(point.buffer(), expected);
    }

    #[test_case("codel", Buffer::Packets(1_000))]
    #[test_case("fq_codel", Buffer::Packets(10_240))]
    #[test_case("pie limit=1bdp", Buffer::Bytes(1_250_000))]
    #[test_case("droptail", Buffer::Bytes(1_250_000))]
    fn a_managed_queue_has_room_of_its_own(text: &str, expected: Buffer) {
        let mut point = Point::default();
        Key::find("path.queue").unwrap().set(&mut point, text).unwrap();
        assert_eq!(point.buffer(), expected);
    }

    #[test]
    fn a_rate_can_follow_a_trace() {
        let file = std::env::temp_dir().join(format!("longhaul-rate-{}.trace", std::process::id()));
        let text = format!("Trace:{}", file.display());
        let with = |contents: &str| {
            std::fs::write(&file, contents).unwrap();
            let mut point = Point::default();
            let shown =
                Key::find("path.rate").unwrap().set(&mut point, &text).map_err(|refusal| refusal.to_string())?;
            Ok::<_, String>((shown, point))
        };
        let (shown, mut point) = with("1\n1\n3\n6\n").unwrap();
        assert_eq!(shown, format!("trace:{}", file.display()));
        assert_eq!(
            (point.rate.bits_per_sec(), point.buffer()),
            (8_000_000, Buffer::Bytes(100_000)),
            "one product of the mean"
        );
        Key::find("path.rate").unwrap().set(&mut point, "10Mbit").unwrap();
        assert_eq!(point, Point { rate: Rate::from_bits_per_sec(10_000_000).unwrap(), ..Point::default() });
        let problem = with("1\n2.5\n").unwrap_err();
        assert_eq!(
            problem,
            format!(
                "`{}`, line 2: `2.5` is not a whole number of milliseconds below 2^32: write digits only",
                file.display()
            )
        );
        std::fs::remove_file(&file).unwrap();
        let problem = set("path.rate", &text).unwrap_err();
        assert!(
            problem.contains("cannot be read (") && problem.contains("): write `trace:` and the path"),
            "{problem}"
        );
    }

    #[test]
    fn packets_leave_the_order_in_one_way_only() {
        let mut point = Point::default();
        for (key, value) in [("path.reorder.queues", "4x8/2ms"), ("path.reorder.probability", "1%")] {
            assert_eq!(point.check(), Ok(()));
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let problem = point.check().unwrap_err().to_string();
        assert!(problem.contains("by probability and by queues: set "), "{problem}");
    }

    #[test]
    fn equal_networks_have_equal_text_however_they_were_written() {
        let (mut a, mut b) = (Point::default(), Point::default());
        for (key, one, other) in
            [("path.rtt", "0.025s", "25ms"), ("path.loss", "1%", "0.01"), ("flow.bytes", "2MB", "2000kB")]
        {
            Key::find(key).unwrap().set(&mut a, one).unwrap();
            Key::find(key).unwrap().set(&mut b, other).unwrap();
        }
        assert_eq!(a.canonical(), b.canonical());
        assert!(a.canonical().starts_with("path.rate=100Mbit path.rtt=25ms path.buffer=1bdp"), "{}", a.canonical());
    }
}
