//! Flows that are alike: `linux x2 start=0s..4s rtt=100ms`.

use super::arrivals::Arrivals;
use super::sizes;
use super::times::{span, time};
use crate::spec::kind::KernelCc;
use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use core::fmt;
use profiles::units;
use sim::{Direction, Hops, Sizes};

/// Maximum number of flows of a run.
pub(super) const MOST_FLOWS: u64 = 10_000;

/// Flows that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Who sends and receives.
    pub profile: GroupProfile,
    /// How many; at least one.
    pub count: u32,
    /// When they start: each flow draws a time between the two, which may be equal.
    pub start: (Duration, Duration),
    /// Round-trip time that is theirs alone, beside the path's.
    pub own_rtt: Duration,
    /// Which way their data goes.
    pub direction: Direction,
    /// Which bottlenecks they cross, where there are two.
    pub hops: Hops,
    /// What each sends; `None` for as much as possible until the end of the window.
    pub bytes: Option<u64>,
    /// How fast each application writes, if not as fast as it can.
    pub pace: Option<Rate>,
    /// When they stop and close, counted from the start of the run; `None` for the end of the window.
    pub stop: Option<Duration>,
    /// How often a flow arrives, if there is not one but a process of them.
    pub arrivals: Option<Arrivals>,
    /// How large transfers are that the application draws.
    pub sizes: Option<Sizes>,
    /// Who the applications are, if they do not just send.
    pub app: Option<App>,
    /// How long a client thinks before it asks again: it draws a time between the two.
    pub think: Option<(Duration, Duration)>,
    /// How long a burst lasts: each draws a time between the two.
    pub on: Option<(Duration, Duration)>,
    /// How long the silence after it lasts.
    pub off: Option<(Duration, Duration)>,
    /// How often something is sent again.
    pub every: Option<Duration>,
    /// Bytes of each datagram's IP packet.
    pub size: Option<u32>,
}

/// An application that does more than send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// A client asks, a server answers, over one connection.
    Request,
    /// It sends in bursts.
    OnOff,
}

/// Whose TCP a group has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupProfile {
    /// The arm's.
    Arm,
    /// A built-in profile's, whatever the arm.
    Named(String),
    /// The kernel's; in real time only.
    Kernel(KernelCc),
    /// None: datagrams at a constant rate.
    Datagrams,
    /// None: pings.
    Ping,
}

impl Group {
    /// A group of one flow, with the defaults of what is not written.
    fn of(profile: GroupProfile) -> Self {
        Self {
            profile,
            count: 1,
            start: (Duration::ZERO, Duration::ZERO),
            own_rtt: Duration::ZERO,
            direction: Direction::Forward,
            hops: Hops::Both,
            bytes: None,
            pace: None,
            stop: None,
            arrivals: None,
            sizes: None,
            app: None,
            think: None,
            on: None,
            off: None,
            every: None,
            size: None,
        }
    }

    /// Returns whether these are the flows that the arms compare.
    pub fn is_arm(&self) -> bool {
        self.profile == GroupProfile::Arm
    }

    /// Returns whether they are of a TCP and send in the path's direction.
    pub(crate) fn sends_along(&self) -> bool {
        let is_tcp = !matches!(self.profile, GroupProfile::Datagrams | GroupProfile::Ping);
        is_tcp && self.direction == Direction::Forward
    }

    /// Reads `linux x2 start=0s..4s rtt=100ms`.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut words = text.split_whitespace();
        let profile = words.next().ok_or_else(|| Refusal::of_value("a group of flows is empty", EXAMPLE))?;
        let mut group = Self::of(profile_of(profile)?);
        for word in words {
            match word.split_once('=') {
                Some((key, value)) => group.set(key, value)?,
                None if word.starts_with(['x', 'X']) => group.set("count", &word[1..])?,
                None => return Err(Refusal::of_value(format!("`{word}` says nothing about flows"), EXAMPLE)),
            }
        }
        Ok(group)
    }

    /// Sets one property, by the name that it has in a file.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        match key {
            "profile" => self.profile = profile_of(value)?,
            "count" => {
                let count = units::count(value)?;
                let count = u32::try_from(count).ok().filter(|count| (1..=MOST_FLOWS).contains(&u64::from(*count)));
                self.count = count.ok_or_else(|| {
                    Refusal::of_value(format!("`{value}` is not a number of flows"), format!("write 1 to {MOST_FLOWS}"))
                })?;
            }
            "start" => self.start = two_times(value, "a start")?,
            "rtt" => self.own_rtt = units::duration(value)?,
            "direction" => {
                self.direction = match value {
                    "forward" => Direction::Forward,
                    "back" => Direction::Back,
                    _ => {
                        let problem = format!("`{value}` is not a direction");
                        return Err(Refusal::of_value(problem, "write `forward` or `back`"));
                    }
                }
            }
            "hops" => {
                let hops = [Hops::Both, Hops::First, Hops::Second].into_iter().find(|hops| hops_word(*hops) == value);
                self.hops = hops.ok_or_else(|| {
                    let problem = format!("`{value}` does not say which bottlenecks a flow crosses");
                    Refusal::of_value(problem, "write `both`, `first` or `second`")
                })?;
            }
            "bytes" => self.bytes = Some(units::bytes(value)?).filter(|bytes| *bytes > 0),
            "pace" => self.pace = Some(units::rate(value)?),
            "stop" => self.stop = Some(units::duration(value)?),
            "arrivals" => self.arrivals = Some(Arrivals::parse(value)?),
            "sizes" => self.sizes = Some(sizes::parse(value)?),
            _ => return self.set_app(key, value),
        }
        Ok(())
    }

    /// Sets what only some applications have.
    fn set_app(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        match key {
            "app" => {
                let app = App::ALL.into_iter().find(|app| app.word() == value);
                self.app = Some(app.ok_or_else(|| {
                    let problem = format!("`{value}` is not an application");
                    Refusal::of_value(problem, "write `request` or `onoff`, or leave it out")
                })?);
            }
            "think" => self.think = Some(two_times(value, "a time to think")?),
            "on" => self.on = Some(two_times(value, "a length")?),
            "off" => self.off = Some(two_times(value, "a length")?),
            "every" => self.every = Some(units::duration(value)?),
            "size" => {
                let size = units::bytes(value).ok().and_then(|size| u32::try_from(size).ok());
                self.size = Some(size.filter(|size| (64..=1_500).contains(size)).ok_or_else(|| {
                    Refusal::of_value(format!("`{value}` is not the size of a datagram"), "write 64 to 1500 bytes")
                })?);
            }
            _ => {
                let problem = format!("flows have no `{key}`");
                return Err(Refusal::of_key(problem, format!("they have {}", GROUP_KEYS.join(", "))));
            }
        }
        Ok(())
    }
}

/// The word for the bottlenecks that a flow crosses.
pub(crate) const fn hops_word(hops: Hops) -> &'static str {
    match hops {
        Hops::Both => "both",
        Hops::First => "first",
        Hops::Second => "second",
    }
}

impl App {
    const ALL: [Self; 2] = [Self::Request, Self::OnOff];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::OnOff => "onoff",
        }
    }
}

/// Reads one time, or two of which the second is not earlier.
fn two_times(text: &str, what: &str) -> Result<(Duration, Duration), Refusal> {
    span(text)
        .filter(|(from, until)| from <= until)
        .ok_or_else(|| Refusal::of_value(format!("`{text}` is not {what}"), "write a time, `2s`, or two, `0s..4s`"))
}

fn show_times((from, until): (Duration, Duration)) -> String {
    if from == until { time(from) } else { format!("{}..{}", time(from), time(until)) }
}

/// What a group of flows may say.
pub(crate) const GROUP_KEYS: [&str; 17] = [
    "profile",
    "count",
    "start",
    "rtt",
    "direction",
    "hops",
    "bytes",
    "pace",
    "stop",
    "arrivals",
    "sizes",
    "app",
    "think",
    "on",
    "off",
    "every",
    "size",
];

impl Default for Group {
    fn default() -> Self {
        Self::of(GroupProfile::Arm)
    }
}

const EXAMPLE: &str = "write for example `arm x2 start=0s..4s + linux rtt=100ms`";

fn profile_of(name: &str) -> Result<GroupProfile, Refusal> {
    if let Some(known) =
        [GroupProfile::Arm, GroupProfile::Datagrams, GroupProfile::Ping].into_iter().find(|own| own.word() == name)
    {
        return Ok(known);
    }
    if let Some(found) = KernelCc::named(name) {
        return found.map(GroupProfile::Kernel);
    }
    match profiles::get(name) {
        Ok(_) => Ok(GroupProfile::Named(name.to_owned())),
        Err(unknown) => Err(Refusal::of_value(format!("no profile `{name}` for flows"), unknown.remedy)),
    }
}

impl GroupProfile {
    /// The profile's name, if it is one and not the arm's.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Arm | Self::Kernel(_) | Self::Datagrams | Self::Ping => None,
        }
    }

    /// The word for it.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Arm => "arm",
            Self::Named(name) => name,
            Self::Kernel(cc) => cc.word(),
            Self::Datagrams => "datagrams",
            Self::Ping => "ping",
        }
    }
}

impl fmt::Display for GroupProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x{}", self.profile, self.count)?;
        if self.start != (Duration::ZERO, Duration::ZERO) {
            write!(f, " start={}", show_times(self.start))?;
        }
        if !self.own_rtt.is_zero() {
            write!(f, " rtt={}", self.own_rtt)?;
        }
        if self.direction == Direction::Back {
            f.write_str(" direction=back")?;
        }
        if self.hops != Hops::Both {
            write!(f, " hops={}", hops_word(self.hops))?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, " bytes={}", units::show_bytes(bytes))?;
        }
        if let Some(pace) = self.pace {
            write!(f, " pace={pace}")?;
        }
        if let Some(stop) = self.stop {
            write!(f, " stop={stop}")?;
        }
        if let Some(arrivals) = self.arrivals {
            write!(f, " arrivals={arrivals}")?;
        }
        if let Some(sizes) = self.sizes {
            write!(f, " sizes={}", sizes::show(sizes))?;
        }
        if let Some(app) = self.app {
            write!(f, " app={}", app.word())?;
        }
        for (word, times) in [("think", self.think), ("on", self.on), ("off", self.off)] {
            if let Some(times) = times {
                write!(f, " {word}={}", show_times(times))?;
            }
        }
        if let Some(every) = self.every {
            write!(f, " every={every}")?;
        }
        if let Some(size) = self.size {
            write!(f, " size={size}")?;
        }
        Ok(())
    }
}
