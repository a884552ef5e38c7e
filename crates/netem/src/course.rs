//! How a path changes with time: a list of stretches, or a model that draws them as they are needed.
//!
//! Both directions of a path, the ideal time and a written trace all read one course, so that they agree about it.

use crate::model::{Model, Weather};
use crate::stretch::Stretch;
use base::Duration;
use std::sync::Arc;

/// The stretches of a path, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// These; the last one lasts indefinitely.
    Given(Arc<[Stretch]>),
    /// Those that a model draws from this seed; without end.
    Drawn(Model, u64),
}

/// The stretches of a course, one after the other.
#[derive(Clone, Debug)]
pub enum Stretches {
    /// A list and the place in it.
    Given(Arc<[Stretch]>, usize),
    /// A model.
    Drawn(Weather),
}

impl Course {
    /// Creates a course of these stretches; `None` unless the first begins at zero, each later than the one before, and the last one
    /// has a rate.
    pub fn given(stretches: Vec<Stretch>) -> Option<Self> {
        let begins = stretches.first()?.from.is_zero() && stretches.last()?.rate.is_some();
        let ordered = stretches.windows(2).all(|pair| pair[0].from < pair[1].from);
        (begins && ordered).then(|| Self::Given(stretches.into()))
    }

    /// Returns the stretches from the beginning.
    pub fn stretches(&self) -> Stretches {
        match self {
            Self::Given(list) => Stretches::Given(list.clone(), 0),
            Self::Drawn(model, seed) => Stretches::Drawn(Weather::new(*model, *seed)),
        }
    }

    /// Returns the shortest one-way delay that it can have, if the path's own is `own`.
    pub fn least_delay(&self, own: Duration) -> Duration {
        match self {
            Self::Given(list) => list.iter().map(|stretch| stretch.delay.unwrap_or(own)).min().unwrap_or(own),
            Self::Drawn(model, _) => model.delay().map_or(own, |delay| delay.least),
        }
    }

    /// Returns whether the delay, `own` where a stretch has none, can become shorter: then later packets may overtake.
    pub(crate) fn may_shorten(&self, own: Duration) -> bool {
        match self {
            Self::Given(list) => {
                list.windows(2).any(|pair| pair[1].delay.unwrap_or(own) < pair[0].delay.unwrap_or(own))
            }
            Self::Drawn(model, _) => model.delay().is_some_and(|delay| delay.least < delay.most),
        }
    }
}

impl Iterator for Stretches {
    type Item = Stretch;
    fn next(&mut self) -> Option<Stretch> {
        match self {
            Self::Given(list, next) => {
                let stretch = list.get(*next).copied()?;
                *next += 1;
                Some(stretch)
            }
            Self::Drawn(weather) => weather.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ns, rate};
    use test_case::test_case;

    #[test_case(&[(0, true)] => true; "one that lasts")]
    #[test_case(&[(0, true), (5, false), (9, true)] => true; "an outage")]
    #[test_case(&[] => false; "none")]
    #[test_case(&[(1, true)] => false; "no beginning")]
    #[test_case(&[(0, true), (5, true), (5, true)] => false; "two at once")]
    #[test_case(&[(0, true), (5, false)] => false; "an outage without end")]
    fn a_course_begins_and_does_not_end(stretches: &[(u64, bool)]) -> bool {
        let stretches =
            stretches.iter().map(|(from, open)| Stretch { from: ns(*from), rate: open.then(|| rate(8)), delay: None });
        Course::given(stretches.collect()).is_some()
    }
}
