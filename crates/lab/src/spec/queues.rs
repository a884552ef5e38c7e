//! Packets that pass through several queues, as experiments write them: `4x8/2ms`.
//!
//! These are four queues in turn, eight packets each, and the slowest one delays them 2 ms more than the fastest.

use crate::spec::refusal::Refusal;
use base::Duration;
use core::fmt;
use netem::ReorderSpec;
use profiles::units;

/// Several queues, some slower than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// How many; two or more.
    pub count: u32,
    /// Successive packets that share one; at least one.
    pub burst: u32,
    /// Additional delay of the last one over the first; those between them are evenly spaced.
    pub skew: Duration,
}

/// Maximum number of queues and longest burst.
const MOST: u64 = 100_000;

impl Queues {
    /// Reads the text; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim().to_ascii_lowercase();
        if matches!(text.as_str(), "" | "none") {
            return Ok(None);
        }
        Self::read(&text).map(Some).ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` is not a valid set of queues"),
                "write for example `4x8/2ms` (four in turn, eight packets each, the slowest 2 ms behind the fastest)",
            )
        })
    }

    fn read(text: &str) -> Option<Self> {
        let (numbers, skew) = text.split_once('/')?;
        let (count, burst) = numbers.split_once('x')?;
        let number = |text: &str, least: u64| {
            let number = units::count(text.trim()).ok()?;
            (least..=MOST).contains(&number).then_some(number as u32)
        };
        Some(Self { count: number(count, 2)?, burst: number(burst, 1)?, skew: units::duration(skew.trim()).ok()? })
    }

    /// The same for a path.
    pub(crate) const fn spec(self) -> ReorderSpec {
        ReorderSpec::Queues { queues: self.count, burst: self.burst, skew: self.skew }
    }
}

impl fmt::Display for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}/{}", self.count, self.burst, self.skew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("4x8/2ms", "4x8/2ms")]
    #[test_case(" 2X64/0.002s ", "2x64/2ms")]
    #[test_case("2x1/0ms", "2x1/0ns")]
    fn queues_are_shown_in_canonical_form_and_read_back(text: &str, canonical: &str) {
        let read = Queues::parse(text).unwrap().unwrap();
        assert_eq!(read.to_string(), canonical);
        assert_eq!(Queues::parse(canonical), Ok(Some(read)));
    }

    #[test_case(""; "nothing")]
    #[test_case("none"; "the word")]
    fn no_queues_are_none(text: &str) {
        assert_eq!(Queues::parse(text), Ok(None));
    }

    #[test_case("4x8"; "no time")]
    #[test_case("4/2ms"; "no burst")]
    #[test_case("1x8/2ms"; "a single queue")]
    #[test_case("4x0/2ms"; "an empty burst")]
    #[test_case("4x8/2"; "no unit")]
    #[test_case("4x200000/2ms"; "an absurd burst")]
    #[test_case("-4x8/2ms"; "negative")]
    fn what_is_not_a_set_of_queues_is_refused_with_what_would_be_right(text: &str) {
        let problem = Queues::parse(text).unwrap_err().to_string();
        assert!(problem.contains(": write for example `4x8/2ms`"), "{problem}");
    }
}
