//! How a bottleneck manages its queue, as experiments write it: `codel target=10ms ecn=on`.
//!
//! The first word chooses the algorithm; what follows changes its parameters, whose names and defaults are those of Linux's `tc`.
//! Words are separated by spaces, or by slashes where a space is in the way.

use crate::spec::buffer::BufferSize;
use crate::spec::refusal::Refusal;
use base::Duration;
use core::fmt;
use netem::{Buffer, Codel, DualPi2, FqCodel, Pie, QueueSpec, Signal};
use profiles::{nearest, units};

/// A queue that manages itself, and its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedQueue {
    /// The algorithm with its parameters; not drop-tail.
    pub spec: QueueSpec,
    /// Room for packets that wait.
    pub limit: BufferSize,
}

/// The word for a queue without a manager.
pub(crate) const DROP_TAIL: &str = "droptail";

/// Most queues of FQ-CoDel, as in Linux.
const MOST_FLOWS: u64 = 65_536;
/// Largest quantum, and largest coupling factor, both far beyond sense.
const LARGEST_QUANTUM: u64 = 1 << 20;
const LARGEST_COUPLING: u64 = 255;

impl ManagedQueue {
    /// Reads the text; `None` for drop-tail.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.to_ascii_lowercase();
        let mut words = text.split(|c: char| c.is_whitespace() || c == '/').filter(|word| !word.is_empty());
        let name = words.next().unwrap_or(DROP_TAIL);
        let Some(mut queue) = Self::named(name)? else {
            return match words.next() {
                None => Ok(None),
                Some(word) => Err(Refusal::of_value(
                    format!("`{word}` does not apply to {DROP_TAIL}, which has no parameters"),
                    "set `path.buffer` for its size",
                )),
            };
        };
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                let remedy = format!("write for example `{name} {}=…`", queue.keys()[0]);
                return Err(Refusal::of_value(format!("`{word}` has no value"), remedy));
            };
            if seen.contains(&key) {
                return Err(Refusal::of_value(format!("`{key}` is given twice"), "use it once"));
            }
            seen.push(key);
            queue.set(name, key, value)?;
        }
        Ok(Some(queue))
    }

    /// Returns the algorithm of this name with its defaults; `None` for drop-tail.
    fn named(name: &str) -> Result<Option<Self>, Refusal> {
        const NAMES: [&str; 5] = [DROP_TAIL, "codel", "fq_codel", "pie", "dualpi2"];
        let spec = match name {
            DROP_TAIL | "none" => return Ok(None),
            "codel" => QueueSpec::Codel(Codel::default()),
            "fq_codel" => QueueSpec::FqCodel(FqCodel::default()),
            "pie" => QueueSpec::Pie(Pie::default()),
            "dualpi2" => QueueSpec::DualPi2(DualPi2::default()),
            _ => {
                let hint =
                    nearest(name, NAMES).map_or("use ".to_owned(), |near| format!("did you mean `{near}`? Use "));
                let remedy = format!("{hint}{}", NAMES.join(", "));
                return Err(Refusal::of_value(format!("`{name}` is not a known queue"), remedy));
            }
        };
        Ok(Some(Self::with_defaults(spec)))
    }

    fn with_defaults(spec: QueueSpec) -> Self {
        let limit = match spec.usual_room() {
            Buffer::Packets(packets) => BufferSize::Packets(packets),
            Buffer::Bytes(bytes) => BufferSize::Bytes(bytes),
            Buffer::Unlimited => BufferSize::Bytes(u64::MAX),
        };
        Self { spec, limit }
    }

    /// The parameters that the algorithm has, in the order in which they are shown.
    const fn keys(&self) -> &'static [&'static str] {
        match self.spec {
            QueueSpec::DropTail => &[],
            QueueSpec::Codel(_) => &["target", "interval", "ecn", "limit"],
            QueueSpec::FqCodel(_) => &["target", "interval", "quantum", "flows", "ecn", "limit"],
            QueueSpec::Pie(_) => &["target", "tupdate", "burst", "ecn", "limit"],
            QueueSpec::DualPi2(_) => &["target", "tupdate", "step", "coupling", "limit"],
        }
    }

    /// Returns the parameter of this name, if the algorithm has it.
    fn parameter(&mut self, key: &str) -> Option<Parameter<'_>> {
        use Parameter::{Bytes, Count, Ecn, Pause, Room, Span};
        let Self { spec, limit } = self;
        Some(match (spec, key) {
            (QueueSpec::DropTail, _) => return None,
            (_, "limit") => Room(limit),
            (QueueSpec::FqCodel(fq), "quantum") => Bytes(&mut fq.quantum, LARGEST_QUANTUM),
            (QueueSpec::FqCodel(fq), "flows") => Count(&mut fq.flows, MOST_FLOWS),
            (QueueSpec::Codel(codel) | QueueSpec::FqCodel(FqCodel { codel, .. }), key) => match key {
                "target" => Span(&mut codel.target),
                "interval" => Span(&mut codel.interval),
                "ecn" => Ecn(&mut codel.signal),
                _ => return None,
            },
            (QueueSpec::Pie(pie), key) => match key {
                "target" => Span(&mut pie.target),
                "tupdate" => Span(&mut pie.update),
                "burst" => Pause(&mut pie.burst),
                "ecn" => Ecn(&mut pie.signal),
                _ => return None,
            },
            (QueueSpec::DualPi2(dual), key) => match key {
                "target" => Span(&mut dual.target),
                "tupdate" => Span(&mut dual.update),
                "step" => Span(&mut dual.step),
                "coupling" => Count(&mut dual.coupling, LARGEST_COUPLING),
                _ => return None,
            },
        })
    }

    fn set(&mut self, name: &str, key: &str, value: &str) -> Result<(), Refusal> {
        let keys = self.keys();
        let Some(parameter) = self.parameter(key) else {
            let near = nearest(key, keys.iter().copied());
            let hint = near.map_or("use ".to_owned(), |near| format!("did you mean `{near}`? Use "));
            let remedy = format!("{hint}{}", keys.join(", "));
            return Err(Refusal::of_value(format!("`{key}` is not a parameter of {name}"), remedy));
        };
        parameter.read(value)
    }

    /// Returns every parameter with its value, in a fixed order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let mut queue = *self;
        let keys = queue.keys().iter().copied();
        keys.filter_map(move |key| Some((key, queue.parameter(key)?.value())))
    }

    /// The word for the algorithm.
    pub(crate) const fn word(&self) -> &'static str {
        match self.spec {
            QueueSpec::DropTail => DROP_TAIL,
            QueueSpec::Codel(_) => "codel",
            QueueSpec::FqCodel(_) => "fq_codel",
            QueueSpec::Pie(_) => "pie",
            QueueSpec::DualPi2(_) => "dualpi2",
        }
    }
}

/// A parameter in its place.
enum Parameter<'q> {
    /// A time above zero.
    Span(&'q mut Duration),
    /// A time.
    Pause(&'q mut Duration),
    /// A number from one up to this.
    Count(&'q mut u32, u64),
    /// The same, in bytes.
    Bytes(&'q mut u32, u64),
    /// Whether ECN-capable flows meet marks instead of drops.
    Ecn(&'q mut Signal),
    /// Room for packets that wait.
    Room(&'q mut BufferSize),
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Span(Duration),
    Count(u32),
    Ecn(Signal),
    Room(BufferSize),
}

impl Parameter<'_> {
    fn read(self, text: &str) -> Result<(), Refusal> {
        match self {
            Self::Span(span) => *span = positive(text)?,
            Self::Pause(span) => *span = units::duration(text)?,
            Self::Count(count, most) => *count = within(text, units::count(text)?, most)?,
            Self::Bytes(count, most) => *count = within(text, units::bytes(text)?, most)?,
            Self::Room(room) => *room = BufferSize::parse(text)?,
            Self::Ecn(signal) => {
                *signal = match text {
                    "on" => Signal::Mark,
                    "off" => Signal::Drop,
                    _ => return Err(Refusal::of_value(format!("`{text}` is not a switch"), "use on or off")),
                };
            }
        }
        Ok(())
    }

    fn value(self) -> Value {
        match self {
            Self::Span(span) | Self::Pause(span) => Value::Span(*span),
            Self::Count(count, _) | Self::Bytes(count, _) => Value::Count(*count),
            Self::Ecn(signal) => Value::Ecn(*signal),
            Self::Room(room) => Value::Room(*room),
        }
    }
}

fn positive(text: &str) -> Result<Duration, Refusal> {
    let span = units::duration(text)?;
    if span.is_zero() {
        return Err(Refusal::of_value(format!("`{text}` is too short"), "use a time above zero, for example `5ms`"));
    }
    Ok(span)
}

fn within(text: &str, number: u64, most: u64) -> Result<u32, Refusal> {
    if (1..=most).contains(&number) {
        return Ok(number as u32);
    }
    Err(Refusal::of_value(format!("`{text}` is out of range"), format!("use a number from 1 to {most}")))
}

impl fmt::Display for ManagedQueue {
    /// The algorithm, and what differs from its defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        let defaults = Self::with_defaults(match self.spec {
            QueueSpec::DropTail => QueueSpec::DropTail,
            QueueSpec::Codel(_) => QueueSpec::Codel(Codel::default()),
            QueueSpec::FqCodel(_) => QueueSpec::FqCodel(FqCodel::default()),
            QueueSpec::Pie(_) => QueueSpec::Pie(Pie::default()),
            QueueSpec::DualPi2(_) => QueueSpec::DualPi2(DualPi2::default()),
        });
        for ((key, value), (_, usual)) in self.parameters().zip(defaults.parameters()) {
            if value != usual {
                write!(f, " {key}={value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(span) => span.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Ecn(Signal::Mark) => f.write_str("on"),
            Self::Ecn(Signal::Drop) => f.write_str("off"),
            Self::Room(room) => room.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("codel", "codel")]
    #[test_case(" CoDel  target=10ms ECN=on ", "codel target=10ms ecn=on")]
    #[test_case("codel/interval=0.2s/target=5ms", "codel interval=200ms"; "slashes, and a default")]
    #[test_case("fq_codel flows=64 quantum=300 limit=1bdp ecn=off", "fq_codel quantum=300 flows=64 ecn=off limit=1bdp")]
    #[test_case("pie burst=0ms tupdate=30ms limit=64kB", "pie tupdate=30ms burst=0ns limit=64kB")]
    #[test_case("dualpi2 coupling=1 step=500us target=20ms", "dualpi2 target=20ms step=500us coupling=1")]
    fn a_queue_is_shown_in_canonical_form_and_reads_back(text: &str, canonical: &str) {
        let read = ManagedQueue::parse(text).unwrap().unwrap();
        assert_eq!(read.to_string(), canonical);
        assert_eq!(ManagedQueue::parse(canonical), Ok(Some(read)));
    }

    #[test_case(""; "nothing")]
    #[test_case("none")]
    #[test_case("DropTail")]
    fn drop_tail_manages_nothing(text: &str) {
        assert_eq!(ManagedQueue::parse(text), Ok(None));
    }

    /// Linux's sch_codel, sch_fq_codel, sch_pie and sch_dualpi2; the quantum without the link layer's 14 bytes.
    #[test_case("codel", "target=5ms interval=100ms ecn=off limit=1000pkt")]
    #[test_case("fq_codel", "target=5ms interval=100ms quantum=1500 flows=1024 ecn=on limit=10240pkt")]
    #[test_case("pie", "target=15ms tupdate=15ms burst=150ms ecn=off limit=1000pkt")]
    #[test_case("dualpi2", "target=15ms tupdate=16ms step=1ms coupling=2 limit=10000pkt")]
    fn defaults_are_those_of_linux(name: &str, expected: &str) {
        let queue = ManagedQueue::parse(name).unwrap().unwrap();
        let found: Vec<String> = queue.parameters().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(found.join(" "), expected);
        assert_eq!(found.len(), queue.keys().len(), "every key has a value");
    }

    #[test_case("fq-codel", "`fq-codel` is not a known queue: did you mean `fq_codel`? Use droptail, codel")]
    #[test_case("cake", "`cake` is not a known queue: ")]
    #[test_case("droptail limit=5", "`limit=5` does not apply to droptail, which has no parameters: set `path.buffer`")]
    #[test_case("codel ecn", "`ecn` has no value: write for example `codel target=…`")]
    #[test_case("codel ecn=on ecn=off", "`ecn` is given twice: use it once")]
    #[test_case("codel ecn=maybe", "`maybe` is not a switch: use on or off")]
    #[test_case(
        "codel traget=5ms",
        "`traget` is not a parameter of codel: did you mean `target`? Use target, interval, ecn, limit"
    )]
    #[test_case("codel target=5", "`5` is not a valid duration: use ")]
    #[test_case("pie tupdate=0ms", "`0ms` is too short: use a time above zero")]
    #[test_case("pie limit=0pkt", "`0pkt` is not a valid buffer size: write for example `1bdp`")]
    #[test_case("fq_codel flows=100000", "`100000` is out of range: use a number from 1 to 65536")]
    #[test_case("fq_codel quantum=0", "`0` is out of range: use a number from 1 to ")]
    #[test_case("dualpi2 coupling=two", "`two` is not a whole number: ")]
    fn a_wrong_queue_is_refused_with_what_would_be_right(text: &str, message: &str) {
        let problem = ManagedQueue::parse(text).unwrap_err().to_string();
        assert!(problem.starts_with(message), "{problem}");
    }
}
