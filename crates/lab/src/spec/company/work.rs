//! What the applications of a group do, from its words; and which words do not go together.

use super::arrivals::Arrivals;
use super::group::{App, Group, GroupProfile};
use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use sim::Sizes;

/// A time is drawn between the two.
type Times = (Duration, Duration);

/// What the applications of a group do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Each sends as much as it can.
    Bulk,
    /// Each sends this much.
    Bytes(u64),
    /// Each sends this much again and again.
    Repeated { bytes: u64, every: Duration },
    /// Flows arrive, and each sends what it draws.
    Arrivals(Arrivals, Sizes),
    /// Each asks for answers, and thinks in between.
    Requests { sizes: Sizes, think: Times },
    /// Each sends for a while, and is silent for a while.
    OnOff { on: Times, off: Times },
    /// Each sends datagrams of this size at this rate.
    Datagrams { rate: Rate, size: u32 },
    /// Each pings.
    Pings { every: Duration },
}

/// Bytes of a datagram's packet, if nothing else is said.
const DATAGRAM: u32 = 1_200;

/// A word that a group may have, and whether it has it.
type Word = (&'static str, bool);

impl Work {
    /// What `group` does.
    pub(crate) fn of(group: &Group) -> Result<Self, Refusal> {
        let work = Self::meant(group)?;
        let taken: &[&str] = match work {
            Self::Bulk => &["pace"],
            Self::Bytes(_) => &["bytes", "pace"],
            Self::Repeated { .. } => &["bytes", "every", "pace"],
            Self::Arrivals(..) => &["arrivals", "sizes", "pace"],
            Self::Requests { .. } => &["app", "sizes", "think"],
            Self::OnOff { .. } => &["app", "on", "off", "pace"],
            Self::Datagrams { .. } => &["pace", "size"],
            Self::Pings { .. } => &["every"],
        };
        let words = words(group).into_iter().filter(|(_, is_there)| *is_there).map(|(word, _)| word);
        match words.into_iter().find(|word| !taken.contains(word)) {
            None => Ok(work),
            Some(word) => {
                let problem = format!("`{group}`: `{word}` says nothing about {}", work.name());
                Err(Refusal::of_value(problem, format!("leave it out; beside it there are {}", taken.join(", "))))
            }
        }
    }

    /// Finds what is meant by the most telling word.
    fn meant(group: &Group) -> Result<Self, Refusal> {
        let lacks = |what: &str, example: &str| {
            Refusal::of_value(format!("`{group}`: {what}"), format!("add for example `{example}`"))
        };
        match group.profile {
            GroupProfile::Datagrams => {
                let rate = group.pace.ok_or_else(|| lacks("datagrams have a rate", "pace=5Mbit"))?;
                return Ok(Self::Datagrams { rate, size: group.size.unwrap_or(DATAGRAM) });
            }
            GroupProfile::Ping => {
                let every = group.every.filter(|every| !every.is_zero());
                return Ok(Self::Pings { every: every.ok_or_else(|| lacks("pings have a distance", "every=200ms"))? });
            }
            GroupProfile::Arm | GroupProfile::Named(_) | GroupProfile::Kernel(_) => {}
        }
        let sizes = || group.sizes.ok_or_else(|| lacks("what is drawn has no sizes", "sizes=12kB"));
        if let Some(App::Request) = group.app {
            let think = group.think.unwrap_or((Duration::ZERO, Duration::ZERO));
            return Ok(Self::Requests { sizes: sizes()?, think });
        }
        if let Some(App::OnOff) = group.app {
            let is_long = |(from, _): &Times| !from.is_zero();
            let times = group.on.filter(is_long).zip(group.off.filter(is_long));
            let (on, off) =
                times.ok_or_else(|| lacks("bursts have a length and a distance", "on=1s..5s off=1s..5s"))?;
            return Ok(Self::OnOff { on, off });
        }
        if let Some(arrivals) = group.arrivals {
            return Ok(Self::Arrivals(arrivals, sizes()?));
        }
        if group.sizes.is_some() {
            return Err(lacks("sizes need something that draws them", "arrivals=10/s` or `app=request"));
        }
        if let Some(every) = group.every {
            let bytes = group.bytes.filter(|_| !every.is_zero());
            let bytes =
                bytes.ok_or_else(|| lacks("what is repeated has a size and a distance", "bytes=4MB every=5s"))?;
            return Ok(Self::Repeated { bytes, every });
        }
        Ok(group.bytes.map_or(Self::Bulk, Self::Bytes))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bulk => "flows that send as much as they can",
            Self::Bytes(_) => "flows with a size",
            Self::Repeated { .. } => "what is repeated",
            Self::Arrivals(..) => "flows that arrive",
            Self::Requests { .. } => "requests",
            Self::OnOff { .. } => "bursts",
            Self::Datagrams { .. } => "datagrams",
            Self::Pings { .. } => "pings",
        }
    }

    /// Returns whether the seed decides anything about it.
    pub(crate) fn is_drawn(self) -> bool {
        let differ = |(from, until): Times| from != until;
        match self {
            Self::Arrivals(..) => true,
            Self::Requests { sizes, think } => sizes.is_drawn() || differ(think),
            Self::OnOff { on, off } => differ(on) || differ(off),
            Self::Bulk | Self::Bytes(_) | Self::Repeated { .. } | Self::Datagrams { .. } | Self::Pings { .. } => false,
        }
    }

    /// The number of flows that a run may have of one flow of the group that acts for this long: of arrivals, more than any run in a
    /// million has.
    pub(crate) fn flows_in(self, time: Duration) -> u64 {
        match self {
            Self::Arrivals(arrivals, _) => {
                let expected = arrivals.expected_in(time);
                // Five deviations of a Poisson distribution, and some for small means.
                expected.saturating_add(5 * expected.isqrt() + 10)
            }
            _ => 1,
        }
    }
}

/// The words that only some applications have.
fn words(group: &Group) -> [Word; 10] {
    [
        ("app", group.app.is_some()),
        ("arrivals", group.arrivals.is_some()),
        ("bytes", group.bytes.is_some()),
        ("every", group.every.is_some()),
        ("off", group.off.is_some()),
        ("on", group.on.is_some()),
        ("pace", group.pace.is_some()),
        ("size", group.size.is_some()),
        ("sizes", group.sizes.is_some()),
        ("think", group.think.is_some()),
    ]
}
