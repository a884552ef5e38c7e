//! Gaps between the releases of a shared medium, as experiments write them: `1ms..5ms`, or `5ms` if they are equal.

use crate::spec::refusal::Refusal;
use base::Duration;
use core::fmt;
use netem::ReleaseSpec;
use profiles::units;

/// Each gap is drawn between the two, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The shortest.
    pub least: Duration,
    /// The longest; not zero, and not less.
    pub most: Duration,
}

impl Gaps {
    /// Reads the text; `none`, no text and zero are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (units::duration(least.trim())?, units::duration(most.trim())?);
        if least > most {
            let problem = format!("`{text}` ends before it begins");
            return Err(Refusal::of_value(problem, "write the shorter gap first, for example `1ms..5ms`"));
        }
        Ok((!most.is_zero()).then_some(Self { least, most }))
    }

    /// The same for a path.
    pub(crate) const fn spec(self) -> ReleaseSpec {
        ReleaseSpec { least: self.least, most: self.most }
    }

    /// Returns whether they are drawn.
    pub(crate) fn is_drawn(self) -> bool {
        self.least != self.most
    }
}

impl fmt::Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_drawn() { write!(f, "{}..{}", self.least, self.most) } else { self.least.fmt(f) }
    }
}
