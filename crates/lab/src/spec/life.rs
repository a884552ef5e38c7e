//! What makes a path more than a pipe: copies, bursts of losses, a policer, release in groups, the way back, change.

use crate::spec::back::Back;
use crate::spec::bursts::Bursts;
use crate::spec::changes::Changes;
use crate::spec::gaps::Gaps;
use crate::spec::link_model::LinkModel;
use crate::spec::policer::Policer;
use crate::spec::refusal::Refusal;
use crate::spec::second::Second;
use base::{Duration, Ratio};

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
    /// A bottleneck behind the first.
    pub second: Second,
    /// What changes during a run, by a schedule.
    pub changes: Changes,
    /// A model that sets the rate, and with it whatever else it knows.
    pub model: Option<LinkModel>,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            duplicate: Ratio::ZERO,
            bursts: None,
            policer: None,
            release: None,
            back: Back::default(),
            second: Second::default(),
            changes: Changes::default(),
            model: None,
        }
    }
}

impl Life {
    /// Returns whether the seed has any effect.
    pub(crate) fn is_drawn(&self) -> bool {
        let lost = self.bursts.is_some()
            || self.changes.losses().is_some_and(|losses| losses.iter().any(|(_, share)| !share.is_zero()));
        let released = self.release.is_some_and(Gaps::is_drawn);
        !self.duplicate.is_zero()
            || lost
            || released
            || self.back.is_drawn()
            || self.second.is_drawn()
            || self.model.is_some()
    }

    /// Checks whether its parts fit each other and the rest of the path, which loses `loss` of its packets at random and whose rate may
    /// follow a trace.
    ///
    /// # Errors
    /// Names what does not fit, and the remedy.
    pub(crate) fn check(&self, loss: Ratio, follows_trace: bool) -> Result<(), Refusal> {
        let model = self.model.map(|found| found.model);
        let wrong = [
            (
                self.bursts.is_some() && (!loss.is_zero() || self.changes.of_loss()),
                "packets are lost at random and in bursts",
                "set `path.loss` to 0 and no `loss` in `path.changes`, or `path.bursts` to none",
            ),
            (
                model.is_some() && (self.changes.of_rate() || follows_trace),
                "a model sets the rate, and something else does",
                "set `path.model` to none, or no `rate` and `outage` in `path.changes` and no trace",
            ),
            (
                self.changes.of_rate() && follows_trace,
                "the rate follows a trace and a schedule",
                "set `path.rate` to a number, or no `rate` and `outage` in `path.changes`",
            ),
            (
                model.is_some_and(|model| model.delay().is_some())
                    && self.changes.delays(Duration::ZERO, |rtt| rtt).is_some(),
                "a model and a schedule set the round-trip time",
                "set `path.model` to none, or no `rtt` in `path.changes`",
            ),
            (
                model.is_some_and(|model| model.release().is_some()) && self.release.is_some(),
                "packets leave in groups of the model and of the path",
                "set `path.release` to none, and `release=` of the model",
            ),
        ];
        match wrong.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, problem, remedy)) => Err(Refusal::of_value(problem, remedy)),
            None => self.back.check().and_then(|()| self.second.check()),
        }
    }
}
