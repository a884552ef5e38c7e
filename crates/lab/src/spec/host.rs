//! How the two hosts of a run differ from ideal ones.

use crate::spec::refusal::Refusal;
use crate::spec::remembered::Remembered;
use base::Duration;
use core::fmt;
use profiles::units;
use tcp::ValidConfig;

/// The hosts of a run: ideal unless something is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// When the sending host does not run.
    pub sender_pause: Option<PauseSpec>,
    /// When the receiving host does not run.
    pub receiver_pause: Option<PauseSpec>,
    /// What the sending host remembers of the path.
    pub remembers: Option<Remembered>,
    /// How long the first flight of data waits at the sending host.
    pub first_flight: Duration,
    /// How long the sending host's device may hold packets to deliver them together.
    pub sender_merge: Duration,
    /// The same at the receiving host; packets that continue each other are merged.
    pub receiver_merge: Duration,
    /// Whether devices of both hosts cut and merge segments of 64 KiB.
    pub offload: bool,
    /// The TCP of the receiving host, if not the arm's.
    pub receiver: Option<Receiver>,
}

/// Pauses of equal length, at times that the seed draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseSpec {
    /// Of each.
    pub length: Duration,
    /// How many; at least one.
    pub count: u32,
}

/// A receiver that is the same for all arms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// As experiments write it.
    text: String,
    /// The same as a configuration.
    pub config: ValidConfig,
}

/// Most pauses of a host.
const MOST_PAUSES: u64 = 1_000;

impl Hosts {
    /// Returns whether a device merges what it delivers.
    pub(crate) fn merges(&self) -> bool {
        self.offload || !self.sender_merge.is_zero() || !self.receiver_merge.is_zero()
    }

    /// Returns whether the seed has an effect.
    pub fn is_drawn(&self) -> bool {
        self.sender_pause.is_some() || self.receiver_pause.is_some()
    }
}

/// Returns whether a text stands for nothing.
fn is_none(text: &str) -> bool {
    matches!(text, "" | "none")
}

impl PauseSpec {
    /// Reads `50ms x3`; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim().to_ascii_lowercase();
        if is_none(&text) {
            return Ok(None);
        }
        let read = || {
            let (length, count) = text.split_once('x').unwrap_or((&text, "1"));
            let length = units::duration(length.trim()).ok().filter(|length| !length.is_zero())?;
            let count = units::count(count.trim()).ok().filter(|count| (1..=MOST_PAUSES).contains(count))?;
            Some(Some(Self { length, count: count as u32 }))
        };
        read().ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` is not a pause"),
                format!("write for example `50ms x3`: a length and how many, {MOST_PAUSES} at most"),
            )
        })
    }
}

impl fmt::Display for PauseSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x{}", self.length, self.count)
    }
}

impl Receiver {
    /// Reads `linux ack.delay=200ms`; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let mut words = text.split_whitespace();
        let Some(name) = words.next().filter(|word| !is_none(word)) else { return Ok(None) };
        let profile = profiles::get(name)
            .map_err(|unknown| Refusal::of_value(format!("no profile `{name}` for the receiver"), unknown.remedy))?;
        let leaf = |word: &str| {
            let (path, value) = word.split_once('=').ok_or_else(|| {
                Refusal::of_value(format!("`{word}` is not LEAF=VALUE"), "write for example `linux ack.delay=200ms`")
            })?;
            Ok((path.to_owned(), value.to_owned()))
        };
        let leaves = words.map(leaf).collect::<Result<Vec<_>, Refusal>>()?;
        let config = profile.with(&leaves).map_err(|error| {
            Refusal::of_value(error.to_string(), format!("`longhaul profiles {name}` shows its leaves"))
        })?;
        let leaves: String = leaves.iter().map(|(path, value)| format!(" {path}={value}")).collect();
        Ok(Some(Self { text: format!("{name}{leaves}"), config }))
    }
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("50ms", Some("50ms x1"))]
    #[test_case("0.1s X3", Some("100ms x3"))]
    #[test_case("none", None)]
    fn pauses_are_shown_in_canonical_form(text: &str, shown: Option<&str>) {
        let read = PauseSpec::parse(text).unwrap();
        assert_eq!(read.map(|pause| pause.to_string()).as_deref(), shown);
        assert_eq!(PauseSpec::parse(shown.unwrap_or("none")), Ok(read));
    }

    #[test_case("0ms"; "no time")]
    #[test_case("50ms x0"; "none at all")]
    #[test_case("50ms x1001"; "too many")]
    #[test_case("often"; "a word")]
    fn what_is_no_pause_is_refused(text: &str) {
        assert!(PauseSpec::parse(text).unwrap_err().remedy.contains("write for example"));
    }

    #[test]
    fn a_receiver_is_a_profile_with_leaves_of_its_own() {
        let receiver = Receiver::parse(" linux  ack.delay=200ms").unwrap().unwrap();
        assert_eq!(receiver.to_string(), "linux ack.delay=200ms");
        assert_ne!(&receiver.config, profiles::get("linux").unwrap().config());
        assert_eq!(Receiver::parse("none"), Ok(None));
        for (wrong, problem) in
            [("beos", "no profile"), ("linux ack.delay", "is not LEAF=VALUE"), ("linux ack.dely=1ms", "ack.dely")]
        {
            let refusal = Receiver::parse(wrong).unwrap_err();
            assert!(refusal.problem.contains(problem) && !refusal.remedy.is_empty(), "{refusal}");
        }
    }
}
