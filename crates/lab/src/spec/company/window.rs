//! When shares are measured, and in which orders flows start.

use super::times::{span, time};
use crate::spec::refusal::Refusal;
use base::Duration;
use core::fmt;

/// Longest window.
const LONGEST: Duration = Duration::from_secs(86_400);

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

impl Window {
    /// Returns the sum of what was counted by second of the run, in the window.
    pub(crate) fn sum(&self, bins: &[u64]) -> u64 {
        let [from, until] = [self.from, self.until].map(|time| (time.as_nanos() / 1_000_000_000) as usize);
        bins.iter().take(until).skip(from).sum()
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

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
