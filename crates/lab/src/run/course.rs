//! How a cell's path changes during a run: by its schedule, or by a model that draws from the run's seed.

use crate::spec::Point;
use base::Duration;
use netem::Course;

/// Which direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// That of the data.
    There,
    /// That of the ACKs.
    Back,
}

/// Returns how the bottleneck's rate changes; `None` if it does not.
pub(crate) fn rates(point: &Point, seed: u64) -> Option<Course> {
    match point.life.model {
        Some(model) => Some(Course::Drawn(model.model, seed)),
        None => point.life.changes.rates(point.rate),
    }
}

/// Returns how the delay of one direction changes, which is `own` at the beginning; `None` if it does not. Each direction has half of
/// the change.
pub(crate) fn delays(point: &Point, seed: u64, way: Way, own: Duration) -> Option<Course> {
    match point.life.model {
        Some(model) if model.model.delay().is_some() => Some(Course::Drawn(model.model, seed)),
        _ => point.life.changes.delays(own, |rtt| {
            let half = |rtt: Duration| if way == Way::There { rtt / 2 } else { rtt.saturating_sub(rtt / 2) };
            (own + half(rtt)).saturating_sub(half(point.rtt))
        }),
    }
}
