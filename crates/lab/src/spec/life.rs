//! What makes a path more than a pipe: copies, bursts of losses, a policer, release in groups, the way back.

use crate::spec::back::Back;
use crate::spec::bursts::Bursts;
use crate::spec::gaps::Gaps;
use crate::spec::policer::Policer;
use crate::spec::refusal::Refusal;
use base::Ratio;

/// The living part of a path; by default there is none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// How often a packet arrives twice.
    pub duplicate: Ratio,
    /// Losses in bursts, on entry.
    pub bursts: Option<Bursts>,
    /// What is dropped before the bottleneck because it exceeds a rate.
    pub policer: Option<Policer>,
    /// Gaps between releases behind the bottleneck.
    pub release: Option<Gaps>,
    /// The way back.
    pub back: Back,
}

impl Default for Life {
    fn default() -> Self {
        Self { duplicate: Ratio::ZERO, bursts: None, policer: None, release: None, back: Back::default() }
    }
}

impl Life {
    /// Returns whether the seed has any effect.
    pub(crate) fn is_drawn(&self) -> bool {
        !self.duplicate.is_zero()
            || self.bursts.is_some()
            || self.release.is_some_and(Gaps::is_drawn)
            || self.back.is_drawn()
    }

    /// Checks whether its parts fit the rest of the path, which loses `loss` of its packets at random.
    ///
    /// # Errors
    /// Names what does not fit, and the remedy.
    pub(crate) fn check(&self, loss: Ratio) -> Result<(), Refusal> {
        if self.bursts.is_some() && !loss.is_zero() {
            return Err(Refusal::of_value(
                "packets are lost at random and in bursts",
                "set `path.loss` to 0, or `path.bursts` to none",
            ));
        }
        self.back.check()
    }
}
