//! Several flows on one path, as experiments write them: `arm x2 start=0s..4s + linux rtt=100ms`.
//!
//! The flows of a group are alike. Those of the profile `arm` are the ones that the arms compare; other groups have a profile of their own,
//! the same for every arm.

use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use core::fmt;
use profiles::{Profile, units};
use sim::Direction;

/// The flows of a run that has several; none of them for a run of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The groups, in their order of arrival unless their starts say otherwise.
    pub groups: Vec<Group>,
    /// The time in which shares are measured, common to all flows.
    pub window: Window,
    /// In which orders the flows start.
    pub orders: Orders,
}

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
    /// What each sends; `None` for as much as possible until the end of the window.
    pub bytes: Option<u64>,
    /// How fast each application writes, if not as fast as it can.
    pub pace: Option<Rate>,
}

/// Whose TCP a group has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupProfile {
    /// The arm's.
    Arm,
    /// A built-in profile's, whatever the arm.
    Named(String),
}

/// When shares are measured, counted from the start of the run, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What flows read before is their early share.
    pub from: Duration,
    /// The end of the run.
    pub until: Duration,
}

/// In which orders flows start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// As they are given.
    Given,
    /// In both: a run is made twice, the second time with the starts in reverse, and counts as the mean of the two.
    Both,
}

/// Maximum number of flows of a run.
const MOST_FLOWS: u64 = 10_000;
/// Longest window.
const LONGEST: Duration = Duration::from_secs(86_400);

impl Default for Company {
    fn default() -> Self {
        let window = Window { from: Duration::from_secs(60), until: Duration::from_secs(180) };
        Self { groups: Vec::new(), window, orders: Orders::Given }
    }
}

impl Company {
    /// Returns whether the run has one flow, which this does not describe.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns whether starts are drawn.
    pub fn is_drawn(&self) -> bool {
        self.groups.iter().any(|group| group.start.0 != group.start.1)
    }

    /// Returns the profiles of flows that are not the arm's, each once.
    pub fn others(&self) -> Vec<&'static Profile> {
        let mut names: Vec<&str> = self.groups.iter().filter_map(|group| group.profile.name()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| profiles::get(name).ok()).collect()
    }

    /// Reads the groups; `none` and no text are none.
    pub(crate) fn parse_groups(text: &str) -> Result<Vec<Group>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(Vec::new());
        }
        text.split(" + ").map(Group::parse).collect()
    }

    /// Shows what [`Self::parse_groups`] reads.
    pub(crate) fn show_groups(&self) -> String {
        self.groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
    }

    /// Refuses what does not go together.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let (groups, window) = (&self.groups, self.window);
        if groups.is_empty() {
            return Ok(());
        }
        let flows: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
        if flows > MOST_FLOWS {
            let problem = format!("{flows} flows are too many for a run");
            return Err(Refusal::of_value(problem, format!("use {MOST_FLOWS} at most")));
        }
        let is_arm = |group: &&Group| group.profile == GroupProfile::Arm && group.direction == Direction::Forward;
        if !groups.iter().any(|group| is_arm(&group)) {
            return Err(Refusal::of_value(
                "no group of flows is the arm's",
                "give one the profile `arm`, and the path's direction",
            ));
        }
        if let Some(late) = groups.iter().find(|group| group.start.1 >= window.until) {
            let problem = format!("flows of `{late}` may start after the end of the window, {}", window.until);
            return Err(Refusal::of_value(problem, "let them start earlier, or set `flow.window`"));
        }
        Ok(())
    }
}

impl Window {
    /// Reads `60s..180s`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let wrong = || {
            Refusal::of_value(
                format!("`{text}` is not a window of whole seconds"),
                "write for example `60s..180s`: from when to when, a day at most",
            )
        };
        let (from, until) = span(text).filter(|_| text.contains("..")).ok_or_else(wrong)?;
        let is_whole = |time: Duration| time.as_nanos().is_multiple_of(1_000_000_000);
        (from < until && until <= LONGEST && is_whole(from) && is_whole(until))
            .then_some(Self { from, until })
            .ok_or_else(wrong)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", time(self.from), time(self.until))
    }
}

impl Orders {
    /// Reads `given` or `both`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        match text.trim().to_ascii_lowercase().as_str() {
            "given" => Ok(Self::Given),
            "both" => Ok(Self::Both),
            _ => Err(Refusal::of_value(
                format!("`{text}` is not an order of arrival"),
                "write `given`, or `both` for the mean of this one and its reverse",
            )),
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Both => "both",
        }
    }
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
            bytes: None,
            pace: None,
        }
    }

    /// Reads `linux x2 start=0s..4s rtt=100ms`.
    fn parse(text: &str) -> Result<Self, Refusal> {
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
            "start" => {
                self.start = span(value).filter(|(from, until)| from <= until).ok_or_else(|| {
                    Refusal::of_value(format!("`{value}` is not a start"), "write a time, `2s`, or two, `0s..4s`")
                })?;
            }
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
            "bytes" => self.bytes = Some(units::bytes(value)?).filter(|bytes| *bytes > 0),
            "pace" => self.pace = Some(units::rate(value)?),
            _ => {
                let problem = format!("flows have no `{key}`");
                return Err(Refusal::of_key(problem, format!("they have {}", GROUP_KEYS.join(", "))));
            }
        }
        Ok(())
    }
}

/// What a group of flows may say.
pub(crate) const GROUP_KEYS: [&str; 7] = ["profile", "count", "start", "rtt", "direction", "bytes", "pace"];

impl Default for Group {
    fn default() -> Self {
        Self::of(GroupProfile::Arm)
    }
}

const EXAMPLE: &str = "write for example `arm x2 start=0s..4s + linux rtt=100ms`";

fn profile_of(name: &str) -> Result<GroupProfile, Refusal> {
    if name == "arm" {
        return Ok(GroupProfile::Arm);
    }
    match profiles::get(name) {
        Ok(_) => Ok(GroupProfile::Named(name.to_owned())),
        Err(unknown) => Err(Refusal::of_value(format!("no profile `{name}` for flows"), unknown.remedy)),
    }
}

/// Reads `2s` or `0s..4s`.
fn span(text: &str) -> Option<(Duration, Duration)> {
    let (from, until) = text.split_once("..").unwrap_or((text, text));
    Some((units::duration(from.trim()).ok()?, units::duration(until.trim()).ok()?))
}

/// Zero in seconds, too, as such times are.
fn time(time: Duration) -> String {
    if time.is_zero() { "0s".to_owned() } else { time.to_string() }
}

impl GroupProfile {
    /// The profile's name, unless it is the arm's.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Arm => None,
            Self::Named(name) => Some(name),
        }
    }
}

impl fmt::Display for GroupProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("arm"))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x{}", self.profile, self.count)?;
        match self.start {
            (Duration::ZERO, Duration::ZERO) => {}
            (from, until) if from == until => write!(f, " start={from}")?,
            (from, until) => write!(f, " start={}..{until}", time(from))?,
        }
        if !self.own_rtt.is_zero() {
            write!(f, " rtt={}", self.own_rtt)?;
        }
        if self.direction == Direction::Back {
            f.write_str(" direction=back")?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, " bytes={}", units::show_bytes(bytes))?;
        }
        if let Some(pace) = self.pace {
            write!(f, " pace={pace}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn company(text: &str) -> Result<Company, Refusal> {
        Ok(Company { groups: Company::parse_groups(text)?, ..Company::default() })
    }

    #[test_case("arm", "arm x1"; "one")]
    #[test_case("arm X2 start=0s..4000ms + linux rtt=0.1s", "arm x2 start=0s..4s + linux x1 rtt=100ms"; "two groups")]
    #[test_case("arm start=2s + linux x3 direction=back bytes=1000kB pace=5Mbit", "arm x1 start=2s + linux x3 direction=back bytes=1MB pace=5Mbit"; "everything")]
    fn groups_are_shown_in_canonical_form_and_read_back(text: &str, canonical: &str) {
        let read = company(text).unwrap();
        assert_eq!(read.show_groups(), canonical);
        assert_eq!(company(canonical), Ok(read.clone()));
        assert_eq!(read.check(), Ok(()));
    }

    #[test_case("armada", "no profile `armada`"; "no such profile")]
    #[test_case("arm x0", "not a number of flows"; "no flow")]
    #[test_case("arm x2.5", "2.5"; "half a flow")]
    #[test_case("arm start=4s..2s", "not a start"; "backwards")]
    #[test_case("arm direction=up", "not a direction"; "direction")]
    #[test_case("arm speed=3", "flows have no `speed`"; "no such key")]
    #[test_case("arm twice", "says nothing"; "a word")]
    #[test_case("arm +  + linux", "is empty"; "an empty group")]
    fn wrong_groups_are_refused(text: &str, problem: &str) {
        let refusal = company(text).unwrap_err();
        assert!(refusal.problem.contains(problem) && !refusal.remedy.is_empty(), "{refusal}");
    }

    #[test_case("linux x2", "no group"; "without an arm")]
    #[test_case("arm direction=back", "no group"; "the arm goes back")]
    #[test_case("arm start=180s", "after the end"; "too late")]
    #[test_case("arm x6000 + linux x6000", "too many"; "too many")]
    fn what_does_not_go_together_is_refused(text: &str, problem: &str) {
        let refusal = company(text).unwrap().check().unwrap_err();
        assert!(refusal.problem.contains(problem), "{refusal}");
    }

    #[test_case("60s..180s", Some("60s..180s"))]
    #[test_case("0s .. 5000ms", Some("0s..5s"))]
    #[test_case("60s", None)]
    #[test_case("60s..60s", None)]
    #[test_case("0s..1.5s", None)]
    #[test_case("0s..2000h", None)]
    fn a_window_has_whole_seconds(text: &str, shown: Option<&str>) {
        assert_eq!(Window::parse(text).ok().map(|window| window.to_string()).as_deref(), shown);
    }
}
