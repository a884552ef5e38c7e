//! What the sending host remembers of a path from an earlier connection: `2500kB/200ms`.
//!
//! It stands for a connection that has been there before, so that a second contact can be measured without a first one, also with a
//! memory that no longer holds.

use crate::spec::refusal::Refusal;
use base::Bytes;
use cc::SavedPath;
use core::fmt;
use profiles::units;

/// An earlier connection's window and shortest round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered(pub SavedPath);

impl Remembered {
    /// Reads `2500kB/200ms`; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        let read = || {
            let (cwnd, rtt) = text.split_once('/')?;
            let cwnd = units::bytes(cwnd.trim()).ok().and_then(|bytes| Bytes::try_from(bytes).ok())?;
            let rtt = units::duration(rtt.trim()).ok()?;
            (cwnd > 0 && !rtt.is_zero()).then_some(Some(Self(SavedPath { cwnd, rtt })))
        };
        read().ok_or_else(|| {
            Refusal::of_value(
                format!("`{text}` is not a remembered path"),
                "write for example `2500kB/200ms`: what was acknowledged in a round trip, and the shortest one",
            )
        })
    }
}

impl fmt::Display for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", units::show_bytes(self.0.cwnd.into()), self.0.rtt)
    }
}
