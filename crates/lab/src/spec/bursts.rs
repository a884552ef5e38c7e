//! Losses in bursts, as experiments write them: `0.5%/4`.
//!
//! Half a per cent of the packets are lost in the long run, four in a row in the mean.

use crate::spec::refusal::Refusal;
use base::Ratio;
use core::fmt;
use netem::Chain;
use profiles::units::{self, Fraction};

/// Losses in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Packets that are lost in the long run, of all.
    pub loss: Ratio,
    /// Packets of a burst in the mean; at least one.
    pub length: Fraction,
    /// The chain that loses so.
    pub chain: Chain,
}

impl Bursts {
    /// Reads the text; `none` and no text are none.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        const REMEDY: &str = "write for example `0.5%/4` (half a per cent of the packets, four in a row in the mean)";
        let Some((loss, length)) = text.rsplit_once('/') else {
            return Err(Refusal::of_value(format!("`{text}` has no length of a burst"), REMEDY));
        };
        let loss = units::ratio(loss)?;
        let Some(length) = Fraction::parse(length.trim()) else {
            return Err(Refusal::of_value(format!("`{}` is not a number of packets", length.trim()), REMEDY));
        };
        if loss.is_zero() {
            return Ok(None);
        }
        let Some(chain) = Chain::of_bursts(loss, length.num, length.den) else {
            let problem = format!("no bursts of {length} packets in the mean lose {}", units::show_percent(loss));
            return Err(Refusal::of_value(problem, "use a burst of one packet or more, and a smaller share"));
        };
        Ok(Some(Self { loss, length, chain }))
    }
}

impl fmt::Display for Bursts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", units::show_percent(self.loss), self.length)
    }
}
