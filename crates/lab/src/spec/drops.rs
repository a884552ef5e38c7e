//! Losses by position in the stream, as experiments write them: `1MB x2 + last 3`.
//!
//! A term is a place and the number of transmissions lost there, one by default: the segment with the byte at a position, at a
//! position drawn by the seed (`1MB..2MB`, the end not included), or each of the last segments (`last 3`).
//! Terms are joined by `+`, because commas separate the values of a sweep.

use crate::spec::flow::Flow;
use crate::spec::refusal::Refusal;
use core::fmt;
use core::ops::Range;
use netem::{Place, StreamLoss};
use profiles::units;

/// What a path loses by position; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops(Vec<Drop>);

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Drop {
    whereabouts: Whereabouts,
    times: u32,
}

/// Where something is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// One byte of this range, drawn by the seed; not empty.
    Within(Range<u64>),
    /// So many segments at the end.
    Last(u32),
}

/// Maximum transmissions of a segment, and maximum segments: beyond that the path is dead.
const MOST: u32 = 1_000;

impl Drops {
    /// Parses the text; `none` and an empty text mean no losses.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim().to_ascii_lowercase();
        if matches!(text.as_str(), "" | "none") {
            return Ok(Self::default());
        }
        let terms = text.split('+').map(|term| Drop::parse(term.trim()));
        let drops: Option<Vec<Drop>> = terms.collect();
        drops.map(Self).ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` names no segments"),
                "write for example `1MB x2` (what carries that byte loses two transmissions), `1MB..2MB x2` (drawn by the seed) \
                 or `last 3`, joined by `+`",
            )
        })
    }

    /// Whether nothing is lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The places, and how many transmissions are lost at each.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Whereabouts, u32)> {
        self.0.iter().map(|drop| (&drop.whereabouts, drop.times))
    }

    /// Returns whether the seed draws a place.
    pub fn is_drawn(&self) -> bool {
        let drawn = |drop: &Drop| match &drop.whereabouts {
            Whereabouts::Within(range) => range.end - range.start > 1,
            Whereabouts::Last(_) => false,
        };
        self.0.iter().any(drawn)
    }

    /// Returns the losses of this flow in the path's form.
    ///
    /// # Errors
    /// If the flow has no such place.
    pub(crate) fn of(&self, flow: Flow) -> Result<Vec<StreamLoss>, Refusal> {
        let stream = match flow {
            Flow::Bytes(bytes) => bytes,
            Flow::Seconds(_) if self.is_empty() => return Ok(Vec::new()),
            Flow::Seconds(_) => {
                return Err(Refusal::of_value("it is not known where a timed flow ends", "give it `flow.bytes`"));
            }
        };
        let place = |drop: &Drop| match &drop.whereabouts {
            Whereabouts::Within(range) if range.end > stream => {
                let size = units::show_bytes(stream);
                let problem = format!("a flow of {size} does not reach `{drop}`");
                Err(Refusal::of_value(problem, "name a place before its end"))
            }
            Whereabouts::Within(range) => Ok(Place::Within(range.clone())),
            Whereabouts::Last(segments) => Ok(Place::Last { segments: *segments, stream }),
        };
        self.0.iter().map(|drop| Ok(StreamLoss { place: place(drop)?, times: drop.times })).collect()
    }
}

impl Drop {
    fn parse(term: &str) -> Option<Self> {
        let (place, times) = match term.rsplit_once('x') {
            Some((place, times)) => (place.trim_end(), number(times)?),
            None => (term, 1),
        };
        Some(Self { whereabouts: Whereabouts::parse(place)?, times })
    }
}

impl Whereabouts {
    fn parse(text: &str) -> Option<Self> {
        if let Some(segments) = text.strip_prefix("last") {
            return number(segments).map(Self::Last);
        }
        let range = match text.split_once("..") {
            Some((start, end)) => units::bytes(start).ok()?..units::bytes(end).ok()?,
            None => {
                let byte = units::bytes(text).ok()?;
                byte..byte.checked_add(1)?
            }
        };
        (!range.is_empty()).then_some(Self::Within(range))
    }
}

/// A whole number between one and [`MOST`].
fn number(text: &str) -> Option<u32> {
    let number = units::count(text).ok()?;
    u32::try_from(number).ok().filter(|number| (1..=MOST).contains(number))
}

impl fmt::Display for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, drop) in self.0.iter().enumerate() {
            let joint = if index == 0 { "" } else { " + " };
            write!(f, "{joint}{drop}")?;
        }
        if self.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.whereabouts {
            Whereabouts::Last(segments) => write!(f, "last {segments}")?,
            Whereabouts::Within(range) => {
                f.write_str(&units::show_bytes(range.start))?;
                if range.end - range.start > 1 {
                    write!(f, "..{}", units::show_bytes(range.end))?;
                }
            }
        }
        if self.times == 1 { Ok(()) } else { write!(f, " x{}", self.times) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Duration;
    use test_case::test_case;

    #[test_case("none", "none")]
    #[test_case("", "none"; "nothing")]
    #[test_case("1MB x2", "1MB x2")]
    #[test_case("1000kBx2", "1MB x2"; "without a space")]
    #[test_case("1mb", "1MB")]
    #[test_case("0", "0B")]
    #[test_case("0.5MB .. 2MB X3", "500kB..2MB x3"; "a range")]
    #[test_case("7..8", "7B"; "a range of one")]
    #[test_case("LAST 3", "last 3")]
    #[test_case("last1x2", "last 1 x2")]
    #[test_case("1MB x2+last 3", "1MB x2 + last 3")]
    fn what_is_written_is_shown_in_canonical_form_and_reads_back(text: &str, canonical: &str) {
        let drops = Drops::parse(text).unwrap();
        assert_eq!(drops.to_string(), canonical);
        assert_eq!(Drops::parse(canonical), Ok(drops));
    }

    #[test_case("last")]
    #[test_case("last 0")]
    #[test_case("last -1")]
    #[test_case("last 1001")]
    #[test_case("1MB x0")]
    #[test_case("1MB x")]
    #[test_case("2MB..1MB")]
    #[test_case("1MB..1MB")]
    #[test_case("1MB + ")]
    #[test_case("10%")]
    #[test_case("first 3")]
    fn what_names_no_segment_is_refused_with_what_would_be_right(text: &str) {
        let problem = Drops::parse(text).unwrap_err().to_string();
        assert!(problem.contains("names no segments: write for example `1MB x2`"), "{problem}");
    }

    #[test]
    fn places_are_those_of_the_flow() {
        let drops = Drops::parse("10B..20B x2 + last 3").unwrap();
        let expected = [
            StreamLoss { place: Place::Within(10..20), times: 2 },
            StreamLoss { place: Place::Last { segments: 3, stream: 20 }, times: 1 },
        ];
        assert_eq!(drops.of(Flow::Bytes(20)), Ok(expected.to_vec()));
        let problem = Refusal::of_value("a flow of 19B does not reach `10B..20B x2`", "name a place before its end");
        assert_eq!(drops.of(Flow::Bytes(19)), Err(problem));
        let timed = Flow::Seconds(Duration::from_secs(1));
        assert_eq!(Drops::default().of(timed), Ok(Vec::new()));
        assert!(drops.of(timed).unwrap_err().remedy.contains("give it `flow.bytes`"));
    }
}
