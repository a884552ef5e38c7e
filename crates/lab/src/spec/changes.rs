//! A schedule of a path, as experiments write it: `10s rate=5Mbit + 12s outage=300ms + 15s rtt=40ms + 20s loss=1%`.
//!
//! Each term is a time from the start of the run and what changes then. Terms are joined by `+`, because commas separate the values of a
//! sweep; a slash may stand for the space behind the time.

use crate::spec::refusal::Refusal;
use base::{Duration, Rate, Ratio};
use core::fmt;
use netem::{Course, Mtu, Stretch, TooBigReports};
use profiles::{nearest, units};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What changes when; nothing by default. In the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(Vec<Change>);

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// From the start of the run.
    pub(crate) at: Duration,
    pub(crate) what: What,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The rate of the bottleneck, from then on.
    Rate(Rate),
    /// Nothing leaves the bottleneck for so long.
    Outage(Duration),
    /// The round-trip time without queueing, from then on.
    Rtt(Duration),
    /// The probability of loss, from then on.
    Loss(Ratio),
    /// The largest packet that a router forwards, from then on, in bytes; senders of larger ones learn of it.
    Mtu(u16),
    /// The same, and no sender learns of it.
    BlackHole(u16),
}

const KEYS: [&str; 6] = ["rate", "outage", "rtt", "loss", "mtu", "blackhole"];
const EXAMPLE: &str = "write for example `10s rate=5Mbit + 12s outage=300ms`";
/// A schedule is written by hand; longer ones are traces.
const MOST: usize = 10_000;

impl Changes {
    /// Reads the text; `none` and no text mean no change.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(Self::default());
        }
        let mut changes = text.split('+').map(|term| Change::parse(term.trim())).collect::<Result<Vec<_>, _>>()?;
        if changes.len() > MOST {
            let problem = format!("a schedule of {} changes is too long", changes.len());
            return Err(Refusal::of_value(problem, format!("use at most {MOST}, or a file: `path.rate=trace:FILE`")));
        }
        changes.sort_by_key(|change| change.at);
        for (place, change) in changes.iter().enumerate() {
            let word = change.what.word();
            let earlier = changes[..place].iter().rev().find(|other| other.what.word() == word);
            let clash = earlier.is_some_and(|earlier| match earlier.what {
                What::Outage(length) => change.at < earlier.at + length,
                _ => change.at == earlier.at,
            });
            if clash {
                let problem = format!("at {} there are two changes of `{word}`", change.at);
                return Err(Refusal::of_value(
                    problem,
                    "write them one after the other, and an outage behind the end of another",
                ));
            }
        }
        Ok(Self(changes))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changes in the order of time.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// Returns whether the rate changes, by an outage or otherwise.
    pub(crate) fn of_rate(&self) -> bool {
        self.0.iter().any(|change| matches!(change.what, What::Rate(_) | What::Outage(_)))
    }

    /// Returns whether losses change.
    pub(crate) fn of_loss(&self) -> bool {
        self.0.iter().any(|change| matches!(change.what, What::Loss(_)))
    }

    /// Returns how the rate changes that is `first` at the beginning; `None` if it does not.
    pub fn rates(&self, first: Rate) -> Option<Course> {
        if !self.of_rate() {
            return None;
        }
        let mut moments = BTreeSet::from([Duration::ZERO]);
        let mut rates = BTreeMap::from([(Duration::ZERO, first)]);
        let mut outages = BTreeMap::new();
        for Change { at, what } in &self.0 {
            match what {
                What::Rate(rate) => drop(rates.insert(*at, *rate)),
                What::Outage(length) => drop(outages.insert(*at, *at + *length)),
                What::Rtt(_) | What::Loss(_) | What::Mtu(_) | What::BlackHole(_) => continue,
            }
            moments.insert(*at);
        }
        moments.extend(outages.values());
        let stretches = moments.into_iter().map(|from| {
            let is_out = outages.range(..=from).next_back().is_some_and(|(_, end)| from < *end);
            let rate = rates.range(..=from).next_back().map(|(_, rate)| *rate);
            Stretch { from, rate: rate.filter(|_| !is_out), delay: None }
        });
        Course::given(stretches.collect())
    }

    /// Returns how the delay of one direction changes, which is `one_way` of the round-trip time; `None` if it does not. `own` is the
    /// direction's delay at the beginning.
    pub fn delays(&self, own: Duration, one_way: impl Fn(Duration) -> Duration) -> Option<Course> {
        let rate = Rate::from_bits_per_sec(1);
        let mut delays = BTreeMap::from([(Duration::ZERO, own)]);
        for Change { at, what } in &self.0 {
            if let What::Rtt(rtt) = what {
                delays.insert(*at, one_way(*rtt));
            }
        }
        let changes = self.0.iter().any(|change| matches!(change.what, What::Rtt(_)));
        let stretches = delays.into_iter().map(|(from, delay)| Stretch { from, rate, delay: Some(delay) });
        if changes { Course::given(stretches.collect()) } else { None }
    }

    /// Refuses routers' reports for a path that has no routers: one in real time.
    ///
    /// # Errors
    /// Names the word, and the remedy.
    pub fn without_reports(&self) -> Result<(), Refusal> {
        let first = self.0.iter().find(|change| matches!(change.what, What::Mtu(_)));
        first.map_or(Ok(()), |Change { at, .. }| {
            let problem = format!("`mtu` at {at}: routers that report it exist in the simulator only");
            Err(Refusal::of_value(problem, "write `blackhole` for one that reports nothing"))
        })
    }

    /// Returns from when on which size of packets is the largest; `None` if every packet passes.
    pub fn mtus(&self) -> Option<Arc<[Mtu]>> {
        let mtus = self.0.iter().filter_map(|Change { at, what }| match what {
            What::Mtu(bytes) => Some(Mtu { from: *at, bytes: *bytes, reports: TooBigReports::Sent }),
            What::BlackHole(bytes) => Some(Mtu { from: *at, bytes: *bytes, reports: TooBigReports::Missing }),
            _ => None,
        });
        let mtus: Vec<_> = mtus.collect();
        (!mtus.is_empty()).then(|| mtus.into())
    }

    /// Returns from when on which probability of loss holds; `None` if it does not change.
    pub fn losses(&self) -> Option<Arc<[(Duration, Ratio)]>> {
        let losses = self.0.iter().filter_map(|change| match change.what {
            What::Loss(loss) => Some((change.at, loss)),
            _ => None,
        });
        let losses: Vec<_> = losses.collect();
        (!losses.is_empty()).then(|| losses.into())
    }
}

impl Change {
    fn parse(term: &str) -> Result<Self, Refusal> {
        let Some((at, what)) = term.split_once(|c: char| c.is_whitespace() || c == '/') else {
            return Err(Refusal::of_value(format!("`{term}` does not say what changes when"), EXAMPLE));
        };
        let at = units::duration(at)?;
        let Some((key, value)) = what.split_once('=') else {
            return Err(Refusal::of_value(format!("`{}` has no value", what.trim()), EXAMPLE));
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let what = match key.as_str() {
            "rate" => What::Rate(units::rate(value)?),
            "outage" => What::Outage(positive(value)?),
            "rtt" => What::Rtt(positive(value)?),
            "loss" => What::Loss(units::ratio(value)?),
            "mtu" => What::Mtu(packet(value)?),
            "blackhole" => What::BlackHole(packet(value)?),
            _ => {
                let hint = nearest(&key, KEYS).map_or("use ".to_owned(), |near| format!("did you mean `{near}`? Use "));
                let remedy = format!("{hint}{}", KEYS.join(", "));
                return Err(Refusal::of_value(format!("`{key}` is nothing that changes"), remedy));
            }
        };
        Ok(Self { at, what })
    }
}

impl What {
    const fn word(&self) -> &'static str {
        match self {
            Self::Rate(_) => "rate",
            Self::Outage(_) => "outage",
            Self::Rtt(_) => "rtt",
            Self::Loss(_) => "loss",
            Self::Mtu(_) => "mtu",
            Self::BlackHole(_) => "blackhole",
        }
    }
}

/// Reads the largest size of a packet: at least what every IPv4 host accepts, at most what our devices send.
fn packet(text: &str) -> Result<u16, Refusal> {
    let bytes = units::bytes(text).ok().and_then(|bytes| u16::try_from(bytes).ok());
    bytes.filter(|bytes| (576..=1_500).contains(bytes)).ok_or_else(|| {
        Refusal::of_value(
            format!("`{text}` is not the largest packet of a path"),
            "write 576 to 1500 bytes, for example `1400`",
        )
    })
}

fn positive(text: &str) -> Result<Duration, Refusal> {
    let span = units::duration(text)?;
    if span.is_zero() {
        return Err(Refusal::of_value(format!("`{text}` is too short"), "use a time above zero, for example `300ms`"));
    }
    Ok(span)
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Change { at, what }) in self.0.iter().enumerate() {
            write!(f, "{}{at} {}=", if place == 0 { "" } else { " + " }, what.word())?;
            match what {
                What::Rate(rate) => rate.fmt(f)?,
                What::Outage(span) | What::Rtt(span) => span.fmt(f)?,
                What::Loss(loss) => f.write_str(&units::show_percent(*loss))?,
                What::Mtu(bytes) | What::BlackHole(bytes) => bytes.fmt(f)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("10s rate=5Mbit", "10s rate=5Mbit")]
    #[test_case(" 12s  OUTAGE = 0.3s+10s/rate=5000kbit ", "10s rate=5Mbit + 12s outage=300ms"; "in the order of time")]
    #[test_case("15s rtt=40ms + 15s loss=1/300", "15s rtt=40ms + 15s loss=1/300"; "two things at once")]
    #[test_case("2s MTU=1400 + 3s blackhole=576B", "2s mtu=1400 + 3s blackhole=576"; "smaller packets")]
    #[test_case("1s outage=1s + 2s outage=1s", "1s outage=1s + 2s outage=1s"; "an outage right behind another")]
    fn a_schedule_is_shown_in_canonical_form_and_reads_back(text: &str, canonical: &str) {
        let read = Changes::parse(text).unwrap();
        assert_eq!(read.to_string(), canonical);
        assert_eq!(Changes::parse(canonical), Ok(read));
    }

    #[test_case("10s", "`10s` does not say what changes when: write for example `10s rate=")]
    #[test_case("10s rate", "`rate` has no value: write for example")]
    #[test_case("10 rate=5Mbit", "`10` is not a valid duration: use")]
    #[test_case("10s rate=fast", "`fast` is not a valid rate: use")]
    #[test_case("10s mtu=9000", "`9000` is not the largest packet of a path: write 576 to 1500 bytes")]
    #[test_case("10s rtt=0ms", "`0ms` is too short: use a time above zero")]
    #[test_case(
        "10s outages=5ms",
        "`outages` is nothing that changes: did you mean `outage`? Use rate, outage, rtt, loss, mtu, blackhole"
    )]
    #[test_case("1s rate=1Mbit + 1s rate=2Mbit", "at 1s there are two changes of `rate`: write them one after")]
    #[test_case("1s outage=2s + 2s outage=1s", "at 2s there are two changes of `outage`: write them one after")]
    fn a_wrong_schedule_is_refused_with_what_would_be_right(text: &str, message: &str) {
        let problem = Changes::parse(text).unwrap_err().to_string();
        assert!(problem.starts_with(message), "{problem}");
    }

    #[test]
    fn an_outage_interrupts_whatever_the_rate_is() {
        let mbit = |mbit: u64| Rate::from_bits_per_sec(mbit * 1_000_000);
        let changes = Changes::parse("1s rate=5Mbit + 2s outage=2s + 3s rate=7Mbit + 9s loss=1%").unwrap();
        let course = changes.rates(mbit(10).unwrap()).unwrap();
        let found: Vec<_> = course.stretches().map(|stretch| (stretch.from.as_millis(), stretch.rate)).collect();
        assert_eq!(found, [(0, mbit(10)), (1_000, mbit(5)), (2_000, None), (3_000, None), (4_000, mbit(7))]);
        assert_eq!(Changes::parse("9s loss=1%").unwrap().rates(mbit(10).unwrap()), None);
    }
}
