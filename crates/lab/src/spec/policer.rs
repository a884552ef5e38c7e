//! A policer, as experiments write it: `20Mbit/64kB`.

use crate::spec::buffer::FULL_PACKET;
use crate::spec::refusal::Refusal;
use base::Rate;
use core::fmt;
use netem::PolicerSpec;
use profiles::units;

/// A token bucket that drops what exceeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Rate at which it fills.
    pub rate: Rate,
    /// Bytes that it holds: a full packet or more.
    pub burst: u64,
}

impl Policer {
    /// Reads the text; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        let Some((rate, burst)) = text.rsplit_once('/') else {
            let remedy = "write for example `20Mbit/64kB`";
            return Err(Refusal::of_value(format!("`{text}` has no burst"), remedy));
        };
        let (rate, burst) = (units::rate(rate.trim())?, units::bytes(burst.trim())?);
        if burst < FULL_PACKET {
            let problem = format!("a bucket of {burst} bytes passes no full packet");
            return Err(Refusal::of_value(problem, "use a burst of 1500 bytes or more, for example `64kB`"));
        }
        Ok(Some(Self { rate, burst }))
    }

    /// The same for a path.
    pub const fn spec(self) -> PolicerSpec {
        PolicerSpec { rate: self.rate, burst: self.burst }
    }
}

impl fmt::Display for Policer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.rate, units::show_bytes(self.burst))
    }
}
